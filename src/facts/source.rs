//! The seam between the planner and whoever knows the world.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::budget::CancelToken;
use crate::facts::FactKey;
use crate::reason::Reason;

/// One fact that the planner wants, and how much of it.
#[derive(Clone, Copy, Debug)]
pub struct Demand<'a> {
    /// The call.
    pub key: &'a FactKey,
    /// For counts: this many decide every comparison made on the fact, so a
    /// source may stop there. `None` asks for the exact number.
    pub limit: Option<u64>,
    /// How many places `path:line` to report, for people.
    pub places: usize,
    /// Most fuel that this fact may cost by itself, whoever shares the work. A
    /// source gives the fact up as unknown (`budget_exceeded`) once its own cost is
    /// over it, so that one fact cannot eat everything before anybody notices; it
    /// must do so by the fuel alone, on every machine alike. `None` for no limit.
    pub fuel: Option<u64>,
}

/// Where a line was found.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place {
    /// Relative to the workspace root; bytes that are not UTF-8 are replaced.
    pub path: Box<str>,
    /// Counted from 1.
    pub line: u64,
}

/// What a command printed and how it ended.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct RunOutput {
    /// The exit status, 128+N for a program that died of signal N.
    pub exit: i64,
    /// What was kept of standard output.
    pub stdout: Arc<[u8]>,
    /// What was kept of standard error.
    pub stderr: Arc<[u8]>,
    /// True if standard output went on past the capture limit.
    pub stdout_truncated: bool,
    /// True if standard error went on past the capture limit.
    pub stderr_truncated: bool,
    /// The layers that confined it, by name; none if that is not known.
    pub isolation: Arc<[&'static str]>,
}

/// One test that was run for a fact.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestRun {
    /// The full name, as the runner lists it.
    pub name: Box<str>,
    /// How it ended.
    pub outcome: TestOutcome,
    /// How long it took, where the runner says so.
    pub duration: Option<Duration>,
}

/// How a test ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TestOutcome {
    /// It passed.
    Passed,
    /// It failed.
    Failed,
    /// It is ignored, and did not run.
    Ignored,
}

impl TestOutcome {
    /// The name in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Ignored => "ignored",
        }
    }
}

/// The value of a fact.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FactValue {
    /// Of `exists`, and of `test` (passed).
    Bool(bool),
    /// Of `grep` and `count`: the number, or with `exact: false` a lower bound
    /// that reached the demanded limit.
    Count {
        /// How many were found.
        count: u64,
        /// False if the source stopped at the limit.
        exact: bool,
    },
    /// Of `run`.
    Run(RunOutput),
    /// The fact could not be established.
    Unknown(Reason),
}

/// What a fact cost to fetch. Fuel and bytes are equal on every machine; CPU
/// time is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Cost {
    /// The deterministic account, see `docs/bytecode.md`.
    pub fuel: u64,
    /// Thread CPU time, in nanoseconds.
    pub cpu_ns: u64,
    /// Bytes of files scanned.
    pub bytes: u64,
}

impl std::ops::AddAssign for Cost {
    fn add_assign(&mut self, other: Self) {
        self.fuel = self.fuel.saturating_add(other.fuel);
        self.cpu_ns = self.cpu_ns.saturating_add(other.cpu_ns);
        self.bytes = self.bytes.saturating_add(other.bytes);
    }
}

/// A fetched fact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fetched {
    /// The value.
    pub value: FactValue,
    /// What it cost.
    pub cost: Cost,
    /// The first places, as many as were asked for, in path and line order.
    pub places: Vec<Place>,
    /// Of `test`: what was run.
    pub tests: Vec<TestRun>,
    /// True if it is what an earlier run came to.
    pub reused: bool,
}

impl From<FactValue> for Fetched {
    fn from(value: FactValue) -> Self {
        Self {
            value,
            cost: Cost::default(),
            places: Vec::new(),
            tests: Vec::new(),
            reused: false,
        }
    }
}

/// Totals of one fetch that belong to no single fact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct FetchStats {
    /// Files that somebody wanted the counts of.
    pub files: u64,
    /// Bytes of them.
    pub bytes: u64,
    /// How they were searched.
    pub scan: ScanStats,
}

impl std::ops::AddAssign for FetchStats {
    fn add_assign(&mut self, other: Self) {
        self.files += other.files;
        self.bytes += other.bytes;
        self.scan += other.scan;
    }
}

/// How patterns were searched, and how much of that was known from earlier runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct ScanStats {
    /// Patterns whose only literal was searched by itself, per set of files.
    pub literal: u64,
    /// Patterns whose literals were searched with those of others in one pass.
    pub literals: u64,
    /// Patterns without literals whose automata were run together.
    pub combined: u64,
    /// Patterns whose regexes were run over whole files.
    pub regex: u64,
    /// Files that were read. This and what follows differs between runs.
    pub read_files: u64,
    /// Bytes of these.
    pub read_bytes: u64,
    /// Files that were not read because earlier runs had counted in them.
    pub known_files: u64,
    /// Bytes of these.
    pub known_bytes: u64,
}

impl std::ops::AddAssign for ScanStats {
    fn add_assign(&mut self, other: Self) {
        self.literal += other.literal;
        self.literals += other.literals;
        self.combined += other.combined;
        self.regex += other.regex;
        self.read_files += other.read_files;
        self.read_bytes += other.read_bytes;
        self.known_files += other.known_files;
        self.known_bytes += other.known_bytes;
    }
}

/// Somebody who knows facts: the workspace on disk, a gate's snapshot, a
/// fuzzer's table.
///
/// A source answers every demand, in the order of the demands. What it cannot
/// establish it answers with [`FactValue::Unknown`]; it never guesses.
///
/// A source that works for long looks at [`CancelToken::stop`] from time to time,
/// answers what is left with the reason of the cause, and charges CPU time to the
/// token as it goes, so that a budget can end the work. CPU time that it reports
/// only in the costs is charged when it answers.
pub trait FactSource: Send + Sync {
    /// Fetches the facts of one stage of a batch. No two demands share both call
    /// and limit; one call may be demanded up to several limits.
    fn fetch(&self, demands: &[Demand<'_>], cancel: &CancelToken) -> (Vec<Fetched>, FetchStats);
}
