//! Packs: a predicate file with fixtures that say what its predicates come to.
//! (harn.md, section 5.1, "Fixture protocol".)

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value as Json, json};

use crate::files::read_text;
use crate::flow::evaluate::{Context, Evaluated, Judge, Prepared, evaluate};
use crate::flow::slice::{Slice, SliceError};
use crate::harn::syntax::MAX_SOURCE;
use crate::harn::{Limits, Module, Problem, Workspace, compile_file};

/// The name of predicate files.
const FILE: &str = "invariants.harn";

/// Larger fixtures are not read, in bytes.
const MOST_FIXTURE: u64 = 64 << 20;

/// A predicate file with its fixtures.
#[derive(Debug)]
pub struct Pack {
    /// The path of the predicate file.
    pub path: PathBuf,
    /// The predicate file, compiled.
    pub module: Module,
    cases: Vec<Case>,
}

/// One case of a fixture.
#[derive(Debug)]
pub struct Case {
    /// The fixture that it is of.
    pub fixture: PathBuf,
    /// The predicate that is evaluated.
    pub predicate: String,
    /// What it is called.
    pub name: String,
    /// The verdict that is wanted.
    pub expect: String,
    judge_verdict: Option<String>,
    ctx: Option<Json>,
    slice: Slice,
}

/// A pack that cannot be tried.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PackError {
    /// A file or directory cannot be read.
    #[error("cannot read `{}`: {source}", path.display())]
    Read {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The predicate file has errors.
    #[error("`{}` has errors", path.display())]
    Invalid {
        /// Which.
        path: PathBuf,
        /// Its source.
        source_text: String,
        /// What is wrong.
        problems: Vec<Problem>,
    },
    /// A fixture is not what it should be.
    #[error("`{}`: {problem}", path.display())]
    Fixture {
        /// Which.
        path: PathBuf,
        /// What is wrong.
        problem: String,
    },
}

/// What a case came to.
#[derive(Debug)]
pub struct CaseOutcome<'p> {
    /// Which case.
    pub case: &'p Case,
    /// What came of it; `None` if there is no such predicate.
    pub evaluated: Option<Evaluated>,
}

/// What the cases of a pack came to.
#[derive(Debug)]
pub struct PackReport<'p> {
    /// Every case, in the order of the fixtures.
    pub outcomes: Vec<CaseOutcome<'p>>,
    /// Predicates without a case.
    pub untested: Vec<&'p str>,
}

impl CaseOutcome<'_> {
    /// Whether the verdict is the one that is wanted.
    #[must_use]
    pub fn is_right(&self) -> bool {
        let word = self.evaluated.as_ref().map(|it| it.result.verdict.word());
        word == Some(&*self.case.expect)
    }
}

impl Pack {
    /// Reads a pack: `invariants.harn` and `fixtures/*.json` of a directory.
    ///
    /// # Errors
    /// [`PackError`] with the file that is at fault.
    pub fn load(directory: &Path) -> Result<Self, PackError> {
        let path = directory.join(FILE);
        let source = read(&path, MAX_SOURCE as u64)?;
        let module = match compile_file(&path, &source) {
            Ok(module) => module,
            Err(problems) => {
                return Err(PackError::Invalid {
                    path,
                    source_text: source,
                    problems,
                });
            }
        };
        let mut cases = Vec::new();
        for fixture in fixtures(&directory.join("fixtures"))? {
            let text = read(&fixture, MOST_FIXTURE)?;
            let wrong = |problem: String| PackError::Fixture {
                path: fixture.clone(),
                problem,
            };
            let json: Json =
                serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
            cases.extend(cases_of(&fixture, &json).map_err(wrong)?);
        }
        Ok(Self {
            path,
            module,
            cases,
        })
    }

    /// Its cases.
    #[must_use]
    pub fn cases(&self) -> &[Case] {
        &self.cases
    }

    /// Evaluates every case. All of them get the same workspace, if there is one.
    #[must_use]
    pub fn test(&self, limits: &Limits, workspace: Option<&Workspace>) -> PackReport<'_> {
        let predicates = self.module.predicates();
        let outcomes = self.cases.iter().map(|case| {
            let predicate = predicates.iter().find(|it| *it.name == *case.predicate);
            let evaluated = predicate.map(|predicate| {
                let context = Context {
                    ctx: case.ctx.as_ref(),
                    judge: Some(case.judge()),
                    workspace,
                    ..Context::default()
                };
                let slice = Prepared::new(&case.slice);
                evaluate(&self.module, predicate, &slice, &context, limits)
            });
            CaseOutcome { case, evaluated }
        });
        let tested = |name: &str| self.cases.iter().any(|case| case.predicate == name);
        PackReport {
            outcomes: outcomes.collect(),
            untested: predicates
                .iter()
                .map(|predicate| &*predicate.name)
                .filter(|name| !tested(name))
                .collect(),
        }
    }
}

impl Case {
    /// A judge that says what the fixture says, with no findings.
    fn judge(&self) -> Arc<Judge> {
        let verdict = self.judge_verdict.as_ref().unwrap_or(&self.expect).clone();
        Arc::new(move |_| Ok(json!({"verdict": verdict, "findings": []})))
    }
}

fn read(path: &Path, max: u64) -> Result<String, PackError> {
    read_text(path, max).map_err(|source| PackError::Read {
        path: path.to_owned(),
        source,
    })
}

fn fixtures(directory: &Path) -> Result<Vec<PathBuf>, PackError> {
    let failed = |source| PackError::Read {
        path: directory.to_owned(),
        source,
    };
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path
            .extension()
            .is_some_and(|extension| extension == "json")
        {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

fn cases_of(fixture: &Path, json: &Json) -> Result<Vec<Case>, String> {
    let text = |json: &Json, key: &str, place: &str| match json.get(key) {
        Some(Json::String(text)) => Ok(text.clone()),
        Some(_) => Err(format!("{place}`{key}` is not a string")),
        None => Err(format!("{place}`{key}` is missing")),
    };
    let predicate = text(json, "predicate", "")?;
    let cases = json.get("cases").and_then(Json::as_array);
    let cases = cases.ok_or("`cases` is not a list")?;
    if cases.is_empty() {
        return Err("`cases` is empty: nothing is tested".into());
    }
    cases
        .iter()
        .enumerate()
        .map(|(at, case)| {
            let place = format!("cases[{at}]: ");
            let files = case.get("files").cloned().unwrap_or_else(|| json!([]));
            let slice = Slice::from_json(&json!({ "files": files }));
            let judge_verdict = match case.get("judge_verdict") {
                None | Some(Json::Null) => None,
                Some(_) => Some(text(case, "judge_verdict", &place)?),
            };
            Ok(Case {
                fixture: fixture.to_owned(),
                predicate: predicate.clone(),
                name: text(case, "name", &place)?,
                expect: text(case, "expect", &place)?,
                judge_verdict,
                ctx: case.get("ctx").cloned(),
                slice: slice.map_err(|error: SliceError| format!("{place}{error}"))?,
            })
        })
        .collect()
}
