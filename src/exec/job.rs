//! What the engine asks of a helper, and what it answers.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::exec::layers::Layers;

/// Bytes of a path, an argument or a variable, which need be no UTF-8.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Text(Vec<u8>);

impl From<&OsStr> for Text {
    fn from(text: &OsStr) -> Self {
        Self(text.as_bytes().to_vec())
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self(text.as_bytes().to_vec())
    }
}

impl From<&Path> for Text {
    fn from(path: &Path) -> Self {
        path.as_os_str().into()
    }
}

impl Text {
    pub(super) fn os(&self) -> OsString {
        OsString::from_vec(self.0.clone())
    }

    pub(super) fn path(&self) -> PathBuf {
        self.os().into()
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.0
    }
}

/// A command to be executed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Job {
    /// The program, an absolute path.
    pub(super) program: Text,
    /// All words, the first being the name of the program.
    pub(super) words: Vec<Text>,
    /// Names and values.
    pub(super) env: Vec<(Text, Text)>,
    /// The workspace, absolute.
    pub(super) directory: Text,
    /// Where the program finds itself, absolute.
    pub(super) starts_in: Text,
    /// What it reads as standard input; nothing if `None`.
    pub(super) stdin: Option<Vec<u8>>,
    /// What may be read and executed, absolute.
    pub(super) read: Vec<Text>,
    /// What may be written as well, absolute.
    pub(super) write: Vec<Text>,
    /// What may be written in the workspace, relative to it and without leaving it.
    pub(super) write_inside: Vec<Text>,
    pub(super) timeout: Duration,
    pub(super) cpu: Duration,
    pub(super) memory: u64,
    pub(super) output: usize,
    pub(super) processes: u32,
    pub(super) network: bool,
    /// Nothing is executed if a layer is lacking.
    pub(super) strict: bool,
}

/// How it ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum End {
    /// By itself, with a status.
    Exited(i32),
    /// Of a signal that Probity did not send.
    Signaled(i32),
    /// Killed at the limit of wall-clock time.
    TimedOut,
    /// Killed at the limit of CPU time.
    OverCpu,
    /// Killed at the limit of memory.
    OverMemory,
    /// Killed at the limit of processes.
    OverProcesses,
    /// Killed because the engine asked for it.
    Cancelled,
    /// Layers were lacking, and it was not started.
    Unconfined,
    /// It could not be started: what failed and why.
    NotStarted(String),
}

/// What a command did.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Ended {
    pub(super) end: End,
    pub(super) layers: Layers,
    /// Of all its processes, in nanoseconds.
    pub(super) cpu_ns: u64,
    pub(super) wall_ns: u64,
    /// Most resident memory of all its processes, in bytes.
    pub(super) peak: u64,
    pub(super) stdout_truncated: bool,
    pub(super) stderr_truncated: bool,
    pub(super) stdout: Vec<u8>,
    pub(super) stderr: Vec<u8>,
    /// Something could not be ended in time: the helper ends itself and takes it along.
    pub(super) is_spent: bool,
}
