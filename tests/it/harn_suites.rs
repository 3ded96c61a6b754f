//! Runs the suites of `tests/data/harn`. A suite is a list of `[[case]]`, each with
//! - `name`: tells it from all others;
//! - `row`: the row of section 9 of the specification that it comes from;
//! - `files`: what is in the workspace, by path; without it there is none;
//! - `items`: what stands before the function that is evaluated;
//! - `code`: statements, or a list of such codes with the same expectation; the value of
//!   the last statement is the result;
//! - `expect`: the result as canonical text; or
//! - `error`: the class of the failure at run time. A checker that knows the types may
//!   find it before: see [`may_be_found_before`]; or
//! - `check`: a code of the checker, or several; or `syntax`, for the parser. The
//!   reference finds names and changes of constants only when they are reached, and
//!   some of the rest not at all.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use tempfile::TempDir;

use crate::reference::harn::{self, Class, Limits};
use crate::targets::machine::{FUEL, by_machine};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Suite {
    #[serde(rename = "case")]
    cases: Vec<Case>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Case {
    pub(crate) name: String,
    #[serde(default)]
    row: Option<u32>,
    #[serde(default)]
    files: Option<BTreeMap<String, String>>,
    #[serde(default)]
    items: String,
    code: OneOrMore,
    #[serde(default)]
    expect: Option<String>,
    #[serde(default)]
    error: Option<String>,
    #[serde(default)]
    check: Option<OneOrMore>,
}

#[derive(Clone, Deserialize)]
#[serde(untagged)]
pub(crate) enum OneOrMore {
    One(String),
    More(Vec<String>),
}

impl OneOrMore {
    pub(crate) fn as_slice(&self) -> &[String] {
        match self {
            Self::One(one) => std::slice::from_ref(one),
            Self::More(more) => more,
        }
    }
}

/// What a case is to come to.
#[derive(Debug)]
pub(crate) enum Expected<'c> {
    /// A result, as canonical text.
    Value(&'c str),
    /// A class of failures.
    Error(&'c str),
    /// One of these codes, of the checker.
    Check(&'c [String]),
    /// The parser refuses it.
    Syntax,
}

impl Case {
    /// The modules that are evaluated: their function `main`.
    pub(crate) fn sources(&self) -> Vec<String> {
        let source = |code: &String| {
            let items = &self.items;
            format!("{items}\npub fn main() {{\n return (fn() {{\n{code}\n}})()\n}}\n")
        };
        self.code.as_slice().iter().map(source).collect()
    }

    /// The workspace, on disk.
    fn workspace(&self) -> Option<TempDir> {
        let files = self.files.as_ref()?;
        let root = tempfile::tempdir().expect("a directory can be made");
        for (path, text) in files {
            let path = root.path().join(path);
            let parent = path.parent().expect("it is below the root");
            fs::create_dir_all(parent).expect("a directory can be made");
            fs::write(path, text).expect("a file can be written");
        }
        Some(root)
    }

    pub(crate) fn expected(&self) -> Expected<'_> {
        match (&self.expect, &self.error, &self.check) {
            (Some(expect), None, None) => Expected::Value(expect),
            (None, Some(class), None) => Expected::Error(class),
            (None, None, Some(codes)) => match codes.as_slice() {
                [code] if code == "syntax" => Expected::Syntax,
                codes => Expected::Check(codes),
            },
            _ => panic!("{}: one of `expect`, `error` and `check`", self.name),
        }
    }
}

/// The codes with which a checker may refuse what fails so at run time.
pub(crate) fn may_be_found_before(class: &str) -> &'static [&'static str] {
    match class {
        "type" => &["HARN-NAM-005", "HARN-TYP-002"],
        "arity" => &["HARN-TYP-003"],
        "thrown" => &["HARN-RGX-001"],
        _ => &[],
    }
}

/// Every case of every suite, with the name of the suite.
pub(crate) fn cases() -> Vec<(String, Case)> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/harn");
    let entries = fs::read_dir(dir).expect("tests/data/harn is there");
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| entry.expect("tests/data/harn can be listed").path())
        .filter(|path| !path.ends_with("predicate.toml"))
        .collect();
    paths.sort();
    let mut all = Vec::new();
    for path in paths {
        let text = fs::read_to_string(&path).expect("a suite can be read");
        let suite: Suite =
            toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let name = path
            .file_stem()
            .map(|stem| stem.to_string_lossy().into_owned());
        let name = name.expect("a suite has a name");
        all.extend(suite.cases.into_iter().map(|case| (name.clone(), case)));
    }
    all
}

/// What the reference differs in.
fn judged(case: &Case, source: &str) -> Option<String> {
    let root = case.workspace();
    let root = root.as_ref().map(TempDir::path);
    let limits = Limits {
        fuel: FUEL,
        ..Limits::default()
    };
    let result = harn::run(source, "main", Vec::new(), limits, root);
    let fits = match (case.expected(), &result) {
        (Expected::Value(expected), Ok(value)) => harn::canonical(value) == expected,
        (Expected::Error(class), Err(failure)) => failure.class.name() == class,
        (Expected::Syntax, Err(failure)) => failure.class == Class::Syntax,
        (Expected::Check(_), Err(_)) => true,
        // It does not look at what is not run.
        (Expected::Check(_), Ok(_)) => true,
        _ => false,
    };
    let got = result.map_or_else(
        |failure| format!("{:?}: {}", failure.class, failure.message),
        |value| harn::canonical(&value),
    );
    (!fits).then(|| format!("{}\n  wanted {:?}\n  got {got}", case.name, case.expected()))
}

#[test]
fn the_reference_agrees_with_the_suites() {
    let wrong = harn::on_large_stack(|| {
        let mut wrong = Vec::new();
        for (suite, case) in cases() {
            for source in case.sources() {
                let differs = judged(&case, &source);
                wrong.extend(differs.map(|differs| format!("{suite}: {differs}")));
            }
        }
        wrong
    });
    let count = wrong.len();
    assert!(wrong.is_empty(), "{count} differ:\n{}", wrong.join("\n"));
}

#[test]
fn the_machine_agrees_with_the_suites() {
    let mut wrong = Vec::new();
    for (suite, case) in cases() {
        for source in case.sources() {
            let root = case.workspace();
            let found = by_machine(&source, root.as_ref().map(TempDir::path));
            let fits = match (case.expected(), &found) {
                (Expected::Value(expected), Ok(value)) => value == expected,
                (Expected::Error(class), Err(codes)) => codes.iter().any(|code| {
                    code == class || may_be_found_before(class).contains(&code.as_str())
                }),
                (Expected::Syntax, Err(codes)) => {
                    codes.iter().any(|code| code.starts_with("HARN-PAR-"))
                }
                (Expected::Check(wanted), Err(codes)) => {
                    codes.iter().any(|code| wanted.contains(code))
                }
                _ => false,
            };
            if !fits {
                let (name, expected) = (&case.name, case.expected());
                wrong.push(format!("{suite}: {name}: {found:?}, not {expected:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn names_are_unique_and_expectations_known() {
    let mut names = BTreeSet::new();
    let classes = [
        "type", "zero", "bounds", "arity", "thrown", "unknown", "limit",
    ];
    for (suite, case) in cases() {
        assert!(names.insert(case.name.clone()), "{suite}: {}", case.name);
        match case.expected() {
            Expected::Error(class) => assert!(classes.contains(&class), "{}", case.name),
            Expected::Check(codes) => {
                let known = |code: &String| {
                    probity::harn::HarnCode::ALL
                        .iter()
                        .any(|known| known.name() == code)
                };
                assert!(codes.iter().all(known), "{}", case.name);
            }
            Expected::Value(_) | Expected::Syntax => {}
        }
    }
}

/// Rows 93 to 98 are about predicates and stand in `predicate.toml`.
#[test]
fn every_row_is_there() {
    let rows: BTreeSet<u32> = cases().iter().filter_map(|(_, case)| case.row).collect();
    let missing: Vec<u32> = (1..=100)
        .filter(|row| !(93..=98).contains(row) && !rows.contains(row))
        .collect();
    assert!(missing.is_empty(), "no case of rows {missing:?}");
}
