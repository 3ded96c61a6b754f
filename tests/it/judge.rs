//! Who answers the cases: the reference, and whoever is held against it.

use std::path::Path;

use super::engine::{OverFacts, OverWorkspace};
use crate::reference::{self, Fact, FactValue, Stage, Verdict};

/// A predicate over a workspace, with the facts that the host supplies.
#[derive(Clone, Copy)]
pub(crate) struct Question<'a> {
    pub(crate) v2: bool,
    pub(crate) source: &'a str,
    pub(crate) root: &'a Path,
    pub(crate) facts: &'a [(Fact, FactValue)],
}

impl Question<'_> {
    /// The value of a fact that the host supplies.
    pub(crate) fn supplied(&self, fact: &Fact) -> Option<FactValue> {
        let given = self.facts.iter().find(|(given, _)| given == fact);
        given.map(|(_, value)| value.clone())
    }
}

/// What a judge came to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    Pass,
    Fail,
    /// With the reason code.
    Unevaluated(String),
    /// With the step that refused it, and the diagnostic codes of the errors if
    /// the judge knows codes.
    Invalid(Stage, Vec<String>),
}

impl Answer {
    /// The verdict as suites write it.
    pub(crate) fn verdict(&self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Unevaluated(_) => "unevaluated",
            Self::Invalid(..) => "invalid",
        }
    }
}

/// An evaluator that the suites drive.
pub(crate) trait Judge {
    /// The name in failure messages.
    fn name(&self) -> &'static str;

    /// The answer to a case.
    fn judge(&self, question: Question<'_>) -> Answer;
}

/// The slow and obvious evaluator.
pub(crate) struct Reference;

impl Judge for Reference {
    fn name(&self) -> &'static str {
        "reference"
    }

    fn judge(&self, question: Question<'_>) -> Answer {
        let verdict = reference::eval_with(question.v2, question.source, &mut |fact| {
            let supplied = question.supplied(fact);
            supplied.unwrap_or_else(|| reference::fact_in(question.root, fact))
        });
        match verdict {
            Verdict::Pass => Answer::Pass,
            Verdict::Fail => Answer::Fail,
            Verdict::Unevaluated(code) => Answer::Unevaluated(code),
            Verdict::Invalid(error) => Answer::Invalid(error.stage, Vec::new()),
        }
    }
}

/// Every judge that the suites run through.
pub(crate) fn judges() -> Vec<Box<dyn Judge>> {
    vec![
        Box::new(Reference),
        Box::new(OverFacts),
        Box::new(OverWorkspace),
    ]
}
