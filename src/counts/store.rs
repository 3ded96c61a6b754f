//! The segments of one space on disk.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use sha2::{Digest as _, Sha256};

use super::session::Session;
use super::{Segment, SlotKey};
use crate::sealed::{
    self, ABANDONED_AFTER, DirError, Secret, TAG_BYTES, make_dir, read_dir, read_file,
    remove_abandoned, write_file,
};

/// Most bytes that one space takes on disk, if nothing else is said.
pub const DEFAULT_MAX_BYTES: u64 = 64 << 20;

/// Most spaces of a cache directory; the one that was not written for the longest
/// time goes when a new one is made.
const MAX_SPACES: usize = 64;

/// Where the counts of one workspace or repository are kept.
#[derive(Debug)]
pub struct Store {
    spaces: PathBuf,
    space: PathBuf,
    secret: Secret,
    max_bytes: u64,
    /// What the last session read, for the next one.
    loaded: Mutex<Option<Arc<[Loaded]>>>,
}

/// A segment that is in memory.
#[derive(Debug)]
pub(super) struct Loaded {
    pub(super) name: Box<str>,
    pub(super) segment: Segment,
}

/// What is kept in a cache directory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CountStats {
    /// Segments of all spaces.
    pub segments: u64,
    /// Their bytes.
    pub bytes: u64,
}

impl Store {
    /// Opens a space of a cache directory. `space` is any bytes that tell one
    /// workspace from another. Nothing is read yet.
    ///
    /// # Errors
    /// [`DirError`] if the directory cannot be made, read or trusted.
    pub fn open(dir: &Path, space: &[u8], max_bytes: u64) -> Result<Self, DirError> {
        let secret = sealed::unlock(dir)?;
        let digest = Sha256::digest(space);
        let name: String = digest
            .iter()
            .take(16)
            .map(|byte| format!("{byte:02x}"))
            .collect();
        let spaces = dir.join("counts");
        Ok(Self {
            space: spaces.join(name),
            spaces,
            secret,
            max_bytes,
            loaded: Mutex::new(None),
        })
    }

    /// A session for some slots, which it numbers from 0 in their order.
    #[must_use]
    pub fn session(&self, slots: &[SlotKey]) -> Session<'_> {
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        let loaded = loaded.get_or_insert_with(|| self.load());
        Session::new(self, Arc::clone(loaded), slots)
    }

    /// Most bytes on disk.
    pub(super) fn max_bytes(&self) -> usize {
        usize::try_from(self.max_bytes).unwrap_or(usize::MAX)
    }

    /// Writes a segment, for which its bytes have room in front, in the place of
    /// some others.
    pub(super) fn replace(&self, mut bytes: Vec<u8>, old: &[&str]) -> io::Result<()> {
        if !self.space.is_dir() {
            make_dir(&self.spaces)?;
            self.make_room();
            make_dir(&self.space)?;
        }
        let name = fresh_name()?;
        sealed::seal(&self.secret, &name, &mut bytes);
        write_file(&self.space, &self.space.join(&name), &bytes, false)?;
        for old in old {
            // Another session may have merged it too.
            let _ = fs::remove_file(self.space.join(old));
        }
        *self.loaded.lock().unwrap_or_else(PoisonError::into_inner) = None;
        Ok(())
    }

    /// All segments that open, the newest first.
    fn load(&self) -> Arc<[Loaded]> {
        let mut names: Vec<String> = Vec::new();
        for entry in read_dir(&self.space).unwrap_or_default() {
            remove_abandoned(&entry, ABANDONED_AFTER);
            let name = entry.file_name().into_string();
            names.extend(name.ok().filter(|name| is_segment(OsStr::new(name))));
        }
        names.sort_unstable_by(|one, other| other.cmp(one));
        names
            .into_iter()
            .filter_map(|name| self.read(name))
            .collect()
    }

    fn read(&self, name: String) -> Option<Loaded> {
        let path = self.space.join(&name);
        // Another process may allow more.
        let max = self.max_bytes.max(DEFAULT_MAX_BYTES).saturating_mul(2);
        let bytes = read_file(&path, max).ok()?;
        sealed::open(&self.secret, &name, &bytes)?;
        Some(Loaded {
            name: name.into(),
            segment: Segment::decode_at(bytes, TAG_BYTES)?,
        })
    }

    /// Removes spaces until there is room for one more.
    fn make_room(&self) {
        let age = |entry: &fs::DirEntry| {
            let modified = entry.metadata().and_then(|metadata| metadata.modified());
            modified.unwrap_or(UNIX_EPOCH)
        };
        let mut spaces: Vec<(SystemTime, PathBuf)> = read_dir(&self.spaces)
            .unwrap_or_default()
            .iter()
            .filter(|entry| is_space(&entry.file_name()))
            .map(|entry| (age(entry), entry.path()))
            .collect();
        spaces.sort();
        let too_many = (spaces.len() + 1).saturating_sub(MAX_SPACES);
        for (_, space) in spaces.into_iter().take(too_many) {
            // A cache that stays too large is no failure.
            let _ = clear_space(&space);
        }
    }
}

/// Counts the segments of a cache directory; one that is not there is empty.
///
/// # Errors
/// What the operating system says.
pub fn stats(dir: &Path) -> io::Result<CountStats> {
    let mut stats = CountStats::default();
    for space in spaces(dir)? {
        for entry in read_dir(&space)? {
            if is_segment(&entry.file_name()) {
                // One that somebody else removed meanwhile is none.
                if let Ok(metadata) = entry.metadata() {
                    stats.segments += 1;
                    stats.bytes += metadata.len();
                }
            }
        }
    }
    Ok(stats)
}

/// Removes the segments of a cache directory and says what was removed. Nothing but
/// segments, empty spaces and what killed writers left is touched.
///
/// # Errors
/// What the operating system says; what somebody else removed first is no error.
pub fn clear(dir: &Path) -> io::Result<CountStats> {
    let mut stats = CountStats::default();
    for space in spaces(dir)? {
        let removed = clear_space(&space)?;
        stats.segments += removed.segments;
        stats.bytes += removed.bytes;
    }
    Ok(stats)
}

fn spaces(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = read_dir(&dir.join("counts"))?;
    let spaces = entries.iter().filter(|entry| is_space(&entry.file_name()));
    Ok(spaces.map(fs::DirEntry::path).collect())
}

fn clear_space(space: &Path) -> io::Result<CountStats> {
    let mut stats = CountStats::default();
    for entry in read_dir(space)? {
        remove_abandoned(&entry, Duration::ZERO);
        if !is_segment(&entry.file_name()) {
            continue;
        }
        let bytes = entry.metadata().map_or(0, |metadata| metadata.len());
        match fs::remove_file(entry.path()) {
            Ok(()) => {
                stats.segments += 1;
                stats.bytes += bytes;
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    // It stays if it holds something that is not ours.
    let _ = fs::remove_dir(space);
    Ok(stats)
}

/// Names sort by the time they were given.
fn fresh_name() -> io::Result<String> {
    let mut random = [0; 8];
    getrandom::fill(&mut random).map_err(io::Error::other)?;
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    let random = u64::from_le_bytes(random);
    Ok(format!("{:024x}{random:016x}", now.as_nanos()))
}

fn is_segment(name: &OsStr) -> bool {
    is_hex(name, 40)
}

fn is_space(name: &OsStr) -> bool {
    is_hex(name, 32)
}

fn is_hex(name: &OsStr, digits: usize) -> bool {
    let name = name.as_encoded_bytes();
    name.len() == digits && name.iter().all(u8::is_ascii_hexdigit)
}
