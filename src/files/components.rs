//! Resolution component by component, for systems without `openat2`. It gives
//! the same answers: every step is relative to an open directory, no step follows
//! a link, and links are expanded here, where leaving the root can be refused.

use std::collections::VecDeque;
use std::ffi::{CString, OsStr};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;

use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use crate::files::FileError;

/// As many links as Linux follows.
pub(super) const MAX_LINKS: usize = 40;

/// `PATH_MAX` of Linux, with its NUL.
pub(crate) const PATH_MAX: usize = 4096;

/// Every level keeps a descriptor open, so that `..` needs no second look.
pub(super) const MAX_DEPTH: usize = 256;

/// A directory as a place to start from: searched, not read.
#[cfg(target_os = "linux")]
const SEARCH: OFlags = OFlags::PATH;
#[cfg(not(target_os = "linux"))]
const SEARCH: OFlags = OFlags::RDONLY;

/// Where a path leads.
pub(super) struct Resolved {
    /// The open directory that holds it, or that it is.
    pub(super) directory: OwnedFd,
    /// The name in that directory; `None` if the path leads to the directory.
    pub(super) name: Option<CString>,
    /// What stands there.
    pub(super) stat: Stat,
    /// The names from the root to it, without links, `.` and `..`, joined by `/`.
    pub(super) location: Vec<u8>,
}

/// The directories from the root to where resolution stands.
struct Position<'a> {
    root: BorrowedFd<'a>,
    below: Vec<(OwnedFd, CString)>,
}

impl Position<'_> {
    fn fd(&self) -> BorrowedFd<'_> {
        self.below.last().map_or(self.root, |(fd, _)| fd.as_fd())
    }

    fn enter(&mut self, name: CString) -> Result<(), FileError> {
        if self.below.len() == MAX_DEPTH {
            return Err(FileError::TooDeep);
        }
        let fd = open_directory(self.fd(), &name, SEARCH).map_err(FileError::reading)?;
        self.below.push((fd, name));
        Ok(())
    }

    fn location(&self, last: Option<&CString>) -> Vec<u8> {
        let names = self.below.iter().map(|(_, name)| name).chain(last);
        names
            .map(|name| name.to_bytes())
            .collect::<Vec<_>>()
            .join(&b'/')
    }
}

/// Resolves `path` below `root`.
pub(super) fn resolve(root: BorrowedFd<'_>, path: &str) -> Result<Resolved, FileError> {
    if path.len() >= PATH_MAX {
        return Err(FileError::Invalid("is too long"));
    }
    let mut position = Position {
        root,
        below: Vec::new(),
    };
    let mut pending = VecDeque::new();
    let mut wants_directory = path.ends_with('/');
    prepend(&mut pending, path.as_bytes())?;
    let mut links = 0;
    while let Some(name) = pending.pop_front() {
        match name.to_bytes() {
            b"." => continue,
            b".." => {
                position.below.pop().ok_or(FileError::Outside)?;
                continue;
            }
            _ => {}
        }
        let stat = rustix::fs::statat(position.fd(), &name, AtFlags::SYMLINK_NOFOLLOW)
            .map_err(FileError::resolving)?;
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory => position.enter(name)?,
            FileType::Symlink => {
                links += 1;
                if links > MAX_LINKS {
                    return Err(FileError::LinkLoop);
                }
                let target =
                    rustix::fs::readlinkat(position.fd(), &name, Vec::new()).map_err(|errno| {
                        match errno {
                            // It is no link any more.
                            Errno::INVAL => FileError::Changed,
                            other => FileError::reading(other),
                        }
                    })?;
                let target = target.to_bytes();
                if target.starts_with(b"/") {
                    return Err(FileError::Outside);
                }
                wants_directory |= pending.is_empty() && target.ends_with(b"/");
                prepend(&mut pending, target)?;
            }
            _ if wants_directory || !pending.is_empty() => return Err(FileError::NotFound),
            _ => {
                return Ok(Resolved {
                    directory: clone(position.fd())?,
                    location: position.location(Some(&name)),
                    name: Some(name),
                    stat,
                });
            }
        }
    }
    let directory = clone(position.fd())?;
    Ok(Resolved {
        stat: rustix::fs::fstat(&directory).map_err(FileError::Refused)?,
        directory,
        name: None,
        location: position.location(None),
    })
}

/// Opens a child that is a directory and no link.
pub(super) fn open_directory(
    parent: BorrowedFd<'_>,
    name: &CString,
    access: OFlags,
) -> Result<OwnedFd, Errno> {
    let flags = access | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    rustix::io::retry_on_intr(|| rustix::fs::openat(parent, name, flags, Mode::empty()))
}

fn clone(fd: BorrowedFd<'_>) -> Result<OwnedFd, FileError> {
    rustix::io::fcntl_dupfd_cloexec(fd, 0).map_err(FileError::Refused)
}

fn prepend(pending: &mut VecDeque<CString>, path: &[u8]) -> Result<(), FileError> {
    for name in path.rsplit(|&byte| byte == b'/') {
        if !name.is_empty() {
            pending.push_front(component(OsStr::from_bytes(name))?);
        }
    }
    Ok(())
}

/// A name for the operating system.
pub(super) fn component(name: &OsStr) -> Result<CString, FileError> {
    CString::new(name.as_bytes()).map_err(|_| FileError::Invalid("holds a NUL"))
}
