//! The disk cache: one file for each program, content-addressed.
//!
//! ```text
//! DIR/secret               32 random bytes, readable by the owner alone
//! DIR/programs/ab/NAME     one entry, `ab` being the first digits of NAME
//! ```
//!
//! An entry is written to a temporary file and renamed, so that many processes
//! may share a directory and a reader sees whole entries or none. Whatever does
//! not open is ignored and written anew. No failure of the cache is a failure of
//! a batch: the worst case is a compile.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use crate::cache::entry;
use crate::cache::{DiskCacheError, Key};
use crate::code::Program;
use crate::sealed::{self, Secret, make_dir, read_dir, read_file, write_file};

/// Most entries kept; a directory with more loses its oldest quarter when it is
/// next written.
const MAX_ENTRIES: usize = 16_384;

/// Most entries one process writes: a log of a million distinct predicates would
/// otherwise spend its time making files that cost more to read than to compile.
const MAX_WRITES: u64 = 1_024;

/// Misses after which a process looks no more: by then the log is not the one the
/// entries were made from.
const MAX_MISSES: u64 = 4_096;

/// Larger entries are no entries: sources are at most 64 KiB.
const MAX_ENTRY_BYTES: u64 = 4 << 20;

/// What is in a cache directory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DiskStats {
    /// Entries.
    pub entries: u64,
    /// Bytes of all entries.
    pub bytes: u64,
}

/// A cache directory that is open for use.
#[derive(Debug)]
pub struct DiskCache {
    programs: PathBuf,
    secret: Secret,
    writes: AtomicU64,
    misses: AtomicU64,
}

impl DiskCache {
    /// Opens a cache directory, making it if it is not there.
    ///
    /// # Errors
    /// [`DiskCacheError`] if it cannot be made or read, or cannot be trusted: it
    /// must belong to the user, and nobody else may write it.
    pub fn open(dir: &Path) -> Result<Self, DiskCacheError> {
        let secret = sealed::unlock(dir)?;
        let programs = dir.join("programs");
        make_dir(&programs).map_err(DiskCacheError::at(&programs))?;
        Ok(Self {
            programs,
            secret,
            writes: AtomicU64::new(0),
            misses: AtomicU64::new(0),
        })
    }

    /// The program of a key, if a sound entry is there. After 4,096 misses a
    /// cache looks no more.
    #[must_use]
    pub fn load(&self, key: &Key) -> Option<Program> {
        if self.misses.load(Ordering::Relaxed) >= MAX_MISSES {
            return None;
        }
        let program = read_file(&self.path(&entry::name(key)), MAX_ENTRY_BYTES)
            .ok()
            .and_then(|bytes| entry::open(&self.secret, key, &bytes));
        if program.is_none() {
            self.misses.fetch_add(1, Ordering::Relaxed);
        }
        program
    }

    /// Writes an entry, replacing what was there. After 1,024 entries a cache
    /// writes no more.
    ///
    /// # Errors
    /// What the operating system says; the cache is whole all the same.
    pub fn store(&self, key: &Key, program: &Program) -> io::Result<()> {
        match self.writes.fetch_add(1, Ordering::Relaxed) {
            0 => self.evict(),
            MAX_WRITES.. => return Ok(()),
            _ => {}
        }
        let name = entry::name(key);
        let Some(bytes) = entry::seal(&self.secret, &name, program) else {
            return Ok(());
        };
        let path = self.path(&name);
        let shard = path.parent().unwrap_or(&self.programs);
        make_dir(shard)?;
        write_file(shard, &path, &bytes, true)
    }

    /// Counts the entries of a cache directory; one that is not there is empty.
    ///
    /// # Errors
    /// What the operating system says.
    pub fn stats(dir: &Path) -> io::Result<DiskStats> {
        let mut stats = DiskStats::default();
        for found in entries(&dir.join("programs"))? {
            stats.entries += 1;
            stats.bytes += found.bytes;
        }
        Ok(stats)
    }

    /// Removes every entry of a cache directory and says what was removed.
    /// Nothing but entries and what killed writers left is touched.
    ///
    /// # Errors
    /// What the operating system says; an entry that somebody else removed
    /// first is no error.
    pub fn clear(dir: &Path) -> io::Result<DiskStats> {
        remove_all_abandoned(&dir.join("programs"), Duration::ZERO);
        let mut stats = DiskStats::default();
        for found in entries(&dir.join("programs"))? {
            match fs::remove_file(&found.path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
            stats.entries += 1;
            stats.bytes += found.bytes;
        }
        Ok(stats)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.programs.join(&name[..2]).join(name)
    }

    /// Removes the oldest quarter of a directory that is over its bound. Errors
    /// leave it over the bound, which harms nobody.
    fn evict(&self) {
        remove_all_abandoned(&self.programs, sealed::ABANDONED_AFTER);
        let Ok(mut found) = entries(&self.programs) else {
            return;
        };
        if found.len() <= MAX_ENTRIES {
            return;
        }
        found.sort_by_key(|entry| entry.modified);
        let surplus = found.len() - MAX_ENTRIES * 3 / 4;
        for entry in &found[..surplus] {
            let _ = fs::remove_file(&entry.path);
        }
    }
}

/// Removes temporary files that no writer comes back to. Errors leave them for
/// the next time.
fn remove_all_abandoned(programs: &Path, age: Duration) {
    for shard in read_dir(programs).unwrap_or_default() {
        for entry in read_dir(&shard.path()).unwrap_or_default() {
            sealed::remove_abandoned(&entry, age);
        }
    }
}

struct Found {
    path: PathBuf,
    bytes: u64,
    modified: Option<SystemTime>,
}

fn entries(programs: &Path) -> io::Result<Vec<Found>> {
    let mut found = Vec::new();
    for shard in read_dir(programs)? {
        if shard.file_name().len() != 2 || !shard.file_type()?.is_dir() {
            continue;
        }
        for entry in read_dir(&shard.path())? {
            let Ok(metadata) = entry.metadata() else {
                continue;
            };
            if metadata.is_file() && is_entry_name(&entry.file_name()) {
                found.push(Found {
                    path: entry.path(),
                    bytes: metadata.len(),
                    modified: metadata.modified().ok(),
                });
            }
        }
    }
    Ok(found)
}

fn is_entry_name(name: &OsStr) -> bool {
    let name = name.as_encoded_bytes();
    name.len() > 65 && name[..64].iter().all(u8::is_ascii_hexdigit) && name[64] == b'-'
}
