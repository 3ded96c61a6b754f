//! Counting the lines and matches of patterns in files.

mod ascii;
mod bound;
mod chunk;
mod combined;
mod compile;
mod each;
mod engine;
#[cfg(test)]
mod equivalence;
mod file;
mod finding;
pub mod fuel;
mod glob;
mod grams;
mod hits;
mod ledger;
mod line_matcher;
mod line_safe;
mod lines;
mod literal;
mod machinery;
mod matches;
mod memory;
#[cfg(test)]
mod memory_tests;
mod panel;
mod pattern;
mod plan;
#[cfg(test)]
mod plan_tests;
mod pool;
mod prepare;
mod reach;
mod sample;
mod scratch;
mod search;
mod sieve;
mod stream;
mod tally;
mod walked;

pub(crate) use bound::{may_be_too_large, most_bytes};
pub use each::{EachCounter, FileCounts, count_each};
pub use engine::{Answers, Counting, Request, ScanOptions, Tier, scan};
pub(crate) use glob::glob;
pub use pattern::{MAX_COMPILED_BYTES, MAX_PATTERN_BYTES, PatternError, parse_pattern};
pub(crate) use pattern::{SyntaxError, parse_text};
pub(crate) use reach::Reach;
pub(crate) use sieve::{Sieve, Sieved, Sought};
