//! One predicate: its attempts and what they come to. (flow.md, sections 4.4 and 4.5.)

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::budget::{CancelToken, timed};
use crate::flow::result::{InvariantResult, Verdict};
use crate::flow::slice::Slice;

use super::config::ExecutorConfig;
use super::judge::{CheapJudge, JudgeGate};
use super::record::Record;
use super::runner::{Ran, RunContext, Runner, RunnerKind};

/// What all predicates of a run share.
pub(super) struct Shared<'e> {
    pub(super) config: &'e ExecutorConfig,
    pub(super) judge: Option<Arc<dyn CheapJudge>>,
    pub(super) cancel: &'e CancelToken,
    pub(super) started: Instant,
}

/// What the predicates of one kind of one slice may still use together.
pub(super) trait Envelope {
    /// Whether nothing is left.
    fn is_used_up(&self) -> bool;
    /// Charges what an attempt took.
    fn charge(&self, took: Duration);
}

struct Attempt {
    ran: Ran,
    cpu_ns: u64,
    gate: JudgeGate,
}

impl Shared<'_> {
    pub(super) const fn budget(&self, kind: RunnerKind) -> Duration {
        match kind {
            RunnerKind::Deterministic => self.config.deterministic_budget,
            RunnerKind::Semantic => self.config.semantic_budget,
        }
    }

    /// Runs a predicate, twice if that is wanted.
    pub(super) fn run(
        &self,
        runner: &dyn Runner,
        slice: &Slice,
        envelope: &dyn Envelope,
    ) -> Record {
        let first = self.attempt(runner, slice, envelope);
        let mut record = self.record(runner, first.ran.result);
        record.raw_result = first.ran.raw;
        record.fuel = first.ran.usage.map(|usage| usage.fuel);
        record.memory_bytes = first.ran.usage.map(|usage| usage.memory as u64);
        record.scanned_bytes = first.ran.usage.map(|usage| usage.bytes);
        record.cpu_ns = first.cpu_ns;
        record.attempts = 1;
        record.semantic_replay_audit = first.gate.outcome().1;
        let first_hash = match record.result.hash() {
            Ok(hash) => hash,
            Err(error) => {
                record.result = InvariantResult::block("result_hash_failed", error);
                return self.timed(record);
            }
        };
        record.first_result_hash = Some(first_hash.clone());
        let is_replayed = self.config.replay_deterministic
            && runner.kind() == RunnerKind::Deterministic
            && !is_block(&record.result);
        if is_replayed {
            let second = self.attempt(runner, slice, envelope);
            record.attempts = 2;
            record.cpu_ns = record.cpu_ns.saturating_add(second.cpu_ns);
            match second.ran.result.hash() {
                Ok(hash) => {
                    if is_block(&second.ran.result) {
                        record.result = second.ran.result;
                        record.raw_result = second.ran.raw;
                    } else if hash != first_hash {
                        let message = "it came to two results over the same slice";
                        record.result = InvariantResult::block("nondeterministic_drift", message);
                    }
                    record.second_result_hash = Some(hash);
                }
                Err(error) => {
                    record.result = InvariantResult::block("result_hash_failed", error);
                }
            }
        }
        self.timed(record)
    }

    /// The record of a predicate that did not run.
    pub(super) fn refused(&self, runner: &dyn Runner, code: &str, message: &str) -> Record {
        self.timed(self.record(runner, InvariantResult::block(code, message)))
    }

    fn record(&self, runner: &dyn Runner, result: InvariantResult) -> Record {
        Record {
            name: runner.name().into(),
            hash: runner.hash().into(),
            kind: runner.kind(),
            fallback_hash: runner.fallback_hash().map(Into::into),
            fallback_policy: runner.fallback_policy(),
            result,
            raw_result: None,
            enforced: runner.is_enforced(),
            elapsed_ms: 0,
            attempts: 0,
            replayable: runner.kind() == RunnerKind::Deterministic,
            first_result_hash: None,
            second_result_hash: None,
            semantic_replay_audit: None,
            cpu_ns: 0,
            fuel: None,
            memory_bytes: None,
            scanned_bytes: None,
        }
    }

    fn timed(&self, mut record: Record) -> Record {
        let elapsed = self.started.elapsed().as_millis();
        record.elapsed_ms = u64::try_from(elapsed).unwrap_or(u64::MAX);
        record
    }

    fn attempt(&self, runner: &dyn Runner, slice: &Slice, envelope: &dyn Envelope) -> Attempt {
        let budget = self.budget(runner.kind());
        let start = Instant::now();
        let token = match runner.waits() {
            true => self.cancel.with_deadline(start + budget),
            false => self.cancel.clone(),
        };
        let gate = JudgeGate::new(
            runner.name(),
            runner.kind(),
            runner.evidence(),
            self.judge.clone(),
            self.config.semantic_token_cap,
            token.clone(),
        );
        if self.cancel.stop().is_some() {
            let ran = InvariantResult::block("cancelled", "the run was cancelled").into();
            return Attempt {
                ran,
                cpu_ns: 0,
                gate,
            };
        }
        if envelope.is_used_up() {
            let message = "what the slice may use was used up before this predicate started";
            let ran = InvariantResult::block("budget_exceeded", message).into();
            return Attempt {
                ran,
                cpu_ns: 0,
                gate,
            };
        }
        let context = RunContext {
            slice,
            budget,
            cancel: token,
            gate: gate.clone(),
        };
        let run = || catch_unwind(AssertUnwindSafe(|| runner.evaluate(&context)));
        let (ran, cpu_ns) = timed(run);
        let took = match runner.waits() {
            true => start.elapsed(),
            false => Duration::from_nanos(cpu_ns),
        };
        envelope.charge(took);
        let Ok(mut ran) = ran else {
            let message = "the predicate panicked";
            let ran = InvariantResult::block("predicate_runtime_error", message).into();
            return Attempt { ran, cpu_ns, gate };
        };
        if let Some(failure) = gate.outcome().0 {
            ran.result = InvariantResult::block(&failure.code, failure.message);
        }
        if took > budget && ran.result.verdict.code() != Some("budget_exceeded") {
            let message = format!("it exceeded its {}ms budget", budget.as_millis());
            ran.result = InvariantResult::block("budget_exceeded", message);
        }
        Attempt { ran, cpu_ns, gate }
    }
}

const fn is_block(result: &InvariantResult) -> bool {
    matches!(result.verdict, Verdict::Block { .. })
}
