//! Many slices at once, on threads of their own. (flow.md, section 4.8.)

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::budget::CancelToken;
use crate::flow::slice::Slice;

use super::attempt::{Envelope, Shared};
use super::config::ExecutorConfig;
use super::fallback;
use super::judge::CheapJudge;
use super::lanes::Lanes;
use super::record::{ExecutionReport, Record};
use super::runner::{Runner, RunnerKind};

/// A slice and the predicates that judge it.
pub struct SliceJob<'j> {
    /// The slice.
    pub slice: &'j Slice,
    /// The predicates.
    pub runners: Vec<&'j dyn Runner>,
}

/// Runs predicates.
#[derive(Clone, Default)]
pub struct Executor {
    pub(super) config: ExecutorConfig,
    pub(super) judge: Option<Arc<dyn CheapJudge>>,
    pub(super) cancel: CancelToken,
}

impl Executor {
    /// An executor without a judge.
    #[must_use]
    pub fn new(config: ExecutorConfig) -> Self {
        Self {
            config,
            ..Self::default()
        }
    }

    /// Installs a judge.
    #[must_use]
    pub fn judge(mut self, judge: Arc<dyn CheapJudge>) -> Self {
        self.judge = Some(judge);
        self
    }

    /// Ends everything when a token says so; what did not run then blocks.
    #[must_use]
    pub fn cancel(mut self, token: CancelToken) -> Self {
        self.cancel = token;
        self
    }

    pub(super) fn shared(&self) -> Shared<'_> {
        Shared {
            config: &self.config,
            judge: self.judge.clone(),
            cancel: &self.cancel,
            started: Instant::now(),
        }
    }

    /// Runs the predicates of one slice.
    #[must_use]
    pub fn execute_slice(&self, job: &SliceJob<'_>) -> ExecutionReport {
        let mut reports = self.execute_slices(std::slice::from_ref(job));
        reports.pop().unwrap_or_default()
    }

    /// Runs the predicates of many slices; reports come in the order of the slices.
    #[must_use]
    pub fn execute_slices(&self, jobs: &[SliceJob<'_>]) -> Vec<ExecutionReport> {
        let shared = self.shared();
        let mut records: Vec<Vec<Record>> = jobs.iter().map(|_| Vec::new()).collect();
        let mut queues = [Vec::new(), Vec::new()];
        for (job, records) in jobs.iter().zip(&mut records) {
            let mut lines = [VecDeque::new(), VecDeque::new()];
            let kinds = kinds(&job.runners);
            for (at, runner) in job.runners.iter().enumerate() {
                match fallback::refusal(*runner, &kinds) {
                    Some(error) => {
                        records.push(shared.refused(*runner, &error.code, &error.message));
                    }
                    None => lines[number(runner.kind())].push_back(at),
                }
            }
            for (queue, line) in queues.iter_mut().zip(lines) {
                queue.push(line);
            }
        }
        let scheduler = &self.config.scheduler;
        let [deterministic, semantic] = queues;
        let lanes = [
            Lanes::new(
                deterministic,
                scheduler.max_deterministic_lanes,
                scheduler.max_deterministic_lanes_per_slice,
                scheduler.slice_deterministic_envelope,
                self.config.deterministic_budget,
            ),
            Lanes::new(
                semantic,
                scheduler.max_semantic_lanes,
                scheduler.max_semantic_lanes_per_slice,
                scheduler.slice_semantic_envelope,
                self.config.semantic_budget,
            ),
        ];
        // This thread is one of those that serve deterministic predicates.
        let helpers = [lanes[0].wanted().saturating_sub(1), lanes[1].wanted()];
        let work = Work {
            shared,
            jobs,
            state: Mutex::new(State {
                lanes,
                idle: [0, 0],
                records,
            }),
            changed: [Condvar::new(), Condvar::new()],
        };
        thread::scope(|scope| {
            let work = &work;
            for (kind, count) in helpers.into_iter().enumerate() {
                for _ in 0..count {
                    let worker = thread::Builder::new().name("predicate".into());
                    // Without threads this one does all.
                    let _ = worker.spawn_scoped(scope, move || work.serve(kind));
                }
            }
            work.serve(0);
            work.serve(1);
        });
        let state = work.state.into_inner();
        let state = state.unwrap_or_else(PoisonError::into_inner);
        state.records.into_iter().map(report).collect()
    }
}

/// The kinds of predicates by hash. Where several have one, the deterministic counts.
pub(super) fn kinds<'r>(runners: &[&'r dyn Runner]) -> HashMap<&'r str, RunnerKind> {
    let mut kinds = HashMap::with_capacity(runners.len());
    for runner in runners {
        let kind = kinds.entry(runner.hash()).or_insert(runner.kind());
        if runner.kind() == RunnerKind::Deterministic {
            *kind = RunnerKind::Deterministic;
        }
    }
    kinds
}

/// Records with what fallbacks say, sorted.
pub(super) fn report(mut records: Vec<Record>) -> ExecutionReport {
    fallback::compose(&mut records);
    records.sort_by(|left, right| (&left.hash, &left.name).cmp(&(&right.hash, &right.name)));
    ExecutionReport {
        records,
        skipped: Vec::new(),
    }
}

const fn number(kind: RunnerKind) -> usize {
    match kind {
        RunnerKind::Deterministic => 0,
        RunnerKind::Semantic => 1,
    }
}

struct State {
    /// Of deterministic predicates, of semantic ones.
    lanes: [Lanes; 2],
    /// Threads that wait, of each kind.
    idle: [usize; 2],
    records: Vec<Vec<Record>>,
}

struct Work<'w, 'j> {
    shared: Shared<'w>,
    jobs: &'w [SliceJob<'j>],
    state: Mutex<State>,
    /// That a predicate of a kind may go on.
    changed: [Condvar; 2],
}

impl Work<'_, '_> {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs predicates of a kind until none waits.
    fn serve(&self, kind: usize) {
        let mut state = self.state();
        loop {
            let [deterministic, semantic] = &mut state.lanes;
            let taken = match kind {
                0 => deterministic.take(|_| true),
                _ => semantic.take(|slice| deterministic.is_done(slice)),
            };
            if let Some((slice, runner)) = taken {
                drop(state);
                let job = &self.jobs[slice];
                let envelope = Account {
                    work: self,
                    kind,
                    slice,
                };
                let record = self.shared.run(job.runners[runner], job.slice, &envelope);
                state = self.state();
                state.lanes[kind].finish(slice);
                state.records[slice].push(record);
                // To wake a thread costs more than most predicates.
                let is_ready = kind == 1 || state.lanes[0].is_done(slice);
                for (other, is_wanted) in [(kind, true), (1, is_ready)] {
                    if is_wanted && state.idle[other] > 0 {
                        self.changed[other].notify_all();
                    }
                }
            } else if state.lanes[kind].is_empty() {
                return;
            } else {
                state.idle[kind] += 1;
                let woken = self.changed[kind].wait(state);
                state = woken.unwrap_or_else(PoisonError::into_inner);
                state.idle[kind] -= 1;
            }
        }
    }
}

/// The envelope of one kind of one slice.
struct Account<'a, 'w, 'j> {
    work: &'a Work<'w, 'j>,
    kind: usize,
    slice: usize,
}

impl Envelope for Account<'_, '_, '_> {
    fn is_used_up(&self) -> bool {
        self.work.state().lanes[self.kind].is_used_up(self.slice)
    }

    fn charge(&self, took: Duration) {
        self.work.state().lanes[self.kind].charge(self.slice, took);
    }
}
