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
mod pattern;
mod plan;
mod pool;
mod reach;
mod set;
mod tally;

pub use engine::{Counting, Request, scan};
pub use glob::glob;
pub use pattern::{MAX_COMPILED_BYTES, MAX_PATTERN_BYTES, PatternError, parse_pattern};
pub(crate) use pattern::{SyntaxError, parse_text};
