//! What the executor wants of a predicate. (flow.md, section 4.2.)

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::budget::CancelToken;
use crate::flow::result::{BlockError, InvariantResult};
use crate::flow::slice::Slice;
use crate::harn::{FallbackPolicy, Usage};

use super::judge::JudgeGate;

/// Whether a predicate may ask a judge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunnerKind {
    /// The same slice gives the same result.
    Deterministic,
    /// A judge is asked.
    Semantic,
}

/// A predicate that can be run.
pub trait Runner: Sync {
    /// The hash that names it.
    fn hash(&self) -> &str;

    /// The name that people know it by.
    fn name(&self) -> &str {
        self.hash()
    }

    /// Whether it may ask a judge.
    fn kind(&self) -> RunnerKind;

    /// The hash of the deterministic predicate behind a semantic one.
    fn fallback_hash(&self) -> Option<&str> {
        None
    }

    /// What that predicate's result counts for.
    fn fallback_policy(&self) -> FallbackPolicy {
        FallbackPolicy::Enforce
    }

    /// Why there is no fallback, if that is known before.
    fn fallback_diagnostic(&self) -> Option<&BlockError> {
        None
    }

    /// Whether its record counts for the verdict.
    fn is_enforced(&self) -> bool {
        true
    }

    /// Whether it can be chosen by itself. What cannot only runs as the fallback of
    /// another one, and counts for the verdict through that.
    fn is_selectable(&self) -> bool {
        true
    }

    /// What it may show to a judge.
    fn evidence(&self) -> Arc<BTreeMap<String, String>> {
        Arc::default()
    }

    /// Whether it may wait for something. Its budgets are then times on the wall, and
    /// CPU times of the thread if not. What waits has to look at
    /// [`RunContext::is_cancelled`]: nothing can end it from outside.
    fn waits(&self) -> bool {
        true
    }

    /// Evaluates it.
    fn evaluate(&self, context: &RunContext<'_>) -> Ran;
}

/// What an evaluation may see and use.
pub struct RunContext<'c> {
    pub(super) slice: &'c Slice,
    pub(super) budget: Duration,
    pub(super) cancel: CancelToken,
    pub(super) gate: JudgeGate,
}

impl RunContext<'_> {
    /// The slice.
    #[must_use]
    pub const fn slice(&self) -> &Slice {
        self.slice
    }

    /// What this attempt may use.
    #[must_use]
    pub const fn budget(&self) -> Duration {
        self.budget
    }

    /// Whether the attempt should end: its budget is used up, or nobody wants it.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.cancel.stop().is_some()
    }

    /// The token that says so.
    #[must_use]
    pub const fn cancel(&self) -> &CancelToken {
        &self.cancel
    }

    /// Access to the judge.
    #[must_use]
    pub const fn judge(&self) -> &JudgeGate {
        &self.gate
    }
}

/// What an evaluation came to.
#[derive(Clone, Debug)]
pub struct Ran {
    /// The result.
    pub result: InvariantResult,
    /// The predicate's own value.
    pub raw: Option<Json>,
    /// What it used, if that is counted.
    pub usage: Option<Usage>,
}

impl From<InvariantResult> for Ran {
    fn from(result: InvariantResult) -> Self {
        Self {
            result,
            raw: None,
            usage: None,
        }
    }
}
