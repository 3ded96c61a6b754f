//! The facts of a workspace on disk.

use std::fmt;
use std::path::Path;

use crate::counts::{DEFAULT_MAX_BYTES, Store};
#[cfg(all(feature = "exec", target_os = "linux"))]
use crate::exec::Executor;
#[cfg(all(feature = "exec", target_os = "linux"))]
use crate::facts::execution;
use crate::facts::{
    CancelToken, Demand, FactKey, FactSource, FetchStats, Fetched, exists, grep, refused,
};
use crate::files::{Limits, OpenError, Root, Tree};
use crate::git::CommitTree;
use crate::scan::{ScanOptions, scan};
use crate::sealed::DirError;

/// Answers `exists`, `grep` and `count` from a tree of files and refuses `run` and
/// `test`. Nothing outside the tree is ever read.
pub struct WorkspaceSource {
    tree: Box<dyn Tree>,
    limits: Limits,
    counts: Option<Store>,
    /// What executes `run` and `test`.
    #[cfg(all(feature = "exec", target_os = "linux"))]
    executor: Option<Executor>,
    /// What to answer to `run` and `test` where nothing executes them.
    refuse: fn(&FactKey) -> Fetched,
}

impl fmt::Debug for WorkspaceSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WorkspaceSource")
            .field("limits", &self.limits)
            .field("counts", &self.counts)
            .finish_non_exhaustive()
    }
}

impl WorkspaceSource {
    /// Opens a workspace. It stays the same directory whatever is renamed later.
    ///
    /// # Errors
    ///
    /// If the root is no directory or may not be read.
    pub fn open(root: &Path, limits: Limits) -> Result<Self, OpenError> {
        Ok(Self::over(Root::open(root)?, limits))
    }

    /// The same for any tree whose files are on disk as well.
    pub fn over(tree: impl Tree + 'static, limits: Limits) -> Self {
        Self {
            tree: Box::new(tree),
            limits,
            counts: None,
            #[cfg(all(feature = "exec", target_os = "linux"))]
            executor: None,
            refuse: refused::not_allowed,
        }
    }

    /// The same for a commit. `run` and `test` are unknown (`needs_checkout`).
    #[must_use]
    pub fn at(tree: CommitTree, limits: Limits) -> Self {
        Self {
            refuse: refused::needs_checkout,
            ..Self::over(tree, limits)
        }
    }

    /// Executes `run` and `test` as the policy of an executor allows.
    #[cfg(all(feature = "exec", target_os = "linux"))]
    #[must_use]
    pub fn execute(mut self, executor: Executor) -> Self {
        self.executor = Some(executor);
        self
    }

    /// Keeps what is counted in a cache directory that many processes may share, so
    /// that what did not change is not searched again.
    ///
    /// # Errors
    ///
    /// [`DirError`] if the directory cannot be made, read or trusted.
    pub fn remember(mut self, dir: &Path) -> Result<Self, DirError> {
        self.counts = Some(Store::open(dir, &self.tree.space(), DEFAULT_MAX_BYTES)?);
        Ok(self)
    }
}

impl WorkspaceSource {
    /// The answers to `run` and `test`, or none at all.
    #[cfg(all(feature = "exec", target_os = "linux"))]
    fn executed(&self, demands: &[Demand<'_>], cancel: &CancelToken) -> Vec<Fetched> {
        let Some(executor) = &self.executor else {
            return Vec::new();
        };
        let is_executed = |key: &&FactKey| matches!(key, FactKey::Test(_) | FactKey::Run(_));
        let keys = demands.iter().map(|demand| demand.key).filter(is_executed);
        execution::execute(executor, &keys.collect::<Vec<_>>(), cancel)
    }

    #[cfg(not(all(feature = "exec", target_os = "linux")))]
    #[expect(clippy::unused_self, reason = "as where there is an executor")]
    const fn executed(&self, _: &[Demand<'_>], _: &CancelToken) -> Vec<Fetched> {
        Vec::new()
    }
}

impl FactSource for WorkspaceSource {
    fn fetch(&self, demands: &[Demand<'_>], cancel: &CancelToken) -> (Vec<Fetched>, FetchStats) {
        let mut paths = Vec::new();
        let mut globs = Vec::new();
        let mut requests = Vec::new();
        for demand in demands {
            match demand.key {
                FactKey::Exists(path) if path.glob => globs.push(path),
                FactKey::Exists(path) => paths.push(&*path.text),
                _ => requests.extend(grep::request(demand)),
            }
        }
        let mut found = exists::exist(&*self.tree, &paths, cancel).into_iter();
        let scanned = scan(
            &*self.tree,
            &self.limits,
            &requests,
            &globs,
            ScanOptions {
                tier: None,
                counts: self.counts.as_ref(),
            },
            cancel,
        );
        let mut counts = scanned.counts.into_iter();
        let mut existing = scanned.existing.into_iter();
        let mut executed = self.executed(demands, cancel).into_iter();
        let answers = demands.iter().map(|demand| {
            let answer = match demand.key {
                FactKey::Exists(path) if path.glob => existing.next(),
                FactKey::Exists(_) => found.next(),
                FactKey::Grep(..) | FactKey::Count(..) => counts.next(),
                FactKey::Test(_) | FactKey::Run(_) => executed.next(),
            };
            answer.unwrap_or_else(|| (self.refuse)(demand.key))
        });
        (answers.collect(), scanned.stats)
    }
}
