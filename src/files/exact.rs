//! What stands at a path itself, no link followed: the work tree as git sees it.

use std::ffi::{CString, OsStr};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;

use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;

use crate::files::FileError;
use crate::files::components::{MAX_DEPTH, PATH_MAX, component, open_directory};
use crate::files::open::{FileId, OpenFile, READ};
use crate::files::root::{Kind, Root};

#[cfg(target_os = "linux")]
const SEARCH: OFlags = OFlags::PATH;
#[cfg(not(target_os = "linux"))]
const SEARCH: OFlags = OFlags::RDONLY;

/// What stands at a path.
#[derive(Debug)]
pub enum Standing {
    /// Nothing, or the way there leads through a link or a file.
    Nothing,
    /// A regular file.
    File {
        /// Open for reading.
        file: OpenFile,
        /// Whether its owner may execute it.
        is_executable: bool,
    },
    /// A link, and where it leads.
    Link(Vec<u8>),
    /// A directory.
    Directory,
    /// Something that is never opened, by name: `FIFO`, `socket`, …
    Other(&'static str),
}

/// Looks at one path of a workspace after another. Directories on the way to the last
/// stay open, so that paths are best asked for in their order.
#[derive(Debug)]
pub struct Exact<'a> {
    root: &'a Root,
    open: Vec<(CString, OwnedFd)>,
}

impl<'a> Exact<'a> {
    /// Looks at paths below a root.
    #[must_use]
    pub const fn new(root: &'a Root) -> Self {
        Self {
            root,
            open: Vec::new(),
        }
    }

    /// What stands at a path of names, joined by `/`, without `.` and `..`.
    ///
    /// # Errors
    ///
    /// [`FileError::Invalid`] for another path, [`FileError::TooDeep`], and what the
    /// operating system refuses.
    pub fn look(&mut self, path: &[u8]) -> Result<Standing, FileError> {
        if path.len() >= PATH_MAX {
            return Err(FileError::Invalid("is too long"));
        }
        let mut names = Vec::new();
        for name in path.split(|&byte| byte == b'/') {
            if matches!(name, b"" | b"." | b"..") {
                return Err(FileError::Invalid("holds a name that leads elsewhere"));
            }
            names.push(component(OsStr::from_bytes(name))?);
        }
        let Some(last) = names.pop() else {
            return Err(FileError::Invalid("is empty"));
        };
        if names.len() > MAX_DEPTH {
            return Err(FileError::TooDeep);
        }
        let same = names.iter().zip(&self.open);
        let same = same.take_while(|(name, (open, _))| *name == open).count();
        self.open.truncate(same);
        for name in names.into_iter().skip(same) {
            match open_directory(self.directory(), &name, SEARCH) {
                Ok(fd) => self.open.push((name, fd)),
                Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return Ok(Standing::Nothing),
                Err(errno) => return Err(FileError::resolving(errno)),
            }
        }
        self.stands(&last)
    }

    fn stands(&self, name: &CString) -> Result<Standing, FileError> {
        let directory = self.directory();
        let stat = match rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => stat,
            Err(Errno::NOENT) => return Ok(Standing::Nothing),
            Err(errno) => return Err(FileError::resolving(errno)),
        };
        if FileType::from_raw_mode(stat.st_mode) == FileType::Symlink {
            let target = rustix::fs::readlinkat(directory, name, Vec::new());
            let target = target.map_err(|errno| match errno {
                // It is no link any more.
                Errno::INVAL => FileError::Changed,
                other => FileError::reading(other),
            })?;
            return Ok(Standing::Link(target.into_bytes()));
        }
        Ok(match Kind::of(&stat) {
            Kind::Directory => Standing::Directory,
            Kind::Other(what) => Standing::Other(what),
            Kind::File => {
                let fd = rustix::io::retry_on_intr(|| {
                    let flags = READ | OFlags::NOFOLLOW;
                    rustix::fs::openat(directory, name, flags, Mode::empty())
                });
                Standing::File {
                    file: OpenFile::same(fd.map_err(FileError::reading)?, FileId::of(&stat))?,
                    is_executable: stat.st_mode & 0o100 != 0,
                }
            }
        })
    }

    fn directory(&self) -> BorrowedFd<'_> {
        self.open
            .last()
            .map_or_else(|| self.root.as_fd(), |(_, fd)| fd.as_fd())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use rustix::fs::{CWD, mknodat};

    use super::*;
    use crate::files::read_open;

    #[test]
    fn no_link_is_followed_and_nothing_but_files_opened() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        fs::create_dir_all(path("a/b")).unwrap();
        fs::write(path("a/b/c"), "text").unwrap();
        fs::set_permissions(path("a/b/c"), fs::Permissions::from_mode(0o755)).unwrap();
        fs::write(path("a/d"), "").unwrap();
        symlink("b", path("a/inside")).unwrap();
        symlink("/etc/passwd", path("out")).unwrap();
        mknodat(CWD, path("fifo"), FileType::Fifo, Mode::RWXU, 0).unwrap();
        let root = Root::open(dir.path()).unwrap();
        let mut exact = Exact::new(&root);
        for path in ["a/b/c", "a/d", "a/b/c"] {
            let standing = exact.look(path.as_bytes()).unwrap();
            let Standing::File {
                file,
                is_executable,
            } = standing
            else {
                panic!("{path}: {standing:?}");
            };
            assert_eq!(is_executable, path == "a/b/c");
            let text = if is_executable { "text" } else { "" };
            assert_eq!(read_open(&file, 4).unwrap(), text.as_bytes());
            assert_eq!(read_open(&file, 3).is_err(), is_executable);
        }
        for (path, expected) in [
            ("a/inside", "Link([98])"),
            ("a/inside/c", "Nothing"),
            ("a/d/c", "Nothing"),
            ("a/b", "Directory"),
            ("x/y", "Nothing"),
            ("out/x", "Nothing"),
            ("fifo", "Other(\"FIFO\")"),
        ] {
            let standing = exact.look(path.as_bytes()).unwrap();
            assert_eq!(format!("{standing:?}"), expected, "{path}");
        }
        for bad in [
            "",
            "..",
            "a/../d",
            "/etc",
            "a//b",
            "a\0",
            &"a/".repeat(3000),
        ] {
            assert!(exact.look(bad.as_bytes()).is_err(), "{bad:?}");
        }
    }
}
