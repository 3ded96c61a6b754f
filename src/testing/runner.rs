//! What a test runner has to be able to do.

use std::ffi::OsString;
use std::time::Duration;

use crate::budget::CancelToken;
use crate::exec::{Command, Execution, Executor, Failure};
use crate::facts::TestOutcome;
use crate::policy::TestPolicy;
use crate::reason::{Reason, ReasonCode};

/// Kept of each stream of a runner, in bytes: lists are long.
const OUTPUT: usize = 64 << 20;

/// Lines of what went wrong that a reason quotes.
const QUOTED_LINES: usize = 4;

/// Most bytes of them.
const QUOTED_BYTES: usize = 600;

/// How a runner finds and runs tests.
pub(super) trait Runner {
    /// The full names of all tests; one that is there twice, twice.
    fn list(&self, tools: &Tools<'_>) -> Result<Vec<String>, Failure>;

    /// Runs tests that were listed, each once.
    fn run(&self, tools: &Tools<'_>, names: &[&str]) -> Result<Vec<Ran>, Failure>;

    /// What separates the segments of a name.
    fn separators(&self) -> &'static [&'static str];
}

/// One result. A test that a process took with it has none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Ran {
    pub(super) name: String,
    pub(super) outcome: TestOutcome,
    pub(super) duration: Option<Duration>,
}

/// What a runner needs to start processes.
pub(super) struct Tools<'a> {
    pub(super) executor: &'a Executor,
    pub(super) policy: &'a TestPolicy,
    pub(super) cancel: &'a CancelToken,
    /// CPU time of all that was executed, in nanoseconds.
    pub(super) cpu_ns: std::cell::Cell<u64>,
}

impl Tools<'_> {
    /// Executes a program of the policy's path.
    pub(super) fn execute(
        &self,
        program: &str,
        arguments: &[&str],
        env: &[(&str, OsString)],
        files: Files<'_>,
    ) -> Result<Execution, Failure> {
        let path = self.executor.resolve(program, &self.policy.bounds)?;
        let words: Vec<OsString> = std::iter::once(program)
            .chain(arguments.iter().copied())
            .map(OsString::from)
            .collect();
        let mut bounds = self.policy.bounds.clone();
        bounds.output = OUTPUT;
        let command = Command {
            program: &path,
            words: &words,
            bounds: &bounds,
            env,
            given: files.given,
            report: files.report,
            stdin: None,
            is_apart: false,
        };
        let done = self
            .executor
            .execute(&shown(program, arguments), &command, self.cancel);
        let cpu_ns = match &done {
            Ok(execution) => execution.cpu_ns,
            Err(failure) => failure.cpu_ns,
        };
        self.cpu_ns.set(self.cpu_ns.get().saturating_add(cpu_ns));
        done
    }
}

/// Files in the temporary directory of a command: one that it is given, with its text,
/// and one that it leaves.
#[derive(Clone, Copy, Default)]
pub(super) struct Files<'a> {
    pub(super) given: Option<(&'a str, &'a str)>,
    pub(super) report: Option<&'a str>,
}

fn shown(program: &str, arguments: &[&str]) -> String {
    let start = arguments.iter().take(6).copied();
    std::iter::once(program)
        .chain(start)
        .collect::<Vec<_>>()
        .join(" ")
}

/// The runner or the build failed: what it said first.
pub(super) fn failed(what: &str, execution: &Execution) -> Failure {
    let text = String::from_utf8_lossy(&execution.stderr);
    let is_error = |line: &&str| {
        let line = line.trim_start();
        line.starts_with("error") || line.starts_with("ERROR") || line.starts_with("E  ")
    };
    let from = text.lines().position(|line| is_error(&line)).unwrap_or(0);
    let mut quoted: Vec<&str> = text
        .lines()
        .skip(from)
        .filter(|line| !line.trim().is_empty())
        .collect();
    quoted.truncate(QUOTED_LINES);
    let mut quoted = quoted.join("\n");
    if let Some((cut, _)) = quoted.char_indices().find(|(at, _)| *at >= QUOTED_BYTES) {
        quoted.truncate(cut);
    }
    let detail = format!("{what} ended with status {}: {quoted}", execution.exit);
    Reason::new(ReasonCode::TestRunnerFailed, detail).into()
}
