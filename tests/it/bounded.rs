//! Counting may stop where every comparison is decided.

use probity::Language;
use probity::check::Options;
use probity::facts::{FactTable, FactValue};
use probity::lower::compile;
use probity::vm::{Truth, evaluate};
use proptest::prelude::*;

use crate::generate::known_predicates;
use crate::reference::{self, Tri};
use crate::targets::bridge::{for_engine, of_engine};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn bounded_counts_decide_as_exact_ones_do(given in known_predicates()) {
        let language = if given.v2 { Language::ElenchV2 } else { Language::ElenchV1 };
        let options = Options { allow_vacuous: true };
        let program = compile(language, &given.source, options);
        prop_assume!(program.is_ok());
        let program = program.unwrap();
        let value = |fact: &reference::Fact| {
            let known = given.facts.iter().find(|(known, _)| known == fact);
            known.map(|(_, value)| value.clone()).unwrap()
        };
        let mut table = FactTable::new();
        for (number, spec) in program.facts().iter().enumerate() {
            let exact = for_engine(value(&of_engine(&spec.key)));
            table.set(number, match (exact, spec.limit) {
                (FactValue::Count { count, .. }, Some(limit)) if count >= limit => {
                    FactValue::Count { count: limit, exact: false }
                }
                (exact, _) => exact,
            });
        }
        let expr = reference::parse(given.v2, &given.source).unwrap();
        match reference::evaluate(&expr, &mut |fact| value(fact)) {
            Tri::True => prop_assert_eq!(evaluate(&program, &table), Truth::True),
            Tri::False => prop_assert_eq!(evaluate(&program, &table), Truth::False),
            Tri::Unknown(_) => prop_assert!(matches!(evaluate(&program, &table), Truth::Unknown(_))),
        }
    }
}
