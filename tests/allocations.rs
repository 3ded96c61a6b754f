//! The hot path allocates nothing. A binary of its own, since it counts every
//! allocation of the process.

use std::alloc::System;

use probity::Language;
use probity::check::Options;
use probity::code::Arena;
use probity::facts::{FactTable, FactValue, Primitive, RunOutput};
use probity::lower::compile;
use probity::vm::{Truth, evaluate, evaluate_in};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

#[test]
fn evaluating_with_supplied_facts_allocates_nothing() {
    let source =
        r#"grep(/a/, "f") >= 4 && test("t").passed && run("c").stdout.contains("12 passed")"#;
    let program = compile(Language::ElenchV1, source, Options::default()).unwrap();
    let mut table = FactTable::with_len(program.facts().len());
    for (number, fact) in program.facts().iter().enumerate() {
        table.set(
            number,
            match fact.key.primitive() {
                Primitive::Run => FactValue::Run(RunOutput {
                    stdout: (*b"ok. 12 passed; 0 failed").into(),
                    ..RunOutput::default()
                }),
                Primitive::Test | Primitive::Exists => FactValue::Bool(true),
                Primitive::Grep | Primitive::Count => FactValue::Count {
                    count: 4,
                    exact: true,
                },
            },
        );
    }
    let mut arena = Arena::new();
    let linked = arena
        .link(&program, |fact| u32::try_from(fact).unwrap())
        .unwrap();

    let region = Region::new(ALLOCATOR);
    for count in 0..1000 {
        table.set(0, FactValue::Count { count, exact: true });
        let wanted = if count >= 4 {
            Truth::True
        } else {
            Truth::False
        };
        assert_eq!(evaluate(&program, &table), wanted);
        assert_eq!(evaluate_in(&arena, linked, &table), wanted);
    }
    let change = region.change();
    assert_eq!((change.allocations, change.reallocations), (0, 0));
}
