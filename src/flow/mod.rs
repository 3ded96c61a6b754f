//! Flow: predicates that judge a slice, a candidate change. (flow.md)

mod evaluate;
mod pack;
mod result;
#[cfg(test)]
mod sift_tests;
mod slice;

pub use evaluate::{Context, Evaluated, Judge, Patterns, Prepared, evaluate};
pub use pack::{Case, CaseOutcome, Pack, PackError, PackReport};
pub use result::{Approver, InvariantResult, Verdict};
pub use slice::{Slice, SliceError, SliceFile};
