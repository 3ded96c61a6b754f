//! Executes the commands of a batch, several at a time.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use crate::budget::{CancelToken, StopCause};
use crate::exec::client::Client;
use crate::exec::command::{Command, Execution, Failure, MOST_STDIN, Place, TEMPORARY, judge};
use crate::exec::observe::{Observer, Told};
use crate::exec::program::{allowed, resolve};
use crate::exec::reuse::{Reuse, World};
use crate::policy::{Bounds, Policy};
use crate::reason::{Reason, ReasonCode};

/// Larger reports are not read, in bytes.
const MOST_REPORT: u64 = 256 << 20;

/// An executor could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExecError {
    /// The workspace is not there.
    #[error("cannot execute commands in `{}`: {source}", path.display())]
    Place {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// Executes commands in a workspace as a policy allows.
pub struct Executor {
    policy: Policy,
    root: PathBuf,
    helper: PathBuf,
    /// Helpers that wait for work, with the network or without.
    idle: Mutex<Vec<(bool, Client)>>,
    reuse: Option<Reuse>,
    observer: Option<Arc<dyn Observer>>,
}

impl std::fmt::Debug for Executor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Executor")
            .field("root", &self.root)
            .field("helper", &self.helper)
            .finish_non_exhaustive()
    }
}

impl Executor {
    /// Executes commands in a workspace. `helper` is a program that calls
    /// [`serve_if_asked`](crate::exec::serve_if_asked) first of all, such as `probity`
    /// itself. It is started when the first command is to be executed; if it is the empty
    /// path, none ever is.
    ///
    /// # Errors
    /// [`ExecError`] if the workspace is not there.
    pub fn new(policy: Policy, root: &Path, helper: impl Into<PathBuf>) -> Result<Self, ExecError> {
        let place = |source| ExecError::Place {
            path: root.to_owned(),
            source,
        };
        Ok(Self {
            policy,
            root: root.canonicalize().map_err(place)?,
            helper: helper.into(),
            idle: Mutex::default(),
            reuse: None,
            observer: None,
        })
    }

    /// Keeps what commands and tests come to, and does not execute them again in a
    /// workspace that is the same.
    #[must_use]
    pub fn reuse(mut self, reuse: Reuse) -> Self {
        self.reuse = Some(reuse);
        self
    }

    /// Tells what is executed.
    #[must_use]
    pub fn observe(mut self, observer: Arc<dyn Observer>) -> Self {
        self.observer = Some(observer);
        self
    }

    /// The state of the workspace, if anything is to be reused in it.
    pub(crate) fn world(&self) -> Option<World<'_>> {
        self.reuse.as_ref()?.world(&self.root, &self.policy)
    }

    /// The policy.
    #[must_use]
    pub const fn policy(&self) -> &Policy {
        &self.policy
    }

    /// The workspace, without links.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The file of an allowed program, as `run` would start it.
    ///
    /// # Errors
    /// The reason why it would not be started.
    pub fn program(&self, name: &str) -> Result<PathBuf, Reason> {
        resolve(name, &self.policy.bounds.path, &self.root)
    }

    /// Reads a file of the workspace and removes it. `None` if it is not there, too
    /// large, or reached through a link out of the workspace.
    pub(crate) fn take(&self, path: &Path) -> Option<Vec<u8>> {
        let path = self.root.join(path);
        let directory = path.parent()?.canonicalize().ok()?;
        let path = directory.join(path.file_name()?);
        let bytes = left(&path).filter(|_| directory.starts_with(&self.root))?;
        std::fs::remove_file(&path).ok()?;
        Some(bytes)
    }

    /// The file of a program within bounds.
    pub(crate) fn resolve(&self, name: &str, bounds: &Bounds) -> Result<PathBuf, Reason> {
        resolve(name, &bounds.path, &self.root)
    }

    /// The words of a command line that the policy allows, and the file of its program.
    pub(crate) fn program_of(&self, line: &str) -> Result<(Vec<String>, PathBuf), Reason> {
        let Some(words) = shlex::split(line) else {
            let why = format!("`{line}` has a quote that is not closed");
            return Err(Reason::new(ReasonCode::CommandInvalid, why));
        };
        let rule = allowed(&self.policy, &words)?;
        if rule.nondeterministic {
            let why = format!(
                "the policy says that `{}` is not deterministic",
                rule.program
            );
            return Err(Reason::new(ReasonCode::CommandNondeterministic, why));
        }
        let program = resolve(&rule.program, &self.policy.bounds.path, &self.root)?;
        Ok((words, program))
    }

    /// Executes a command line of `run`, if the policy allows it.
    ///
    /// # Errors
    /// [`Failure`] with the reason why there is no exit status.
    pub fn run(&self, line: &str, cancel: &CancelToken) -> Result<Execution, Failure> {
        let (words, program) = self.program_of(line)?;
        let words: Vec<OsString> = words.into_iter().map(OsString::from).collect();
        let command = Command {
            program: &program,
            words: &words,
            bounds: &self.policy.bounds,
            env: &[],
            given: None,
            report: None,
            stdin: None,
            is_apart: false,
        };
        self.execute(line, &command, cancel)
    }

    /// Executes a command that is allowed. `shown` names it in messages.
    pub(crate) fn execute(
        &self,
        shown: &str,
        command: &Command<'_>,
        cancel: &CancelToken,
    ) -> Result<Execution, Failure> {
        let not_started = |error: io::Error| {
            let why = format!("`{shown}` could not be started: {error}");
            Failure::from(Reason::new(ReasonCode::CommandNotStarted, why))
        };
        if let Some(cause) = cancel.stop() {
            return Err(Reason::from(cause).into());
        }
        if self.helper.as_os_str().is_empty() {
            let why = format!("`{shown}` was not executed: the host names no helper program");
            return Err(Reason::new(ReasonCode::CommandNotStarted, why).into());
        }
        if let Some(given) = command.stdin.map(<[u8]>::len)
            && given > MOST_STDIN
        {
            let why = format!("its standard input has {given} bytes, more than {MOST_STDIN}");
            return Err(not_started(io::Error::other(why)));
        }
        let _told = Told::new(self.observer.as_deref(), shown);
        let temporary = tempfile::Builder::new().prefix("probity-").tempdir();
        let temporary = temporary.map_err(not_started)?.keep();
        if let Some((name, text)) = command.given {
            let text = text.replace(TEMPORARY, &temporary.to_string_lossy());
            std::fs::write(temporary.join(name), text)
                .inspect_err(|_| discard(&temporary))
                .map_err(not_started)?;
        }
        let mut job = command.job(&Place {
            root: &self.root,
            temporary: &temporary,
        });
        // No command may use up more than the batch has.
        job.cpu = cancel.cpu_left().map_or(job.cpu, |left| left.min(job.cpu));
        let idle = self.idle.lock().ok().and_then(|mut idle| {
            let at = idle
                .iter()
                .position(|(network, _)| *network == job.network)?;
            Some(idle.swap_remove(at).1)
        });
        let answer = match idle {
            Some(client) => Ok(client),
            None => Client::start(&self.helper, job.network),
        }
        .and_then(|mut client| {
            let answer = client.execute(&job, cancel)?;
            if answer.as_ref().is_some_and(|ended| !ended.is_spent)
                && let Ok(mut idle) = self.idle.lock()
            {
                idle.push((job.network, client));
            }
            Ok(answer)
        });
        let report = command.report.and_then(|name| left(&temporary.join(name)));
        discard(&temporary);
        match answer.map_err(not_started)? {
            Some(ended) => {
                cancel.charge_cpu(ended.cpu_ns);
                let done = judge(shown, command.bounds, ended);
                match (done, cancel.stop()) {
                    (Ok(execution), _) => Ok(Execution {
                        report,
                        ..execution
                    }),
                    (Err(failure), Some(cause)) => Err(Failure {
                        reason: cause.into(),
                        ..failure
                    }),
                    (Err(failure), None) => Err(failure),
                }
            }
            None => {
                let cause = cancel.stop().unwrap_or(StopCause::Cancelled);
                Err(Reason::from(cause).into())
            }
        }
    }
}

/// What a command left, unless it is no file or too large.
fn left(path: &Path) -> Option<Vec<u8>> {
    use std::io::Read as _;
    use std::os::unix::fs::OpenOptionsExt as _;

    let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
    let flags = flags.bits().cast_signed();
    let file = std::fs::OpenOptions::new()
        .read(true)
        .custom_flags(flags)
        .open(path)
        .ok()?;
    file.metadata().ok().filter(std::fs::Metadata::is_file)?;
    let mut bytes = Vec::new();
    file.take(MOST_REPORT + 1).read_to_end(&mut bytes).ok()?;
    (bytes.len() as u64 <= MOST_REPORT).then_some(bytes)
}

/// Removes a directory of which the command may have taken permissions away.
fn discard(directory: &Path) {
    use std::os::unix::fs::PermissionsExt as _;

    fn open(directory: &Path) {
        let all = std::fs::Permissions::from_mode(0o700);
        let _ = std::fs::set_permissions(directory, all);
        for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                open(&entry.path());
            }
        }
    }
    if std::fs::remove_dir_all(directory).is_err() {
        open(directory);
        // What is left stays.
        let _ = std::fs::remove_dir_all(directory);
    }
}
