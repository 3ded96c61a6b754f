//! Resolution by the kernel: `openat2` with `RESOLVE_BENEATH`.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

use crate::files::FileError;
use crate::files::open::{FileId, OpenFile, READ};

/// `EAGAIN` means that a rename raced a `..`; more tries than this means that
/// somebody does it on purpose.
const TRIES: usize = 64;

/// Opens `path` below `root`, or fails: the kernel refuses every step that would
/// leave the root, and every magic link of `/proc`.
fn openat2(root: BorrowedFd<'_>, path: &str, flags: OFlags) -> Result<OwnedFd, Errno> {
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
    let mut tries = TRIES;
    loop {
        match rustix::fs::openat2(root, path, flags, Mode::empty(), resolve) {
            Err(Errno::AGAIN) if tries > 0 => tries -= 1,
            Err(Errno::INTR) => {}
            other => return other,
        }
    }
}

/// True if the system has `openat2` and no sandbox forbids it.
pub(super) fn is_available(root: BorrowedFd<'_>) -> bool {
    !matches!(
        openat2(root, ".", OFlags::PATH | OFlags::CLOEXEC),
        Err(Errno::NOSYS | Errno::PERM | Errno::INVAL)
    )
}

/// Resolves without opening: the descriptor cannot read, and taking it has no
/// effect on a FIFO or device.
pub(super) fn find(root: BorrowedFd<'_>, path: &str) -> Result<OwnedFd, FileError> {
    openat2(root, path, OFlags::PATH | OFlags::CLOEXEC).map_err(FileError::resolving)
}

/// Opens the very file that [`find`] found.
pub(super) fn reopen(
    root: BorrowedFd<'_>,
    found: &OwnedFd,
    path: &str,
    id: FileId,
) -> Result<OpenFile, FileError> {
    use std::os::fd::AsRawFd;

    let magic = format!("/proc/self/fd/{}", found.as_fd().as_raw_fd());
    let opened = rustix::io::retry_on_intr(|| rustix::fs::open(&*magic, READ, Mode::empty()));
    let fd = match opened {
        // No /proc here: resolve again and compare.
        Err(Errno::NOENT | Errno::NOTDIR) => {
            openat2(root, path, READ).map_err(FileError::reading)?
        }
        other => other.map_err(FileError::Refused)?,
    };
    OpenFile::same(fd, id)
}
