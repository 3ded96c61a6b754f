//! Logs as byte streams that an interrupt ends.

use std::fs::File;
use std::io::{self, IsTerminal as _, Read};
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use crate::cli::error::CliError;
use crate::facts::CancelToken;

/// How often a stream that has nothing looks whether the run was asked to stop.
const PATIENCE: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 100_000_000,
};

/// The run was asked to stop while a log was read: no fault of the log.
#[derive(Debug, thiserror::Error)]
#[error("the run was stopped before its end")]
struct Stopped;

/// True if a log ended because the run was asked to stop.
pub(super) fn is_stop(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.is::<Stopped>())
}

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
    file: Option<File>,
    cancel: CancelToken,
}

impl LogStream {
    /// The log at a path, `-` for standard input.
    pub(super) fn new(path: &Path, cancel: CancelToken) -> Self {
        Self {
            path: path.to_owned(),
            file: None,
            cancel,
        }
    }
}

impl Read for LogStream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let file = match &mut self.file {
            Some(file) => file,
            None => self.file.insert(open(&self.path)?),
        };
        wait(file, &self.cancel)?;
        file.read(buffer)
    }
}

/// Standard input is opened without the buffer of the standard library, in which
/// bytes would lie that waiting does not see.
fn open(path: &Path) -> io::Result<File> {
    if path == Path::new("-") {
        return Ok(File::from(io::stdin().as_fd().try_clone_to_owned()?));
    }
    File::open(path)
}

/// Waits until there is something to read, or the run was asked to stop.
fn wait(file: &File, cancel: &CancelToken) -> io::Result<()> {
    loop {
        if cancel.is_cancelled() {
            return Err(io::Error::other(Stopped));
        }
        let mut fds = [PollFd::new(file, PollFlags::IN)];
        match poll(&mut fds, Some(&PATIENCE)) {
            Ok(0) | Err(Errno::INTR) => {}
            Ok(_) => return Ok(()),
            Err(error) => return Err(error.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn a_stream_that_never_ends_is_ended_by_an_interrupt() {
        let (reader, mut writer) = io::pipe().unwrap();
        writer.write_all(b"some").unwrap();
        let cancel = CancelToken::new();
        let mut stream = LogStream {
            path: PathBuf::from("pipe"),
            file: Some(File::from(std::os::fd::OwnedFd::from(reader))),
            cancel: cancel.clone(),
        };
        let mut buffer = [0; 8];
        assert_eq!(stream.read(&mut buffer).unwrap(), 4);
        let started = Instant::now();
        std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(50));
            cancel.cancel();
        });
        assert!(is_stop(&stream.read(&mut buffer).unwrap_err()));
        assert!(started.elapsed() < Duration::from_secs(1));
        drop(writer);
    }

    #[test]
    fn a_file_is_read_to_its_end() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(b"log").unwrap();
        let mut text = String::new();
        LogStream::new(file.path(), CancelToken::new())
            .read_to_string(&mut text)
            .unwrap();
        assert_eq!(text, "log");
    }
}
