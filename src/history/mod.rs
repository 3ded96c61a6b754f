//! Verdicts along the commits of a repository.
//!
//! Facts are not looked up commit by commit: counts are added up once and then
//! corrected by what each commit changed, so that a range of commits costs about one
//! scan of its distinct files. Only trees that differ are looked at. What does not
//! fit that scheme, such as a file that cannot be read, is looked up as `--at` would.

mod diff;
mod facts;
mod run;
mod table;
mod targets;
mod world;

pub use run::{Change, History, HistoryError, HistorySummary, Record, Tracked};
