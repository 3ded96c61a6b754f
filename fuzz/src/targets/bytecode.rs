//! The program loader on arbitrary bytes: an error, or a program that runs.

use std::hint::black_box;

use probity::check::Options;
use probity::code::{Program, decode, encode, listing};
use probity::facts::FactTable;
use probity::lower::compile;
use probity::vm::{Trace, evaluate};

use super::bridge::{for_engine, of_engine};
use super::facts::value;
use super::input::predicate;

/// Bytes that begin with the magic of a program are loaded as they are. Others
/// are a predicate and, behind a NUL, edits of its program: two bytes for the
/// place and one to put there.
pub(crate) fn run(data: &[u8]) {
    if data.starts_with(b"PRBY") {
        return load(data);
    }
    let nul = data
        .iter()
        .position(|byte| *byte == 0)
        .unwrap_or(data.len());
    let (head, edits) = data.split_at(nul);
    let Some(input) = predicate(head) else {
        return;
    };
    let options = Options {
        allow_vacuous: true,
    };
    let Ok(program) = compile(input.language, input.source, options) else {
        return;
    };
    let mut bytes = encode(&program);
    for edit in edits.get(1..).unwrap_or_default().chunks_exact(3) {
        let at = usize::from(u16::from_le_bytes([edit[0], edit[1]])) % bytes.len();
        bytes[at] = edit[2];
    }
    load(&bytes);
}

fn load(bytes: &[u8]) {
    let Ok(program) = decode(bytes) else {
        return;
    };
    // What is loaded can be listed, run over facts of any kind, and stored.
    black_box(listing(&program));
    let facts = program.facts();
    for shift in 0..3 {
        let mut table = FactTable::with_len(facts.len());
        for (number, _) in facts.iter().enumerate() {
            // With a shift the facts have the types of other facts.
            let other = &facts[(number + shift) % facts.len()];
            table.set(number, for_engine(value(b'1', &of_engine(&other.key))));
        }
        run_over(&program, &table);
    }
    run_over(&program, &FactTable::new());
    assert!(
        decode(&encode(&program)).is_ok(),
        "a loaded program can be loaded again"
    );
}

fn run_over(program: &Program, table: &FactTable) {
    let truth = evaluate(program, table);
    let trace = Trace::of(program, table);
    assert_eq!(trace.truth, truth, "watching changes nothing");
    black_box((trace.needed(), trace.deciding()));
}
