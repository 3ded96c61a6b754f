//! The format of the TOML suites in `tests/data`.
//!
//! A suite is a list of `[[case]]`, each with
//! - `source`: one predicate, or a list of them that share the expectation;
//! - `language`: `v1` (default) or `v2`; may be set for the whole suite;
//! - `verdict`: `pass`, `fail`, `unevaluated` or `invalid`;
//! - `code`: of `unevaluated` a reason code, of `invalid` a diagnostic code;
//! - `name`: what the case is about, where the source does not tell;
//! - `[[case.file]]`: the workspace, in place of the suite's `[[file]]` list;
//! - `[[case.fact]]`: facts that the host supplies, before the suite's
//!   `[[fact]]` list; a fact that nobody supplies comes from the workspace.

use std::fs;
use std::path::Path;

use serde::Deserialize;

use crate::reference::{Fact, FactValue, Output, parse_call};

/// One file of `tests/data`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Suite {
    language: Option<LanguageName>,
    #[serde(default)]
    file: Vec<Entry>,
    #[serde(default)]
    fact: Vec<GivenFact>,
    #[serde(rename = "case")]
    cases: Vec<RawCase>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum LanguageName {
    V1,
    V2,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawCase {
    #[serde(default)]
    name: String,
    language: Option<LanguageName>,
    source: Sources,
    verdict: String,
    code: Option<String>,
    file: Option<Vec<Entry>>,
    #[serde(default)]
    fact: Vec<GivenFact>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Sources {
    One(String),
    Many(Vec<String>),
}

/// A file, link, directory or FIFO of a workspace.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Entry {
    /// Relative to the root; directories above it are made.
    pub(crate) path: String,
    /// The content, `repeat` times over.
    #[serde(default)]
    pub(crate) text: String,
    pub(crate) repeat: Option<usize>,
    /// Further bytes behind the text, as hex digits with or without spaces.
    #[serde(default)]
    pub(crate) hex: String,
    /// The target of a link; `{root}` stands for the absolute path of the root.
    pub(crate) symlink: Option<String>,
    #[serde(default)]
    pub(crate) dir: bool,
    #[serde(default)]
    pub(crate) fifo: bool,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct GivenFact {
    /// The call as a predicate writes it.
    call: String,
    /// Of `exists` and `test`.
    value: Option<bool>,
    /// Of `grep` and `count`.
    count: Option<u64>,
    /// Of `run`.
    exit: Option<i64>,
    #[serde(default)]
    stdout: String,
    #[serde(default)]
    stderr: String,
    /// Further bytes of standard output, as hex digits.
    #[serde(default)]
    stdout_hex: String,
    #[serde(default)]
    stdout_truncated: bool,
    #[serde(default)]
    stderr_truncated: bool,
    /// A reason code.
    unknown: Option<String>,
}

/// One predicate with what it is to come to.
pub(crate) struct Case<'a> {
    pub(crate) name: String,
    pub(crate) v2: bool,
    pub(crate) source: &'a str,
    pub(crate) verdict: &'a str,
    pub(crate) code: Option<&'a str>,
    pub(crate) files: &'a [Entry],
    pub(crate) facts: Vec<(Fact, FactValue)>,
}

impl Suite {
    /// Reads a suite by the name of its file.
    pub(crate) fn load(name: &str) -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/data/{name}.toml"));
        let text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// Every predicate of the suite.
    pub(crate) fn cases(&self) -> Vec<Case<'_>> {
        let mut cases = Vec::new();
        for raw in &self.cases {
            let v2 = matches!(raw.language.or(self.language), Some(LanguageName::V2));
            let sources = match &raw.source {
                Sources::One(source) => std::slice::from_ref(source),
                Sources::Many(sources) => sources,
            };
            let given = raw.fact.iter().chain(&self.fact);
            let facts: Vec<(Fact, FactValue)> = given.map(|fact| fact.read(v2)).collect();
            for source in sources {
                cases.push(Case {
                    name: format!("{} `{}`", raw.name, shortened(source)),
                    v2,
                    source,
                    verdict: &raw.verdict,
                    code: raw.code.as_deref(),
                    files: raw.file.as_deref().unwrap_or(&self.file),
                    facts: facts.clone(),
                });
            }
        }
        cases
    }
}

impl GivenFact {
    fn read(&self, v2: bool) -> (Fact, FactValue) {
        let fact = parse_call(v2, &self.call).unwrap_or_else(|| panic!("fact `{}`", self.call));
        let value = match self {
            Self {
                unknown: Some(code),
                ..
            } => FactValue::Unknown(code.clone()),
            Self {
                value: Some(value), ..
            } => FactValue::Bool(*value),
            Self {
                count: Some(count), ..
            } => FactValue::Count(*count),
            Self { exit, .. } => FactValue::Run(Output {
                exit: exit.unwrap_or(0),
                stdout: [self.stdout.clone().into_bytes(), hex(&self.stdout_hex)].concat(),
                stderr: self.stderr.clone().into_bytes(),
                stdout_truncated: self.stdout_truncated,
                stderr_truncated: self.stderr_truncated,
            }),
        };
        (fact, value)
    }
}

/// The bytes of hex digits with or without spaces.
pub(crate) fn hex(digits: &str) -> Vec<u8> {
    let digits: Vec<u8> = digits.bytes().filter(|byte| *byte != b' ').collect();
    let byte = |pair: &[u8]| {
        let pair = std::str::from_utf8(pair).expect("hex digits are ASCII");
        u8::from_str_radix(pair, 16).expect("pairs of hex digits")
    };
    digits.chunks(2).map(byte).collect()
}

fn shortened(source: &str) -> String {
    let shown: String = source.chars().take(100).collect();
    if shown.len() < source.len() {
        shown + "…"
    } else {
        shown
    }
}
