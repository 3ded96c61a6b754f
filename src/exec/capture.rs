//! What is kept of a stream. The rest is read as well, so that nobody waits to write.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::OwnedFd;

/// A stream of a command.
pub(super) struct Capture {
    from: Option<File>,
    kept: Vec<u8>,
    most: usize,
    truncated: bool,
}

impl Capture {
    pub(super) fn new(from: OwnedFd, most: usize) -> io::Result<Self> {
        rustix::io::ioctl_fionbio(&from, true)?;
        Ok(Self {
            from: Some(from.into()),
            kept: Vec::new(),
            most,
            truncated: false,
        })
    }

    pub(super) const fn open(&self) -> Option<&File> {
        self.from.as_ref()
    }

    /// Reads once. At the end the stream is closed.
    pub(super) fn take(&mut self) -> bool {
        let mut buffer = [0; 64 << 10];
        let Some(from) = &mut self.from else {
            return false;
        };
        let read = match from.read(&mut buffer) {
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return false,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return true,
            Err(_) => 0,
        };
        if read == 0 {
            self.from = None;
            return false;
        }
        let room = self.most - self.kept.len();
        self.kept.extend_from_slice(&buffer[..read.min(room)]);
        self.truncated |= read > room;
        true
    }

    /// Reads what is there, without waiting for more.
    pub(super) fn drain(&mut self) {
        while self.take() {}
    }

    /// What was kept, and whether there was more.
    pub(super) fn kept(&mut self) -> (Vec<u8>, bool) {
        (std::mem::take(&mut self.kept), self.truncated)
    }
}
