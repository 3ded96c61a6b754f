//! Slices from git: what was changed, and what of it predicates see. (flow.md, sections 0
//! and 1.6.)
//!
//! - **The base** is where the histories meet, as `git merge-base` names it: what others
//!   changed on the base since then is no part of the change. Without such a commit, and
//!   where history is cut off before it, there is no slice.
//! - **The head** is a commit, the index, or the files on disk. Of a commit and of the
//!   index nothing is read but objects. Files on disk are compared byte by byte, and no
//!   filter is run: what one changed at the checkout counts as changed.
//! - **Nothing is left out.** What predicates cannot read (no UTF-8, too large, links,
//!   submodules) is in the slice, marked, with an empty text; what a slice cannot name is
//!   an error.
//!
//! Nothing that the configuration of a repository names is run.

mod read;
mod renames;
mod side;
mod slice;
mod trees;
mod work_tree;

use std::fmt;
use std::sync::Arc;

use crate::files::{FileError, OpenError};
use crate::git::{GitError, Oid};

pub use side::{Content, FileKind, Side};

/// What is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Head<'h> {
    /// A commit, by a revision.
    Commit(&'h str),
    /// The index: what `git commit` would commit.
    Index,
    /// The files on disk: those in the index, and those that are neither there nor
    /// ignored.
    WorkTree,
}

/// How much a change may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChangeLimits {
    /// Most changed paths, 100,000 by default. More are an error.
    pub max_files: usize,
    /// The largest text, in bytes, 4 MiB by default. A larger file is in the slice without
    /// its text.
    pub max_text_bytes: u64,
    /// All texts together, before and after the change, in bytes, 512 MiB by default. More
    /// are an error.
    pub max_total_bytes: u64,
}

impl Default for ChangeLimits {
    fn default() -> Self {
        Self {
            max_files: 100_000,
            max_text_bytes: 4 << 20,
            max_total_bytes: 512 << 20,
        }
    }
}

/// What happened to a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeStatus {
    /// It is new.
    Added,
    /// It is gone.
    Deleted,
    /// It holds something else, or may be executed, or no more.
    Modified,
    /// It had another path before, and may have been modified as well.
    Renamed,
    /// It is of another kind: a file became a link, or the like.
    TypeChanged,
}

impl ChangeStatus {
    /// Its name in a slice.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Deleted => "deleted",
            Self::Modified => "modified",
            Self::Renamed => "renamed",
            Self::TypeChanged => "typechange",
        }
    }
}

/// A changed path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedFile {
    /// In the workspace, `/`-separated.
    pub path: Arc<str>,
    /// Where it was before, if that was elsewhere.
    pub renamed_from: Option<Arc<str>>,
    /// What happened to it.
    pub status: ChangeStatus,
    /// What it held before.
    pub base: Option<Side>,
    /// What it holds now.
    pub head: Option<Side>,
}

/// A path of the repository at which something differs.
struct Raw {
    path: Box<[u8]>,
    old: Option<Side>,
    new: Option<Side>,
}

/// What tells one head from another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HeadId {
    /// A commit.
    Commit(Oid),
    /// The SHA-256 of the base and of all that differs from it.
    Content([u8; 32]),
}

impl fmt::Display for HeadId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Commit(id) => write!(f, "{id}"),
            Self::Content(digest) => {
                f.write_str("sha256:")?;
                digest.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
            }
        }
    }
}

/// What was changed since a base. Made by [`Changes::read`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changes {
    base: Option<Oid>,
    head: HeadId,
    files: Vec<ChangedFile>,
}

impl Changes {
    /// The commit that they start from; `None` if nothing was ever committed.
    #[must_use]
    pub const fn base(&self) -> Option<Oid> {
        self.base
    }

    /// What they lead to.
    #[must_use]
    pub const fn head(&self) -> &HeadId {
        &self.head
    }

    /// The changed files, sorted by their paths.
    #[must_use]
    pub fn files(&self) -> &[ChangedFile] {
        &self.files
    }

    /// Those that are there and whose content no predicate can judge: no UTF-8, too large,
    /// links, submodules.
    pub fn unread(&self) -> impl Iterator<Item = &ChangedFile> {
        let files = self.files.iter();
        files.filter(|file| file.head.as_ref().is_some_and(|head| head.text().is_none()))
    }
}

/// Why there is no slice.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ChangesError {
    /// The repository does not tell.
    #[error(transparent)]
    Git(#[from] GitError),
    /// The work tree cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// A changed path has no name in a slice.
    #[error(
        "the path of a changed file is not UTF-8, so that no slice can name it: {0}; rename it"
    )]
    NotUtf8(Box<str>),
    /// A tracked path is no file any more.
    #[error("{path:?} is a {what}, which is never opened; remove it, or put the file back")]
    Special {
        /// The path in the repository.
        path: Box<str>,
        /// What it is.
        what: &'static str,
    },
    /// A file on disk cannot be read.
    #[error("{path:?}: {error}")]
    File {
        /// The path in the repository.
        path: Box<str>,
        /// Why.
        error: FileError,
    },
    /// Too many paths are changed.
    #[error("{0} files are changed, and {1} are the most for one slice; judge a smaller change")]
    TooMany(usize, usize),
    /// The texts are too large together.
    #[error("the texts of the changed files are over {0} bytes together; judge a smaller change")]
    TooMuch(u64),
}

impl ChangesError {
    fn file(path: &[u8], error: FileError) -> Self {
        Self::File {
            path: String::from_utf8_lossy(path).into(),
            error,
        }
    }
}
