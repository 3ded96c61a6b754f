//! What is kept of a stream. The rest is read as well, so that nobody waits to write.

use std::fs::File;
use std::io::Read as _;
use std::os::fd::OwnedFd;

/// A stream of a command.
pub(super) struct Capture {
    from: Option<File>,
    kept: Vec<u8>,
    most: usize,
    truncated: bool,
}

impl Capture {
    pub(super) fn new(from: OwnedFd, most: usize) -> Self {
        Self {
            from: Some(from.into()),
            kept: Vec::new(),
            most,
            truncated: false,
        }
    }

    pub(super) const fn is_open(&self) -> bool {
        self.from.is_some()
    }

    pub(super) const fn open(&self) -> Option<&File> {
        self.from.as_ref()
    }

    /// Reads once. At the end the stream is closed.
    pub(super) fn take(&mut self) {
        let mut buffer = [0; 64 << 10];
        let Some(from) = &mut self.from else { return };
        let read = from.read(&mut buffer).unwrap_or(0);
        if read == 0 {
            self.from = None;
            return;
        }
        let room = self.most - self.kept.len();
        self.kept.extend_from_slice(&buffer[..read.min(room)]);
        self.truncated |= read > room;
    }

    /// What was kept, and whether there was more.
    pub(super) fn kept(&mut self) -> (Vec<u8>, bool) {
        (std::mem::take(&mut self.kept), self.truncated)
    }
}
