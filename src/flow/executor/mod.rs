//! The executor: runs the predicates of slices within budgets, side by side, and records
//! what they come to. (flow.md, section 4.)
//!
//! Deterministic predicates of a slice go before its semantic ones; slices take turns.
//! What runs can be ended: predicates of Harn by their fuel and the CPU time of their
//! thread, others by looking at [`RunContext::is_cancelled`].

mod attempt;
mod config;
mod fallback;
mod judge;
mod lanes;
mod record;
mod reply;
mod runner;
mod schedule;
mod serial;

pub use config::{ExecutorConfig, SchedulerConfig};
pub use judge::{
    CheapJudge, JudgeGate, JudgeRequest, MAX_JUDGE_REQUEST_BYTES, SemanticReplayAudit,
};
pub use record::{ExecutionReport, Record, Skip};
pub use reply::JudgeReply;
pub use runner::{Ran, RunContext, Runner, RunnerKind};
pub use schedule::{Executor, SliceJob};
