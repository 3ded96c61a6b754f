//! Properties over generated input.

use std::path::Path;

use proptest::prelude::*;

use crate::engine::{OverFacts, OverWorkspace};
use crate::generate::{known_predicates, predicates, sought};
use crate::judge::{Answer, Judge, Question, Reference};
use crate::reference::{self, FactValue, Stage, Tri, Verdict};
use crate::workspace::Workspace;

proptest! {
    #[test]
    fn whatever_is_generated_is_well_typed(given in predicates()) {
        let parsed = reference::parse(given.v2, &given.source);
        prop_assert!(parsed.is_ok(), "{}: {parsed:?}", given.source);
    }

    #[test]
    fn v2_reads_v1_as_v1_does(given in predicates()) {
        // But for paths that are globs in v2.
        if !given.v2 {
            let v1 = reference::parse(false, &given.source);
            prop_assert_eq!(v1, reference::parse(true, &given.source));
        }
    }

    #[test]
    fn what_is_called_constant_is(given in known_predicates()) {
        let expr = reference::parse(given.v2, &given.source).expect("it is well typed");
        let truth = reference::evaluate(&expr, &mut |fact| {
            let known = given.facts.iter().find(|(known, _)| known == fact);
            known.map(|(_, value)| value.clone()).expect("every call has a value")
        });
        match reference::constant(&expr) {
            Some(true) => prop_assert_eq!(truth, Tri::True),
            Some(false) => prop_assert_eq!(truth, Tri::False),
            None => prop_assert!(!matches!(truth, Tri::Unknown(_))),
        }
    }

    #[test]
    fn an_unknown_fact_never_turns_a_verdict_round(given in known_predicates(), hidden in any::<u64>()) {
        let expr = reference::parse(given.v2, &given.source).expect("it is well typed");
        let truth = |hidden: u64| reference::evaluate(&expr, &mut |fact| {
            let at = given.facts.iter().position(|(known, _)| known == fact);
            let at = at.expect("every call has a value");
            if hidden >> at & 1 == 1 {
                return FactValue::Unknown("read_error".to_owned());
            }
            given.facts[at].1.clone()
        });
        let less = truth(hidden);
        prop_assert!(less == truth(0) || less == Tri::Unknown("read_error".to_owned()));
    }
}

/// Holds a judge against the reference. Which predicates are vacuous is for the
/// suites and the fuzz targets to say: each finds some that the other does not.
fn agrees(judge: &dyn Judge, question: Question<'_>) -> Result<(), TestCaseError> {
    let answer = judge.judge(question);
    let wanted = Reference.judge(question);
    match (&answer, &wanted) {
        (Answer::Invalid(Stage::Vacuous, _), _) | (_, Answer::Invalid(Stage::Vacuous, _)) => {}
        (Answer::Invalid(stage, _), Answer::Invalid(wanted, _)) => prop_assert_eq!(stage, wanted),
        _ => prop_assert_eq!(&answer, &wanted, "{}: {}", judge.name(), question.source),
    }
    Ok(())
}

proptest! {
    #[test]
    fn the_engine_comes_to_what_the_reference_comes_to(given in predicates()) {
        agrees(&OverFacts, Question {
            v2: given.v2,
            source: &given.source,
            root: Path::new("."),
            facts: &given.facts,
        })?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn counts_and_reasons_are_those_of_the_reference(sought in sought()) {
        let workspace = Workspace::new(&sought.entries);
        let call = format!("(/{}/, \"{}\")", sought.pattern, sought.path);
        // Each comparison makes the scanner stop elsewhere.
        for comparison in ["== 0", ">= 1", "<= 2", "!= 3", "> 4"] {
            for (v2, primitive) in [(false, "grep"), (true, "count")] {
                let source = format!("{primitive}{call} {comparison}");
                agrees(&OverWorkspace, Question {
                    v2,
                    source: &source,
                    root: workspace.root(),
                    facts: &[],
                })?;
            }
        }
    }

    #[test]
    fn every_pattern_and_workspace_gives_a_count_or_a_reason(sought in sought()) {
        let workspace = Workspace::new(&sought.entries);
        let source = format!("grep(/{}/, \"{}\") >= 1", sought.pattern, sought.path);
        match reference::eval_in(workspace.root(), false, &source) {
            Verdict::Pass | Verdict::Fail => {}
            Verdict::Unevaluated(code) => prop_assert_eq!(code, "path_not_found"),
            Verdict::Invalid(error) => {
                prop_assert_ne!(error.stage, Stage::Parse, "{}: {}", source, error.message);
            }
        }
    }
}
