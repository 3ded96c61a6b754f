//! `evaluate(&expr, &ctx)` of ADR-0004, "Crate".

use std::path::PathBuf;
use std::time::Duration;

use crate::batch::{Evaluation, Verdict};
use crate::elench::Expression;
use crate::engine::{BuildError, Engine, EngineError};
use crate::reason::{Reason, ReasonCode};

/// What a predicate is evaluated against.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EvalContext {
    /// The root that paths are relative to and that nothing leaves.
    pub workspace_root: PathBuf,
    /// How commands would be confined.
    pub sandbox: Sandbox,
    /// Programs that `run` may start. This version executes nothing: every `run`
    /// and `test` is answered `command_not_allowed`, whatever is listed.
    pub allowed_commands: Vec<String>,
}

/// How commands are confined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sandbox {
    /// Wall-clock limit of one command.
    pub timeout: Duration,
    /// Whether commands may use the network.
    pub network: bool,
}

impl Default for Sandbox {
    /// One minute, no network.
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(60),
            network: false,
        }
    }
}

impl EvalContext {
    /// A context that allows no command.
    pub fn new(workspace_root: impl Into<PathBuf>) -> Self {
        Self {
            workspace_root: workspace_root.into(),
            sandbox: Sandbox::default(),
            allowed_commands: Vec::new(),
        }
    }
}

/// A predicate that could be evaluated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EvalResult {
    /// Whether it holds.
    pub holds: bool,
    /// The facts, the parts that decided, the cost.
    pub evaluation: Evaluation,
}

/// A predicate that could not be evaluated: neither it nor its negation passes.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EvalError {
    /// A file or directory could not be read.
    #[error("{0}")]
    Io(Reason),
    /// A command or test was not allowed, or did not run to its end.
    #[error("{0}")]
    CommandExec(Reason),
    /// A regex could not be built within its size limit.
    #[error("{0}")]
    InvalidRegex(Reason),
    /// Any other reason.
    #[error("{0}")]
    Unevaluated(Reason),
    /// The predicate asserts nothing.
    #[error("the predicate does not depend on the workspace: it asserts nothing")]
    Vacuous,
    /// The workspace root cannot be opened.
    #[error(transparent)]
    Context(#[from] BuildError),
    /// The engine gave up.
    #[error(transparent)]
    Engine(#[from] EngineError),
}

/// Evaluates a predicate in a workspace.
///
/// # Errors
/// [`EvalError`] wherever the predicate is neither true nor false.
pub fn evaluate(expression: &Expression, context: &EvalContext) -> Result<EvalResult, EvalError> {
    if expression.vacuous().is_some() {
        return Err(EvalError::Vacuous);
    }
    let engine = Engine::builder(&context.workspace_root).build()?;
    let evaluation = engine.evaluate(expression.program())?;
    match evaluation.verdict {
        Verdict::Pass | Verdict::Fail => Ok(EvalResult {
            holds: evaluation.verdict == Verdict::Pass,
            evaluation,
        }),
        Verdict::Unevaluated | Verdict::Invalid | Verdict::Skipped => {
            Err(unevaluated(evaluation.reason))
        }
    }
}

fn unevaluated(reason: Option<Reason>) -> EvalError {
    let Some(reason) = reason else {
        let detail = "the predicate got no verdict";
        return EvalError::Unevaluated(Reason::new(ReasonCode::FactMissing, detail));
    };
    match reason.code {
        ReasonCode::PathNotFound
        | ReasonCode::PathOutsideWorkspace
        | ReasonCode::PathInvalid
        | ReasonCode::NotARegularFile
        | ReasonCode::ReadError
        | ReasonCode::FileChanged
        | ReasonCode::TooLarge => EvalError::Io(reason),
        ReasonCode::CommandNotAllowed
        | ReasonCode::CommandNotFound
        | ReasonCode::CommandInvalid
        | ReasonCode::NeedsCheckout
        | ReasonCode::CommandTimedOut
        | ReasonCode::CommandOverCpu
        | ReasonCode::CommandOverMemory
        | ReasonCode::CommandOverProcesses
        | ReasonCode::CommandNotStarted
        | ReasonCode::CommandNondeterministic
        | ReasonCode::ConfinementUnavailable
        | ReasonCode::OutputTruncated
        | ReasonCode::NetworkDenied
        | ReasonCode::TestNotFound
        | ReasonCode::TestIgnored
        | ReasonCode::TestRunnerFailed => EvalError::CommandExec(reason),
        ReasonCode::PatternTooLarge | ReasonCode::PatternInvalid => EvalError::InvalidRegex(reason),
        ReasonCode::BudgetExceeded
        | ReasonCode::Cancelled
        | ReasonCode::FactMissing
        | ReasonCode::FactMistyped
        | ReasonCode::UnsupportedVersion => EvalError::Unevaluated(reason),
    }
}
