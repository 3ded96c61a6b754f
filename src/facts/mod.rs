//! Facts: what the primitives of a predicate establish about the world.

mod key;
mod source;
mod table;

pub use key::{FactKey, PathSpec, Pattern, Primitive, RegexFlags};
pub use table::{Cell, FactTable};
pub use source::{
    CancelToken, Cost, Demand, FactSource, FactValue, FetchStats, Fetched, Place, RunOutput,
};
