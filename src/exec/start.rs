//! In the fork for a command: confines itself and becomes the program.

use std::ffi::CString;
use std::fs::File;
use std::io::Write as _;
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::PathBuf;

use rustix::fs::{Mode, OFlags};
use rustix::process::Signal;
use rustix::thread::{CapabilitySet, CapabilitySets};
use serde::{Deserialize, Serialize};

use crate::exec::confine::{self, Rules};
use crate::exec::job::{Job, Text};
use crate::exec::layers::{Layer, Layers};
use crate::exec::{frame, stdin, sys};

/// What the program is to write to.
pub(super) struct Ends {
    /// Closed when the program is executed. Told before: what confines it, and then
    /// why it could not be executed, if so.
    pub(super) tell: OwnedFd,
    pub(super) stdout: OwnedFd,
    pub(super) stderr: OwnedFd,
}

/// What is told of a command before its program is executed.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Confined {
    pub(super) layers: Layers,
    /// Why it is not executed.
    pub(super) refused: Option<Refusal>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Refusal {
    /// Layers are lacking.
    Unconfined,
    /// Something failed.
    Failed(String),
}

/// Goes on in the fork. Nothing but its own program is executed, and not that without
/// the layers it needs.
pub(super) fn start(job: &Job, ends: Ends, mut layers: Layers, rules: Result<Rules, String>) -> ! {
    let prepared = prepare(job, rules, &mut layers);
    let refused = match prepared {
        Err(problem) => Some(Refusal::Failed(problem)),
        Ok(()) if job.strict && !layers.are_whole() => Some(Refusal::Unconfined),
        Ok(()) => None,
    };
    let is_refused = refused.is_some();
    let mut tell = File::from(ends.tell);
    let told = frame::send(&mut tell, &Confined { layers, refused });
    // Nobody would know what confines it.
    if !is_refused && told.is_ok() {
        let error = execute(job, &ends.stdout, &ends.stderr);
        let program = job.program.path();
        let _ = write!(tell, "executing `{}`: {error}", program.display());
    }
    sys::exit(1)
}

fn prepare(job: &Job, rules: Result<Rules, String>, layers: &mut Layers) -> Result<(), String> {
    let text = |error: rustix::io::Errno| error.to_string();
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL)).map_err(text)?;
    rustix::process::setsid().map_err(text)?;
    rustix::process::umask(Mode::from_raw_mode(0o077));
    rustix::process::chdir(job.directory.path()).map_err(text)?;
    sys::reset_signals();
    // The first process did so for all. Twice is no harm where it is checked.
    rustix::thread::set_no_new_privs(true).map_err(text)?;
    let stdin = match &job.stdin {
        Some(bytes) => stdin::holding(bytes).map_err(|error| format!("standard input: {error}"))?,
        None => {
            let flags = OFlags::RDONLY | OFlags::CLOEXEC;
            rustix::fs::open("/dev/null", flags, Mode::empty()).map_err(text)?
        }
    };
    rustix::stdio::dup2_stdin(stdin).map_err(text)?;
    let limits = confine::restrict_resources(job.cpu, job.memory, job.processes);
    layers.note(Layer::Rlimits, limits);
    let paths = |paths: &[Text]| -> Vec<PathBuf> { paths.iter().map(Text::path).collect() };
    let files = confine::Files {
        write: paths(&job.write),
        write_inside: paths(&job.write_inside),
    };
    layers.note(
        Layer::Landlock,
        rules.and_then(|rules| rules.restrict(&files)),
    );
    rustix::process::chdir(job.starts_in.path()).map_err(text)?;
    drop_capabilities().map_err(text)
}

/// In a user namespace of its own a process would have all capabilities of it.
fn drop_capabilities() -> rustix::io::Result<()> {
    let none = CapabilitySets {
        effective: CapabilitySet::empty(),
        permitted: CapabilitySet::empty(),
        inheritable: CapabilitySet::empty(),
    };
    rustix::thread::set_capabilities(None, none)
}

fn execute(job: &Job, stdout: &OwnedFd, stderr: &OwnedFd) -> std::io::Error {
    let text = |text: &Text| CString::new(text.bytes()).unwrap_or_default();
    let words: Vec<CString> = job.words.iter().map(text).collect();
    let pair = |(name, value): &(Text, Text)| {
        let pair = [name.bytes(), b"=", value.bytes()].concat();
        CString::new(pair).unwrap_or_default()
    };
    let env: Vec<CString> = job.env.iter().map(pair).collect();
    if let Err(error) = rustix::stdio::dup2_stdout(stdout.as_fd()) {
        return error.into();
    }
    if let Err(error) = rustix::stdio::dup2_stderr(stderr.as_fd()) {
        return error.into();
    }
    if let Err(error) = sys::close_on_exec_from(3) {
        return error;
    }
    sys::execute(&text(&job.program), &words, &env)
}
