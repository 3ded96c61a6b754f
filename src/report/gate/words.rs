//! What people read of a run of the gate, whatever the format.

use std::fmt::Write as _;

use crate::flow::model::Evidence;
use crate::flow::{
    Approver, CeilingOutcome, GateDiagnostic, GateEntry, GateOutcome, GateRecord, GateReport,
    InvariantResult, Verdict,
};
use crate::report::level::Level;

/// That nothing was judged, and why; `None` if something was, or there are too many
/// predicates, which is told by itself.
pub(super) fn nothing(report: &GateReport) -> Option<&'static str> {
    if report.judged() || report.ceiling_outcome() == GateOutcome::Block {
        return None;
    }
    Some(match report.slice.files {
        0 if !report.allow_empty => {
            "the slice holds no files: nothing was judged; `--allow-empty` lets it pass"
        }
        _ => {
            "no predicates: nothing was judged; an `invariants.harn` at the root applies to \
             every slice"
        }
    })
}

/// Why a verdict is what it is.
pub(super) fn reason(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Allow => "passed".into(),
        Verdict::Warn { reason } => reason.clone(),
        Verdict::RequireApproval { approver } => format!("requires approval by {}", name(approver)),
        Verdict::Block { error } => format!("{}: {}", error.code, error.message),
    }
}

/// An approver as people read it.
fn name(approver: &Approver) -> String {
    match approver {
        Approver::Principal { id } => id.clone(),
        Approver::Role { name } => format!("role {name}"),
    }
}

/// A stable word for a verdict: the code of a block, else its kind.
pub(super) fn code(verdict: &Verdict) -> &str {
    match verdict {
        Verdict::Allow => "allow",
        Verdict::Warn { .. } => "warn",
        Verdict::RequireApproval { .. } => "approval_required",
        Verdict::Block { error } => &error.code,
    }
}

/// What to do about a result, unless its reason says so already.
pub(super) fn remediation<'r>(
    result: &'r InvariantResult,
    source: &'r GateRecord,
) -> Option<&'r str> {
    let raw = || source.raw.as_ref()?.get("remediation")?.as_str();
    let typed = result.remediation.as_ref();
    let text = typed.map(|it| &*it.description).or_else(raw)?;
    let is_reason = match &result.verdict {
        Verdict::Warn { reason } => reason == text,
        Verdict::Block { error } => error.message == text,
        _ => false,
    };
    (!is_reason && !text.trim().is_empty()).then_some(text)
}

/// A piece of evidence.
pub(super) fn evidence(evidence: &Evidence) -> String {
    match evidence {
        Evidence::AtomPointer { atom, diff_span } => {
            format!("atom {atom}, {}..{}", diff_span.start, diff_span.end)
        }
        Evidence::MetadataPath {
            directory,
            namespace,
            key,
        } => format!("metadata of {directory}: {namespace}.{key}"),
        Evidence::TranscriptExcerpt {
            transcript_id,
            span,
        } => format!("transcript {transcript_id}, {}..{}", span.start, span.end),
        Evidence::ExternalCitation {
            url,
            quote,
            fetched_at,
        } => format!("{url} \"{quote}\" ({fetched_at})"),
    }
}

/// Where the result of an entry is declared, like `src/invariants.harn:12`.
pub(super) fn declared(record: &GateRecord) -> String {
    format!("{}:{}", record.declared.path, record.declared.line)
}

/// For which other predicates a result counts, and what they said themselves; empty if
/// for none.
pub(super) fn composition(entry: &GateEntry<'_>, most: usize) -> String {
    let source = &entry.source.qualified_name;
    let others = entry.counts_for.iter();
    let others: Vec<_> = others
        .filter(|record| record.qualified_name != *source)
        .collect();
    let mut text = String::new();
    for (position, other) in others.iter().take(most).enumerate() {
        let comma = if position == 0 { "" } else { ", " };
        let (name, declared) = (&other.qualified_name, declared(other));
        let own = &other.own.verdict;
        let _ = write!(
            text,
            "{comma}`{name}` ({declared}), which said {}",
            own.word()
        );
        if !matches!(own, Verdict::Allow) {
            let _ = write!(text, ": {}", reason(own));
        }
    }
    if others.len() > most {
        let _ = write!(text, " and {} more", others.len() - most);
    }
    text
}

/// Who approved, if the verdict asks for it and somebody did.
pub(super) fn approved_by<'r>(entry: &GateEntry<'r>) -> Option<&'r str> {
    let mut approvals = entry.counts_for.iter().map(|it| it.approved_by.as_deref());
    let first = approvals.next()??;
    approvals.all(|other| other.is_some()).then_some(first)
}

/// How much an entry weighs; `None` if it needs no words.
pub(super) fn level(entry: &GateEntry<'_>) -> Option<Level> {
    match entry.outcome() {
        GateOutcome::Block | GateOutcome::RequireApproval => Some(Level::Error),
        GateOutcome::Warn => Some(Level::Warning),
        GateOutcome::Allow if matches!(entry.result.verdict, Verdict::Allow) => None,
        // What is not enforced.
        GateOutcome::Allow => Some(Level::Note),
    }
}

/// What the ceiling says, if it is exceeded.
pub(super) fn ceiling(report: &GateReport) -> Option<(Level, String)> {
    let CeilingOutcome::Exceeded(violation) = &report.ceiling else {
        return None;
    };
    let mut text = violation.to_string();
    if let Some(approval) = &report.ceiling_approval {
        let _ = write!(text, "; requires approval by {}", approval.wanted);
        if let Some(by) = &approval.given_by {
            let _ = write!(text, ", approved by {by}");
        }
    }
    let level = match report.ceiling_outcome() {
        GateOutcome::Block | GateOutcome::RequireApproval => Level::Error,
        GateOutcome::Warn | GateOutcome::Allow => Level::Warning,
    };
    Some((level, text))
}

/// How much a remark of discovery weighs.
pub(super) fn diagnostic_level(diagnostic: &GateDiagnostic) -> Level {
    match diagnostic.diagnostic.is_error() {
        true => Level::Error,
        false => Level::Warning,
    }
}

/// The line of a remark of discovery.
pub(super) fn diagnostic_line(diagnostic: &GateDiagnostic) -> Option<u64> {
    diagnostic.diagnostic.place.map(|place| place.line as u64)
}

/// What a remark of discovery says, with the hint of the compiler.
pub(super) fn diagnostic(diagnostic: &GateDiagnostic) -> String {
    let remark = &diagnostic.diagnostic;
    let mut text = String::from(&*remark.message);
    let problem = remark.problem.as_ref();
    if let Some(help) = problem.and_then(|problem| problem.help.as_ref()) {
        let _ = write!(text, "\nhelp: {help}");
    }
    text
}

/// What the gate says, in a word.
pub(super) const fn outcome(outcome: GateOutcome) -> &'static str {
    match outcome {
        GateOutcome::Allow => "allowed",
        GateOutcome::Warn => "allowed with warnings",
        GateOutcome::RequireApproval => "approval required",
        GateOutcome::Block => "blocked",
    }
}

/// How many records came to what.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    pub(super) allow: u64,
    pub(super) warn: u64,
    pub(super) require_approval: u64,
    pub(super) block: u64,
    pub(super) not_enforced: u64,
}

impl Tally {
    pub(super) fn of(report: &GateReport) -> Self {
        let mut tally = Self::default();
        for record in &report.records {
            *match &record.result.verdict {
                _ if !record.enforced => &mut tally.not_enforced,
                Verdict::Allow => &mut tally.allow,
                Verdict::Warn { .. } => &mut tally.warn,
                Verdict::RequireApproval { .. } => &mut tally.require_approval,
                Verdict::Block { .. } => &mut tally.block,
            } += 1;
        }
        tally
    }
}

/// The run in one line.
pub(super) fn summary(report: &GateReport) -> String {
    let tally = Tally::of(report);
    let mut text = format!("{}: ", outcome(report.outcome()));
    if !report.judged() {
        text = "nothing was judged: ".into();
    }
    let count = report.records.len();
    let plural = if count == 1 { "" } else { "s" };
    let _ = write!(
        text,
        "{count} predicate{plural}, {} allow, {} warn, {} require approval, {} block",
        tally.allow, tally.warn, tally.require_approval, tally.block
    );
    for (count, what) in [
        (tally.not_enforced, "not enforced"),
        (report.skipped.len() as u64, "skipped"),
    ] {
        if count > 0 {
            let _ = write!(text, ", {count} {what}");
        }
    }
    let errors = report.diagnostics.iter();
    let errors = errors.filter(|it| it.diagnostic.is_error()).count();
    if errors > 0 {
        let plural = if errors == 1 { "" } else { "s" };
        let _ = write!(text, "; {errors} error{plural} in predicate files");
    }
    if report.interrupted {
        text.push_str("; stopped before the end");
    }
    text
}

/// True if a block says that the predicate could not be judged, not that it found
/// something.
pub(super) fn is_unjudged(verdict: &Verdict) -> bool {
    const CODES: [&str; 8] = [
        "budget_exceeded",
        "cancelled",
        "evidence_missing",
        "invalid_predicate_result",
        "llm_unavailable",
        "nondeterministic_drift",
        "result_hash_failed",
        "side_effect_denied",
    ];
    verdict.code().is_some_and(|code| {
        CODES.contains(&code) || code.starts_with("predicate_") || code.starts_with("fallback_")
    })
}
