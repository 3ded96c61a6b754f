//! What a batch says about each claim and about the whole.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use crate::budget::Budgets;
use crate::diagnostic::{Diagnostic, Span};
use crate::digest::Digest;
use crate::facts::{Cost, Place, Primitive, ScanStats, TestRun};
use crate::reason::Reason;

/// What became of a claim. Only [`Verdict::Pass`] passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Verdict {
    /// The predicate is true.
    Pass,
    /// The predicate is false.
    Fail,
    /// The predicate is neither, because a fact it hangs on is unknown.
    Unevaluated,
    /// The record or its predicate is malformed.
    Invalid,
    /// An annotation, which asserts nothing executable.
    Skipped,
}

impl Verdict {
    /// Every verdict, in the order summaries list them.
    pub const ALL: [Self; 5] = [
        Self::Pass,
        Self::Fail,
        Self::Unevaluated,
        Self::Invalid,
        Self::Skipped,
    ];

    /// The name that reports carry in `verdict`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Unevaluated => "unevaluated",
            Self::Invalid => "invalid",
            Self::Skipped => "skipped",
        }
    }
}

/// Where a claim comes from: an input and the place in it. Written
/// `claims.jsonl:12`, `-:3`, `array.json:[4]` for the elements of an array, or the
/// bare input where there is no place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The name of the input, `-` for standard input.
    pub input: Arc<str>,
    /// The line that the record starts on, counted from 1.
    pub line: Option<u64>,
    /// Which element of the input's array, counted from 0.
    pub element: Option<u64>,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.input)?;
        match (self.element, self.line) {
            (Some(element), _) => write!(f, ":[{element}]"),
            (None, Some(line)) => write!(f, ":{line}"),
            (None, None) => Ok(()),
        }
    }
}

/// The value of a fact as reports show it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ShownValue {
    /// Of `exists` and `test`.
    Bool(bool),
    /// An exact count.
    Int(u64),
    /// A count that was found to reach the number that decides the predicate.
    AtLeast(u64),
    /// Exit status of `run`; output is shown shortened, as lossy UTF-8.
    Run {
        /// The exit status.
        exit: i64,
        /// The start of standard output.
        stdout: Box<str>,
        /// The start of standard error.
        stderr: Box<str>,
        /// The layers that confined it, by name.
        isolation: Arc<[&'static str]>,
    },
    /// The fact is unknown, and why.
    Unknown(Reason),
    /// The predicate was decided without it.
    NotNeeded,
}

/// One fact of a predicate as reports show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownFact {
    /// The primitive.
    pub primitive: Primitive,
    /// Its arguments.
    pub args: Vec<Box<str>>,
    /// Its value.
    pub value: ShownValue,
    /// The first places, where they were asked for.
    pub places: Vec<Place>,
    /// Of `test`: what was run for it.
    pub tests: Vec<TestRun>,
    /// True if an earlier run established it, and this one executed nothing for it.
    pub reused: bool,
}

/// What one distinct program came to; shared by every claim that states it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evaluation {
    /// The verdict.
    pub verdict: Verdict,
    /// Why it is unevaluated.
    pub reason: Option<Reason>,
    /// Errors of an invalid predicate; warnings of a valid one.
    pub diagnostics: Vec<Diagnostic>,
    /// The source of the predicate, for carets.
    pub predicate: Arc<str>,
    /// The parts that decided a fail or left it unevaluated.
    pub deciding: Vec<Span>,
    /// The facts, in source order.
    pub facts: Vec<ShownFact>,
    /// The predicate's share of what was done.
    pub cost: Cost,
}

/// One claim's result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimResult {
    /// Position in the batch, counted from 0 over all inputs.
    pub index: u64,
    /// Input and place in it.
    pub source: Origin,
    /// The claim's own id.
    pub id: Option<Box<str>>,
    /// The language the claim names, known or not.
    pub language: Option<Cow<'static, str>>,
    /// The digest of the predicate's source.
    pub digest: Option<Digest>,
    /// The verdict.
    pub verdict: Verdict,
    /// Stable code of an unevaluated or invalid verdict.
    pub code: Option<&'static str>,
    /// The code's particulars for people.
    pub detail: Option<Box<str>>,
    /// What is wrong with the record around the predicate. Spans count bytes of
    /// the record and are empty where there is no place.
    pub record_diagnostics: Vec<Diagnostic>,
    /// What the predicate came to; `None` if it never got that far.
    pub evaluation: Option<Arc<Evaluation>>,
}

/// Totals of a batch.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Summary {
    /// Records read.
    pub records: u64,
    /// Records by verdict, in the order of [`Verdict::ALL`].
    pub verdicts: [u64; 5],
    /// Unevaluated and invalid records by code.
    pub codes: BTreeMap<&'static str, u64>,
    /// Programs that differ.
    pub distinct_programs: u64,
    /// Facts that differ.
    pub distinct_facts: u64,
    /// Files opened for scanning.
    pub files: u64,
    /// Bytes scanned.
    pub bytes: u64,
    /// How patterns were searched.
    pub scan: ScanStats,
    /// Fuel of everything, each piece of work once.
    pub fuel: u64,
    /// CPU time of reading claims, compiling, establishing facts and evaluating,
    /// over all threads, in nanoseconds. Evaluating a few programs is not measured
    /// unless CPU time is limited.
    pub cpu_ns: u64,
    /// Wall-clock time, in nanoseconds.
    pub wall_ns: u64,
    /// The limits that held.
    pub budgets: Budgets,
    /// Programs found in memory by digest.
    pub memory_hits: u64,
    /// Programs loaded from disk.
    pub disk_hits: u64,
    /// Programs compiled.
    pub compiled: u64,
    /// True if the batch was stopped before its end.
    pub interrupted: bool,
    /// Envelopes read whose signatures were not checked.
    pub unchecked_signatures: u64,
}

impl Summary {
    /// How many records have the verdict.
    #[must_use]
    pub fn count(&self, verdict: Verdict) -> u64 {
        self.verdicts[verdict as usize]
    }

    /// Wall-clock time for each unit of CPU time: 1 for one busy thread, 0.5 for
    /// two, more where the batch waited. `None` if no CPU time was measured.
    #[must_use]
    pub fn wall_to_cpu(&self) -> Option<f64> {
        (self.cpu_ns > 0).then(|| self.wall_ns as f64 / self.cpu_ns as f64)
    }
}
