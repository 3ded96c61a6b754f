//! Properties over generated input.

use proptest::prelude::*;

use crate::generate::{known_predicates, predicates, sought};
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

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

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
