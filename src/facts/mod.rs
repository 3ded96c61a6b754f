//! Facts: what the primitives of a predicate establish about the world.

mod key;
mod source;

pub use key::{FactKey, PathSpec, Pattern, Primitive, RegexFlags};
pub use source::{
    CancelToken, Cost, Demand, FactSource, FactValue, FetchStats, Fetched, Place, RunOutput,
};
