//! The TOML suites of predicate files.

use std::fs;
use std::path::Path;

use probity::harn::{ErrorClass, Fault, Limits, Machine, Module};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Suite {
    case: Vec<Case>,
}

/// Statements, of which the value of the last is looked at, as the body of a function.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    /// Of the specification's table of acceptance cases.
    row: Option<u32>,
    #[serde(default)]
    items: String,
    code: String,
    expect: Option<String>,
    error: Option<String>,
    check: Option<String>,
}

impl Case {
    fn source(&self) -> String {
        format!(
            "{}\npub fn main() {{\n return (fn() {{\n{}\n}})()\n}}\n",
            self.items, self.code
        )
    }
}

/// What came of it, in the words of the suites.
fn by_machine(source: &str) -> Result<String, String> {
    let module = Module::compile(source).map_err(|problems| {
        let errors = problems.iter().filter(|problem| problem.is_error());
        let codes = errors
            .map(|problem| problem.code.name())
            .collect::<Vec<_>>();
        match codes.iter().all(|code| code.starts_with("HARN-PAR-")) {
            true => "syntax".to_owned(),
            false => codes.join(" "),
        }
    })?;
    let mut machine = Machine::new(&module, &Limits::default());
    let value = machine.start().and_then(|()| machine.run("main", &[]));
    value.map(|value| value.to_source()).map_err(|fault| {
        match fault {
            Fault::Thrown(_) => "thrown",
            Fault::Error(ErrorClass::Type, _) => "type",
            Fault::Error(ErrorClass::Zero, _) => "zero",
            Fault::Error(ErrorClass::Bounds, _) => "bounds",
            Fault::Error(ErrorClass::Arity, _) => "arity",
            _ => "limit",
        }
        .to_owned()
    })
}

#[test]
fn every_case_comes_to_what_it_says() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/harn");
    let mut wrong = Vec::new();
    let mut rows = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let suite: Suite = toml::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        for case in suite.case {
            rows.extend(case.row);
            let wanted = match (&case.expect, &case.error, &case.check) {
                (Some(value), None, None) => Ok(value.trim_end().to_owned()),
                (None, Some(class), None) => Err(class.clone()),
                (None, None, Some(code)) => Err(code.clone()),
                _ => panic!("{}: one outcome is wanted", case.name),
            };
            let found = by_machine(&case.source());
            let is_right = match (&found, &wanted) {
                (Err(found), Err(wanted)) => found.split(' ').any(|code| code == wanted),
                _ => found == wanted,
            };
            if !is_right {
                wrong.push(format!("{}: {found:?}, not {wanted:?}", case.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // 93 to 98 are about predicates: `harn` and `packs`.
    let missing: Vec<u32> = (1..=92)
        .chain(99..=100)
        .filter(|row| !rows.contains(row))
        .collect();
    assert_eq!(missing, [0; 0]);
}
