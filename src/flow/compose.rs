//! Predicates of many directories together. (flow.md, section 5.)

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::flow::discovery::{Fallback, PredicateFile};
use crate::flow::result::InvariantResult;
use crate::harn::{Declaration, Module, Predicate};

/// Where a predicate is declared.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct PredicateSource {
    /// The directory of its file, relative to the root; `.` for the root.
    pub relative_dir: Box<str>,
    /// How many directories below the root that is.
    pub depth: usize,
}

/// A predicate that applies to a directory.
#[derive(Clone, Debug)]
pub struct ResolvedPredicate {
    /// `name` at the root, else `directory::name`.
    pub qualified_name: Box<str>,
    /// The name of the function.
    pub logical_name: Box<str>,
    /// Where it is declared.
    pub source: PredicateSource,
    /// Its position, in the order in which predicates were first seen.
    pub source_order: usize,
    /// Its file.
    pub file: Arc<PredicateFile>,
    /// Its number in the file.
    pub index: usize,
}

impl ResolvedPredicate {
    fn new(file: &Arc<PredicateFile>, index: usize, declaration: &Declaration) -> Self {
        let directory = names(file.relative_dir()).collect::<Vec<_>>().join("/");
        let (qualified_name, relative_dir) = if directory.is_empty() {
            (declaration.name.clone(), ".".into())
        } else {
            let qualified = format!("{directory}::{}", declaration.name);
            (qualified.into(), directory.into())
        };
        Self {
            qualified_name,
            logical_name: declaration.name.clone(),
            source: PredicateSource {
                relative_dir,
                depth: file.depth(),
            },
            source_order: 0,
            file: file.clone(),
            index,
        }
    }

    /// What its attributes say.
    #[must_use]
    pub fn declaration(&self) -> Option<&Declaration> {
        self.file.predicates().get(self.index)
    }

    /// The nearest visible deterministic predicate that it names as its fallback.
    #[must_use]
    pub fn fallback(&self) -> Option<&Fallback> {
        self.file.fallback(self.index)
    }

    /// The hash of that.
    #[must_use]
    pub fn fallback_hash(&self) -> Option<Digest> {
        self.fallback().map(|fallback| fallback.hash)
    }

    /// It as it is evaluated. `None` if it cannot be: see
    /// [`ResolvedPredicate::refusal`].
    #[must_use]
    pub fn evaluable(&self) -> Option<(&Module, &Predicate)> {
        self.file.evaluable(self.index)
    }

    /// The block that it has without being evaluated, if something is wrong with it.
    #[must_use]
    pub fn refusal(&self) -> Option<InvariantResult> {
        self.file.refusal(self.index)
    }
}

/// The predicates of a chain, root first, those of ancestors beside those of descendants
/// with the same name.
#[must_use]
pub fn resolve_predicates(chain: &[Arc<PredicateFile>]) -> Vec<ResolvedPredicate> {
    let declared = chain.iter().flat_map(|file| {
        let declarations = file.predicates().iter().enumerate();
        declarations.map(|(index, declaration)| ResolvedPredicate::new(file, index, declaration))
    });
    let mut resolved: Vec<_> = declared.collect();
    for (position, predicate) in resolved.iter_mut().enumerate() {
        predicate.source_order = position;
    }
    resolved
}

/// The predicates of files of many chains, in the order in which they were first seen:
/// each name of a directory once, the first one, by depth, directory and order of the
/// source.
#[must_use]
pub fn union_predicates(files: &[Arc<PredicateFile>]) -> Vec<ResolvedPredicate> {
    let mut directories = HashSet::new();
    let mut union = Vec::new();
    for file in files {
        if !directories.insert(file.relative_dir()) {
            continue;
        }
        let mut known = HashSet::new();
        for (index, declaration) in file.predicates().iter().enumerate() {
            if known.insert(&declaration.name) {
                let mut predicate = ResolvedPredicate::new(file, index, declaration);
                predicate.source_order = union.len();
                union.push(predicate);
            }
        }
    }
    // No two have the same place in the order of the source, so names decide nothing.
    union.sort_by(|one, other| {
        let depths = one.source.depth.cmp(&other.source.depth);
        let directories = || one.source.relative_dir.cmp(&other.source.relative_dir);
        let orders = || one.source_order.cmp(&other.source_order);
        depths.then_with(directories).then_with(orders)
    });
    union
}

/// What a predicate came to by itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PredicateEvaluation {
    /// As of [`ResolvedPredicate`].
    pub qualified_name: Box<str>,
    /// The name of the function.
    pub logical_name: Box<str>,
    /// Where it is declared.
    pub source: PredicateSource,
    /// Its result.
    pub result: InvariantResult,
}

impl PredicateEvaluation {
    /// The result of a predicate.
    #[must_use]
    pub fn new(predicate: &ResolvedPredicate, result: InvariantResult) -> Self {
        Self {
            qualified_name: predicate.qualified_name.clone(),
            logical_name: predicate.logical_name.clone(),
            source: predicate.source.clone(),
            result,
        }
    }
}

/// What a predicate comes to together with those of its ancestors with the same name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ComposedResult {
    /// As of [`ResolvedPredicate`].
    pub qualified_name: Box<str>,
    /// The name of the function.
    pub logical_name: Box<str>,
    /// Where it is declared.
    pub source: PredicateSource,
    /// The predicate whose result counts.
    pub selected_qualified_name: Box<str>,
    /// Where that is declared.
    pub selected_source: PredicateSource,
    /// Its result.
    pub result: InvariantResult,
}

/// For each evaluation the strictest result among its own and those of the same name in
/// the same or an ancestor directory; of equally strict ones that nearest to the root,
/// then that with the smaller qualified name. So a child tightens what an ancestor says
/// and never relaxes it. In the order of the evaluations; the time is that of sorting
/// them.
#[must_use]
pub fn compose_predicate_results(evaluations: &[PredicateEvaluation]) -> Vec<ComposedResult> {
    let mut lineages: HashMap<&str, Vec<usize>> = HashMap::new();
    for (at, evaluation) in evaluations.iter().enumerate() {
        lineages
            .entry(&evaluation.logical_name)
            .or_default()
            .push(at);
    }
    let mut selected: Vec<usize> = (0..evaluations.len()).collect();
    for lineage in lineages.values() {
        select(evaluations, lineage, &mut selected);
    }
    let composed = evaluations.iter().zip(&selected);
    composed
        .map(|(own, selected)| {
            let selected = &evaluations[*selected];
            ComposedResult {
                qualified_name: own.qualified_name.clone(),
                logical_name: own.logical_name.clone(),
                source: own.source.clone(),
                selected_qualified_name: selected.qualified_name.clone(),
                selected_source: selected.source.clone(),
                result: selected.result.clone(),
            }
        })
        .collect()
}

/// Finds what counts for each evaluation of one name.
fn select(evaluations: &[PredicateEvaluation], lineage: &[usize], selected: &mut [usize]) {
    let keys = lineage
        .iter()
        .map(|at| (key(&evaluations[*at].source.relative_dir), *at));
    let mut lineage: Vec<(String, usize)> = keys.collect();
    // Every directory directly before what is below it.
    lineage.sort();
    let stricter = |one: usize, other: usize| match rank(&evaluations[one], &evaluations[other]) {
        Ordering::Greater => other,
        _ => one,
    };
    // The directories around, each with what counts there.
    let mut around: Vec<(&str, usize)> = Vec::new();
    for same in lineage.chunk_by(|(one, _), (other, _)| one == other) {
        let [(directory, first), rest @ ..] = same else {
            continue;
        };
        while around
            .pop_if(|(above, _)| !directory.starts_with(*above))
            .is_some()
        {}
        let own = rest
            .iter()
            .fold(*first, |best, (_, at)| stricter(best, *at));
        let best = around.last().map_or(own, |(_, best)| stricter(*best, own));
        around.push((directory, best));
        for (_, at) in same {
            selected[*at] = best;
        }
    }
}

/// A directory as a text that begins with that of each directory above it, and of no
/// other: a NUL, which is in no name and sorts first, ends each name.
fn key(directory: &str) -> String {
    let mut key = String::with_capacity(directory.len() + 1);
    for name in names(directory) {
        key.push_str(name);
        key.push('\0');
    }
    key
}

/// Puts what counts first: the strictest, the shallowest, the smallest name.
fn rank(one: &PredicateEvaluation, other: &PredicateEvaluation) -> Ordering {
    let strictness = |it: &PredicateEvaluation| it.result.verdict.strictness();
    strictness(other)
        .cmp(&strictness(one))
        .then_with(|| one.source.depth.cmp(&other.source.depth))
        .then_with(|| one.qualified_name.cmp(&other.qualified_name))
}

/// The names of a directory. What only stands for itself is dropped.
fn names(directory: &str) -> impl Iterator<Item = &str> {
    let names = directory.split('/');
    names.filter(|name| !matches!(*name, "" | "." | ".."))
}
