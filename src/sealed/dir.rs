//! A cache directory and its secret.
//!
//! ```text
//! DIR/secret               32 random bytes, readable by the owner alone
//! ```

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use super::file::{make_dir, read_file, write_file};
use super::seal::Secret;

/// The cache directory cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DirError {
    /// A file or directory of the cache cannot be made or read.
    #[error("cannot use the cache directory `{}`: {source}", path.display())]
    Io {
        /// What could not be used.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Others could have planted or could read what is in it.
    #[error("the cache directory `{}` belongs to somebody else or others may write it; choose another with --cache-dir", .0.display())]
    Untrusted(PathBuf),
}

impl DirError {
    /// For `map_err`: what the operating system says about a path.
    pub(crate) fn at(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { path, source }
    }
}

/// The secret of a cache directory. Both are made if they are not there.
///
/// # Errors
/// [`DirError`] if they cannot be made or read, or cannot be trusted: the directory
/// must belong to the user, and nobody else may write it.
pub(crate) fn unlock(dir: &Path) -> Result<Secret, DirError> {
    make_dir(dir).map_err(DirError::at(dir))?;
    let metadata = fs::metadata(dir).map_err(DirError::at(dir))?;
    let mine = metadata.uid() == rustix::process::geteuid().as_raw();
    if !metadata.is_dir() || !mine || metadata.mode() & 0o022 != 0 {
        return Err(DirError::Untrusted(dir.to_owned()));
    }
    let file = dir.join("secret");
    secret(dir, &file).map_err(DirError::at(&file))
}

/// Reads the secret, or makes one. Of two processes that make one at once the
/// first wins and the other reads it. One that others could have read or made is
/// replaced, which loses the files sealed with it.
fn secret(dir: &Path, path: &Path) -> io::Result<Secret> {
    for _ in 0..2 {
        match read_secret(path) {
            Ok(Some(secret)) => return Ok(secret),
            Ok(None) => fs::remove_file(path)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        let mut fresh = Secret::default();
        getrandom::fill(&mut fresh).map_err(io::Error::other)?;
        match write_file(dir, path, &fresh, false) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
    }
    read_secret(path)?.ok_or_else(|| io::Error::other("its secret keeps changing"))
}

/// The secret in a file, if it is one that only the owner could read and write.
fn read_secret(path: &Path) -> io::Result<Option<Secret>> {
    let metadata = fs::symlink_metadata(path)?;
    let mine = metadata.uid() == rustix::process::geteuid().as_raw();
    if !metadata.is_file() || !mine || metadata.mode() & 0o077 != 0 {
        return Ok(None);
    }
    match read_file(path, size_of::<Secret>() as u64) {
        Err(error) if error.kind() == io::ErrorKind::InvalidData => Ok(None),
        bytes => Ok(Secret::try_from(bytes?).ok()),
    }
}
