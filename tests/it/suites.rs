//! Runs the suites of `tests/data` through every judge.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use probity::ReasonCode;
use probity::diagnostic::{self, Code};

use super::case::{Case, Suite};
use super::judge::{Answer, Judge, Question, judges};
use super::workspace::Workspace;
use crate::reference::Stage;

macro_rules! suites {
    ($($name:ident)+) => {
        const NAMES: &[&str] = &[$(stringify!($name),)+];

        $(#[test]
        fn $name() {
            run(stringify!($name));
        })+
    };
}

suites! { errors exists grep ignored logic shapes strings v2 vacuous }

/// Runs a suite and reports every case that differs, not only the first.
fn run(name: &str) {
    let suite = Suite::load(name);
    let mut wrong = Vec::new();
    for case in suite.cases() {
        let workspace = Workspace::new(case.files);
        for judge in judges() {
            wrong.extend(judged(&*judge, &case, &workspace));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} differ:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// What is wrong with the judge's answer, if anything.
fn judged(judge: &dyn Judge, case: &Case<'_>, workspace: &Workspace) -> Option<String> {
    let answer = judge.judge(Question {
        v2: case.v2,
        source: case.source,
        root: workspace.root(),
        facts: &case.facts,
    });
    let wanted = case.code.unwrap_or_default();
    let fits = match &answer {
        Answer::Pass | Answer::Fail => true,
        Answer::Unevaluated(code) => code == wanted,
        Answer::Invalid(stage, codes) if codes.is_empty() => Some(*stage) == stage_of(wanted),
        Answer::Invalid(_, codes) => codes.iter().any(|code| code == wanted),
    };
    (answer.verdict() != case.verdict || !fits).then(|| {
        format!(
            "{}: {}\n  wanted {} {wanted}, got {answer:?}",
            judge.name(),
            case.name,
            case.verdict
        )
    })
}

/// The step of the front end that a diagnostic code comes from.
fn stage_of(code: &str) -> Option<Stage> {
    let code = Code::ALL.iter().find(|known| known.name() == code)?;
    match code.stage() {
        diagnostic::Stage::Parse => Some(Stage::Parse),
        diagnostic::Stage::Type => Some(Stage::Type),
        diagnostic::Stage::Vacuous => Some(Stage::Vacuous),
        diagnostic::Stage::Lint | diagnostic::Stage::Claim => None,
    }
}

#[test]
fn expectations_name_known_codes() {
    for name in NAMES {
        for case in Suite::load(name).cases() {
            let code = case.code.unwrap_or_default();
            let fits = match case.verdict {
                "pass" | "fail" => case.code.is_none(),
                "unevaluated" => ReasonCode::ALL.iter().any(|known| known.name() == code),
                "invalid" => stage_of(code).is_some(),
                _ => false,
            };
            assert!(fits, "{name}: {}: {} {code}", case.name, case.verdict);
        }
    }
}

#[test]
fn every_suite_runs() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let mut stems = BTreeSet::new();
    for entry in fs::read_dir(dir).expect("tests/data is there") {
        let path = entry.expect("tests/data can be listed").path();
        if path.is_dir() {
            continue;
        }
        stems.extend(
            path.file_stem()
                .map(|stem| stem.to_string_lossy().into_owned()),
        );
    }
    let names: BTreeSet<String> = NAMES.iter().map(|name| (*name).to_owned()).collect();
    assert_eq!(names, stems);
}
