//! Why a command could not do its work.

use std::error::Error;
use std::io;
use std::path::PathBuf;

use crate::cache::DiskCacheError;
use crate::cli::Exit;
use crate::engine::{BuildError, EngineError};
use crate::flow::{ChangesError, PackError};
use crate::git::GitError;
use crate::history::HistoryError;
use crate::policy::PolicyError;

/// A command could not do its work. What it decided before is printed already.
#[derive(Debug, thiserror::Error)]
pub(super) enum CliError {
    /// The options do not fit together or with the surroundings.
    #[error("{0}")]
    Usage(String),
    /// The report cannot be written.
    #[error("cannot write {to}: {source}")]
    Output {
        /// `to standard output` or a path.
        to: String,
        /// Why.
        source: io::Error,
    },
    /// A pack cannot be tried.
    #[error(transparent)]
    Pack(#[from] PackError),
    /// A file cannot be read.
    #[error("cannot read `{}`: {source}", path.display())]
    Input {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// An expression cannot be read from standard input.
    #[error("cannot read the expression from standard input: {0}")]
    Expression(#[source] io::Error),
    /// The engine cannot be made.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The policy cannot be used.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// The engine could not go on.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The cache cannot be used although it was asked for.
    #[error(transparent)]
    Cache(#[from] DiskCacheError),
    /// The repository cannot be read.
    #[error(transparent)]
    Git(#[from] GitError),
    /// There is no slice.
    #[error(transparent)]
    Changes(#[from] ChangesError),
    /// The history cannot be told.
    #[error(transparent)]
    History(#[from] HistoryError),
    /// The cache cannot be counted or cleared.
    #[error("cannot read the cache directory `{}`: {source}", dir.display())]
    CacheAccess {
        /// Which.
        dir: PathBuf,
        /// Why.
        source: io::Error,
    },
}

impl CliError {
    /// The exit status that the error makes.
    pub(super) fn exit(&self) -> Exit {
        let mut cause: Option<&(dyn Error + 'static)> = Some(self);
        while let Some(error) = cause {
            if let Some(io) = error.downcast_ref::<io::Error>()
                && io.kind() == io::ErrorKind::BrokenPipe
            {
                return Exit::ClosedPipe;
            }
            cause = error.source();
        }
        Exit::Error
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_closed_pipe_is_told_from_other_errors() {
        let closed = || io::Error::from(io::ErrorKind::BrokenPipe);
        let full = || io::Error::from(io::ErrorKind::StorageFull);
        let output = |source| CliError::Output {
            to: "to standard output".into(),
            source,
        };
        assert_eq!(output(closed()).exit(), Exit::ClosedPipe);
        assert_eq!(output(full()).exit(), Exit::Error);
        let engine = |error: io::Error| CliError::from(EngineError::from(error));
        assert_eq!(engine(closed()).exit(), Exit::ClosedPipe);
        assert_eq!(engine(full()).exit(), Exit::Error);
    }
}
