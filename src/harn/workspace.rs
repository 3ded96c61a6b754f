//! What `grep` and `exists` look into: one workspace for many predicates and threads,
//! in which each fact is established once. (flow.md, introduction, point 3; engine.md,
//! "Facts and the planner".)

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::budget::{CancelToken, fact_out_of_fuel};
use crate::facts::{Demand, FactKey, FactSource, FactValue, Fetched, WorkspaceSource};
use crate::files::{Limits as FileLimits, OpenError};
use crate::harn::module::Module;
use crate::reason::{Reason, ReasonCode};

/// What is kept of established facts, in bytes. Facts past it are established each time
/// that somebody asks.
const MOST_KEPT: usize = 16 << 20;

/// What a kept fact takes besides its arguments, in bytes.
const OVERHEAD: usize = 256;

/// Between two looks at the token of one who waits for what another establishes.
const PATIENCE: Duration = Duration::from_millis(20);

/// A read-only workspace that predicates may ask about. It is shared by reference; what
/// one evaluation asked, the next ones get without another search, and they get the same
/// answer, even if the files have changed since: make a new one for another state of them.
///
/// Facts are established on threads of its own, as many as there are cores, which are
/// started when the first fact is asked for.
///
/// ```
/// use probity::facts::WorkspaceSource;
/// use probity::files::{Limits, memory_tree};
/// use probity::flow::{Context, Prepared, Slice, Verdict, evaluate};
/// use probity::harn::{Module, Workspace};
///
/// let tree = memory_tree([("src/a.rs", "x.unwrap()\n".as_bytes())])?;
/// let workspace = Workspace::new(WorkspaceSource::over(tree, Limits::default()));
/// let module = Module::compile(
///     "@invariant\n@deterministic\nfn p(slice) {\n\
///      return grep(r\"\\.unwrap\\(\", \"src\") == 0\n\
///      ? flow_invariant_allow() : flow_invariant_warn(\"it unwraps\")\n}",
/// )
/// .expect("it is sound");
/// let context = Context { workspace: Some(&workspace), ..Context::default() };
/// let slice = Slice::default();
/// let slice = Prepared::new(&slice);
/// let judged = evaluate(&module, &module.predicates()[0], &slice, &context, &Default::default());
/// assert_eq!(judged.result.verdict, Verdict::Warn { reason: "it unwraps".into() });
/// # Ok::<(), probity::files::FileError>(())
/// ```
pub struct Workspace {
    source: Box<dyn FactSource>,
    known: Mutex<Known>,
    /// Somebody established something, or gave up.
    changed: Condvar,
    threads: OnceLock<Result<ThreadPool, Box<str>>>,
}

impl std::fmt::Debug for Workspace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let facts = self.known().states.len();
        f.debug_struct("Workspace")
            .field("facts", &facts)
            .finish_non_exhaustive()
    }
}

/// What is known, and what is being found out.
#[derive(Debug, Default)]
struct Known {
    states: HashMap<FactKey, State>,
    bytes: usize,
}

#[derive(Debug)]
enum State {
    /// Somebody is at it.
    Asked,
    Known(Arc<Fetched>),
    /// It takes more fuel than this.
    Over(u64),
}

impl Known {
    fn set(&mut self, key: &FactKey, state: State) {
        let size = size(key);
        self.bytes = self.bytes.saturating_add(size);
        if self.bytes > MOST_KEPT && !matches!(state, State::Asked) {
            self.bytes = self.bytes.saturating_sub(size);
            return;
        }
        self.states.insert(key.clone(), state);
    }

    fn forget(&mut self, key: &FactKey) {
        if self.states.remove(key).is_some() {
            self.bytes = self.bytes.saturating_sub(size(key));
        }
    }
}

/// What a fact takes while it is kept, in bytes.
pub(super) fn size(key: &FactKey) -> usize {
    let arguments = key.arguments().into_iter().map(str::len);
    OVERHEAD + arguments.sum::<usize>()
}

impl Workspace {
    /// A workspace whose facts a source knows. `run` and `test` are never asked for.
    pub fn new(source: impl FactSource + 'static) -> Self {
        Self {
            source: Box::new(source),
            known: Mutex::default(),
            changed: Condvar::new(),
            threads: OnceLock::new(),
        }
    }

    /// A directory on disk, with the usual limits on what is read of it.
    ///
    /// # Errors
    /// If it is no directory or may not be read.
    pub fn open(root: &Path) -> Result<Self, OpenError> {
        let source = WorkspaceSource::open(root, FileLimits::default())?;
        Ok(Self::new(source))
    }

    /// Establishes all facts at once that modules ask for with constant arguments, so
    /// that all patterns are searched for in one pass over the files. What predicates
    /// come to, and what fuel they take, is the same without. `fuel` is the most that
    /// one evaluation may take.
    pub fn look_ahead<'m>(
        &self,
        modules: impl IntoIterator<Item = &'m Module>,
        fuel: u64,
        cancel: &CancelToken,
    ) {
        let mut keys = Vec::new();
        let mut known = self.known();
        for key in modules.into_iter().flat_map(Module::facts) {
            if !known.states.contains_key(key) {
                known.set(key, State::Asked);
                keys.push(key.clone());
            }
        }
        drop(known);
        if !keys.is_empty() {
            self.find_out(keys, fuel, cancel);
        }
    }

    /// What is known of a fact that may take so much fuel. If it takes more, it is
    /// unknown (`budget_exceeded`).
    pub(super) fn establish(&self, key: &FactKey, fuel: u64, cancel: &CancelToken) -> Arc<Fetched> {
        let unknown = |reason| Arc::new(FactValue::Unknown(reason).into());
        let mut known = self.known();
        loop {
            match known.states.get(key) {
                Some(State::Known(fetched)) => return Arc::clone(fetched),
                Some(State::Over(limit)) if fuel <= *limit => {
                    return unknown(fact_out_of_fuel(fuel));
                }
                Some(State::Over(_)) | None => break,
                Some(State::Asked) => {}
            }
            if let Some(cause) = cancel.stop() {
                return unknown(cause.into());
            }
            let waited = self.changed.wait_timeout(known, PATIENCE);
            known = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        known.forget(key);
        known.set(key, State::Asked);
        drop(known);
        let mut found = self.find_out(vec![key.clone()], fuel, cancel);
        found
            .pop()
            .unwrap_or_else(|| Arc::new(unanswered(key).into()))
    }

    /// Has the source look for facts that are marked as asked.
    fn find_out(&self, keys: Vec<FactKey>, fuel: u64, cancel: &CancelToken) -> Vec<Arc<Fetched>> {
        let asked = Asked {
            workspace: self,
            keys,
        };
        let found = self.fetch(&asked.keys, fuel, cancel);
        let mut known = self.known();
        for (key, fetched) in asked.keys.iter().zip(&found) {
            known.forget(key);
            match &fetched.value {
                FactValue::Unknown(reason) if !reason.deterministic => {}
                FactValue::Unknown(reason) if reason.code == ReasonCode::BudgetExceeded => {
                    known.set(key, State::Over(fuel));
                }
                _ => known.set(key, State::Known(Arc::clone(fetched))),
            }
        }
        drop(known);
        found
    }

    /// Asks the source, which gives an answer to each.
    fn fetch(&self, keys: &[FactKey], fuel: u64, cancel: &CancelToken) -> Vec<Arc<Fetched>> {
        let demands = keys.iter().map(|key| Demand {
            key,
            limit: None,
            places: 0,
            fuel: Some(fuel),
        });
        let demands: Vec<Demand<'_>> = demands.collect();
        let answers = self.on_threads(|| self.source.fetch(&demands, cancel).0);
        let mut answers = answers.map(Vec::into_iter);
        let answer = |key: &FactKey| match &mut answers {
            Ok(answers) => answers.next().unwrap_or_else(|| unanswered(key).into()),
            Err(error) => {
                let detail = format!("the threads of the workspace cannot be started: {error}");
                let reason = Reason::new(ReasonCode::ReadError, detail);
                FactValue::Unknown(reason.not_deterministic()).into()
            }
        };
        keys.iter().map(answer).map(Arc::new).collect()
    }

    /// Does work on the threads of the workspace. A thread of another pool that waits for
    /// it must not be lent out: it might take up an evaluation that wants the same fact.
    fn on_threads<R: Send>(&self, work: impl FnOnce() -> R + Send) -> Result<R, Box<str>> {
        let threads = self.threads.get_or_init(|| {
            let pool = ThreadPoolBuilder::new().build();
            pool.map_err(|error| error.to_string().into())
        });
        let threads = threads.as_ref().map_err(Clone::clone)?;
        if rayon::current_thread_index().is_none() {
            return Ok(threads.install(work));
        }
        std::thread::scope(|scope| {
            let work = || threads.install(work);
            let apart = std::thread::Builder::new().spawn_scoped(scope, work);
            let apart = apart.map_err(|error| error.to_string())?;
            Ok(apart
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
        })
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn unanswered(key: &FactKey) -> FactValue {
    let name = key.primitive().name();
    FactValue::Unknown(Reason::new(
        ReasonCode::FactMissing,
        format!("the fact source gave no answer to `{name}`"),
    ))
}

/// Facts that somebody is at. When it ends, however that may be, those who wait are told.
struct Asked<'w> {
    workspace: &'w Workspace,
    keys: Vec<FactKey>,
}

impl Drop for Asked<'_> {
    fn drop(&mut self) {
        let mut known = self.workspace.known();
        for key in &self.keys {
            if let Some(State::Asked) = known.states.get(key) {
                known.forget(key);
            }
        }
        drop(known);
        self.workspace.changed.notify_all();
    }
}
