//! Commands, and what they come to.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::exec::job::{End, Ended, Job};
use crate::exec::layers::{Isolation, Lacking};
use crate::policy::{Bounds, Confinement};
use crate::reason::{Reason, ReasonCode};

/// What a command did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Execution {
    /// The exit status, 128+N for a program that died of signal N by itself.
    pub exit: i64,
    /// What was kept of standard output.
    pub stdout: Vec<u8>,
    /// What was kept of standard error.
    pub stderr: Vec<u8>,
    /// Standard output went on.
    pub stdout_truncated: bool,
    /// Standard error went on.
    pub stderr_truncated: bool,
    /// The layers that were active.
    pub isolation: Isolation,
    /// Those that were wanted and are not to be had.
    pub lacking: Vec<Lacking>,
    /// CPU time of all its processes, in nanoseconds.
    pub cpu_ns: u64,
    /// Wall-clock time, in nanoseconds.
    pub wall_ns: u64,
    /// Most resident memory of all its processes, in bytes.
    pub peak_memory: u64,
    /// The file it was to leave.
    #[serde(skip)]
    pub(crate) report: Option<Vec<u8>>,
}

/// Why a command has no exit status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What a fact that asks for it is.
    pub reason: Reason,
    /// CPU time that it took nevertheless, in nanoseconds.
    pub cpu_ns: u64,
}

impl From<Reason> for Failure {
    fn from(reason: Reason) -> Self {
        Self { reason, cpu_ns: 0 }
    }
}

/// A command that is allowed.
pub(crate) struct Command<'a> {
    pub(crate) program: &'a Path,
    pub(crate) words: &'a [OsString],
    pub(crate) bounds: &'a Bounds,
    /// More variables, over those of the policy.
    pub(crate) env: &'a [(&'a str, OsString)],
    /// A file that is put into its temporary directory.
    pub(crate) given: Option<(&'a str, &'a str)>,
    /// A file that it may leave there, which is read.
    pub(crate) report: Option<&'a str>,
    /// What it reads as standard input; nothing if `None`. At most [`MOST_STDIN`].
    pub(crate) stdin: Option<&'a [u8]>,
    /// Whether it starts in its temporary directory and not in the workspace, so that no
    /// file there is taken for a part of the program or for its settings.
    pub(crate) is_apart: bool,
}

/// Longer standard input is refused, in bytes: it goes to the helper in one message, which
/// is never longer than 64 MiB.
pub(crate) const MOST_STDIN: usize = 16 << 20;

/// In arguments and in the file that is given: the temporary directory.
pub(crate) const TEMPORARY: &str = "{temporary}";

/// The rest of what a job needs.
pub(super) struct Place<'a> {
    pub(super) root: &'a Path,
    pub(super) temporary: &'a Path,
}

/// Variables of every command.
const FIXED: [(&str, &str); 5] = [
    ("LANG", "C.UTF-8"),
    ("LC_ALL", "C.UTF-8"),
    ("NO_COLOR", "1"),
    ("TERM", "dumb"),
    ("TZ", "UTC"),
];

/// Variables that name where toolchains are. What is below may be read if the policy
/// passes the variable on.
const TOOLCHAINS: [&str; 13] = [
    "CARGO_HOME",
    "CONDA_PREFIX",
    "DOTNET_ROOT",
    "GEM_HOME",
    "GOMODCACHE",
    "GOPATH",
    "GOROOT",
    "JAVA_HOME",
    "NVM_DIR",
    "PYENV_ROOT",
    "PYTHONHOME",
    "RUSTUP_HOME",
    "VIRTUAL_ENV",
];

/// What holds secrets in the home of a toolchain.
const SECRET: [&str; 3] = ["credentials", "credentials.toml", ".netrc"];

impl Command<'_> {
    pub(super) fn job(&self, place: &Place<'_>) -> Job {
        let bounds = self.bounds;
        let env = self.variables(place);
        let mut read: Vec<PathBuf> = vec![place.root.into()];
        read.extend(bounds.path.iter().cloned());
        read.extend(bounds.read.iter().cloned());
        for name in TOOLCHAINS {
            if let Some((_, home)) = env.iter().find(|(known, _)| known == name) {
                read.extend(toolchain(Path::new(home)));
            }
        }
        // Where they are if no variable says so.
        if let Some((_, home)) = env.iter().find(|(known, _)| known == "HOME") {
            for directory in [".cargo", ".rustup"] {
                read.extend(toolchain(&Path::new(home).join(directory)));
            }
        }
        Job {
            program: self.program.into(),
            words: self
                .words
                .iter()
                .map(|word| placed(word, place).as_os_str().into())
                .collect(),
            env: env
                .iter()
                .map(|(name, value)| (name.as_str().into(), value.as_os_str().into()))
                .collect(),
            directory: place.root.into(),
            starts_in: match self.is_apart {
                true => place.temporary.into(),
                false => place.root.into(),
            },
            stdin: self.stdin.map(<[u8]>::to_vec),
            read: read.iter().map(|path| path.as_path().into()).collect(),
            write: vec![place.temporary.into()],
            write_inside: bounds
                .write
                .iter()
                .map(|path| path.as_path().into())
                .collect(),
            timeout: bounds.timeout,
            cpu: bounds.cpu,
            memory: bounds.memory,
            output: bounds.output,
            processes: bounds.processes,
            network: bounds.network,
            strict: bounds.confinement == Confinement::Required,
        }
    }

    fn variables(&self, place: &Place<'_>) -> Vec<(String, OsString)> {
        let mut env: Vec<(String, OsString)> = Vec::new();
        let mut set = |name: &str, value: OsString| {
            env.retain(|(known, _)| known != name);
            env.push((name.into(), value));
        };
        for (name, value) in FIXED {
            set(name, value.into());
        }
        set("HOME", place.temporary.into());
        for name in &self.bounds.env {
            if let Some(value) = std::env::var_os(&**name) {
                set(name, value);
            }
        }
        set("TMPDIR", place.temporary.into());
        set(
            "PATH",
            std::env::join_paths(&self.bounds.path).unwrap_or_default(),
        );
        for (name, value) in self.env {
            set(name, value.clone());
        }
        env
    }
}

/// A word with the temporary directory written out.
fn placed(word: &OsString, place: &Place<'_>) -> OsString {
    match (word.to_str(), place.temporary.to_str()) {
        (Some(text), Some(temporary)) => text.replace(TEMPORARY, temporary).into(),
        _ => word.clone(),
    }
}

/// What may be read in the home of a toolchain: all but its secrets.
fn toolchain(home: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(home).into_iter().flatten().flatten();
    let is_secret = |path: &PathBuf| {
        let name = path.file_name();
        SECRET
            .iter()
            .any(|secret| name.is_some_and(|name| name == *secret))
    };
    let paths = entries.map(|entry| entry.path());
    paths.filter(|path| !is_secret(path)).collect()
}

/// Reads how a command ended.
pub(super) fn judge(shown: &str, bounds: &Bounds, ended: Ended) -> Result<Execution, Failure> {
    let seconds = |time: std::time::Duration| time.as_secs_f64();
    let (code, detail) = match ended.end {
        End::Exited(_) | End::Signaled(_) => {
            let exit = match ended.end {
                End::Signaled(signal) => 128 + i64::from(signal),
                End::Exited(status) => status.into(),
                _ => 0,
            };
            return Ok(Execution {
                exit,
                stdout: ended.stdout,
                stderr: ended.stderr,
                stdout_truncated: ended.stdout_truncated,
                stderr_truncated: ended.stderr_truncated,
                isolation: ended.layers.isolation,
                lacking: ended.layers.lacking,
                cpu_ns: ended.cpu_ns,
                wall_ns: ended.wall_ns,
                peak_memory: ended.peak,
                report: None,
            });
        }
        End::TimedOut => (
            ReasonCode::CommandTimedOut,
            format!(
                "`{shown}` was killed after {} s, the `timeout` of the policy",
                seconds(bounds.timeout)
            ),
        ),
        End::OverCpu => (
            ReasonCode::CommandOverCpu,
            format!(
                "`{shown}` was killed after {} s of CPU time, the `cpu` of the policy",
                seconds(bounds.cpu)
            ),
        ),
        End::OverMemory => (
            ReasonCode::CommandOverMemory,
            format!(
                "`{shown}` was killed over {} MiB of memory, the `memory` of the policy",
                bounds.memory >> 20
            ),
        ),
        End::OverProcesses => (
            ReasonCode::CommandOverProcesses,
            format!(
                "`{shown}` was killed over {} processes and threads, the `processes` of the policy",
                bounds.processes
            ),
        ),
        End::Cancelled => (
            ReasonCode::Cancelled,
            format!("`{shown}` was killed because the batch was stopped"),
        ),
        End::Unconfined => (
            ReasonCode::ConfinementUnavailable,
            format!(
                "`{shown}` was not executed: this machine has no {}; `probity doctor` says more, and `confinement = \"best-effort\"` in the policy executes without",
                lacking(&ended.layers.lacking)
            ),
        ),
        End::NotStarted(problem) => (
            ReasonCode::CommandNotStarted,
            format!("`{shown}` could not be started: {problem}"),
        ),
    };
    let mut reason = Reason::new(code, detail);
    reason.deterministic = matches!(code, ReasonCode::ConfinementUnavailable);
    Err(Failure {
        reason,
        cpu_ns: ended.cpu_ns,
    })
}

fn lacking(layers: &[Lacking]) -> String {
    let shown = layers
        .iter()
        .filter(|it| !it.layer.is_optional())
        .map(|it| format!("{} ({})", it.layer, it.reason));
    shown.collect::<Vec<_>>().join(", no ")
}
