//! A predicate file in its place. (flow.md, section 2.1.)

use std::sync::Arc;

use crate::digest::Digest;
use crate::flow::discovery::content::Content;
use crate::flow::discovery::diagnostic::DiscoveryDiagnostic;
use crate::flow::result::InvariantResult;
use crate::harn::{Declaration, Module, Predicate};

/// An `invariants.harn` file that was found, also one that cannot be read.
#[derive(Debug)]
pub struct PredicateFile {
    pub(super) path: Box<str>,
    pub(super) relative_dir: Arc<str>,
    pub(super) depth: usize,
    /// `None` if it cannot be read.
    pub(super) content: Option<Arc<Content>>,
    /// Of each predicate, that of its function, from 1 on.
    pub(super) lines: Vec<usize>,
    /// Of each predicate.
    pub(super) fallbacks: Vec<Option<Fallback>>,
    pub(super) diagnostics: Vec<DiscoveryDiagnostic>,
}

/// The predicate that stands in for a semantic one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fallback {
    /// The directory of its file, `.` for the root.
    pub relative_dir: Arc<str>,
    /// Its name.
    pub name: Box<str>,
    /// The hash of its source.
    pub hash: Digest,
}

impl PredicateFile {
    /// Its path, relative to the root, with `/` between its parts.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Its directory, relative to the root; `.` for the root.
    #[must_use]
    pub fn relative_dir(&self) -> &str {
        &self.relative_dir
    }

    /// How many directories below the root it lies.
    #[must_use]
    pub const fn depth(&self) -> usize {
        self.depth
    }

    /// Its text; empty if it cannot be read.
    #[must_use]
    pub fn source(&self) -> &str {
        let content = self.content.as_ref();
        content.map_or("", |content| &content.inspection.source)
    }

    /// The compiled file, if it can be compiled. Its predicates are those whose
    /// declarations are in order: see [`PredicateFile::refusal`] for the others.
    #[must_use]
    pub fn module(&self) -> Option<&Module> {
        self.content.as_ref()?.inspection.module.as_ref()
    }

    /// Its predicates in the order of the source, also those that cannot be evaluated.
    /// Elsewhere they go by their number in this list.
    #[must_use]
    pub fn predicates(&self) -> &[Declaration] {
        let content = self.content.as_ref();
        content.map_or(&[], |content| &content.inspection.declarations)
    }

    /// The line of a predicate's `fn`, from 1 on.
    #[must_use]
    pub fn line(&self, predicate: usize) -> usize {
        self.lines.get(predicate).copied().unwrap_or(1)
    }

    /// The fallback of a predicate, if it is semantic and its fallback is visible: in
    /// this file or, nearest first, in an ancestor.
    #[must_use]
    pub fn fallback(&self, predicate: usize) -> Option<&Fallback> {
        self.fallbacks.get(predicate)?.as_ref()
    }

    /// What is wrong with it or doubtful in it, in the order of flow.md, section 2.4.
    #[must_use]
    pub fn diagnostics(&self) -> &[DiscoveryDiagnostic] {
        &self.diagnostics
    }

    /// True if it has an error. Whoever gates on it must refuse then.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(DiscoveryDiagnostic::is_error)
    }

    /// A predicate as it is evaluated. `None` if it cannot be.
    #[must_use]
    pub fn evaluable(&self, predicate: usize) -> Option<(&Module, &Predicate)> {
        let start = self.predicates().get(predicate)?.span.start;
        let module = self.module()?;
        let predicates = module.predicates();
        // They are in the order of the source.
        let at = predicates.binary_search_by_key(&start, |it| it.span.start);
        Some((module, predicates.get(at.ok()?)?))
    }

    /// The result that a predicate has without being evaluated: a block with the code and
    /// the text of what is wrong with its declaration, or with its file as a whole.
    /// `None` if nothing is.
    #[must_use]
    pub fn refusal(&self, predicate: usize) -> Option<InvariantResult> {
        let name = self.predicates().get(predicate).map(|it| &it.name);
        let errors = || self.diagnostics.iter().filter(|it| it.is_error());
        let own = errors().find(|it| it.predicate.is_some() && it.predicate.as_ref() == name);
        if let Some(own) = own {
            return Some(InvariantResult::block(own.code(), &*own.message));
        }
        if self.evaluable(predicate).is_some() {
            return None;
        }
        let message = match errors().next() {
            Some(error) => format!("`{}`: {}", self.path, error.message),
            None => format!("`{}` has no such predicate", self.path),
        };
        Some(InvariantResult::block("predicate_load_error", message))
    }
}
