//! The engine as a judge: over facts that the reference reads, and over the
//! workspace itself.

use std::sync::Arc;

use probity::batch::Verdict;
use probity::diagnostic::{self, Diagnostic};
use probity::facts::{CancelToken, Demand, FactSource, FetchStats, Fetched, WorkspaceSource};
use probity::files::Limits;
use probity::{Engine, Language};

use super::judge::{Answer, Judge, Question};
use super::targets::bridge::{for_engine, of_engine};
use crate::reference::{Fact, FactValue, Stage, fact_in};

/// Front end, compiler and machine; facts that the case does not supply come
/// from the reference.
pub(crate) struct OverFacts;

impl Judge for OverFacts {
    fn name(&self) -> &'static str {
        "engine over facts of the reference"
    }

    fn judge(&self, question: Question<'_>) -> Answer {
        let root = question.root.to_owned();
        over(question, move |fact, _| {
            for_engine(fact_in(&root, fact)).into()
        })
    }
}

/// The whole engine; facts that the case does not supply come from the
/// workspace.
pub(crate) struct OverWorkspace;

impl Judge for OverWorkspace {
    fn name(&self) -> &'static str {
        "engine over the workspace"
    }

    fn judge(&self, question: Question<'_>) -> Answer {
        let source = WorkspaceSource::open(question.root, Limits::default());
        let source = source.expect("the root can be opened");
        over(question, move |_, demand| {
            let (mut fetched, _) = source.fetch(&[*demand], &CancelToken::new());
            fetched.pop().expect("the source answers every demand")
        })
    }
}

/// A host that knows some facts and asks somebody about the others.
struct Host<F> {
    supplied: Vec<(Fact, FactValue)>,
    others: F,
}

impl<F> FactSource for Host<F>
where
    F: Fn(&Fact, &Demand<'_>) -> Fetched + Send + Sync,
{
    fn fetch(&self, demands: &[Demand<'_>], _: &CancelToken) -> (Vec<Fetched>, FetchStats) {
        let fetch = |demand: &Demand<'_>| {
            let fact = of_engine(demand.key);
            match self.supplied.iter().find(|(known, _)| *known == fact) {
                Some((_, value)) => for_engine(value.clone()).into(),
                None => (self.others)(&fact, demand),
            }
        };
        (demands.iter().map(fetch).collect(), FetchStats::default())
    }
}

fn over<F>(question: Question<'_>, others: F) -> Answer
where
    F: Fn(&Fact, &Demand<'_>) -> Fetched + Send + Sync + 'static,
{
    let host = Host {
        supplied: question.facts.to_vec(),
        others,
    };
    let engine = Engine::with_facts(Arc::new(host)).build();
    answer(&engine.expect("the engine can be made"), question)
}

fn answer(engine: &Engine, question: Question<'_>) -> Answer {
    let language = if question.v2 {
        Language::ElenchV2
    } else {
        Language::ElenchV1
    };
    let program = match engine.compile(language, question.source) {
        Ok(program) => program,
        Err(error) => return refused(&error.diagnostics),
    };
    let evaluation = engine
        .evaluate(&program)
        .expect("the source answers every demand");
    match evaluation.verdict {
        Verdict::Pass => Answer::Pass,
        Verdict::Fail => Answer::Fail,
        Verdict::Unevaluated => {
            let reason = evaluation
                .reason
                .expect("an unevaluated verdict has a reason");
            Answer::Unevaluated(reason.code.name().to_owned())
        }
        Verdict::Invalid | Verdict::Skipped => panic!("a program is judged"),
    }
}

fn refused(diagnostics: &[Diagnostic]) -> Answer {
    let errors = diagnostics.iter().filter(|found| found.is_error());
    let codes: Vec<_> = errors.map(|found| found.code).collect();
    let first = codes.first().expect("a refusal has an error");
    let stage = match first.stage() {
        diagnostic::Stage::Type => Stage::Type,
        diagnostic::Stage::Vacuous => Stage::Vacuous,
        _ => Stage::Parse,
    };
    Answer::Invalid(
        stage,
        codes.iter().map(|code| code.name().to_owned()).collect(),
    )
}
