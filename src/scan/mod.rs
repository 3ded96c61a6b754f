//! Counting the lines and matches of patterns in files.

mod clock;
mod compile;
mod engine;
#[cfg(test)]
mod equivalence;
mod file;
pub mod fuel;
mod glob;
mod line_safe;
mod lines;
mod matches;
mod plan;
mod pool;
mod set;
mod tally;

pub use engine::{Counting, Request, scan};
pub use glob::glob;
