//! Compiler and machine against the reference, over facts that are drawn.

use probity::check::Options;
use probity::code::{Program, decode, encode};
use probity::diagnostic::{Code, Diagnostic, Stage};
use probity::facts::FactTable;
use probity::lower::compile;
use probity::vm::{Truth, evaluate};

use super::bridge::{for_engine, of_engine};
use super::facts::value;
use super::input::{Input, predicate};
use crate::reference::tree::Expr;
use crate::reference::{self, Tri};

pub(crate) fn run(data: &[u8]) {
    let Some(input) = predicate(data) else {
        return;
    };
    let compiled = compile(input.language, input.source, Options::default());
    let parsed = reference::parse(input.v2, input.source);
    match (compiled, parsed) {
        (Err(_), Err(_)) => {}
        (Ok(program), Ok(expr)) => agree(&input, &program, &expr),
        (Err(error), Ok(expr)) => refused(&input, &error.diagnostics, &expr),
        (Ok(_), Err(error)) => panic!("{:?} compiles, reference: {error:?}", input.source),
    }
}

/// The machine and the reference come to the same, as does the machine with a
/// program that went through its bytes.
fn agree(input: &Input<'_>, program: &Program, expr: &Expr) {
    let wanted = reference::evaluate(expr, &mut |fact| value(input.seed, fact));
    let table = table(input.seed, program);
    assert_eq!(truth(program, &table), wanted, "{:?}", input.source);
    let loaded = decode(&encode(program)).expect("what was encoded can be decoded");
    assert_eq!(truth(&loaded, &table), wanted, "{:?}, loaded", input.source);
}

/// Only what is vacuous may be refused, and then it has one value in all worlds.
fn refused(input: &Input<'_>, diagnostics: &[Diagnostic], expr: &Expr) {
    let errors: Vec<Code> = diagnostics
        .iter()
        .filter(|found| found.is_error())
        .map(|found| found.code)
        .collect();
    let vacuous = errors.iter().all(|code| code.stage() == Stage::Vacuous);
    assert!(vacuous, "{:?}: {errors:?}", input.source);
    if errors.contains(&Code::VacuityUndecided) {
        return;
    }
    let worlds = (0..=u8::MAX).map(|seed| reference::evaluate(expr, &mut |fact| value(seed, fact)));
    let known: Vec<Tri> = worlds
        .filter(|truth| !matches!(truth, Tri::Unknown(_)))
        .collect();
    let differs = known.windows(2).any(|pair| pair[0] != pair[1]);
    assert!(!differs, "{:?} is called vacuous", input.source);
}

fn table(seed: u8, program: &Program) -> FactTable {
    let mut table = FactTable::new();
    for (number, fact) in program.facts().iter().enumerate() {
        table.set(number, for_engine(value(seed, &of_engine(&fact.key))));
    }
    table
}

fn truth(program: &Program, table: &FactTable) -> Tri {
    match evaluate(program, table) {
        Truth::True => Tri::True,
        Truth::False => Tri::False,
        Truth::Unknown(cause) => Tri::Unknown(cause.reason(table).code.name().to_owned()),
    }
}
