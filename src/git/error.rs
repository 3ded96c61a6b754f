//! What can go wrong with a repository.

use std::path::PathBuf;

use crate::files::FileError;
use crate::git::Oid;

/// A repository, or something in it, cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GitError {
    /// There is no `git` to ask.
    #[error(
        "there is no `git` in the absolute directories of PATH outside the workspace; install git"
    )]
    NoGit,
    /// The directory belongs to no repository.
    #[error("{} is in no git repository; name a directory of one with --root", .0.display())]
    NoRepository(PathBuf),
    /// The directory looks like a repository in the work tree of another.
    #[error(
        "{} looks like a git repository in the work tree of another one, so that it is unclear \
         whose commits are meant; remove its HEAD, objects or refs, or move it out of there",
        .0.display()
    )]
    Embedded(PathBuf),
    /// `git` does not open the repository.
    #[error("git cannot use the repository at {}: {said}", path.display())]
    Unusable {
        /// The repository.
        path: PathBuf,
        /// What `git` says of it.
        said: String,
    },
    /// No commit has the name.
    #[error(
        "{0:?} names no commit of the repository; `git log` shows those there are, and what a \
         shallow clone leaves out has to be fetched first"
    )]
    NoCommit(String),
    /// Not of the form `A..B`.
    #[error("{0:?} is no range of commits; write A..B, or B alone for all that led to it")]
    NotARange(String),
    /// A range leads to a commit whose parent is not there.
    #[error(
        "the history of the repository is cut off before the commit {0}; fetch the rest of it \
         (`git fetch --unshallow`), or name a range that begins there"
    )]
    Cut(Oid),
    /// Two commits whose histories do not meet, as far as they are there.
    #[error(
        "the histories of {0} and {1} share no commit here, so it is unclear what was changed; \
         fetch the rest of them (`git fetch --unshallow`), or name another base"
    )]
    NoMergeBase(Oid, Oid),
    /// A repository without files on disk.
    #[error("the repository at {} has no work tree; name a commit to be judged", .0.display())]
    NoWorkTree(PathBuf),
    /// A path of the index in the middle of a merge.
    #[error("{0:?} is unmerged in the index; resolve the conflict and `git add` it first")]
    Unmerged(String),
    /// More of them than are looked at.
    #[error("git lists more than {0} files; name a directory further down with --root")]
    TooMany(usize),
    /// An object is not there.
    #[error("the repository does not hold the {what} {oid}; fetch it, a gate never does")]
    Missing {
        /// What it would be.
        what: &'static str,
        /// Its name.
        oid: Oid,
    },
    /// An object is no such thing, or makes no sense.
    #[error("the repository is damaged: {oid} {problem}; `git fsck` tells more")]
    Damaged {
        /// The object.
        oid: Oid,
        /// What is wrong with it, as the end of a sentence.
        problem: &'static str,
    },
    /// Larger than somebody can use.
    #[error("the object {oid} is over the cap of {cap} bytes")]
    TooLarge {
        /// The object.
        oid: Oid,
        /// In bytes.
        cap: u64,
        /// What it has, in bytes.
        size: u64,
    },
    /// `git` could not be run, or broke off.
    #[error("cannot ask git: {0}")]
    Io(#[from] std::io::Error),
    /// `git` said something unheard of.
    #[error("git answered {0:?}, which makes no sense here")]
    Answer(String),
}

impl GitError {
    /// The same about a file or directory of a tree.
    pub(super) fn in_tree(self, what: &'static str) -> FileError {
        match self {
            Self::TooLarge { cap, .. } => FileError::TooLarge { what, cap },
            other => FileError::Repository(other.to_string().into()),
        }
    }
}
