//! The vacuity analysis against every world there is, for small predicates.

use bumpalo::Bump;
use proptest::prelude::*;

use super::typed::{TBool, TBoolKind, TInt, TIntKind};
use super::{Options, check};
use crate::Language::ElenchV2;
use crate::diagnostic::{Code, Diagnostic};

/// What the three facts of the generated predicates are.
#[derive(Clone, Copy)]
struct World {
    exists: bool,
    lines: i64,
    exit: i64,
}

fn every_world() -> impl Iterator<Item = World> {
    // The constants are 0 to 4 and i32::MAX; these are the values around them.
    let lines = [0, 1, 2, 3, 4, 5, i64::from(i32::MAX), i64::MAX];
    let exits = [
        i64::from(i32::MIN),
        -1,
        0,
        1,
        2,
        3,
        4,
        5,
        i64::from(i32::MAX),
    ];
    [false, true].into_iter().flat_map(move |exists| {
        lines.into_iter().flat_map(move |lines| {
            exits.into_iter().map(move |exit| World {
                exists,
                lines,
                exit,
            })
        })
    })
}

fn holds(node: &TBool<'_>, world: World) -> bool {
    match node.kind {
        TBoolKind::Const(value) => value,
        TBoolKind::Not(inner) => !holds(inner, world),
        TBoolKind::And(operands) => operands.iter().all(|each| holds(each, world)),
        TBoolKind::Or(operands) => operands.iter().any(|each| holds(each, world)),
        TBoolKind::Exists(_) => world.exists,
        TBoolKind::CompareInt(op, left, right) => op.holds(int(&left, world), int(&right, world)),
        TBoolKind::EqualBool {
            negated,
            left,
            right,
        } => (holds(left, world) == holds(right, world)) != negated,
        _ => unreachable!("not generated"),
    }
}

fn int(term: &TInt<'_>, world: World) -> i64 {
    match term.kind {
        TIntKind::Const(value) => value,
        TIntKind::Exit(_) => world.exit,
        _ => world.lines,
    }
}

fn predicate() -> impl Strategy<Value = String> {
    let constant = prop::sample::select(vec!["-1", "0", "1", "2", "3", "4", "2147483647"]);
    let fact = prop::sample::select(vec!["grep(/x/, \"f\")", "run(\"x\").exit"]);
    let op = prop::sample::select(vec!["==", "!=", "<", "<=", ">", ">="]);
    let atom = prop_oneof![
        Just("exists(\"a\")".to_owned()),
        Just("true".to_owned()),
        (fact.clone(), op.clone(), constant.clone()).prop_map(|(f, o, c)| format!("{f} {o} {c}")),
        (constant, op, fact).prop_map(|(c, o, f)| format!("{c} {o} {f}")),
    ];
    atom.prop_recursive(4, 12, 3, |inner| {
        let many = prop::collection::vec(inner.clone(), 2..4);
        prop_oneof![
            many.clone()
                .prop_map(|all| format!("({})", all.join(" && "))),
            many.prop_map(|any| format!("({})", any.join(" || "))),
            inner.clone().prop_map(|one| format!("!({one})")),
            (inner.clone(), inner).prop_map(|(a, b)| format!("(({a}) == ({b}))")),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn vacuous_is_what_every_world_agrees_on(source in predicate()) {
        let arena = Bump::new();
        let lenient = Options { allow_vacuous: true };
        let checked = check(ElenchV2, &source, &arena, lenient).unwrap();
        let first = every_world().next().unwrap();
        let wanted = holds(checked.root, first);
        let constant = every_world().all(|world| holds(checked.root, world) == wanted);
        let said = checked.warnings.iter().any(|warning| warning.code == Code::Vacuous);
        prop_assert_eq!(said, constant, "{}", source);
    }
}

fn verdict(source: &str) -> Option<Code> {
    let arena = Bump::new();
    check(ElenchV2, source, &arena, Options::default())
        .err()
        .and_then(|all| all.into_iter().find(Diagnostic::is_error))
        .map(|error| error.code)
}

#[test]
fn tautologies_and_contradictions() {
    for source in [
        "true",
        "1 == 1",
        "\"a\" == \"b\"",
        "\"abc\".contains(\"b\")",
        "grep(/x/, \"f\") >= 0",
        "grep(/x/, \"f\") < 0",
        "grep(/x/, \"f\") <= 9223372036854775807",
        "run(\"x\").exit <= 2147483647",
        "exists(\"a\") || true",
        "exists(\"a\") && false",
        "exists(\"a\") || !exists(\"a\")",
        "exists(\"a\") == exists(\"a\")",
        "run(\"x\").exit == 0 || run(\"x\").exit != 0",
        "grep(/x/, \"f\") >= 5 && grep(/x/, \"f\") <= 3",
        "grep(/x/, \"f\") >= 1 || grep(/x/, \"f\") == 0",
        "grep(/x/, \"f\") == grep(/x/, \"f\")",
        "run(\"x\").stdout == run(\"x\").stdout",
        "run(\"x\").stdout.contains(\"\")",
        "run(\"x\").stdout.contains(\"a\") || !run(\"x\").stdout.contains(\"a\")",
        "run(\"x\").stdout == \"a\" || run(\"x\").stdout != \"a\"",
        "\"abc\".matches(/b/) || exists(\"a\")",
        "test(\"a\").passed || !test(\"a\").passed",
    ] {
        assert_eq!(verdict(source), Some(Code::Vacuous), "{source}");
    }
}

#[test]
fn what_the_world_decides() {
    for source in [
        "exists(\"a\") || !exists(\"b\")",
        "grep(/x/, \"f\") >= 1 && grep(/x/, \"f\") <= 3",
        "grep(/x/i, \"f\") >= 1 || grep(/x/, \"f\") == 0",
        "run(\"x\").stdout.contains(\"a\") || !run(\"x\").stderr.contains(\"a\")",
        "run(\"x\").exit == 0 || run(\"y\").exit != 0",
        "grep(/x/, \"f\") > grep(/y/, \"f\")",
        "exists(\"a\") == true",
    ] {
        assert_eq!(verdict(source), None, "{source}");
    }
}

#[test]
fn too_many_cases_are_not_let_through() {
    // Pigeons: each of five in one of four holes, no two in the same.
    let name = |pigeon: usize, hole: usize| format!("exists(\"{pigeon}-{hole}\")");
    let mut clauses: Vec<String> = (0..5)
        .map(|pigeon| {
            let holes: Vec<_> = (0..4).map(|hole| name(pigeon, hole)).collect();
            format!("({})", holes.join(" || "))
        })
        .collect();
    for hole in 0..4 {
        for a in 0..5 {
            for b in a + 1..5 {
                clauses.push(format!("!({} && {})", name(a, hole), name(b, hole)));
            }
        }
    }
    let small = clauses.join(" && ");
    assert!(matches!(
        verdict(&small),
        Some(Code::Vacuous | Code::VacuityUndecided)
    ));
    // A literal matched with a pattern too large to try.
    let large = "\"a\".matches(/\\w{999}|a/) || exists(\"a\")";
    assert_eq!(verdict(large), Some(Code::VacuityUndecided));
}
