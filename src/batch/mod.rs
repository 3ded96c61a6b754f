//! Batches: many predicates over one world, each fact fetched once.
//!
//! A batch takes claims window by window. The programs of a window that were
//! not met before are resolved in stages, cheapest facts first, each stage only
//! for programs that are still undecided; then every claim of the window gets
//! its result, in order. Memory is bounded by the window and by the distinct
//! programs and facts, not by the number of claims.

mod account;
mod facts;
mod judge;
mod programs;
mod result;
mod run;
mod slice;

pub use result::{ClaimResult, Evaluation, Origin, ShownFact, ShownValue, Summary, Verdict};
pub use run::{Batch, BatchError, Content, Prepared, Settings, Sink, Submission};
