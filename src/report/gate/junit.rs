//! A run of the gate as JUnit XML: a suite for each predicate file, a case for each
//! predicate.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Write};

use crate::flow::{GateDiagnostic, GateOutcome, GateRecord, GateReport, GateSkip, Verdict};
use crate::report::gate::words;
use crate::report::junit::{Case, Outcome, Reason, Suites};
use crate::report::level::{At, Level};

/// The suite of what no predicate says.
const GATE: &str = "probity";

/// Most findings that a case tells of.
const MOST: usize = 100;

/// What belongs to one predicate file.
#[derive(Default)]
struct Suite<'r> {
    diagnostics: Vec<&'r GateDiagnostic>,
    records: Vec<&'r GateRecord>,
    skipped: Vec<&'r GateSkip>,
}

pub(super) fn write(out: &mut impl Write, report: &GateReport, timings: bool) -> io::Result<()> {
    let mut files: BTreeMap<&str, Suite<'_>> = BTreeMap::new();
    for remark in &report.diagnostics {
        let suite = files.entry(&remark.path).or_default();
        suite.diagnostics.push(remark);
    }
    for record in &report.records {
        let suite = files.entry(&record.declared.path).or_default();
        suite.records.push(record);
    }
    for skip in &report.skipped {
        files
            .entry(&skip.declared.path)
            .or_default()
            .skipped
            .push(skip);
    }
    let mut suites = Suites::new(out)?;
    if let Some((level, text)) = words::ceiling(report) {
        let outcome = match level {
            Level::Error => Outcome::Failed(Reason::new("predicate_count_explosion", text)),
            Level::Warning | Level::Note => Outcome::Skipped(text),
        };
        gate_case(&mut suites, "predicate ceiling", outcome)?;
    }
    if let Some(nothing) = words::nothing(report) {
        let reason = Reason::new("nothing_judged", nothing);
        gate_case(&mut suites, "predicates", Outcome::Error(reason))?;
    }
    if report.interrupted {
        let reason = Reason::new("interrupted", "stopped before the end");
        gate_case(&mut suites, "run", Outcome::Error(reason))?;
    }
    for (path, suite) in &files {
        let errors = suite.diagnostics.iter();
        for remark in errors.filter(|it| it.diagnostic.is_error()) {
            let reason = Reason::new(remark.diagnostic.code(), words::diagnostic(remark));
            let name = remark.diagnostic.predicate.as_deref();
            let case = Case {
                class: path,
                name: &format!("discovery of {}", name.unwrap_or("the file")),
                at: Some(At::new(path, words::diagnostic_line(remark))),
                time_ns: None,
                outcome: Outcome::Error(reason),
                output: String::new(),
            };
            suites.case(path, &case)?;
        }
        for record in &suite.records {
            let case = Case {
                class: path,
                name: &record.qualified_name,
                at: Some(At::new(path, Some(record.declared.line as u64))),
                time_ns: timings.then_some(record.cost.cpu_ns),
                outcome: outcome(record),
                output: output(record),
            };
            suites.case(path, &case)?;
        }
        for skip in &suite.skipped {
            let case = Case {
                class: path,
                name: &skip.qualified_name,
                at: Some(At::new(path, Some(skip.declared.line as u64))),
                time_ns: None,
                outcome: Outcome::Skipped(skip.reason.to_string()),
                output: String::new(),
            };
            suites.case(path, &case)?;
        }
    }
    suites.finish()
}

fn gate_case<W: Write>(suites: &mut Suites<W>, name: &str, outcome: Outcome) -> io::Result<()> {
    let case = Case {
        class: GATE,
        name,
        at: None,
        time_ns: None,
        outcome,
        output: String::new(),
    };
    suites.case(GATE, &case)
}

fn outcome(record: &GateRecord) -> Outcome {
    let verdict = &record.result.verdict;
    let reason = || {
        let mut message = words::reason(verdict);
        if let Some(help) = words::remediation(&record.result, record) {
            let _ = write!(message, "\nhelp: {help}");
        }
        Reason::new(words::code(verdict), message)
    };
    match record.outcome() {
        GateOutcome::Block if words::is_unjudged(verdict) => Outcome::Error(reason()),
        GateOutcome::Block | GateOutcome::RequireApproval => Outcome::Failed(reason()),
        GateOutcome::Warn | GateOutcome::Allow if record.enforced => Outcome::Passed,
        _ => Outcome::Skipped(format!("not enforced: {}", words::reason(verdict))),
    }
}

/// All that is known of a case.
fn output(record: &GateRecord) -> String {
    let mut text = String::new();
    let verdict = &record.result.verdict;
    let _ = writeln!(text, "{}: {}", verdict.word(), words::reason(verdict));
    if !record.is_selected() {
        let own = &record.own.verdict;
        let (selected, said) = (&record.selected, words::reason(own));
        let _ = writeln!(
            text,
            "the result is that of `{selected}`; this said {}: {said}",
            own.word()
        );
    }
    if let (Verdict::RequireApproval { .. }, Some(by)) = (verdict, &record.approved_by) {
        let _ = writeln!(text, "approved by {by}");
    }
    let findings = record.findings();
    for finding in findings.iter().take(MOST) {
        let line = finding
            .line
            .map_or_else(String::new, |line| format!(":{line}"));
        let (path, said) = (
            finding.path.unwrap_or("-"),
            finding.message.unwrap_or_default(),
        );
        let _ = writeln!(text, "{path}{line}: {said}");
    }
    if findings.len() > MOST {
        let _ = writeln!(text, "{} more findings", findings.len() - MOST);
    }
    for piece in record.result.evidence.iter().take(MOST) {
        let _ = writeln!(text, "evidence: {}", words::evidence(piece));
    }
    let _ = writeln!(
        text,
        "{} fuel, {} attempts",
        record.cost.fuel, record.attempts
    );
    text
}
