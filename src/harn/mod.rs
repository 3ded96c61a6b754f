//! Harn: the language of Flow predicates, a subset of it.

mod builtins;
mod fault;
mod problem;
pub mod syntax;
mod value;

pub use builtins::Builtin;
pub use fault::{ErrorClass, Fault, Limit};
pub(crate) use problem::Problems;
pub use problem::{HarnCode, MOST_PROBLEMS, Problem};
pub use value::{Heap, Value};
