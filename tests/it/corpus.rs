//! The sample of real predicates, where it lies beside the repository.

use std::fs;
use std::path::Path;

use probity::check::Options;
use probity::diagnostic::{Code, Stage};
use probity::facts::{FactKey, Pattern};
use probity::lower::compile;
use probity::{Engine, Language};
use serde_json::Value;

const SAMPLE: &str = "../shared/corpus/e0-sample.jsonl";

fn sample() -> Option<Vec<Value>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(SAMPLE);
    let text = fs::read_to_string(path).ok()?;
    let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
    Some(lines.collect())
}

/// The patterns of the sample.
pub(crate) fn patterns() -> Option<Vec<Pattern>> {
    let mut patterns = Vec::new();
    for entry in sample()? {
        let source = entry["source"].as_str()?;
        let Ok(program) = compile(Language::ElenchV1, source, Options::default()) else {
            continue;
        };
        for fact in program.facts() {
            if let FactKey::Grep(pattern, _) = &fact.key {
                patterns.push(pattern.clone());
            }
        }
    }
    Some(patterns)
}

#[test]
fn valid_sources_compile_and_the_others_are_refused_with_a_fitting_diagnostic() {
    let Some(sample) = sample() else {
        println!("skipped: the sample is not here");
        return;
    };
    assert!(sample.len() >= 170, "the whole sample was read");
    for entry in sample {
        let source = entry["source"].as_str().unwrap();
        let compiled = compile(Language::ElenchV1, source, Options::default());
        let wanted = match entry["error_kind"].as_str() {
            Some("parse") => Some(Stage::Parse),
            Some("type") => Some(Stage::Type),
            Some("vacuous") => Some(Stage::Vacuous),
            // About paths: unevaluated at run time.
            _ => None,
        };
        match (compiled, wanted) {
            (Ok(_), None) => {}
            (Err(error), Some(stage)) => {
                let errors = error.diagnostics.iter().filter(|found| found.is_error());
                let codes: Vec<Code> = errors.map(|found| found.code).collect();
                assert!(
                    codes.iter().any(|code| code.stage() == stage),
                    "{source}: {codes:?}"
                );
                assert!(
                    error.diagnostics.iter().all(|found| found.help.is_some()),
                    "{source}: every diagnostic has a hint"
                );
            }
            (compiled, wanted) => panic!("{source}: wanted {wanted:?}, got {compiled:?}"),
        }
    }
}

#[test]
fn sources_about_paths_are_unevaluated() {
    let Some(sample) = sample() else {
        println!("skipped: the sample is not here");
        return;
    };
    let root = tempfile::tempdir().unwrap();
    let engine = Engine::builder(root.path()).build().unwrap();
    for (kind, code) in [
        ("policy-path", "path_outside_workspace"),
        ("io-missing-path", "path_not_found"),
    ] {
        for entry in sample.iter().filter(|entry| entry["error_kind"] == kind) {
            let source = entry["source"].as_str().unwrap();
            let program = engine.compile(Language::ElenchV1, source).unwrap();
            let reason = engine.evaluate(&program).unwrap().reason.unwrap();
            assert_eq!(reason.code.name(), code, "{source}");
        }
    }
}

#[test]
fn a_program_takes_a_few_dozen_bytes() {
    let Some(sample) = sample() else {
        println!("skipped: the sample is not here");
        return;
    };
    let sizes: Vec<usize> = sample
        .iter()
        .filter_map(|entry| {
            let source = entry["source"].as_str()?;
            let program = compile(Language::ElenchV1, source, Options::default());
            program.ok().map(|program| program.code_bytes())
        })
        .collect();
    let mean = sizes.iter().sum::<usize>() / sizes.len();
    let largest = sizes.iter().max().unwrap();
    println!(
        "{} programs, mean {mean} bytes, largest {largest}",
        sizes.len()
    );
    assert!(mean <= 32, "mean {mean} bytes");
    assert!(*largest <= 96, "largest {largest} bytes");
}
