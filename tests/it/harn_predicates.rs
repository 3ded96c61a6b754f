//! Runs `tests/data/harn/predicate.toml`: whole predicates, from their attributes to the
//! verdict, through the public API, and what they return through the reference too. A
//! `[[case]]` has
//! - `name`, and the `row` of section 9 of the specification that it comes from;
//! - `source`: a file, or several with the same expectation, of which `p` is evaluated; or
//!   `body`: what a deterministic `p(slice, ctx, base)` does, behind `items`;
//! - `files`, `ctx`, `base`, and `judge`, what the judge answers;
//! - `verdict`, with `code` of a block and `text`, its message, a reason or an approver.
//!   The checker may refuse it before, with the code `checked`;
//! - `predicates`: name, kind, fallback and policy of each;
//! - `evidence` of the first of them;
//! - `warnings`: the codes of all warnings, or `errors`: one of those that refuse the file;
//! - `reference`: `false` if the reference has no such thing.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use probity::flow::{Approver, Context, Judge, Prepared, Slice, SliceFile, Verdict, evaluate};
use probity::harn::{FallbackPolicy, Given, Kind, Limits, Module, Predicate, Problem};
use serde::Deserialize;
use serde_json::{Value as Json, json};

use crate::harn_suites::OneOrMore;
use crate::reference::harn::{self, Limits as ReferenceLimits};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Suite {
    #[serde(rename = "case")]
    cases: Vec<Case>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    row: Option<u32>,
    #[serde(default)]
    items: String,
    source: Option<OneOrMore>,
    body: Option<OneOrMore>,
    #[serde(default)]
    files: Vec<File>,
    ctx: Option<String>,
    base: Option<String>,
    judge: Option<String>,
    verdict: Option<String>,
    code: Option<String>,
    text: Option<String>,
    checked: Option<String>,
    predicates: Option<Vec<String>>,
    evidence: Option<Vec<String>>,
    warnings: Option<Vec<String>>,
    errors: Option<Vec<String>>,
    #[serde(default = "yes")]
    reference: bool,
}

const fn yes() -> bool {
    true
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    path: String,
    text: String,
}

const HEADER: &str = "@invariant\n@deterministic\n\
    @archivist(evidence: [\"u\"], confidence: 1.0, source_date: \"2026-01-01\")\n";

fn cases() -> Vec<Case> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/harn/predicate.toml");
    let text = std::fs::read_to_string(path).expect("the suite can be read");
    let suite: Suite = toml::from_str(&text).unwrap_or_else(|error| panic!("{error}"));
    suite.cases
}

fn parsed(text: Option<&String>) -> Option<Json> {
    text.map(|text| serde_json::from_str(text).expect("the case has JSON"))
}

impl Case {
    fn sources(&self) -> Vec<String> {
        match (&self.source, &self.body) {
            (Some(source), None) => source.as_slice().to_vec(),
            (None, Some(body)) => {
                let items = &self.items;
                let whole = |body: &String| {
                    format!("{items}\n{HEADER}pub fn p(slice, ctx, base) {{\n{body}\n}}\n")
                };
                body.as_slice().iter().map(whole).collect()
            }
            _ => panic!("{}: one of `source` and `body`", self.name),
        }
    }

    /// What is wrong with an outcome: a verdict with its code and text.
    fn differs(&self, verdict: &str, code: Option<&str>, text: Option<&str>) -> Option<String> {
        let fits = self.verdict.as_deref() == Some(verdict)
            && (self.code.is_none() || self.code.as_deref() == code)
            && (self.text.is_none() || self.text.as_deref() == text);
        (!fits).then(|| format!("{}: {verdict} {code:?} {text:?}", self.name))
    }

    /// What the public API makes of a source that compiles.
    fn judged(&self, module: &Module) -> Option<String> {
        let files = self.files.iter();
        let files = files.map(|file| SliceFile::new(&*file.path, &*file.text));
        let slice = Slice::new(files.collect());
        let ctx = parsed(self.ctx.as_ref());
        let base = parsed(self.base.as_ref()).as_ref().map(Given::new);
        let judge = parsed(self.judge.as_ref());
        let judge = judge.map(|answer| -> Arc<Judge> { Arc::new(move |_| Ok(answer.clone())) });
        let context = Context {
            ctx: ctx.as_ref(),
            base: base.as_ref(),
            judge,
            ..Context::default()
        };
        let limits = Limits {
            fuel: 1_000_000,
            ..Limits::default()
        };
        let predicate = module.predicates().iter().find(|it| &*it.name == "p");
        let predicate = predicate.unwrap_or_else(|| panic!("{}: no predicate `p`", self.name));
        let slice = Prepared::new(&slice);
        let verdict = evaluate(module, predicate, &slice, &context, &limits)
            .result
            .verdict;
        let text = match &verdict {
            Verdict::Allow => None,
            Verdict::Warn { reason } => Some(reason),
            Verdict::RequireApproval { approver } => Some(match approver {
                Approver::Principal { id } => id,
                Approver::Role { name } => name,
            }),
            Verdict::Block { error } => Some(&error.message),
        };
        self.differs(verdict.word(), verdict.code(), text.map(String::as_str))
    }

    /// What the reference makes of a source.
    fn referred(&self, source: &str) -> Option<String> {
        let files: Vec<Json> = self
            .files
            .iter()
            .map(|file| json!({"path": file.path, "text": file.text}))
            .collect();
        let or = |text: Option<&String>, other: &str| {
            text.map_or_else(|| other.to_owned(), Clone::clone)
        };
        let args = [
            json!({ "files": files }).to_string(),
            or(self.ctx.as_ref(), "{}"),
            or(self.base.as_ref(), "null"),
        ];
        let limits = ReferenceLimits {
            fuel: 1_000_000,
            ..ReferenceLimits::default()
        };
        let outcome = harn::judge(source, "p", &args, limits);
        self.differs(
            outcome.verdict,
            outcome.code.as_deref(),
            outcome.text.as_deref(),
        )
    }
}

fn shown(predicate: &Predicate) -> String {
    let name = &predicate.name;
    match &predicate.kind {
        Kind::Deterministic => format!("{name} deterministic"),
        Kind::Semantic { fallback, policy } => {
            let policy = match policy {
                FallbackPolicy::Enforce => "enforce",
                FallbackPolicy::Advisory => "advisory",
            };
            format!("{name} semantic {fallback} {policy}")
        }
    }
}

fn codes(problems: &[Problem]) -> BTreeSet<&'static str> {
    problems.iter().map(|problem| problem.code.name()).collect()
}

#[test]
fn predicates_come_to_what_the_suite_says() {
    let mut wrong = Vec::new();
    for case in cases() {
        for source in case.sources() {
            let compiled = Module::compile(&source);
            let module = match (&compiled, &case.errors) {
                (Err(problems), Some(wanted)) => {
                    let found = codes(problems);
                    if !wanted.iter().any(|code| found.contains(&**code)) {
                        wrong.push(format!("{}: {found:?}\n{source}", case.name));
                    }
                    continue;
                }
                (Err(problems), None) => {
                    let found = codes(problems);
                    if !case
                        .checked
                        .as_ref()
                        .is_some_and(|code| found.contains(&**code))
                    {
                        wrong.push(format!("{}: {problems:?}\n{source}", case.name));
                    }
                    continue;
                }
                (Ok(_), Some(_)) => {
                    wrong.push(format!("{}: no error\n{source}", case.name));
                    continue;
                }
                (Ok(module), None) => module,
            };
            if let Some(wanted) = &case.predicates {
                let found: Vec<String> = module.predicates().iter().map(shown).collect();
                if found != *wanted {
                    wrong.push(format!("{}: {found:?}\n{source}", case.name));
                }
            }
            if let Some(wanted) = &case.evidence {
                let first = module.predicates().first();
                let archivist = first.and_then(|it| it.archivist.as_ref());
                let found = archivist.map_or(&[][..], |it| &it.evidence);
                if !found.iter().map(|it| &**it).eq(wanted) {
                    wrong.push(format!("{}: {found:?}\n{source}", case.name));
                }
            }
            if let Some(wanted) = &case.warnings {
                let found = codes(module.warnings());
                if found != wanted.iter().map(String::as_str).collect() {
                    wrong.push(format!("{}: {found:?}\n{source}", case.name));
                }
            }
            if case.verdict.is_some() {
                let differs = case.judged(module);
                wrong.extend(differs.map(|differs| format!("{differs}\n{source}")));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_reference_agrees_about_predicates() {
    let wrong = harn::on_large_stack(|| {
        let mut wrong = Vec::new();
        for case in cases() {
            if case.verdict.is_none() || !case.reference {
                continue;
            }
            for source in case.sources() {
                let differs = case.referred(&source);
                wrong.extend(differs.map(|differs| format!("{differs}\n{source}")));
            }
        }
        wrong
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_row_about_predicates_is_there() {
    let cases = cases();
    let names: BTreeSet<&str> = cases.iter().map(|case| &*case.name).collect();
    assert_eq!(names.len(), cases.len(), "names are unique");
    let rows: BTreeSet<u32> = cases.iter().filter_map(|case| case.row).collect();
    assert_eq!(rows, (93..=98).collect());
    for case in cases {
        let says = [
            case.verdict.is_some(),
            case.predicates.is_some(),
            case.evidence.is_some(),
            case.warnings.is_some(),
            case.errors.is_some(),
        ];
        assert!(says.contains(&true), "{} expects nothing", case.name);
    }
}
