//! The data of Flow: atoms, intents, slices, and what is recorded with them. (flow.md,
//! sections 1.1 to 1.5, 3.1 and 12.3.)
//!
//! ```text
//! ops ─signed→ Atom ─seen in a transcript→ Observation ─cluster→ Intent
//!                                                                  │ derive: ancestors,
//!                                                                  ▼ tests, order
//!                        FollowUp ←fix─ Remediation ←blocks─ DerivedSlice
//! ```
//!
//! Ids are hashes of content. An [`Atom`] and a [`FlowSlice`] always have the id of what
//! they say; those of an [`Intent`] and a [`DerivedSlice`] that were read are checked by
//! `verify_id`, and signatures by [`Atom::verify`]. What predicates see of a slice is
//! something else: [`flow::Slice`](crate::flow::Slice).

mod apply;
mod approval;
mod atom;
mod canonical;
mod closure;
mod cluster;
mod coverage;
mod derive;
mod evidence;
mod fixer;
mod ids;
mod intent;
mod op;
mod signature;
mod slice;
mod timestamp;

pub use apply::ApplyError;
pub use approval::Approval;
pub use atom::{Atom, AtomBody, AtomError, Provenance};
pub use canonical::{BinaryError, BinaryProblem};
pub use cluster::{Boundary, BoundaryClassifier, Clustering, Observation};
pub use coverage::{CoverageError, CoverageMap};
pub use derive::{AtomGraph, Derivation, DeriveError, IntentIndex};
pub use evidence::{Evidence, Remediation, Span};
pub use fixer::{
    FixerError, FixerReceipt, FixerSigner, FixerTrigger, FollowUp, MAX_DESCRIPTION, MAX_LINKS, fix,
};
pub use ids::{AtomId, IdError, IntentId, PredicateHash, SliceId, TestId};
pub use intent::{Intent, IntentError, SealedIntent, TranscriptSpan};
pub use op::{OpKind, TextOp};
pub use signature::{AtomSignature, AtomSigner, SignatureError, SignedBy, SigningKeys};
pub use slice::{
    AppliedInvariant, DerivedSlice, FlowSlice, SliceRecordError, SliceStatus, UnresolvedParent,
};
pub use timestamp::{Timestamp, TimestampError};
