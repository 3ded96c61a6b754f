//! What an engine is made with.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::budget::{Budgets, CancelToken};
use crate::cache::{Compiler, DEFAULT_CAPACITY, DiskCache, DiskCacheError};
use crate::check::Options;
use crate::engine::Engine;
#[cfg(all(feature = "exec", target_os = "linux"))]
use crate::exec::{ExecError, Executor, Observer, Reuse};
use crate::facts::{FactSource, WorkspaceSource};
use crate::files::{Limits, OpenError};
use crate::git::{CommitFiles, CommitTree, GitError, Repository};
#[cfg(all(feature = "exec", target_os = "linux"))]
use crate::policy::Policy;

/// An engine could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The workspace root cannot be opened.
    #[error(transparent)]
    Root(#[from] OpenError),
    /// The cache directory cannot be used.
    #[error(transparent)]
    Cache(#[from] DiskCacheError),
    /// The commit cannot be read.
    #[error(transparent)]
    Git(#[from] GitError),
    /// Commands cannot be executed in the workspace.
    #[cfg(all(feature = "exec", target_os = "linux"))]
    #[error(transparent)]
    Exec(#[from] ExecError),
    /// The threads cannot be started.
    #[error("cannot start {jobs} threads: {reason}")]
    Threads {
        /// How many were asked for.
        jobs: usize,
        /// Why not.
        reason: String,
    },
}

/// Settings of an [`Engine`], each with a default that suits embedding: no disk
/// cache, no vacuous predicates, as many threads as rayon's global pool has.
pub struct EngineBuilder {
    world: World,
    limits: Limits,
    options: Options,
    capacity: usize,
    cache_dir: Option<PathBuf>,
    at: Option<String>,
    jobs: Option<usize>,
    cancel: CancelToken,
    budgets: Budgets,
    #[cfg(all(feature = "exec", target_os = "linux"))]
    execute: Option<(Policy, PathBuf)>,
    #[cfg(all(feature = "exec", target_os = "linux"))]
    reuse_runs: bool,
    #[cfg(all(feature = "exec", target_os = "linux"))]
    observer: Option<Arc<dyn Observer>>,
}

enum World {
    Workspace(PathBuf),
    Host(Arc<dyn FactSource>),
}

impl EngineBuilder {
    pub(super) fn new(root: &Path) -> Self {
        Self::over(World::Workspace(root.to_owned()))
    }

    pub(super) fn host(source: Arc<dyn FactSource>) -> Self {
        Self::over(World::Host(source))
    }

    fn over(world: World) -> Self {
        Self {
            world,
            limits: Limits::default(),
            options: Options::default(),
            capacity: DEFAULT_CAPACITY,
            cache_dir: None,
            at: None,
            jobs: None,
            cancel: CancelToken::new(),
            budgets: Budgets::default(),
            #[cfg(all(feature = "exec", target_os = "linux"))]
            execute: None,
            #[cfg(all(feature = "exec", target_os = "linux"))]
            reuse_runs: false,
            #[cfg(all(feature = "exec", target_os = "linux"))]
            observer: None,
        }
    }

    /// Caps on what is read from the workspace.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Accepts predicates that do not depend on the world. A gate must not:
    /// a tautology would pass it.
    #[must_use]
    pub fn allow_vacuous(mut self, allow: bool) -> Self {
        self.options.allow_vacuous = allow;
        self
    }

    /// Programs kept in memory, [`DEFAULT_CAPACITY`] if not given.
    #[must_use]
    pub fn memory_cache(mut self, programs: usize) -> Self {
        self.capacity = programs;
        self
    }

    /// Keeps compiled programs, and what was counted in the files of a workspace, in
    /// a directory that many processes may share.
    #[must_use]
    pub fn disk_cache(mut self, dir: impl Into<PathBuf>) -> Self {
        self.cache_dir = Some(dir.into());
        self
    }

    /// Reads the files of a commit of the workspace's git repository, straight from
    /// its objects, and not those on disk. `run` and `test` are then unevaluated
    /// (`needs_checkout`). It does nothing for an engine over a host's facts.
    #[must_use]
    pub fn at(mut self, revision: impl Into<String>) -> Self {
        self.at = Some(revision.into());
        self
    }

    /// Executes `run` and `test` in the workspace as a policy allows; without this,
    /// and at a commit, nothing is executed. `helper` is a program that calls
    /// [`serve_if_asked`](crate::exec::serve_if_asked) first of all, such as `probity`.
    #[cfg(all(feature = "exec", target_os = "linux"))]
    #[must_use]
    pub fn policy(mut self, policy: Policy, helper: impl Into<PathBuf>) -> Self {
        self.execute = Some((policy, helper.into()));
        self
    }

    /// Keeps what commands and tests come to in the cache directory, and executes none
    /// again in a workspace whose content, environment and policy are the same. What
    /// they read outside of it is not looked at. Without [`EngineBuilder::disk_cache`]
    /// it does nothing.
    #[cfg(all(feature = "exec", target_os = "linux"))]
    #[must_use]
    pub fn reuse_runs(mut self, reuse: bool) -> Self {
        self.reuse_runs = reuse;
        self
    }

    /// Tells somebody which command or test runner is being executed.
    #[cfg(all(feature = "exec", target_os = "linux"))]
    #[must_use]
    pub fn observe_runs(mut self, observer: Arc<dyn Observer>) -> Self {
        self.observer = Some(observer);
        self
    }

    /// Threads of the engine's own, 1 to 256. Without it work runs on rayon's
    /// global pool.
    #[must_use]
    pub fn jobs(mut self, jobs: usize) -> Self {
        self.jobs = Some(jobs.clamp(1, 256));
        self
    }

    /// Limits on every batch and every single evaluation; the settings of one may
    /// tighten them.
    #[must_use]
    pub fn budgets(mut self, budgets: Budgets) -> Self {
        self.budgets = budgets;
        self
    }

    /// A token by which the host can stop what the engine is doing, all of it.
    #[must_use]
    pub fn cancel_token(mut self, cancel: CancelToken) -> Self {
        self.cancel = cancel;
        self
    }

    /// Makes the engine.
    ///
    /// # Errors
    /// [`BuildError`] if the root, the cache directory or the threads are not to
    /// be had.
    pub fn build(self) -> Result<Engine, BuildError> {
        let source: Arc<dyn FactSource> = match self.world {
            World::Workspace(root) => {
                let source = match &self.at {
                    None => {
                        let source = WorkspaceSource::open(&root, self.limits)?;
                        #[cfg(all(feature = "exec", target_os = "linux"))]
                        let source = match self.execute {
                            Some((policy, helper)) => {
                                let mut executor = Executor::new(policy, &root, helper)?;
                                if let Some(observer) = self.observer {
                                    executor = executor.observe(observer);
                                }
                                source.execute(match &self.cache_dir {
                                    Some(dir) if self.reuse_runs => {
                                        executor.reuse(Reuse::open(dir)?)
                                    }
                                    _ => executor,
                                })
                            }
                            None => source,
                        };
                        source
                    }
                    Some(revision) => {
                        let repository = Arc::new(Repository::open(&root)?);
                        let commit = repository.resolve(revision)?;
                        let files = CommitFiles::new(repository, &commit)?;
                        WorkspaceSource::at(CommitTree::new(files), self.limits)
                    }
                };
                Arc::new(match &self.cache_dir {
                    Some(dir) => source.remember(dir)?,
                    None => source,
                })
            }
            World::Host(source) => source,
        };
        let disk = self
            .cache_dir
            .map(|dir| DiskCache::open(&dir))
            .transpose()?;
        let pool = match self.jobs {
            None => None,
            Some(jobs) => {
                let threads = rayon::ThreadPoolBuilder::new().num_threads(jobs).build();
                let pool = threads.map_err(|error| BuildError::Threads {
                    jobs,
                    reason: error.to_string(),
                })?;
                Some(pool)
            }
        };
        let compiler = Compiler::new(self.options, self.capacity, disk);
        Ok(Engine::assemble(
            compiler,
            source,
            pool,
            self.cancel,
            self.budgets,
        ))
    }
}
