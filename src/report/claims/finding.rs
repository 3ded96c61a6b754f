//! What is to be said about a claim.

use std::fmt::Write as _;

use crate::batch::{ClaimResult, Evaluation, Origin, Summary, Verdict};
use crate::diagnostic::Diagnostic;
use crate::facts::Place;
use crate::report::level::{At, Level};
use crate::report::{Counts, Job, Totals, escape, facts, hints};

/// The rule of claims that are false.
pub(super) const FALSE: &str = "claim_failed";

/// The rule of warnings that have no code of their own.
const NO_CODE: &str = "invalid";

/// Most facts that a message tells of.
const MOST_FACTS: usize = 20;

/// Most characters of a predicate in a message.
const PREDICATE: usize = 1000;

/// One remark on a claim.
pub(super) struct Finding {
    /// The stable code: [`FALSE`], or why it could not be judged, or of a diagnostic.
    pub(super) rule: &'static str,
    /// How much it weighs. What could not be judged weighs as much as what is false.
    pub(super) level: Level,
    /// In words, over several lines.
    pub(super) message: String,
    /// What to do about all of its rule.
    pub(super) help: Option<&'static str>,
}

/// All remarks on a claim.
pub(super) fn findings(result: &ClaimResult, job: Job) -> Vec<Finding> {
    let mut findings = Vec::new();
    let verdict = match job {
        Job::Check => result.verdict,
        Job::Lint => Verdict::Skipped,
    };
    if let Verdict::Fail | Verdict::Unevaluated | Verdict::Invalid = verdict {
        findings.push(judged(result));
    }
    // An invalid claim was told of already, with all that is wrong with it.
    if verdict == Verdict::Invalid {
        return findings;
    }
    findings.extend(diagnostics(result).map(|diagnostic| Finding {
        rule: diagnostic.code.name(),
        level: match diagnostic.is_error() {
            true => Level::Error,
            false => Level::Warning,
        },
        message: remark(diagnostic),
        help: None,
    }));
    findings
}

/// What a claim that did not pass came to.
fn judged(result: &ClaimResult) -> Finding {
    let evaluation = result.evaluation.as_deref();
    let name = name(result);
    let mut message = match result.verdict {
        Verdict::Fail => format!("claim {name} is false"),
        verdict => format!("claim {name} is {}", verdict.name()),
    };
    if let (Some(code), Verdict::Unevaluated | Verdict::Invalid) = (result.code, result.verdict) {
        let _ = write!(message, ": {code}");
    }
    if let Some(detail) = &result.detail {
        let _ = write!(message, ": {detail}");
    }
    if let Some(evaluation) = evaluation {
        let _ = write!(message, "\n{}", escape(&evaluation.predicate, PREDICATE));
        facts_of(&mut message, evaluation);
    }
    if result.verdict == Verdict::Invalid {
        for diagnostic in diagnostics(result) {
            let _ = write!(message, "\n{}", remark(diagnostic));
        }
    }
    let reason = evaluation.and_then(|evaluation| evaluation.reason.as_ref());
    Finding {
        rule: match result.verdict {
            Verdict::Fail => FALSE,
            _ => result.code.unwrap_or(NO_CODE),
        },
        level: Level::Error,
        message,
        help: reason.map(|reason| hints::hint(reason.code)),
    }
}

/// The facts that a claim was decided by, a line each.
pub(super) fn facts_of(text: &mut String, evaluation: &Evaluation) {
    let shown = evaluation.facts.iter().filter_map(|fact| {
        let line = facts::fact(fact)?;
        Some((line, fact))
    });
    for (line, fact) in shown.take(MOST_FACTS) {
        let _ = write!(text, "\n{line}");
        if !fact.places.is_empty() {
            let _ = write!(text, ", found at {}", facts::places(&fact.places));
        }
    }
}

/// A diagnostic in words.
fn remark(diagnostic: &Diagnostic) -> String {
    let mut text = format!("{}: {}", diagnostic.code.name(), diagnostic.message);
    if let Some(help) = &diagnostic.help {
        let _ = write!(text, "\nhelp: {help}");
    }
    text
}

fn diagnostics(result: &ClaimResult) -> impl Iterator<Item = &Diagnostic> {
    let evaluation = result.evaluation.as_deref();
    let predicate = evaluation.map_or(&[][..], |evaluation| &evaluation.diagnostics);
    result.record_diagnostics.iter().chain(predicate)
}

/// The id of a claim, or where it stands.
pub(super) fn name(result: &ClaimResult) -> String {
    match &result.id {
        Some(id) => id.to_string(),
        None => result.source.to_string(),
    }
}

/// Where a claim stands, unless it came on standard input or on the command line.
pub(super) fn at(origin: &Origin) -> Option<At<'_>> {
    let is_file = !matches!(&*origin.input, "" | "-" | "-e");
    is_file.then(|| At::new(&origin.input, origin.line.filter(|line| *line > 0)))
}

/// Where the facts of a claim were found, as far as it was asked for.
pub(super) fn places(result: &ClaimResult) -> impl Iterator<Item = &Place> {
    let evaluation = result.evaluation.as_deref();
    let facts = evaluation.map_or(&[][..], |evaluation| &evaluation.facts);
    facts.iter().flat_map(|fact| &fact.places)
}

/// What went wrong around the claims: a code, and words.
pub(super) fn troubles(totals: &Totals<'_>) -> Vec<(&'static str, String)> {
    let mut troubles = Vec::new();
    for failure in totals.failures {
        let text = format!("cannot read `{}`: {}", failure.input, failure.error);
        troubles.push(("unreadable_input", text));
    }
    let (nothing, interrupted) = match totals.counts {
        Counts::Check(summary) => (judged_none(summary), summary.interrupted),
        Counts::Lint(lint) => (lint.records == lint.skipped, lint.interrupted),
    };
    if nothing {
        troubles.push(("nothing_checked", "no claims: nothing was checked".into()));
    }
    if interrupted {
        let text = "stopped before the end: this is what was decided so far";
        troubles.push(("interrupted", text.into()));
    }
    troubles
}

/// True if there was nothing but annotations, or nothing at all.
fn judged_none(summary: &Summary) -> bool {
    summary.records == summary.count(Verdict::Skipped)
}

/// The run in one line.
pub(super) fn summary(totals: &Totals<'_>) -> String {
    match totals.counts {
        Counts::Check(summary) => {
            let mut text = format!("{} claims", summary.records);
            for (position, verdict) in Verdict::ALL.into_iter().enumerate() {
                let separator = if position == 0 { ':' } else { ',' };
                let _ = write!(
                    text,
                    "{separator} {} {}",
                    summary.count(verdict),
                    verdict.name()
                );
            }
            text
        }
        Counts::Lint(lint) => format!(
            "{} records: {} clean, {} with warnings, {} with errors, {} skipped",
            lint.records, lint.clean, lint.warned, lint.refused, lint.skipped
        ),
    }
}
