//! All that is known of a predicate file, also of one that cannot be run.

use std::sync::Arc;

use crate::digest::Digest;
use crate::harn::compile::Read;
use crate::harn::declaration::{Declaration, Mode};
use crate::harn::module::{Code, Module};
use crate::harn::predicate::{Kind, Predicate};
use crate::harn::problem::{Problem, Problems};

/// What a predicate file declares and what is wrong with it.
#[derive(Clone, Debug)]
pub struct Inspection {
    /// The source that was looked at.
    pub source: Arc<str>,
    /// False if it does not lex or parse; nothing is then declared.
    pub is_parsed: bool,
    /// Its predicates, in the order of the source.
    pub declarations: Vec<Declaration>,
    /// What is wrong with it or doubtful in it, in the order of the source, without the
    /// flaws of the declarations.
    pub problems: Vec<Problem>,
    /// The file, compiled, if no problem is an error. Its predicates are those whose
    /// declaration is not refused.
    pub module: Option<Module>,
}

impl Inspection {
    pub(super) fn unparsed(source: Arc<str>, problems: Vec<Problem>) -> Self {
        Self {
            source,
            is_parsed: false,
            declarations: Vec::new(),
            problems,
            module: None,
        }
    }

    /// Of a file that was parsed. `code` is `None` if it cannot be compiled.
    pub(super) fn new(
        source: Arc<str>,
        problems: Vec<Problem>,
        code: Option<Code>,
        read: impl Iterator<Item = (Read, Digest)>,
    ) -> Self {
        let mut declarations = Vec::new();
        let mut predicates = Vec::new();
        for (read, closure) in read {
            let mut declaration = read.declaration;
            declaration.closure = code.is_some().then_some(closure);
            if let Some(function) = read.function
                && let Some(kind) = kind(&declaration)
            {
                predicates.push(Predicate {
                    name: declaration.name.clone(),
                    kind,
                    archivist: declaration.archivist.clone(),
                    wants_harness: declaration.wants_harness,
                    span: declaration.span,
                    function,
                });
            }
            declarations.push(declaration);
        }
        let module = code.map(|code| {
            Module(Arc::new(Code {
                predicates,
                warnings: merged(&problems, &declarations),
                ..code
            }))
        });
        Self {
            source,
            is_parsed: true,
            declarations,
            problems,
            module,
        }
    }

    /// The module of a file with which nothing is wrong, flaws of declarations included.
    ///
    /// # Errors
    /// What is wrong with it and doubtful in it, in the order of the source.
    pub fn into_module(self) -> Result<Module, Vec<Problem>> {
        let is_refused = self.declarations.iter().any(Declaration::is_refused);
        match self.module {
            Some(module) if !is_refused => Ok(module),
            _ => Err(merged(&self.problems, &self.declarations)),
        }
    }
}

/// How a declaration is evaluated, if it can be.
fn kind(declaration: &Declaration) -> Option<Kind> {
    if declaration.is_refused() {
        return None;
    }
    Some(match declaration.mode {
        Mode::Deterministic => Kind::Deterministic,
        Mode::Semantic => Kind::Semantic {
            fallback: declaration.fallback.clone()?,
            policy: declaration.policy,
        },
    })
}

/// What is told of a file, in the order of the source: no more than
/// [`crate::harn::MOST_PROBLEMS`] errors and as many warnings.
fn merged(problems: &[Problem], declarations: &[Declaration]) -> Vec<Problem> {
    let flaws = declarations.iter().flat_map(|it| &it.flaws);
    let flaws = flaws.map(|flaw| &flaw.problem);
    let mut all = Problems::default();
    for problem in problems.iter().chain(flaws) {
        all.push(problem.clone());
    }
    all.into_sorted()
}
