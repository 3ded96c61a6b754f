//! The totals of a run in JSON.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::batch::{Summary, Verdict};
use crate::budget::{Budget, Budgets};
use crate::facts::ScanStats;
use crate::report::{Counts, InputFailure, LintTotals, Totals};

/// The totals as JSON shows them, without what differs between equal runs
/// unless timings are wanted.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum TotalsRecord<'a> {
    Check(Box<CheckRecord<'a>>),
    Lint(LintRecord<'a>),
}

impl<'a> TotalsRecord<'a> {
    pub(super) fn new(totals: &Totals<'a>, timings: bool) -> Self {
        match totals.counts {
            Counts::Check(summary) => {
                let record = CheckRecord::new(summary, totals.failures, timings);
                Self::Check(Box::new(record))
            }
            Counts::Lint(lint) => Self::Lint(LintRecord::new(lint, totals.failures)),
        }
    }
}

#[derive(Serialize)]
pub(super) struct CheckRecord<'a> {
    records: u64,
    verdicts: Verdicts,
    codes: &'a BTreeMap<&'static str, u64>,
    distinct_programs: u64,
    distinct_facts: u64,
    files: u64,
    bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    scan: Option<ScanRecord>,
    fuel: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    cpu_ns: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    wall_ns: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    wall_to_cpu: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    budgets: Option<BudgetsRecord>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache: Option<CacheRecord>,
    #[serde(skip_serializing_if = "is_zero")]
    unchecked_signatures: u64,
    #[serde(skip_serializing_if = "is_false")]
    interrupted: bool,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    errors: Vec<FailureRecord<'a>>,
}

impl<'a> CheckRecord<'a> {
    fn new(summary: &'a Summary, failures: &'a [InputFailure], timings: bool) -> Self {
        Self {
            records: summary.records,
            verdicts: Verdicts::new(summary),
            codes: &summary.codes,
            distinct_programs: summary.distinct_programs,
            distinct_facts: summary.distinct_facts,
            files: summary.files,
            bytes: summary.bytes,
            scan: timings.then(|| ScanRecord::new(&summary.scan)),
            fuel: summary.fuel,
            cpu_ns: timings.then_some(summary.cpu_ns),
            wall_ns: timings.then_some(summary.wall_ns),
            wall_to_cpu: summary.wall_to_cpu().filter(|_| timings).map(rounded),
            budgets: BudgetsRecord::new(&summary.budgets),
            cache: timings.then_some(CacheRecord {
                memory_hits: summary.memory_hits,
                disk_hits: summary.disk_hits,
                compiled: summary.compiled,
            }),
            unchecked_signatures: summary.unchecked_signatures,
            interrupted: summary.interrupted,
            errors: failures.iter().map(FailureRecord::from).collect(),
        }
    }
}

/// How patterns were searched, and how much was read for it. An equal run later may
/// know all counts already.
#[derive(Serialize)]
struct ScanRecord {
    patterns: TiersRecord,
    read: AmountRecord,
    known: AmountRecord,
}

#[derive(Serialize)]
struct TiersRecord {
    literal: u64,
    literals: u64,
    combined: u64,
    regex: u64,
}

#[derive(Serialize)]
struct AmountRecord {
    files: u64,
    bytes: u64,
}

impl ScanRecord {
    fn new(scan: &ScanStats) -> Self {
        Self {
            patterns: TiersRecord {
                literal: scan.literal,
                literals: scan.literals,
                combined: scan.combined,
                regex: scan.regex,
            },
            read: AmountRecord {
                files: scan.read_files,
                bytes: scan.read_bytes,
            },
            known: AmountRecord {
                files: scan.known_files,
                bytes: scan.known_bytes,
            },
        }
    }
}

/// The limits that held; what was spent of those of the batch stands beside as
/// `fuel` and `cpu_ns`.
#[derive(Serialize)]
struct BudgetsRecord {
    #[serde(skip_serializing_if = "Option::is_none")]
    predicate: Option<BudgetRecord>,
    #[serde(skip_serializing_if = "Option::is_none")]
    batch: Option<BudgetRecord>,
}

impl BudgetsRecord {
    fn new(budgets: &Budgets) -> Option<Self> {
        (!budgets.is_unlimited()).then(|| Self {
            predicate: BudgetRecord::new(budgets.predicate),
            batch: BudgetRecord::new(budgets.batch),
        })
    }
}

#[derive(Serialize)]
struct BudgetRecord {
    #[serde(skip_serializing_if = "Option::is_none")]
    fuel: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cpu_ns: Option<u64>,
}

impl BudgetRecord {
    fn new(budget: Budget) -> Option<Self> {
        (!budget.is_unlimited()).then(|| Self {
            fuel: budget.fuel,
            cpu_ns: budget
                .cpu
                .map(|cpu| u64::try_from(cpu.as_nanos()).unwrap_or(u64::MAX)),
        })
    }
}

/// Two decimals are enough for people and machines.
fn rounded(ratio: f64) -> f64 {
    (ratio * 100.0).round() / 100.0
}

#[derive(Serialize)]
struct Verdicts {
    pass: u64,
    fail: u64,
    unevaluated: u64,
    invalid: u64,
    skipped: u64,
}

impl Verdicts {
    fn new(summary: &Summary) -> Self {
        Self {
            pass: summary.count(Verdict::Pass),
            fail: summary.count(Verdict::Fail),
            unevaluated: summary.count(Verdict::Unevaluated),
            invalid: summary.count(Verdict::Invalid),
            skipped: summary.count(Verdict::Skipped),
        }
    }
}

/// How the programs came about.
#[derive(Serialize)]
struct CacheRecord {
    memory_hits: u64,
    disk_hits: u64,
    compiled: u64,
}

#[derive(Serialize)]
pub(super) struct LintRecord<'a> {
    records: u64,
    clean: u64,
    warned: u64,
    refused: u64,
    skipped: u64,
    codes: &'a BTreeMap<&'static str, u64>,
    #[serde(skip_serializing_if = "is_false")]
    interrupted: bool,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    errors: Vec<FailureRecord<'a>>,
}

impl<'a> LintRecord<'a> {
    fn new(lint: &'a LintTotals, failures: &'a [InputFailure]) -> Self {
        Self {
            records: lint.records,
            clean: lint.clean,
            warned: lint.warned,
            refused: lint.refused,
            skipped: lint.skipped,
            codes: &lint.codes,
            interrupted: lint.interrupted,
            errors: failures.iter().map(FailureRecord::from).collect(),
        }
    }
}

#[derive(Serialize)]
struct FailureRecord<'a> {
    input: &'a str,
    error: &'a str,
}

impl<'a> From<&'a InputFailure> for FailureRecord<'a> {
    fn from(failure: &'a InputFailure) -> Self {
        Self {
            input: &failure.input,
            error: &failure.error,
        }
    }
}

fn is_zero(value: &u64) -> bool {
    *value == 0
}

fn is_false(value: &bool) -> bool {
    !value
}
