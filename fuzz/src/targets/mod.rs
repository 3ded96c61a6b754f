//! One file for each target. They use the crate and the reference, and nothing
//! of a fuzzer, so that the ordinary tests can replay what is kept.

mod atoms;
pub(crate) mod bridge;
mod bytecode;
mod claimlog;
mod counts;
mod edits;
mod evaluate;
mod facts;
mod harn;
mod input;
mod literals;
pub(crate) mod machine;
mod parse;
mod planner;
pub(crate) mod programs;
mod roundtrip;
mod scans;

/// A target: it panics if a promise is broken.
type Run = fn(&[u8]);

/// Every target by name.
pub(crate) const TARGETS: [(&str, Run); 12] = [
    ("parse", parse::run),
    ("roundtrip", roundtrip::run),
    ("evaluate", evaluate::run),
    ("bytecode", bytecode::run),
    ("claimlog", claimlog::run),
    ("counts", counts::run),
    ("literals", literals::run),
    ("planner", planner::run),
    ("edits", edits::run),
    ("harn", harn::run),
    ("atoms", atoms::run),
    ("programs", programs::run),
];
