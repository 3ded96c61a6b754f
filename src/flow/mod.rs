//! Flow: predicates that judge a slice, a candidate change. (flow.md)

mod adapter;
mod ceiling;
mod changes;
mod compose;
mod discovery;
mod evaluate;
pub mod executor;
mod gate;
pub mod judges;
pub mod model;
mod pack;
mod result;
mod runner;
#[cfg(test)]
mod sift_tests;
mod slice;

pub use adapter::{
    EvaluateError, EvaluateOptions, Evaluation, EvaluationDiagnostic, EvaluationReport,
    EvaluationStatus, OptionsError, flow_evaluate_invariants,
};
pub use ceiling::{
    CeilingContributor, CeilingLevel, CeilingOutcome, CeilingViolation, PredicateCeiling,
};
pub use changes::{
    ChangeLimits, ChangeStatus, ChangedFile, Changes, ChangesError, Content, FileKind, Head,
    HeadId, Side,
};
pub use compose::{
    ComposedResult, PredicateEvaluation, PredicateSource, ResolvedPredicate,
    compose_predicate_results, resolve_predicates, union_predicates,
};
pub use discovery::{
    DiagnosticKind, DiscoverError, Discovery, DiscoveryDiagnostic, Fallback, Modules, Place,
    PredicateFile, TouchedError, Union, discover, touched_directories,
};
pub use evaluate::{Context, Evaluated, Judge, Patterns, Prepared, evaluate};
pub use gate::{
    Approvals, ApproverError, Gate, GateApproval, GateCost, GateDiagnostic, GateEntry, GateFinding,
    GateJob, GateOutcome, GatePlace, GateRecord, GateReport, GateSkip, GateSlice, changed_rules,
};
pub use pack::{Case, CaseOutcome, Pack, PackError, PackReport};
pub use result::{Approver, BlockError, InvariantResult, Verdict};
pub use runner::{PredicateRunner, World};
pub use slice::{Slice, SliceError, SliceFile};

pub use crate::harn::{FeedbackError, FeedbackOptions, flow_invariant_feedback};
