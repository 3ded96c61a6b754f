//! A judge that is a command: a request on standard input, a reply on standard output.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde_json::Value as Json;

use crate::budget::{CancelToken, StopCause};
use crate::check::shell_syntax;
use crate::exec::{Command, ExecError, Execution, Executor, Failure};
use crate::flow::executor::{CheapJudge, JudgeReply, JudgeRequest};
use crate::flow::result::BlockError;
use crate::policy::{Bounds, Policy};
use crate::reason::{Reason, ReasonCode};

/// A longer reply is none, in bytes, whatever `output` the policy states: what is read of
/// it takes many times as much memory.
pub const MAX_JUDGE_REPLY_BYTES: usize = 4 << 20;

/// Most bytes of standard error that a message quotes.
const QUOTED_BYTES: usize = 300;

/// The variable that tells a judge where the workspace is.
const WORKSPACE: &str = "PROBITY_WORKSPACE";

/// Asks a command, one process for each request. It gets the [`JudgeRequest`] as one line
/// of JSON and writes one JSON object, which [`JudgeReply::from_json`] reads.
///
/// It is executed without a shell, confined as commands of claims are, within the bounds
/// of `[judge]`, and starts in a temporary directory of its own: a file of the workspace
/// is never taken for a part of it. (docs/exec.md)
///
/// Its failures block with `judge_failed`, `judge_invalid_reply`, `llm_unavailable`,
/// `budget_exceeded` or `cancelled`.
#[derive(Debug)]
pub struct CommandJudge {
    executor: Executor,
    program: PathBuf,
    words: Vec<OsString>,
    /// What it is called in messages. Its arguments may hold what nobody should read.
    name: String,
    bounds: Bounds,
}

/// A command that cannot be a judge.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CommandJudgeError {
    /// The line is none.
    #[error("the command of the judge {0}")]
    Line(String),
    /// There is no such program, or it may not be started.
    #[error("the program of the judge cannot be used: {}", .0.detail)]
    Program(Reason),
    /// The workspace is not there.
    #[error(transparent)]
    Place(#[from] ExecError),
}

impl CommandJudge {
    /// A judge by its command line, which is split by the quoting rules of POSIX shells.
    /// The program is absolute, or looked up in the `path` of the policy; without a policy
    /// the default bounds hold. `root` is the workspace, and `helper` is as for
    /// [`Executor::new`].
    ///
    /// # Errors
    /// [`CommandJudgeError`] if the line is empty or needs a shell, if the program is not
    /// found or is a file of the workspace, and if there is no workspace.
    pub fn new(
        line: &str,
        policy: Option<Policy>,
        root: &Path,
        helper: impl Into<PathBuf>,
    ) -> Result<Self, CommandJudgeError> {
        let words = words(line).map_err(CommandJudgeError::Line)?;
        let policy = policy.map_or_else(|| Policy::parse(""), Ok);
        // An empty policy is one.
        let policy = policy.map_err(CommandJudgeError::Line)?;
        let mut bounds = policy.judge.clone();
        bounds.output = bounds.output.min(MAX_JUDGE_REPLY_BYTES);
        let executor = Executor::new(policy, root, helper)?;
        let name = words.first().cloned().unwrap_or_default();
        let program = executor.resolve(&name, &bounds);
        let program = program.map_err(CommandJudgeError::Program)?;
        // Whoever names it by its path wants it to be read.
        bounds.read.push(program.clone());
        Ok(Self {
            executor,
            program,
            words: words.into_iter().map(OsString::from).collect(),
            name,
            bounds,
        })
    }

    fn execute(&self, stdin: &[u8], cancel: &CancelToken) -> Result<Execution, Failure> {
        let root = self.executor.root().as_os_str().to_owned();
        let command = Command {
            program: &self.program,
            words: &self.words,
            bounds: &self.bounds,
            env: &[(WORKSPACE, root)],
            given: None,
            report: None,
            stdin: Some(stdin),
            is_apart: true,
        };
        self.executor.execute(&self.name, &command, cancel)
    }

    fn read(&self, done: &Execution) -> Result<JudgeReply, BlockError> {
        let name = &self.name;
        if done.exit != 0 {
            let said = match first_line(&done.stderr) {
                Some(line) => format!(": {line}"),
                None => String::new(),
            };
            let message = format!("the judge `{name}` ended with status {}{said}", done.exit);
            return Err(error("judge_failed", message));
        }
        let invalid = |problem: String| {
            let message = format!("what the judge `{name}` wrote is no reply: {problem}");
            error("judge_invalid_reply", message)
        };
        if done.stdout_truncated {
            let most = self.bounds.output;
            return Err(invalid(format!("it is longer than {most} bytes")));
        }
        let json: Json =
            serde_json::from_slice(&done.stdout).map_err(|error| invalid(error.to_string()))?;
        JudgeReply::from_json(&json).map_err(invalid)
    }

    fn failure(&self, failure: &Failure, cancel: &CancelToken) -> BlockError {
        let name = &self.name;
        let detail = &failure.reason.detail;
        match (failure.reason.code, cancel.stop()) {
            (ReasonCode::Cancelled, Some(StopCause::Deadline)) => {
                let message = format!("the judge `{name}` exceeded the time of its predicate");
                error("budget_exceeded", message)
            }
            (ReasonCode::Cancelled, _) => {
                let message = format!("the judge `{name}` was stopped: {detail}");
                error("cancelled", message)
            }
            (
                ReasonCode::BudgetExceeded
                | ReasonCode::CommandTimedOut
                | ReasonCode::CommandOverCpu
                | ReasonCode::CommandOverMemory
                | ReasonCode::CommandOverProcesses,
                _,
            ) => error("budget_exceeded", format!("the judge: {detail}")),
            _ => error("llm_unavailable", format!("the judge: {detail}")),
        }
    }
}

impl CheapJudge for CommandJudge {
    fn judge(
        &self,
        request: &JudgeRequest,
        cancel: &CancelToken,
    ) -> Result<JudgeReply, BlockError> {
        let mut stdin = serde_json::to_vec(request)
            .map_err(|problem| error("llm_unavailable", problem.to_string()))?;
        stdin.push(b'\n');
        match self.execute(&stdin, cancel) {
            Ok(done) => self.read(&done),
            Err(failure) => Err(self.failure(&failure, cancel)),
        }
    }
}

fn words(line: &str) -> Result<Vec<String>, String> {
    let split = shlex::split(line).filter(|_| !line.contains('\0'));
    let words = split.ok_or("has a quote that is not closed, or a NUL")?;
    if let Some(syntax) = shell_syntax(line) {
        return Err(format!(
            "is executed without a shell, which {syntax} needs: quote it, or name `sh -c '…'`"
        ));
    }
    if words.first().is_none_or(String::is_empty) {
        return Err("names no program".into());
    }
    Ok(words)
}

fn error(code: &str, message: String) -> BlockError {
    BlockError {
        code: code.into(),
        message,
    }
}

/// The first line that says anything, not too long.
fn first_line(stderr: &[u8]) -> Option<String> {
    let lines = stderr.split(|byte| *byte == b'\n');
    let line = lines
        .map(<[u8]>::trim_ascii)
        .find(|line| !line.is_empty())?;
    let line = line.get(..QUOTED_BYTES).unwrap_or(line);
    Some(String::from_utf8_lossy(line).into_owned())
}
