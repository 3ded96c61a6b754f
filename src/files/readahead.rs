//! Reading ahead: files that will be read soon are asked for, so that the disk works
//! while the files before them are scanned.
//!
//! Asking means opening the file once more, which a file that is in memory already
//! does not repay. So it is found out whether that is so: every sixteenth file is
//! looked at, and while files that are not in memory turn up, all of them are.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::files::{FileError, OpenFile};

/// Of so many files one is looked at while all seem to be in memory.
const EVERY: u32 = 16;

/// After a file that was not in memory so many are looked at.
const COLD_FILES: u32 = 128;

/// How much of a file is asked for, in bytes. The rest of a large one comes as it is
/// read; and of data no more than its start is read at all.
#[cfg(target_os = "linux")]
const AHEAD_BYTES: u64 = 256 << 10;

/// What is known of the files of a workspace.
#[derive(Debug, Default)]
pub(super) struct Readahead {
    /// Files that were announced.
    announced: AtomicU32,
    /// Files that are still to be looked at.
    cold: AtomicU32,
}

impl Readahead {
    /// Asks for a file that will be read soon, if that seems worth it. Whatever goes
    /// wrong will go wrong again when the file is read.
    pub(super) fn announce(&self, open: impl FnOnce() -> Result<OpenFile, FileError>) {
        // Threads may count each other's files; it is a guess anyway.
        let turn = self.announced.fetch_add(1, Ordering::Relaxed);
        let cold = self.cold.load(Ordering::Relaxed);
        if cold == 0 && !turn.is_multiple_of(EVERY) {
            return;
        }
        let Ok(file) = open() else {
            return;
        };
        let next = if is_in_memory(&file) {
            cold.saturating_sub(1)
        } else {
            ask_for(&file);
            COLD_FILES
        };
        if next != cold {
            self.cold.store(next, Ordering::Relaxed);
        }
    }
}

/// Whether the start of a file can be read without waiting. True as well where the
/// file system does not say.
#[cfg(target_os = "linux")]
fn is_in_memory(file: &OpenFile) -> bool {
    use std::io::IoSliceMut;

    use rustix::io::{Errno, ReadWriteFlags, preadv2};

    let mut byte = [0];
    let read = preadv2(
        file,
        &mut [IoSliceMut::new(&mut byte)],
        0,
        ReadWriteFlags::NOWAIT,
    );
    read != Err(Errno::AGAIN)
}

#[cfg(not(target_os = "linux"))]
fn is_in_memory(_: &OpenFile) -> bool {
    true
}

#[cfg(target_os = "linux")]
fn ask_for(file: &OpenFile) {
    let bytes = std::num::NonZeroU64::new(AHEAD_BYTES);
    let _ = rustix::fs::fadvise(file, 0, bytes, rustix::fs::Advice::WillNeed);
}

#[cfg(not(target_os = "linux"))]
fn ask_for(_: &OpenFile) {}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::fs;

    use super::*;
    use crate::files::Root;

    #[test]
    fn few_files_are_looked_at_while_all_are_in_memory() {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("f"), "x").unwrap();
        let root = Root::open(directory.path()).unwrap();
        let opened = Cell::new(0);
        let open = || {
            opened.set(opened.get() + 1);
            root.find("f").unwrap().open()
        };
        let readahead = Readahead::default();
        for _ in 0..160 {
            readahead.announce(open);
        }
        assert_eq!(opened.get(), 10);
        // One that was not: the next are all looked at, and no more.
        readahead.cold.store(COLD_FILES, Ordering::Relaxed);
        for _ in 0..COLD_FILES {
            readahead.announce(open);
        }
        assert_eq!(opened.get(), 10 + COLD_FILES);
        assert_eq!(readahead.cold.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn a_file_that_cannot_be_opened_is_nobodys_trouble() {
        Readahead::default().announce(|| Err(FileError::NotFound));
    }
}
