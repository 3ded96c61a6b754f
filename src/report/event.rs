//! What writers are told.

use std::collections::BTreeMap;
use std::io;

use crate::batch::{Sink, Summary};

/// What the results are results of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Job {
    /// Claims were judged: verdicts, facts and costs are shown.
    Check,
    /// Predicates were only read: diagnostics are shown and nothing else.
    Lint,
}

/// A writer of one format.
pub trait Report: Sink + Send {
    /// Ends the report with the totals and hands everything to the output.
    ///
    /// # Errors
    /// What the output says.
    fn finish(&mut self, totals: &Totals<'_>) -> io::Result<()>;
}

/// An input that could not be read, or not to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputFailure {
    /// The name of the input, `-` for standard input.
    pub input: Box<str>,
    /// Lower case, says what went wrong, ends without a period.
    pub error: Box<str>,
}

/// What a run came to.
#[derive(Clone, Copy, Debug)]
pub struct Totals<'a> {
    /// The counts.
    pub counts: Counts<'a>,
    /// Inputs that could not be read: what they held is in no count.
    pub failures: &'a [InputFailure],
}

/// The counts of either job.
#[derive(Clone, Copy, Debug)]
pub enum Counts<'a> {
    /// Of claims that were judged.
    Check(&'a Summary),
    /// Of predicates that were only read.
    Lint(&'a LintTotals),
}

/// Counts of predicates that were only read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LintTotals {
    /// Records and expressions read.
    pub records: u64,
    /// Of these, without any remark.
    pub clean: u64,
    /// Of these, with warnings and no error.
    pub warned: u64,
    /// Of these, with errors.
    pub refused: u64,
    /// Of these, annotations, which hold no predicate.
    pub skipped: u64,
    /// Diagnostics by code.
    pub codes: BTreeMap<&'static str, u64>,
    /// True if the run was stopped before its end.
    pub interrupted: bool,
}
