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

/// Most spaces of a cache directory; those that were not written for the longest
/// time go first.
const MAX_SPACES: usize = 64;

/// All spaces together take about this many times what one may.
const MAX_FULL_SPACES: u64 = 4;

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

impl Loaded {
    /// What it takes on disk.
    pub(super) fn bytes(&self) -> usize {
        TAG_BYTES + self.segment.len()
    }
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

    /// A session for some slots, which it numbers from 0 in their order. Of equal
    /// keys it is not said which gets what is known.
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

    /// True if none of some segments was removed meanwhile.
    pub(super) fn has_all<'a>(&self, mut names: impl Iterator<Item = &'a str>) -> bool {
        names.all(|name| self.space.join(name).is_file())
    }

    /// Writes a segment, for which its bytes have room in front, in the place of
    /// some others.
    pub(super) fn replace(&self, mut bytes: Vec<u8>, old: &[&str]) -> io::Result<()> {
        make_dir(&self.spaces)?;
        self.make_room(bytes.len() as u64);
        make_dir(&self.space)?;
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

    /// Removes other spaces until there is room for this one and for so many bytes.
    fn make_room(&self, bytes: u64) {
        let mut others: Vec<(SystemTime, u64, PathBuf)> = Vec::new();
        for entry in read_dir(&self.spaces).unwrap_or_default() {
            let path = entry.path();
            if is_space(&entry) && path != self.space {
                let modified = entry.metadata().and_then(|metadata| metadata.modified());
                let bytes = space_stats(&path).unwrap_or_default().bytes;
                others.push((modified.unwrap_or(UNIX_EPOCH), bytes, path));
            }
        }
        others.sort();
        let max = self.max_bytes.saturating_mul(MAX_FULL_SPACES);
        let own = bytes.max(self.max_bytes);
        let mut total = others
            .iter()
            .map(|other| other.1)
            .fold(own, u64::saturating_add);
        let mut spaces = others.len() + 1;
        for (_, bytes, space) in others {
            if total <= max && spaces <= MAX_SPACES {
                break;
            }
            total = total.saturating_sub(bytes);
            spaces -= 1;
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
        let of_space = space_stats(&space)?;
        stats.segments += of_space.segments;
        stats.bytes += of_space.bytes;
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
    let spaces = entries.iter().filter(|entry| is_space(entry));
    Ok(spaces.map(fs::DirEntry::path).collect())
}

fn space_stats(space: &Path) -> io::Result<CountStats> {
    let mut stats = CountStats::default();
    for (_, bytes) in files(space)? {
        stats.segments += 1;
        stats.bytes += bytes;
    }
    Ok(stats)
}

/// The segments of a space and their bytes. One that somebody else removed
/// meanwhile is none.
fn files(space: &Path) -> io::Result<Vec<(PathBuf, u64)>> {
    let entries = read_dir(space)?.into_iter();
    let files = entries.filter(|entry| is_segment(&entry.file_name()));
    let files = files.filter_map(|entry| Some((entry.path(), entry.metadata().ok()?)));
    let files = files.filter(|(_, metadata)| metadata.is_file());
    Ok(files
        .map(|(path, metadata)| (path, metadata.len()))
        .collect())
}

fn clear_space(space: &Path) -> io::Result<CountStats> {
    for entry in read_dir(space)? {
        remove_abandoned(&entry, Duration::ZERO);
    }
    let mut stats = CountStats::default();
    for (path, bytes) in files(space)? {
        match fs::remove_file(path) {
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

/// Links are none.
fn is_space(entry: &fs::DirEntry) -> bool {
    is_hex(&entry.file_name(), 32) && entry.file_type().is_ok_and(|kind| kind.is_dir())
}

fn is_hex(name: &OsStr, digits: usize) -> bool {
    let name = name.as_encoded_bytes();
    name.len() == digits && name.iter().all(u8::is_ascii_hexdigit)
}
