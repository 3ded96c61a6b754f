//! The disk cache: programs by the digest of their source, in 64 packs.
//!
//! ```text
//! DIR/secret               32 random bytes, readable by the owner alone
//! DIR/programs/NAME        a pack, see `pack.rs`; NAME is the first six bits of the
//!                          digests in it, as two hex digits
//! ```
//!
//! A file for each program would cost more to open than the program to compile. A
//! pack is read when the first of its programs is asked for, and written when the
//! cache is saved: to a temporary file that is renamed, so that many processes may
//! share a directory and a reader sees whole packs or none. Of two processes that
//! write one at once, what the other added may be lost. Whatever does not open is
//! ignored and written anew. No failure of the cache is a failure of a batch: the
//! worst case is a compile.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::cache::pack::{self, Entry, Pack};
use crate::cache::{DiskCacheError, Key};
use crate::code::Program;
use crate::sealed::{self, Secret, make_dir, read_dir, read_file, write_file};

const PACKS: usize = 64;

/// Most programs one process adds: a log of a million distinct predicates would push
/// out its own.
const MAX_ADDED: usize = PACKS * pack::MAX_ENTRIES;

/// Programs of a pack after which it is written at once.
const MAX_FRESH: usize = pack::MAX_ENTRIES / 2;

/// What is in a cache directory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DiskStats {
    /// Programs.
    pub entries: u64,
    /// Bytes of all packs.
    pub bytes: u64,
}

/// A cache directory that is open for use. What was added is written by
/// [`DiskCache::save`] and when it is dropped.
#[derive(Debug)]
pub struct DiskCache {
    programs: PathBuf,
    secret: Secret,
    shards: [Mutex<Shard>; PACKS],
    added: AtomicUsize,
}

#[derive(Debug, Default)]
struct Shard {
    /// As it was on disk when it was first asked; `None` before.
    pack: Option<Pack>,
    /// What is to be written.
    fresh: Vec<Entry>,
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
            shards: [const {
                Mutex::new(Shard {
                    pack: None,
                    fresh: Vec::new(),
                })
            }; PACKS],
            added: AtomicUsize::new(0),
        })
    }

    /// The program of a key, if a sound entry was on disk when one of its pack was
    /// first asked for.
    #[must_use]
    pub fn load(&self, key: &Key) -> Option<Program> {
        let number = number(key);
        let mut shard = self.shard(number)?;
        let pack = &mut shard.pack;
        pack.get_or_insert_with(|| self.read(number)).get(key)
    }

    /// Adds a program. After 16,384 of them, as many as a directory holds, a cache
    /// takes no more.
    pub fn store(&self, key: &Key, program: &Program) {
        if self.added.fetch_add(1, Ordering::Relaxed) >= MAX_ADDED {
            return;
        }
        let Some(entry) = Entry::new(key, program) else {
            return;
        };
        let number = number(key);
        if let Some(mut shard) = self.shard(number) {
            shard.fresh.push(entry);
            if shard.fresh.len() >= MAX_FRESH {
                self.write(number, &mut shard);
            }
        }
    }

    /// Writes what was added. What cannot be written is forgotten: the cache is
    /// whole all the same.
    pub fn save(&self) {
        let mut is_written = false;
        for number in 0..PACKS {
            if let Some(mut shard) = self.shard(number)
                && !shard.fresh.is_empty()
            {
                self.write(number, &mut shard);
                is_written = true;
            }
        }
        if is_written {
            for entry in read_dir(&self.programs).unwrap_or_default() {
                sealed::remove_abandoned(&entry, sealed::ABANDONED_AFTER);
            }
        }
    }

    /// Counts the programs of a cache directory; one that is not there is empty.
    ///
    /// # Errors
    /// What the operating system says.
    pub fn stats(dir: &Path) -> io::Result<DiskStats> {
        let mut stats = DiskStats::default();
        for path in packs(dir)? {
            let Ok(bytes) = read_file(&path, pack::MAX_BYTES as u64) else {
                continue;
            };
            stats.bytes += bytes.len() as u64;
            stats.entries += Pack::parse(bytes).map_or(0, |pack| pack.len() as u64);
        }
        Ok(stats)
    }

    /// Removes every pack of a cache directory and says what was removed.
    /// Nothing but packs and what killed writers left is touched.
    ///
    /// # Errors
    /// As [`DiskCache::stats`]; a pack that somebody else removed first is no error.
    pub fn clear(dir: &Path) -> io::Result<DiskStats> {
        for entry in read_dir(&dir.join("programs"))? {
            sealed::remove_abandoned(&entry, Duration::ZERO);
        }
        let stats = Self::stats(dir)?;
        for path in packs(dir)? {
            match fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        Ok(stats)
    }

    fn shard(&self, number: usize) -> Option<MutexGuard<'_, Shard>> {
        let shard = self.shards.get(number)?;
        Some(shard.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// What is on disk; nothing if it does not open.
    fn read(&self, number: usize) -> Pack {
        let name = name(number);
        read_file(&self.programs.join(&name), pack::MAX_BYTES as u64)
            .ok()
            .and_then(|bytes| Pack::open(&self.secret, &name, bytes))
            .unwrap_or_default()
    }

    /// Adds to what is on disk by now.
    fn write(&self, number: usize, shard: &mut Shard) {
        let fresh = std::mem::take(&mut shard.fresh);
        let name = name(number);
        if let Some(bytes) = self.read(number).with(&self.secret, &name, &fresh) {
            let _ = write_file(&self.programs, &self.programs.join(&name), &bytes, true);
        }
    }
}

impl Drop for DiskCache {
    fn drop(&mut self) {
        self.save();
    }
}

fn number(key: &Key) -> usize {
    usize::from(key.digest.as_bytes()[0]) * PACKS / 256
}

fn name(number: usize) -> String {
    format!("{number:02x}")
}

fn packs(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let programs = dir.join("programs");
    let mut packs = Vec::new();
    for entry in read_dir(&programs)? {
        let found = entry.file_name();
        let is_ours = (0..PACKS).any(|number| found == *name(number));
        if is_ours && entry.file_type()?.is_file() {
            packs.push(entry.path());
        }
    }
    Ok(packs)
}
