//! From a decided program to what reports say about it.

use std::sync::Arc;

use crate::batch::facts::Facts;
use crate::batch::{Evaluation, ShownFact, ShownValue, Verdict};
use crate::code::{FactSpec, Program};
use crate::diagnostic::Span;
use crate::facts::{Cell, Cost, RunOutput};
use crate::lower::CompileError;
use crate::reason::Reason;
use crate::vm::{Trace, Truth};

/// Most bytes of a command's output that a report shows.
const SHOWN_OUTPUT: usize = 400;

/// The evaluation of a program that is decided, or that no fact can decide any
/// more. `asked` holds the numbers of the facts that it asked for.
pub(super) fn judge(
    program: &Program,
    numbers: &[u32],
    asked: &[u32],
    trace: &Trace,
    facts: &Facts,
    exact: bool,
) -> Evaluation {
    let (verdict, reason) = match trace.truth {
        Truth::True => (Verdict::Pass, None),
        Truth::False => (Verdict::Fail, None),
        Truth::Unknown(cause) => (Verdict::Unevaluated, Some(cause.reason(&facts.table))),
    };
    let deciding = if verdict == Verdict::Pass {
        Vec::new()
    } else {
        deciding_spans(program, trace)
    };
    let facts_shown = program
        .facts()
        .iter()
        .zip(numbers)
        .map(|(spec, number)| {
            if asked.contains(number) {
                shown(spec, *number, facts, exact)
            } else {
                not_needed(spec)
            }
        })
        .collect();
    Evaluation {
        verdict,
        reason,
        diagnostics: program.warnings().to_vec(),
        predicate: program.shared_source(),
        deciding,
        facts: facts_shown,
        cost: Cost {
            fuel: program.fuel(),
            ..Cost::default()
        },
    }
}

/// The evaluation of a source that does not compile.
pub(super) fn refused(source: &str, error: CompileError) -> Evaluation {
    Evaluation {
        verdict: Verdict::Invalid,
        reason: None,
        diagnostics: error.diagnostics,
        predicate: source.into(),
        deciding: Vec::new(),
        facts: Vec::new(),
        cost: Cost::default(),
    }
}

/// Takes back a verdict that cost more than the predicate's fuel limit.
pub(super) fn over_budget(evaluation: &mut Evaluation, reason: Reason) {
    evaluation.verdict = Verdict::Unevaluated;
    evaluation.reason = Some(reason);
    evaluation.deciding = vec![Span::new(0, evaluation.predicate.len())];
}

fn shown(spec: &FactSpec, number: u32, facts: &Facts, exact: bool) -> ShownFact {
    ShownFact {
        value: shown_value(spec, number, facts, exact),
        places: facts.places(number).to_vec(),
        tests: facts.tests(number).to_vec(),
        reused: facts.is_reused(number),
        ..not_needed(spec)
    }
}

/// A fact that the program did not ask for, whoever else did.
fn not_needed(spec: &FactSpec) -> ShownFact {
    ShownFact {
        primitive: spec.key.primitive(),
        args: spec.key.shown_arguments(),
        value: ShownValue::NotNeeded,
        places: Vec::new(),
        tests: Vec::new(),
        reused: false,
    }
}

fn deciding_spans(program: &Program, trace: &Trace) -> Vec<Span> {
    let mut spans: Vec<Span> = trace
        .deciding()
        .into_iter()
        .filter_map(|at| program.spans().get(at).copied())
        .collect();
    spans.dedup();
    spans
}

/// A count is shown as far as this program needs it: the report does not depend
/// on what other programs of the batch made the source count.
fn shown_value(spec: &FactSpec, number: u32, facts: &Facts, exact: bool) -> ShownValue {
    let limit = if exact { None } else { spec.limit };
    match facts.table.cell(number) {
        Cell::Pending => ShownValue::NotNeeded,
        Cell::Unknown(reason) => match facts.table.reason(reason) {
            Some(reason) => ShownValue::Unknown(reason.clone()),
            None => ShownValue::NotNeeded,
        },
        Cell::Bool(value) => ShownValue::Bool(value),
        Cell::Int(count) => {
            let count = count.cast_unsigned();
            match limit {
                Some(limit) if count >= limit => ShownValue::AtLeast(limit),
                _ => ShownValue::Int(count),
            }
        }
        Cell::AtLeast(bound) => {
            let bound = bound.cast_unsigned();
            ShownValue::AtLeast(limit.map_or(bound, |limit| limit.min(bound)))
        }
        Cell::Run(run) => match facts.table.run(run) {
            Some(output) => shown_run(output),
            None => ShownValue::NotNeeded,
        },
    }
}

fn shown_run(output: &RunOutput) -> ShownValue {
    let start = |bytes: &[u8]| {
        let kept = &bytes[..bytes.len().min(SHOWN_OUTPUT)];
        let mut text = String::from_utf8_lossy(kept).into_owned();
        if kept.len() < bytes.len() {
            text.push('…');
        }
        text.into_boxed_str()
    };
    ShownValue::Run {
        exit: output.exit,
        stdout: start(&output.stdout),
        stderr: start(&output.stderr),
        isolation: Arc::clone(&output.isolation),
    }
}
