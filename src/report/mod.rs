//! Reports: one stream of results, one writer for each format.
//!
//! A writer is a [`crate::batch::Sink`] that takes results in input order and is
//! told the totals last. Writers hand whole records to the output, so that a
//! report that is cut off ends with a whole line.

mod block;
mod claims;
mod closing;
mod escape;
mod event;
mod excerpt;
mod explain;
mod facts;
mod gate;
mod github;
mod hints;
mod history;
mod json;
mod jsonl;
mod junit;
mod level;
mod record;
#[cfg(test)]
mod samples;
mod sarif;
mod snippet;
mod text;
mod totals;

pub use claims::{GitHubReport, JUnitReport, SarifReport};
pub use escape::escape;
use escape::escape_lines;
pub use event::{Counts, InputFailure, Job, LintTotals, Report, Totals};
pub use explain::Explanation;
pub use gate::{GateFormat, write_gate};
pub use history::{HistoryFormat, Question, write_history};
pub use json::JsonReport;
pub use jsonl::JsonLinesReport;
pub use snippet::{render_diagnostics, render_problems};
pub use text::TextReport;
