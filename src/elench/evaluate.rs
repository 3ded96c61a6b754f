//! `evaluate(&expr, &ctx)` of ADR-0004, "Crate".

use std::path::PathBuf;
use std::time::Duration;

use crate::batch::{Evaluation, Verdict};
use crate::elench::Expression;
use crate::engine::{BuildError, Engine, EngineError};
#[cfg(all(feature = "exec", target_os = "linux"))]
use crate::policy::{Policy, Runner, TestPolicy};
use crate::reason::{Reason, ReasonCode};

/// What a predicate is evaluated against. [`Engine::builder`] with a policy has more
/// bounds than these, and evaluates many predicates at once.
///
/// Commands are executed on Linux, by a crate that has the feature `exec`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EvalContext {
    /// The root that paths are relative to and that nothing leaves.
    pub workspace_root: PathBuf,
    /// How commands are confined.
    pub sandbox: Sandbox,
    /// Programs that `run` may start with any arguments: names that are looked up in
    /// [`Sandbox::path`], or absolute paths. With `cargo` among them, `test` runs
    /// `cargo test`.
    pub allowed_commands: Vec<String>,
    /// A program that calls `probity::exec::serve_if_asked` first of all in `main`, such
    /// as `probity`, or that of the host itself. Without one nothing is executed:
    /// whatever is allowed is `command_not_started`.
    pub helper: Option<PathBuf>,
}

/// How commands are confined: they are executed only where every layer of confinement is
/// to be had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sandbox {
    /// Wall-clock limit of one command or run of tests, and of the CPU time of all its
    /// processes; a day at most.
    pub timeout: Duration,
    /// Whether commands may use the network.
    pub network: bool,
    /// Directories in which programs are looked up, absolute.
    pub path: Vec<PathBuf>,
    /// Names of the environment variables that are passed through.
    pub env: Vec<String>,
    /// Paths of the workspace that may be written, such as `target`.
    pub write: Vec<PathBuf>,
}

impl Default for Sandbox {
    /// One minute, no network, the programs of the system, nothing that may be written.
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(60),
            network: false,
            path: ["/usr/local/bin", "/usr/bin", "/bin"]
                .map(PathBuf::from)
                .into(),
            env: Vec::new(),
            write: Vec::new(),
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
            helper: None,
        }
    }

    fn engine(&self) -> Result<Engine, EvalError> {
        let builder = Engine::builder(&self.workspace_root);
        #[cfg(all(feature = "exec", target_os = "linux"))]
        let builder = {
            let policy = self.policy().map_err(|why| {
                EvalError::CommandExec(Reason::new(ReasonCode::CommandInvalid, why))
            })?;
            builder.policy(policy, self.helper.clone().unwrap_or_default())
        };
        Ok(builder.build()?)
    }

    #[cfg(all(feature = "exec", target_os = "linux"))]
    fn policy(&self) -> Result<Policy, String> {
        let mut policy = Policy::allowing(self.allowed_commands.iter().map(String::as_str))?;
        let sandbox = &self.sandbox;
        let mut bounds = policy.bounds;
        bounds.timeout = sandbox.timeout.min(Duration::from_secs(24 * 3600));
        bounds.cpu = bounds.timeout;
        bounds.network = sandbox.network;
        bounds.path.clone_from(&sandbox.path);
        bounds.env = sandbox
            .env
            .iter()
            .map(|name| name.as_str().into())
            .collect();
        bounds.write.clone_from(&sandbox.write);
        policy.bounds = bounds.checked()?;
        if self.allowed_commands.iter().any(|name| name == "cargo") {
            policy.test = Some(TestPolicy {
                runner: Runner::Cargo,
                args: Vec::new(),
                bounds: policy.bounds.clone(),
            });
        }
        Ok(policy)
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
    /// A command or test was not allowed, or did not run to its end, or the context
    /// describes none that could be.
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
    let evaluation = context.engine()?.evaluate(expression.program())?;
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
