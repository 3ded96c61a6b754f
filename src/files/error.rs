//! What can go wrong with a path or a file, and the reason code it becomes.

use std::path::PathBuf;

use rustix::io::Errno;
use thiserror::Error;

use crate::reason::{Reason, ReasonCode};

/// Why a workspace cannot be opened at all.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The root is a file or something else that holds no files.
    #[error(
        "the workspace root {} is not a directory; name the directory that holds the repository",
        path.display()
    )]
    NotADirectory {
        /// The root as given.
        path: PathBuf,
    },
    /// The operating system refused the root, or there is none.
    #[error("cannot open the workspace root {}: {source}", path.display())]
    Refused {
        /// The root as given.
        path: PathBuf,
        /// What the operating system said.
        source: std::io::Error,
    },
}

/// Why a path of a workspace could not be resolved, walked or read.
///
/// The path itself is not part of the error: one error often belongs to many
/// facts, each with its own spelling.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum FileError {
    /// Absolute, climbing out, or leaving through a link.
    #[error("the path is outside the workspace; name a path below the workspace root")]
    Outside,
    /// Nothing is there.
    #[error("nothing exists there; paths are relative to the workspace root")]
    NotFound,
    /// The text can name no file.
    #[error("the path {0}, so it can name no file")]
    Invalid(&'static str),
    /// A FIFO, socket or device.
    #[error("it is a {0}, which is never opened; name a regular file or a directory")]
    NotRegular(&'static str),
    /// Links that lead back to themselves, or more than 40 in a row.
    #[error("it leads through too many symbolic links; name the file itself")]
    LinkLoop,
    /// A tree too deep to be walked.
    #[error("the directories are nested too deep to be walked; name a directory further down")]
    TooDeep,
    /// A tree with more files and directories than can be walked.
    #[error(
        "there are more than {0} files and directories to be walked; name a directory further down"
    )]
    TooMany(usize),
    /// The operating system refused.
    #[error("cannot read it: {}", std::io::Error::from(*.0))]
    Refused(Errno),
    /// A `.gitignore` file whose patterns cannot be compiled together.
    #[error("its patterns are too large to compile; split or shorten the file")]
    Rules,
    /// Vanished, replaced or written to while it was read.
    #[error("it changed while it was read; evaluate again when nothing writes to the workspace")]
    Changed,
    /// The repository does not give it.
    #[error("{0}")]
    Repository(Box<str>),
    /// Over a size cap.
    #[error("the {what} is over the cap of {cap} bytes; narrow the path or raise the cap")]
    TooLarge {
        /// What is too large: `file`, `line`, …
        what: &'static str,
        /// The cap, in bytes.
        cap: u64,
    },
}

impl FileError {
    /// The error of a failed call that resolves a path.
    pub(super) fn resolving(errno: Errno) -> Self {
        match errno {
            Errno::NOENT | Errno::NOTDIR => Self::NotFound,
            Errno::XDEV => Self::Outside,
            Errno::LOOP => Self::LinkLoop,
            Errno::NAMETOOLONG => Self::Invalid("is too long"),
            // Only after retries: somebody keeps renaming the directories.
            Errno::AGAIN => Self::Changed,
            other => Self::Refused(other),
        }
    }

    /// The error of a failed call on a name that a listing or an earlier look
    /// has shown to be there.
    pub(super) fn reading(errno: Errno) -> Self {
        match errno {
            Errno::NOENT | Errno::NOTDIR | Errno::LOOP => Self::Changed,
            other => Self::Refused(other),
        }
    }

    /// The stable code.
    #[must_use]
    pub const fn code(&self) -> ReasonCode {
        match self {
            Self::Outside => ReasonCode::PathOutsideWorkspace,
            Self::NotFound => ReasonCode::PathNotFound,
            Self::Invalid(_) => ReasonCode::PathInvalid,
            Self::NotRegular(_) => ReasonCode::NotARegularFile,
            Self::LinkLoop
            | Self::TooDeep
            | Self::TooMany(_)
            | Self::Refused(_)
            | Self::Rules
            | Self::Repository(_) => ReasonCode::ReadError,
            Self::Changed => ReasonCode::FileChanged,
            Self::TooLarge { .. } => ReasonCode::TooLarge,
        }
    }

    /// The reason of a fact that hangs on `path`.
    #[must_use]
    pub fn reason(&self, path: &str) -> Reason {
        Reason::new(self.code(), format!("{path:?}: {self}"))
    }
}
