//! Whole files of a cache directory: readers see them whole or not at all.

use std::ffi::OsStr;
use std::fs::{self, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::time::Duration;

use rustix::fs::OFlags;

/// How names of files begin that are being written.
const TEMPORARY: &str = ".tmp-";

/// After this a file that is being written belongs to nobody.
pub(crate) const ABANDONED_AFTER: Duration = Duration::from_secs(3600);

/// Makes a directory for the owner alone, and those above it.
pub(crate) fn make_dir(path: &Path) -> io::Result<()> {
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
}

/// The entries of a directory; none if it is not there.
pub(crate) fn read_dir(path: &Path) -> io::Result<Vec<fs::DirEntry>> {
    match fs::read_dir(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
        Ok(entries) => entries.collect(),
    }
}

/// Reads a regular file of at most `max` bytes without following a link.
pub(crate) fn read_file(path: &Path, max: u64) -> io::Result<Vec<u8>> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits();
    let flags = i32::try_from(flags).map_err(io::Error::other)?;
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(flags)
        .open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() || metadata.len() > max {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or(0));
    file.take(max).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Writes a file of `dir` under a temporary name and renames it. Without `replace`
/// a file that is there already is an error.
pub(crate) fn write_file(dir: &Path, path: &Path, bytes: &[u8], replace: bool) -> io::Result<()> {
    let mut file = tempfile::Builder::new()
        .prefix(TEMPORARY)
        .tempfile_in(dir)?;
    file.write_all(bytes)?;
    if replace {
        file.persist(path)?;
    } else {
        file.persist_noclobber(path)?;
    }
    Ok(())
}

/// Removes a file if it is a temporary one that no writer comes back to. An error
/// leaves it for the next time.
pub(crate) fn remove_abandoned(entry: &fs::DirEntry, age: Duration) {
    let modified = || entry.metadata().and_then(|metadata| metadata.modified());
    if is_temporary(&entry.file_name())
        && modified().is_ok_and(|modified| modified.elapsed().unwrap_or_default() >= age)
    {
        let _ = fs::remove_file(entry.path());
    }
}

fn is_temporary(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(TEMPORARY.as_bytes())
}
