//! Regular files opened for reading, and what identifies them.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::fs::{FileType, OFlags, Stat};
use rustix::io::Errno;

use sha2::{Digest as _, Sha256};

use crate::files::{ContentId, FileError};

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
    /// What a descriptor stands for.
    pub(crate) fn at(fd: BorrowedFd<'_>) -> Result<Self, Errno> {
        Ok(Self::of(&rustix::fs::fstat(fd)?))
    }

    /// The same as bytes.
    pub(crate) fn bytes(self) -> [u8; 16] {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&self.device.to_le_bytes());
        bytes[8..].copy_from_slice(&self.inode.to_le_bytes());
        bytes
    }

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

/// How long after its last change a file could change again within one tick of
/// the clock that stamps files; some file systems count in steps of two seconds.
const RACY: Duration = Duration::from_secs(2);

/// Names what a file holds by its device, inode, size and times. `None` if it
/// changed just now or has times to come: it could change again and keep its
/// times.
pub(super) fn content_id(stat: &Stat) -> Option<ContentId> {
    let (id, state) = (FileId::of(stat), State::of(stat));
    let now = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
    let settled = now.checked_sub(RACY)?;
    let is_settled = |(seconds, _): (i64, i64)| {
        u64::try_from(seconds).map_or(true, |seconds| seconds < settled.as_secs())
    };
    if !is_settled(state.modified) || !is_settled(state.changed) {
        return None;
    }
    let mut hash = Sha256::new();
    hash.update(b"file");
    for number in [id.device, id.inode, state.size] {
        hash.update(number.to_le_bytes());
    }
    for (seconds, nanoseconds) in [state.modified, state.changed] {
        hash.update(seconds.to_le_bytes());
        hash.update(nanoseconds.to_le_bytes());
    }
    Some(ContentId(hash.finalize().into()))
}

/// A regular file of the workspace, open for reading.
#[derive(Debug)]
pub struct OpenFile {
    fd: OwnedFd,
    id: FileId,
    state: State,
    content: Option<ContentId>,
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
            content: content_id(&stat),
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

    /// Names what the file held when it was opened. `None` if it was changed just
    /// before: it could be changed again and keep its times.
    #[must_use]
    pub const fn content_id(&self) -> Option<ContentId> {
        self.content
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
