//! Listings and documents that are checked against the code. Set `BLESS=1` to
//! write what the code says.

use std::fs;
use std::path::{Path, PathBuf};

use probity::check::Options;
use probity::code::{instruction_table, listing};
use probity::lower::compile;
use probity::{Language, ReasonCode};

fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn same(path: &Path, wanted: &str) {
    if std::env::var_os("BLESS").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, wanted).unwrap();
    }
    let found = fs::read_to_string(path).unwrap_or_default();
    assert_eq!(
        found,
        wanted,
        "{} is out of date: BLESS=1 cargo test",
        path.display()
    );
}

const LISTINGS: &[(&str, Language, &str)] = &[
    (
        "count",
        Language::ElenchV1,
        r#"grep(/KISEKI_EPOCH.*8192/, "crates/log/src") >= 1"#,
    ),
    (
        "conjunction",
        Language::ElenchV1,
        r#"grep(/a|b/, "f") >= 4 && test("t").passed"#,
    ),
    (
        "output",
        Language::ElenchV1,
        r#"run("cargo test -p log").stdout.contains("255 passed") || !exists("Cargo.lock")"#,
    ),
    (
        "wide",
        Language::ElenchV1,
        r#"grep(/lock_or_die\(/, "crates/") >= 250000 && grep(/x/, "a") != grep(/x/, "b")"#,
    ),
    (
        "v2",
        Language::ElenchV2,
        "(count(/todo/i, \"src/**/*.rs\") < 3 || run(\"c\").stdout.lines > 2)\n  && run(\"c\").exit == -1 # nested",
    ),
];

#[test]
fn listings_are_what_they_were() {
    for (name, language, source) in LISTINGS {
        let program = compile(*language, source, Options::default()).unwrap();
        let path = repository(&format!("tests/golden/{name}.txt"));
        same(&path, &format!("{source}\n\n{}", listing(&program)));
    }
}

#[test]
fn the_instruction_table_of_the_docs_is_that_of_the_code() {
    between("docs/bytecode.md", "instructions", &instruction_table());
}

#[test]
fn every_reason_code_is_documented() {
    let mut table = String::from("| code | meaning |\n|---|---|\n");
    let source = fs::read_to_string(repository("src/reason.rs")).unwrap();
    for code in ReasonCode::ALL {
        let name = code.name();
        let at = source.find(&format!("=> \"{name}\"")).unwrap();
        let doc = source[..at].lines().rev().nth(1).unwrap().trim();
        let doc = doc.trim_start_matches("///").trim();
        table.push_str(&format!("| `{name}` | {doc} |\n"));
    }
    between("docs/promises.md", "reason codes", &table);
}

/// Holds the part of a document between two marks to what the code says.
fn between(document: &str, mark: &str, wanted: &str) {
    let path = repository(document);
    let text = fs::read_to_string(&path).unwrap();
    let open = format!("<!-- {mark}: generated, checked by a test -->\n");
    let (head, rest) = text.split_once(&open).expect("the opening mark");
    let close = format!("<!-- /{mark} -->");
    let (_, tail) = rest.split_once(&close).expect("the closing mark");
    same(&path, &format!("{head}{open}{wanted}{close}{tail}"));
}

/// Each promise names the tests that show it, and they exist.
#[test]
fn promises_name_tests_that_exist() {
    let promises = fs::read_to_string(repository("docs/promises.md")).unwrap();
    let mut tests = String::new();
    for dir in ["src", "tests", "fuzz"] {
        gather(&repository(dir), &mut tests);
    }
    let mut named = 0;
    for row in promises.lines().filter(|line| line.starts_with("| ")) {
        for name in row
            .split('`')
            .skip(1)
            .step_by(2)
            .filter(|name| name.contains("::"))
        {
            let test = name.rsplit("::").next().unwrap();
            // The suites' tests are made by a macro, one for each file.
            let suite = repository(&format!("tests/data/{test}.toml"));
            let found = tests.contains(&format!("fn {test}(")) || suite.exists();
            assert!(found, "no test `{name}`");
            named += 1;
        }
    }
    assert!(named > 30, "{named} tests are named");
}

fn gather(dir: &Path, text: &mut String) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            if !path.ends_with("target") {
                gather(&path, text);
            }
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            text.push_str(&fs::read_to_string(path).unwrap());
        }
    }
}
