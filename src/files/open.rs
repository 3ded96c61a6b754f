//! Regular files opened for reading, and what identifies them.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{FileType, OFlags, Stat};
use rustix::io::Errno;

use crate::files::FileError;

/// Reading without ever blocking, taking a terminal or leaking to children. A
/// FIFO that is swapped in is opened at most, and refused by [`OpenFile::new`].
pub(super) const READ: OFlags = OFlags::RDONLY
    .union(OFlags::CLOEXEC)
    .union(OFlags::NONBLOCK)
    .union(OFlags::NOCTTY);

/// Which file, whatever its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FileId {
    device: u64,
    inode: u64,
}

impl FileId {
    #[expect(
        clippy::unnecessary_cast,
        reason = "the width and sign of these fields differ between systems"
    )]
    pub(super) fn of(stat: &Stat) -> Self {
        Self {
            device: stat.st_dev as u64,
            inode: stat.st_ino as u64,
        }
    }
}

/// Size and times: what changes when a file is written to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct State {
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl State {
    #[expect(
        clippy::unnecessary_cast,
        reason = "the width and sign of these fields differ between systems"
    )]
    fn of(stat: &Stat) -> Self {
        Self {
            size: stat.st_size as u64,
            modified: (stat.st_mtime as i64, stat.st_mtime_nsec as i64),
            changed: (stat.st_ctime as i64, stat.st_ctime_nsec as i64),
        }
    }
}

/// A regular file of the workspace, open for reading.
#[derive(Debug)]
pub struct OpenFile {
    fd: OwnedFd,
    id: FileId,
    state: State,
}

impl OpenFile {
    /// Takes a fresh descriptor. `None` if it is no regular file.
    pub(super) fn new(fd: OwnedFd) -> Result<Option<Self>, Errno> {
        let stat = rustix::fs::fstat(&fd)?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Ok(None);
        }
        Ok(Some(Self {
            fd,
            id: FileId::of(&stat),
            state: State::of(&stat),
        }))
    }

    /// Takes a fresh descriptor of a file that was looked at before.
    ///
    /// # Errors
    ///
    /// [`FileError::Changed`] if it is another file now.
    pub(super) fn same(fd: OwnedFd, id: FileId) -> Result<Self, FileError> {
        match Self::new(fd).map_err(FileError::Refused)? {
            Some(file) if file.id == id => Ok(file),
            _ => Err(FileError::Changed),
        }
    }

    /// The size when the file was opened, in bytes.
    #[must_use]
    pub const fn size(&self) -> u64 {
        self.state.size
    }

    /// Fails if the file was written to since it was opened.
    ///
    /// # Errors
    ///
    /// [`FileError::Changed`], or what the operating system refused.
    pub(super) fn verify_unchanged(&self) -> Result<(), FileError> {
        let stat = rustix::fs::fstat(&self.fd).map_err(FileError::Refused)?;
        if State::of(&stat) == self.state {
            Ok(())
        } else {
            Err(FileError::Changed)
        }
    }
}

impl AsFd for OpenFile {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}
