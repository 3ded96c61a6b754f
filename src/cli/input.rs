//! Logs as byte streams that an interrupt ends.

use std::fs::File;
use std::io::{self, IsTerminal as _, Read};
use std::os::fd::{AsFd as _, BorrowedFd};
use std::path::{Path, PathBuf};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::cli::error::CliError;
use crate::facts::CancelToken;

/// How often a stream that has nothing looks whether the run was asked to stop.
const PATIENCE: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 100_000_000,
};

/// The logs that were named; none means standard input, unless that is a
/// terminal, where somebody forgot to name one.
pub(super) fn named(logs: &[PathBuf]) -> Result<Vec<PathBuf>, CliError> {
    if !logs.is_empty() {
        return Ok(logs.to_vec());
    }
    if io::stdin().is_terminal() {
        return Err(CliError::Usage(String::from(
            "no log is named and standard input is a terminal; name a log or pipe one in",
        )));
    }
    Ok(vec![PathBuf::from("-")])
}

/// A log, opened when it is first read: many logs do not take many descriptors.
pub(super) struct LogStream {
    path: PathBuf,
    from: Option<From>,
    cancel: CancelToken,
}

enum From {
    Stdin(io::Stdin),
    File(File),
}

impl LogStream {
    /// The log at a path, `-` for standard input.
    pub(super) fn new(path: &Path, cancel: CancelToken) -> Self {
        Self {
            path: path.to_owned(),
            from: None,
            cancel,
        }
    }
}

impl Read for LogStream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let from = match &mut self.from {
            Some(from) => from,
            None => self.from.insert(From::open(&self.path)?),
        };
        from.wait(&self.cancel)?;
        match from {
            From::Stdin(stdin) => stdin.read(buffer),
            From::File(file) => file.read(buffer),
        }
    }
}

impl From {
    fn open(path: &Path) -> io::Result<Self> {
        if path == Path::new("-") {
            return Ok(Self::Stdin(io::stdin()));
        }
        Ok(Self::File(File::open(path)?))
    }

    /// Waits until there is something to read, or the run was asked to stop.
    fn wait(&self, cancel: &CancelToken) -> io::Result<()> {
        let fd: BorrowedFd<'_> = match self {
            Self::Stdin(stdin) => stdin.as_fd(),
            Self::File(file) => file.as_fd(),
        };
        loop {
            if cancel.is_cancelled() {
                return Err(io::Error::other("the run was stopped before its end"));
            }
            let mut fds = [PollFd::from_borrowed_fd(fd, PollFlags::IN)];
            match poll(&mut fds, Some(&PATIENCE)) {
                Ok(0) | Err(rustix::io::Errno::INTR) => {}
                Ok(_) => return Ok(()),
                Err(error) => return Err(error.into()),
            }
        }
    }
}
