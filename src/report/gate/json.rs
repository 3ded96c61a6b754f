//! A run of the gate for machines. Names and order of the fields are those of
//! flow.md, section 4.7, with what Probity adds behind them.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::Value as Json;

use crate::flow::model::Approval;
use crate::flow::{
    CeilingOutcome, GateCost, GateDiagnostic, GateFinding, GatePlace, GateRecord, GateReport,
    GateSkip, InvariantResult,
};
use crate::harn::{FallbackPolicy, Mode};
use crate::report::gate::words::Tally;

/// The version of the object's shape.
const SCHEMA: u32 = 1;

/// One object, indented.
pub(super) fn whole(out: &mut impl Write, report: &GateReport, timings: bool) -> io::Result<()> {
    #[derive(Serialize)]
    struct Whole<'r> {
        schema: u32,
        summary: Summary<'r>,
        records: Vec<Record<'r>>,
    }
    let whole = Whole {
        schema: SCHEMA,
        summary: Summary::new(report, timings),
        records: report
            .records
            .iter()
            .map(|record| Record::new(record, timings))
            .collect(),
    };
    serde_json::to_writer_pretty(&mut *out, &whole)?;
    writeln!(out)
}

/// One object for each record, then the summary.
pub(super) fn lines(out: &mut impl Write, report: &GateReport, timings: bool) -> io::Result<()> {
    #[derive(Serialize)]
    struct Last<'r> {
        summary: Summary<'r>,
    }
    for record in &report.records {
        serde_json::to_writer(&mut *out, &Record::new(record, timings))?;
        writeln!(out)?;
    }
    let last = Last {
        summary: Summary::new(report, timings),
    };
    serde_json::to_writer(&mut *out, &last)?;
    writeln!(out)
}

#[derive(Serialize)]
struct Record<'r> {
    name: &'r str,
    hash: String,
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    fallback_hash: Option<String>,
    fallback_policy: &'static str,
    result: &'r InvariantResult,
    #[serde(skip_serializing_if = "Option::is_none")]
    raw_result: Option<&'r Json>,
    enforced: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    elapsed_ms: Option<u64>,
    attempts: u32,
    replayable: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    first_result_hash: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    second_result_hash: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    semantic_replay_audit: Option<&'r Json>,
    logical_name: &'r str,
    #[serde(skip_serializing_if = "Option::is_none")]
    closure_hash: Option<String>,
    declared: Declared<'r>,
    selected: &'r str,
    /// Left out where it is the result.
    #[serde(skip_serializing_if = "Option::is_none")]
    own_result: Option<&'r InvariantResult>,
    outcome: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    approved_by: Option<&'r str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    findings: Vec<Finding<'r>>,
    cost: Cost,
}

impl<'r> Record<'r> {
    fn new(record: &'r GateRecord, timings: bool) -> Self {
        Self {
            name: &record.qualified_name,
            hash: record.hash.to_string(),
            kind: mode(record.mode),
            fallback_hash: record.fallback_hash.map(|hash| hash.to_string()),
            fallback_policy: match record.fallback_policy {
                FallbackPolicy::Enforce => "enforce",
                FallbackPolicy::Advisory => "advisory",
            },
            result: &record.result,
            raw_result: record.raw.as_ref(),
            enforced: record.enforced,
            elapsed_ms: timings.then_some(record.cost.elapsed_ns / 1_000_000),
            attempts: record.attempts,
            replayable: record.mode == Mode::Deterministic,
            first_result_hash: record.first_result_hash.as_deref(),
            second_result_hash: record.second_result_hash.as_deref(),
            semantic_replay_audit: record.semantic_replay_audit.as_ref(),
            logical_name: &record.logical_name,
            closure_hash: record.closure_hash.map(|hash| hash.to_string()),
            declared: Declared::new(&record.declared),
            selected: &record.selected,
            own_result: (record.own != record.result).then_some(&record.own),
            outcome: record.outcome().name(),
            approved_by: record.approved_by.as_deref(),
            findings: record.findings().into_iter().map(Finding::new).collect(),
            cost: Cost::new(record.cost, timings),
        }
    }
}

#[derive(Serialize)]
struct Declared<'r> {
    path: &'r str,
    line: usize,
}

impl<'r> Declared<'r> {
    fn new(place: &'r GatePlace) -> Self {
        Self {
            path: &place.path,
            line: place.line,
        }
    }
}

#[derive(Serialize)]
struct Finding<'r> {
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'r str>,
}

impl<'r> Finding<'r> {
    const fn new(finding: GateFinding<'r>) -> Self {
        Self {
            path: finding.path,
            line: finding.line,
            message: finding.message,
        }
    }
}

#[derive(Serialize)]
struct Cost {
    fuel: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    cpu_ns: Option<u64>,
    memory: u64,
}

impl Cost {
    fn new(cost: GateCost, timings: bool) -> Self {
        Self {
            fuel: cost.fuel,
            cpu_ns: timings.then_some(cost.cpu_ns),
            memory: cost.memory,
        }
    }
}

#[derive(Serialize)]
struct Summary<'r> {
    outcome: &'static str,
    exit_status: u8,
    judged: bool,
    slice: Slice<'r>,
    touched: &'r [Box<str>],
    predicates: usize,
    verdicts: Verdicts,
    ceiling: &'r CeilingOutcome,
    #[serde(skip_serializing_if = "Option::is_none")]
    ceiling_approval: Option<CeilingApproval<'r>>,
    diagnostics: Vec<Diagnostic<'r>>,
    skipped: Vec<Skip<'r>>,
    approvals: &'r [Approval],
    cost: Cost,
    #[serde(skip_serializing_if = "Option::is_none")]
    wall_ns: Option<u64>,
    #[serde(skip_serializing_if = "is_false")]
    interrupted: bool,
}

impl<'r> Summary<'r> {
    fn new(report: &'r GateReport, timings: bool) -> Self {
        let slice = &report.slice;
        let approval = report.ceiling_approval.as_ref();
        Self {
            outcome: report.outcome().name(),
            exit_status: report.exit_status(),
            judged: report.judged(),
            slice: Slice {
                id: slice.id.as_deref(),
                base: slice.base.as_deref(),
                head: slice.head.as_deref(),
                files: slice.files,
            },
            touched: &report.touched,
            predicates: report.records.len(),
            verdicts: Verdicts::new(report),
            ceiling: &report.ceiling,
            ceiling_approval: approval.map(|approval| CeilingApproval {
                wanted: &approval.wanted,
                given_by: approval.given_by.as_deref(),
            }),
            diagnostics: report.diagnostics.iter().map(Diagnostic::new).collect(),
            skipped: report.skipped.iter().map(Skip::new).collect(),
            approvals: &report.approvals,
            cost: Cost::new(report.cost(), timings),
            wall_ns: timings.then_some(report.wall_ns),
            interrupted: report.interrupted,
        }
    }
}

#[derive(Serialize)]
struct Slice<'r> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    base: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    head: Option<&'r str>,
    files: usize,
}

#[derive(Serialize)]
struct CeilingApproval<'r> {
    wanted: &'r str,
    #[serde(skip_serializing_if = "Option::is_none")]
    given_by: Option<&'r str>,
}

/// Of enforced records; the five add up to the predicates.
#[derive(Serialize)]
struct Verdicts {
    allow: u64,
    warn: u64,
    require_approval: u64,
    block: u64,
    not_enforced: u64,
}

impl Verdicts {
    fn new(report: &GateReport) -> Self {
        let tally = Tally::of(report);
        Self {
            allow: tally.allow,
            warn: tally.warn,
            require_approval: tally.require_approval,
            block: tally.block,
            not_enforced: tally.not_enforced,
        }
    }
}

#[derive(Serialize)]
struct Diagnostic<'r> {
    path: &'r str,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    predicate: Option<&'r str>,
    #[serde(flatten)]
    remark: &'r crate::flow::DiscoveryDiagnostic,
    #[serde(skip_serializing_if = "Option::is_none")]
    help: Option<&'r str>,
}

impl<'r> Diagnostic<'r> {
    fn new(diagnostic: &'r GateDiagnostic) -> Self {
        let remark = &diagnostic.diagnostic;
        let problem = remark.problem.as_ref();
        Self {
            path: &diagnostic.path,
            line: remark.place.map(|place| place.line),
            predicate: remark.predicate.as_deref(),
            remark,
            help: problem.and_then(|problem| problem.help.as_deref()),
        }
    }
}

#[derive(Serialize)]
struct Skip<'r> {
    name: &'r str,
    hash: String,
    kind: &'static str,
    reason: &'r str,
    declared: Declared<'r>,
}

impl<'r> Skip<'r> {
    fn new(skip: &'r GateSkip) -> Self {
        Self {
            name: &skip.qualified_name,
            hash: skip.hash.to_string(),
            kind: mode(skip.mode),
            reason: &skip.reason,
            declared: Declared::new(&skip.declared),
        }
    }
}

const fn mode(mode: Mode) -> &'static str {
    match mode {
        Mode::Deterministic => "deterministic",
        Mode::Semantic => "semantic",
    }
}

fn is_false(value: &bool) -> bool {
    !*value
}
