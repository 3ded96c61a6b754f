//! Harn: the language of Flow predicates, a subset of it.

mod problem;
pub mod syntax;

pub(crate) use problem::Problems;
pub use problem::{HarnCode, MOST_PROBLEMS, Problem};
