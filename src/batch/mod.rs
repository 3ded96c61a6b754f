//! Batches: many predicates over one workspace, each fact fetched once.

mod result;

pub use result::{ClaimResult, Evaluation, ShownFact, ShownValue, Summary, Verdict};
