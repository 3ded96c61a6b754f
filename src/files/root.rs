//! The workspace root: one descriptor, opened once, that every path starts from.

use std::ffi::CString;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::sync::Arc;

use rustix::fs::{FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

#[cfg(target_os = "linux")]
use crate::files::beneath;
use crate::files::open::{FileId, OpenFile, READ, content_id};
use crate::files::readahead::Readahead;
use crate::files::{ContentId, FileError, OpenError, components};

/// Who keeps paths inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Backend {
    /// The kernel.
    #[cfg(target_os = "linux")]
    Beneath,
    /// This crate.
    Components,
}

/// A workspace on disk.
#[derive(Debug)]
pub struct Root {
    fd: OwnedFd,
    backend: Backend,
    readahead: Arc<Readahead>,
}

/// What stands at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// Something that is never opened, by name: `FIFO`, `socket`, …
    Other(&'static str),
}

impl Kind {
    pub(super) fn of(stat: &Stat) -> Self {
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => Self::File,
            FileType::Directory => Self::Directory,
            FileType::Fifo => Self::Other("FIFO"),
            FileType::Socket => Self::Other("socket"),
            FileType::BlockDevice | FileType::CharacterDevice => Self::Other("device"),
            _ => Self::Other("special file"),
        }
    }
}

/// A path that was resolved inside the workspace, and not opened.
#[derive(Debug)]
pub struct Found<'a> {
    root: &'a Root,
    path: &'a str,
    handle: Handle,
    kind: Kind,
    id: FileId,
    content: Option<ContentId>,
}

#[derive(Debug)]
enum Handle {
    /// A descriptor that stands for the file and cannot read it.
    #[cfg(target_os = "linux")]
    Descriptor(OwnedFd),
    /// The file's name in an open directory, or that directory.
    Name(OwnedFd, Option<CString>),
}

impl Root {
    /// Opens the directory that paths are relative to. It stays the same
    /// directory whatever is renamed later.
    ///
    /// # Errors
    ///
    /// If there is no such directory or it may not be read.
    pub fn open(path: &Path) -> Result<Self, OpenError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let opened = rustix::io::retry_on_intr(|| rustix::fs::open(path, flags, Mode::empty()));
        let fd = opened.map_err(|errno| match errno {
            Errno::NOTDIR => OpenError::NotADirectory { path: path.into() },
            other => OpenError::Refused {
                path: path.into(),
                source: other.into(),
            },
        })?;
        #[cfg(target_os = "linux")]
        let backend = if beneath::is_available(fd.as_fd()) {
            Backend::Beneath
        } else {
            Backend::Components
        };
        #[cfg(not(target_os = "linux"))]
        let backend = Backend::Components;
        Ok(Self {
            fd,
            backend,
            readahead: Arc::default(),
        })
    }

    /// The same root with another way of resolving.
    #[cfg(test)]
    pub(super) fn with_backend(self, backend: Backend) -> Self {
        Self { backend, ..self }
    }

    /// What reads ahead in this workspace.
    pub(super) const fn readahead(&self) -> &Arc<Readahead> {
        &self.readahead
    }

    /// Resolves a path, following links that stay inside.
    ///
    /// # Errors
    ///
    /// If the path is no path, leads nowhere or leads outside.
    pub fn find<'a>(&'a self, path: &'a str) -> Result<Found<'a>, FileError> {
        check(path)?;
        let (handle, stat) = match self.backend {
            #[cfg(target_os = "linux")]
            Backend::Beneath => {
                let fd = beneath::find(self.fd.as_fd(), path)?;
                let stat = rustix::fs::fstat(&fd).map_err(FileError::Refused)?;
                (Handle::Descriptor(fd), stat)
            }
            Backend::Components => {
                let resolved = components::resolve(self.fd.as_fd(), path)?;
                let handle = Handle::Name(resolved.directory, resolved.name);
                (handle, resolved.stat)
            }
        };
        Ok(Found {
            root: self,
            path,
            handle,
            kind: Kind::of(&stat),
            id: FileId::of(&stat),
            content: content_id(&stat),
        })
    }
}

impl AsFd for Root {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl Found<'_> {
    /// What it is.
    #[must_use]
    pub const fn kind(&self) -> Kind {
        self.kind
    }

    /// Says that the file will be read soon.
    pub(super) fn announce(&self) {
        self.root.readahead.announce(|| self.open());
    }

    /// What the file held when it was found, see [`content_id`].
    pub(super) const fn content_id(&self) -> Option<ContentId> {
        self.content
    }

    /// The names that lead from the root to it without any link, joined by `/`;
    /// empty for the root itself.
    ///
    /// # Errors
    ///
    /// As [`Root::find`]; [`FileError::Changed`] if the path leads elsewhere by
    /// now.
    pub fn location(&self) -> Result<Vec<u8>, FileError> {
        let resolved = components::resolve(self.root.as_fd(), self.path)?;
        if FileId::of(&resolved.stat) == self.id {
            Ok(resolved.location)
        } else {
            Err(FileError::Changed)
        }
    }

    /// Opens the very file that was found, if it is a regular one.
    ///
    /// # Errors
    ///
    /// [`FileError::NotRegular`] for anything that is no regular file, and what
    /// the operating system refuses.
    pub fn open(&self) -> Result<OpenFile, FileError> {
        match self.kind {
            Kind::File => {}
            Kind::Directory => return Err(FileError::NotRegular("directory")),
            Kind::Other(name) => return Err(FileError::NotRegular(name)),
        }
        match &self.handle {
            #[cfg(target_os = "linux")]
            Handle::Descriptor(fd) => beneath::reopen(self.root.as_fd(), fd, self.path, self.id),
            Handle::Name(_, None) => Err(FileError::NotRegular("directory")),
            Handle::Name(directory, Some(name)) => {
                let flags = READ | OFlags::NOFOLLOW;
                let fd = rustix::io::retry_on_intr(|| {
                    rustix::fs::openat(directory, name, flags, Mode::empty())
                });
                OpenFile::same(fd.map_err(FileError::reading)?, self.id)
            }
        }
    }
}

/// Refuses texts that can name nothing inside.
pub(super) fn check(path: &str) -> Result<(), FileError> {
    if path.is_empty() {
        Err(FileError::Invalid("is empty"))
    } else if path.contains('\0') {
        Err(FileError::Invalid("holds a NUL"))
    } else if path.starts_with('/') {
        Err(FileError::Outside)
    } else {
        Ok(())
    }
}
