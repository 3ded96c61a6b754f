//! The files below a directory, in a fixed order.

use std::ffi::{CStr, CString, OsStr};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags};
use rustix::io::Errno;

use crate::files::components::{PATH_MAX, component, open_directory};
use crate::files::disk::read_opened;
use crate::files::open::{OpenFile, READ, content_id};
use crate::files::readahead::Readahead;
use crate::files::root::Kind;
use crate::files::rules::{MAX_RULES_BYTES, Rules};
use crate::files::{
    Block, ContentId, Entry, File, FileError, Flow, ReadFile, Reader, Reading, Root, WalkError,
};

/// Directories with entries still to come; each holds a descriptor. Chains of
/// single directories do not count, so this is rarely near.
pub(crate) const MAX_OPEN: usize = 256;

/// An open directory of the tree.
#[derive(Debug)]
struct Directory {
    fd: OwnedFd,
    /// Relative to the root; empty for the root itself.
    path: Vec<u8>,
    rules: Rules,
    readahead: Arc<Readahead>,
}

/// A directory whose entries are being walked.
struct Level {
    directory: Arc<Directory>,
    names: std::vec::IntoIter<(CString, Kind)>,
}

/// A regular file found while walking.
struct Walked {
    parent: Arc<Directory>,
    name: CString,
}

impl Walked {
    fn open(&self) -> Result<OpenFile, FileError> {
        open_file(self.parent.fd.as_fd(), &self.name)
    }
}

impl File for Walked {
    fn id(&self) -> Result<Option<ContentId>, FileError> {
        let stat = rustix::fs::statat(&self.parent.fd, &self.name, AtFlags::SYMLINK_NOFOLLOW)
            .map_err(FileError::reading)?;
        match Kind::of(&stat) {
            Kind::File => Ok(content_id(&stat)),
            _ => Err(FileError::Changed),
        }
    }

    fn read(
        &self,
        reader: &mut Reader,
        reading: &Reading,
        consume: &mut dyn FnMut(Block<'_>) -> Flow,
    ) -> ReadFile {
        read_opened(self.open(), reader, reading, consume)
    }

    fn size_hint(&self) -> Option<u64> {
        let stat = rustix::fs::statat(&self.parent.fd, &self.name, AtFlags::SYMLINK_NOFOLLOW);
        u64::try_from(stat.ok()?.st_size).ok()
    }

    fn prefetch(&self) {
        self.parent.readahead.announce(|| self.open());
    }
}

/// A walk over the regular files and directories below a directory, see
/// [`crate::files::Tree::walk`].
pub struct Walk {
    levels: Vec<Level>,
    readahead: Arc<Readahead>,
    failed: Option<WalkError>,
}

impl Walk {
    /// A walk below `location`, a path without links as [`crate::files::Found::location`]
    /// gives it. Empty if the directory is itself left out.
    #[must_use]
    pub fn new(root: &Root, location: &[u8]) -> Self {
        let mut walk = Self {
            levels: Vec::new(),
            readahead: Arc::clone(root.readahead()),
            failed: None,
        };
        match walk.start(root, location) {
            Ok(()) => {}
            Err(error) => walk.fail(location, error),
        }
        walk
    }

    fn start(&mut self, root: &Root, location: &[u8]) -> Result<(), FileError> {
        let mut fd = open_directory(root.as_fd(), &component(OsStr::new("."))?, OFlags::RDONLY)
            .map_err(FileError::Refused)?;
        let mut path = Vec::new();
        let mut rules = Rules::default();
        for name in location.split(|&byte| byte == b'/') {
            if name.is_empty() {
                continue;
            }
            rules = read_rules(fd.as_fd(), &path, &rules)?;
            path = join(&path, name);
            if name == b".git" || rules.exclude(&path, true) {
                return Ok(());
            }
            fd = open_directory(
                fd.as_fd(),
                &component(OsStr::from_bytes(name))?,
                OFlags::RDONLY,
            )
            .map_err(FileError::reading)?;
        }
        self.enter(fd, path, &rules)
    }

    fn enter(&mut self, fd: OwnedFd, path: Vec<u8>, rules: &Rules) -> Result<(), FileError> {
        let names = list(&fd)?;
        let has_rules = names
            .iter()
            .any(|(name, kind)| name.to_bytes() == b".gitignore" && *kind == Kind::File);
        let rules = if has_rules {
            read_rules(fd.as_fd(), &path, rules)?
        } else {
            rules.clone()
        };
        // A level without names left holds no descriptor, so that a long chain
        // of directories needs few.
        while self
            .levels
            .last()
            .is_some_and(|level| level.names.len() == 0)
        {
            self.levels.pop();
        }
        if self.levels.len() == MAX_OPEN {
            return Err(FileError::TooDeep);
        }
        self.levels.push(Level {
            directory: Arc::new(Directory {
                fd,
                path,
                rules,
                readahead: Arc::clone(&self.readahead),
            }),
            names: names.into_iter(),
        });
        Ok(())
    }

    fn fail(&mut self, path: &[u8], error: FileError) {
        self.failed = Some(WalkError {
            path: path.to_vec(),
            error,
        });
    }

    /// The next entry that is not left out.
    fn advance(&mut self) -> Option<Entry> {
        loop {
            let level = self.levels.last_mut()?;
            let Some((name, kind)) = level.names.next() else {
                self.levels.pop();
                continue;
            };
            let parent = Arc::clone(&level.directory);
            let path = join(&parent.path, name.to_bytes());
            let is_directory = kind == Kind::Directory;
            if parent.rules.exclude(&path, is_directory) {
                continue;
            }
            if is_directory {
                // The kernel's own limit for a path that anybody else could name.
                let entered = if path.len() < PATH_MAX {
                    open_directory(parent.fd.as_fd(), &name, OFlags::RDONLY)
                        .map_err(FileError::reading)
                        .and_then(|fd| self.enter(fd, path.clone(), &parent.rules))
                } else {
                    Err(FileError::TooDeep)
                };
                if let Err(error) = entered {
                    self.fail(&path, error);
                }
                return Some(Entry { path, file: None });
            }
            return Some(Entry {
                path,
                file: Some(Box::new(Walked { parent, name })),
            });
        }
    }
}

impl Iterator for Walk {
    type Item = Result<Entry, WalkError>;

    fn next(&mut self) -> Option<Self::Item> {
        match self.failed.take() {
            Some(error) => Some(Err(error)),
            None => self.advance().map(Ok),
        }
    }
}

/// The regular files and directories in a directory but `.git`, sorted.
fn list(fd: &OwnedFd) -> Result<Vec<(CString, Kind)>, FileError> {
    let copy = fd
        .try_clone()
        .map_err(|error| FileError::Refused(Errno::from_io_error(&error).unwrap_or(Errno::IO)))?;
    let mut names = Vec::new();
    for entry in Dir::new(copy).map_err(FileError::Refused)? {
        let entry = entry.map_err(FileError::Refused)?;
        let name = entry.file_name();
        if matches!(name.to_bytes(), b"." | b".." | b".git") {
            continue;
        }
        let kind = match entry.file_type() {
            FileType::RegularFile => Kind::File,
            FileType::Directory => Kind::Directory,
            FileType::Unknown => kind_of(fd.as_fd(), name)?,
            _ => continue,
        };
        if matches!(kind, Kind::File | Kind::Directory) {
            names.push((name.to_owned(), kind));
        }
    }
    names.sort_unstable_by(|(left, _), (right, _)| left.cmp(right));
    Ok(names)
}

/// For file systems whose listings do not say.
fn kind_of(parent: BorrowedFd<'_>, name: &CStr) -> Result<Kind, FileError> {
    rustix::fs::statat(parent, name, AtFlags::SYMLINK_NOFOLLOW)
        .map(|stat| Kind::of(&stat))
        .map_err(FileError::reading)
}

/// The rules of a directory's `.gitignore`, if that is a regular file.
fn read_rules(directory: BorrowedFd<'_>, path: &[u8], rules: &Rules) -> Result<Rules, FileError> {
    let name = component(OsStr::new(".gitignore"))?;
    match rustix::fs::statat(directory, &name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) if Kind::of(&stat) == Kind::File => {}
        Ok(_) | Err(Errno::NOENT) => return Ok(rules.clone()),
        Err(errno) => return Err(FileError::reading(errno)),
    }
    let file = open_file(directory, &name)?;
    let text = Reader::default().read_whole(&file, MAX_RULES_BYTES, ".gitignore file")?;
    rules.with(path, &text)
}

fn open_file(parent: BorrowedFd<'_>, name: &CString) -> Result<OpenFile, FileError> {
    let flags = READ | OFlags::NOFOLLOW;
    let fd = rustix::io::retry_on_intr(|| rustix::fs::openat(parent, name, flags, Mode::empty()))
        .map_err(FileError::reading)?;
    OpenFile::new(fd)
        .map_err(FileError::Refused)?
        .ok_or(FileError::Changed)
}

/// The path of a name in a directory.
pub(super) fn join(directory: &[u8], name: &[u8]) -> Vec<u8> {
    if directory.is_empty() {
        name.to_vec()
    } else {
        [directory, name].join(&b'/')
    }
}
