//! One predicate after the other, and the choice of some. (flow.md, section 4.8.)

use std::cell::Cell;
use std::collections::HashSet;
use std::time::Duration;

use super::attempt::Envelope;
use super::fallback;
use super::record::{ExecutionReport, Record, Skip};
use super::runner::{Runner, RunnerKind};
use super::schedule::{Executor, SliceJob, kinds, report};

impl Executor {
    /// Runs the predicates of a slice in the order that is given, on this thread.
    #[must_use]
    pub fn execute_slice_serial(&self, job: &SliceJob<'_>) -> ExecutionReport {
        report(self.in_turn(job))
    }

    /// Runs those predicates of a slice that are named, or all if there are no names;
    /// semantic ones if they are wanted, with the fallbacks of those that are chosen.
    /// What is there only as a fallback does not count for the verdict. What is not
    /// selectable is not named among what is skipped.
    #[must_use]
    pub fn execute_named_slice_serial(
        &self,
        job: &SliceJob<'_>,
        names: &[&str],
        include_semantic: bool,
    ) -> ExecutionReport {
        let is_named = |runner: &dyn Runner| {
            runner.is_selectable() && (names.is_empty() || names.contains(&runner.name()))
        };
        let is_direct = |runner: &dyn Runner| {
            is_named(runner) && (include_semantic || runner.kind() == RunnerKind::Deterministic)
        };
        let fallbacks: HashSet<&str> = job
            .runners
            .iter()
            .filter(|runner| is_direct(**runner) && runner.kind() == RunnerKind::Semantic)
            .filter_map(|runner| runner.fallback_hash())
            .collect();
        let mut chosen = SliceJob {
            slice: job.slice,
            runners: Vec::new(),
        };
        let mut indirect = HashSet::new();
        let mut skipped = Vec::new();
        for runner in &job.runners {
            let runner = *runner;
            if is_direct(runner) {
                chosen.runners.push(runner);
            } else if fallbacks.contains(runner.hash()) {
                indirect.insert((runner.hash(), runner.name()));
                chosen.runners.push(runner);
            } else if runner.is_selectable() {
                skipped.push(Skip {
                    name: runner.name().into(),
                    hash: runner.hash().into(),
                    kind: runner.kind(),
                    reason: match is_named(runner) {
                        true => "semantic predicates require an explicit include_semantic option",
                        false => "not selected",
                    },
                });
            }
        }
        let mut report = self.execute_slice_serial(&chosen);
        for record in &mut report.records {
            record.enforced &= !indirect.contains(&(&*record.hash, &*record.name));
        }
        report.skipped = skipped;
        report
    }

    fn in_turn(&self, job: &SliceJob<'_>) -> Vec<Record> {
        let shared = self.shared();
        let scheduler = &self.config.scheduler;
        let deterministic = Purse::new(scheduler.slice_deterministic_envelope);
        let semantic = Purse::new(scheduler.slice_semantic_envelope);
        let kinds = kinds(&job.runners);
        let records = job.runners.iter().map(|runner| {
            if let Some(error) = fallback::refusal(*runner, &kinds) {
                return shared.refused(*runner, &error.code, &error.message);
            }
            let purse = match runner.kind() {
                RunnerKind::Deterministic => &deterministic,
                RunnerKind::Semantic => &semantic,
            };
            shared.run(*runner, job.slice, purse)
        });
        records.collect()
    }
}

/// The envelope of one kind.
struct Purse {
    envelope: Duration,
    spent: Cell<Duration>,
}

impl Purse {
    const fn new(envelope: Duration) -> Self {
        Self {
            envelope,
            spent: Cell::new(Duration::ZERO),
        }
    }
}

impl Envelope for Purse {
    fn is_used_up(&self) -> bool {
        !self.envelope.is_zero() && self.spent.get() >= self.envelope
    }

    fn charge(&self, took: Duration) {
        self.spent.set(self.spent.get().saturating_add(took));
    }
}
