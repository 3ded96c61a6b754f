//! Flow: predicates that judge a slice, a candidate change. (flow.md)

mod evaluate;
pub mod model;
mod pack;
mod result;
mod slice;

pub use evaluate::{Context, Evaluated, Judge, Patterns, Prepared, evaluate};
pub use pack::{Case, CaseOutcome, Pack, PackError, PackReport};
pub use result::{Approver, BlockError, InvariantResult, Verdict};
pub use slice::{Slice, SliceError, SliceFile};
