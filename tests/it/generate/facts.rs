//! The calls that generated predicates are made of, and values for them.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use crate::reference::{Fact, FactValue, Output, parse_call};

/// Few calls, so that a predicate often makes the same one twice.
const EXISTS: &[&str] = &[r#"exists("a")"#, r#"exists("b/c")"#, r#"exists("../x")"#];
const COUNTS: &[&str] = &[
    r#"grep(/x/, "a")"#,
    r#"grep("x", "a")"#,
    r#"grep(/x|y/, "a")"#,
    r#"grep(/\/\d+/, "b/")"#,
];
const COUNTS_OF_V2: &[&str] = &[
    r#"count(/x/, "a")"#,
    r#"count(/x/i, "a")"#,
    r#"grep(/x/i, "a")"#,
    r#"grep(/x/, "b/**/*.rs")"#,
];
const TESTS: &[&str] = &[r#"test("t")"#, r#"test("m::u")"#];
const RUNS: &[&str] = &[r#"run("c")"#, r#"run("d -e 'f g'")"#];
const REASONS: &[&str] = &["path_not_found", "test_not_found", "command_not_allowed"];
const OUTPUTS: &[&str] = &["", "a", "ab", "b\n", "a\nb\n", "é\r\n", " ab ", "12\n"];

/// A call of each kind as the language writes it.
pub(super) fn exists() -> BoxedStrategy<String> {
    one_of(EXISTS)
}

pub(super) fn count(v2: bool) -> BoxedStrategy<String> {
    if v2 {
        prop_oneof![one_of(COUNTS), one_of(COUNTS_OF_V2)].boxed()
    } else {
        one_of(COUNTS)
    }
}

pub(super) fn test() -> BoxedStrategy<String> {
    one_of(TESTS)
}

pub(super) fn run() -> BoxedStrategy<String> {
    one_of(RUNS)
}

fn one_of(calls: &'static [&'static str]) -> BoxedStrategy<String> {
    select(calls).prop_map(str::to_owned).boxed()
}

/// A value for every call above, one in four unknown and one in four outputs
/// cut; with `known`, none.
pub(super) fn table(known: bool) -> BoxedStrategy<Vec<(Fact, FactValue)>> {
    let bools = any::<bool>().prop_map(FactValue::Bool).boxed();
    let counts = prop_oneof![0..5_u64, Just(i64::MAX.cast_unsigned())];
    let counts = counts.prop_map(FactValue::Count).boxed();
    let runs = output(known).prop_map(FactValue::Run).boxed();
    let of = |calls: &[&'static str], value: &BoxedStrategy<FactValue>| -> Vec<_> {
        let row = |call: &&'static str| (Just(*call), settled(known, value.clone()));
        calls.iter().map(row).collect()
    };
    let rows = [
        of(EXISTS, &bools),
        of(COUNTS, &counts),
        of(COUNTS_OF_V2, &counts),
        of(TESTS, &bools),
        of(RUNS, &runs),
    ];
    rows.concat().prop_map(distinct).boxed()
}

fn settled(known: bool, value: BoxedStrategy<FactValue>) -> BoxedStrategy<FactValue> {
    if known {
        return value;
    }
    let unknown = select(REASONS).prop_map(|code| FactValue::Unknown(code.to_owned()));
    prop_oneof![3 => value, 1 => unknown].boxed()
}

/// Two ways to write a call are one fact.
fn distinct(rows: Vec<(&str, FactValue)>) -> Vec<(Fact, FactValue)> {
    let mut table: Vec<(Fact, FactValue)> = Vec::new();
    for (call, value) in rows {
        let fact = parse_call(true, call).expect("the calls parse");
        if table.iter().all(|(known, _)| *known != fact) {
            table.push((fact, value));
        }
    }
    table
}

fn output(known: bool) -> BoxedStrategy<Output> {
    let text = vec(select(OUTPUTS), 0..3).prop_map(|parts| parts.concat().into_bytes());
    let cut = (0..4_u8).prop_map(move |roll| !known && roll == 0);
    (-1..4_i64, text.clone(), text, cut.clone(), cut)
        .prop_map(
            |(exit, stdout, stderr, stdout_truncated, stderr_truncated)| Output {
                exit,
                stdout,
                stderr,
                stdout_truncated,
                stderr_truncated,
            },
        )
        .boxed()
}
