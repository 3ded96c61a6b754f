//! What commands and tests came to before, in the same workspace under the same policy.

use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest as _, Sha256};

use crate::git::Repository;
use crate::policy::Policy;
use crate::sealed::{self, DirError, Secret, TAG_BYTES};

/// Where results lie in a cache directory.
const DIRECTORY: &str = "runs";

/// More results than this, or more bytes, and the oldest half goes.
const MOST_FILES: usize = 4096;
const MOST_BYTES: u64 = 256 << 20;

/// A result that is larger is not kept, in bytes.
const MOST_RESULT: u64 = 16 << 20;

/// A workspace with more than this is not digested, in bytes.
const MOST_WORKSPACE: u64 = 4 << 30;

/// Results of earlier runs, kept in a cache directory.
#[derive(Debug)]
pub struct Reuse {
    directory: PathBuf,
    secret: Secret,
}

/// How much is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReuseStats {
    /// Results.
    pub entries: u64,
    /// Their bytes.
    pub bytes: u64,
}

impl Reuse {
    /// Opens the results of a cache directory.
    ///
    /// # Errors
    /// [`DirError`] if the directory cannot be made, read or trusted.
    pub fn open(cache: &Path) -> Result<Self, DirError> {
        let secret = sealed::unlock(cache)?;
        let directory = cache.join(DIRECTORY);
        sealed::make_dir(&directory).map_err(DirError::at(&directory))?;
        trim(&directory);
        Ok(Self { directory, secret })
    }

    /// What all results from here on depend on. `None` if the workspace cannot be
    /// digested; then nothing is reused.
    pub(crate) fn world(&self, root: &Path, policy: &Policy) -> Option<World<'_>> {
        let mut hash = Sha256::new();
        workspace(root, &mut hash).ok()?;
        hash.update(policy.digest.hex());
        for name in &policy.bounds.env {
            field(&mut hash, name.as_bytes());
            field(
                &mut hash,
                std::env::var_os(&**name).unwrap_or_default().as_bytes(),
            );
        }
        // What commands of git say depends on it.
        let head = Repository::open(root).and_then(|repository| repository.resolve("HEAD"));
        field(
            &mut hash,
            format!("{:?}", head.ok().map(|head| head.id)).as_bytes(),
        );
        Some(World { reuse: self, hash })
    }
}

/// Results in one state of a workspace.
#[derive(Clone)]
pub(crate) struct World<'a> {
    reuse: &'a Reuse,
    hash: Sha256,
}

impl World<'_> {
    /// Whether two are the same state.
    pub(crate) fn is(&self, other: &Self) -> bool {
        self.hash.clone().finalize() == other.hash.clone().finalize()
    }

    /// What something came to before. `program` is what it starts with.
    pub(crate) fn get<T: DeserializeOwned>(&self, what: &str, program: &Path) -> Option<T> {
        let name = self.name(what, program)?;
        let path = self.reuse.directory.join(&name);
        let file = sealed::read_file(&path, MOST_RESULT).ok()?;
        let body = sealed::open(&self.reuse.secret, &name, &file)?;
        serde_json::from_slice(body).ok()
    }

    /// Keeps what it came to. Where that fails it is executed again.
    pub(crate) fn put(&self, what: &str, program: &Path, result: &impl Serialize) {
        let Some(name) = self.name(what, program) else {
            return;
        };
        let mut file = vec![0; TAG_BYTES];
        if serde_json::to_writer(&mut file, result).is_err() || file.len() as u64 > MOST_RESULT {
            return;
        }
        if sealed::seal(&self.reuse.secret, &name, &mut file).is_some() {
            let path = self.reuse.directory.join(&name);
            let _ = sealed::write_file(&self.reuse.directory, &path, &file, true);
        }
    }

    /// The program is told by its file, as long as nobody writes to it.
    fn name(&self, what: &str, program: &Path) -> Option<String> {
        let mut hash = self.hash.clone();
        field(&mut hash, what.as_bytes());
        field(&mut hash, program.as_os_str().as_bytes());
        let found = fs::metadata(program).ok()?;
        for number in [found.dev(), found.ino(), found.size()] {
            hash.update(number.to_le_bytes());
        }
        for number in [found.mtime(), found.mtime_nsec()] {
            hash.update(number.to_le_bytes());
        }
        let digest = hash.finalize();
        Some(digest.iter().map(|byte| format!("{byte:02x}")).collect())
    }
}

/// How much is kept in a cache directory.
///
/// # Errors
/// If it cannot be read.
pub fn stats(cache: &Path) -> io::Result<ReuseStats> {
    let mut stats = ReuseStats::default();
    for entry in sealed::read_dir(&cache.join(DIRECTORY))? {
        stats.entries += 1;
        stats.bytes += entry.metadata()?.len();
    }
    Ok(stats)
}

/// Removes what is kept in a cache directory.
///
/// # Errors
/// If something cannot be removed.
pub fn clear(cache: &Path) -> io::Result<ReuseStats> {
    let removed = stats(cache)?;
    for entry in sealed::read_dir(&cache.join(DIRECTORY))? {
        fs::remove_file(entry.path())?;
    }
    Ok(removed)
}

/// Removes the older half where there is too much. An error leaves it for the next time.
fn trim(directory: &Path) {
    let entries = sealed::read_dir(directory).unwrap_or_default();
    let mut files: Vec<_> = entries
        .iter()
        .filter_map(|entry| Some((entry.metadata().ok()?, entry.path())))
        .map(|(found, path)| (found.modified().ok(), found.len(), path))
        .collect();
    let bytes: u64 = files.iter().map(|(_, len, _)| len).sum();
    if files.len() <= MOST_FILES && bytes <= MOST_BYTES {
        return;
    }
    files.sort();
    for (_, _, path) in &files[..files.len().div_ceil(2)] {
        let _ = fs::remove_file(path);
    }
}

/// Digests what is in a workspace but for `.git` and what its own `.gitignore` files
/// exclude: names, kinds, contents, whether a file can be executed, where links lead.
fn workspace(root: &Path, hash: &mut Sha256) -> io::Result<()> {
    let mut walk = ignore::WalkBuilder::new(root);
    walk.hidden(false)
        .parents(false)
        .ignore(false)
        .git_global(false)
        .git_exclude(false)
        .require_git(false)
        .follow_links(false)
        .sort_by_file_name(std::cmp::Ord::cmp)
        .filter_entry(|entry| entry.file_name() != ".git");
    let mut bytes = 0;
    for entry in walk.build() {
        let entry = entry.map_err(io::Error::other)?;
        if entry.depth() == 0 {
            continue;
        }
        let path = entry.path();
        let relative = path.strip_prefix(root).map_err(io::Error::other)?;
        field(hash, relative.as_os_str().as_bytes());
        let found = path.symlink_metadata()?;
        if found.is_symlink() {
            hash.update(b"l");
            field(hash, fs::read_link(path)?.as_os_str().as_bytes());
        } else if found.is_file() {
            bytes += found.len();
            if bytes > MOST_WORKSPACE {
                return Err(io::ErrorKind::FileTooLarge.into());
            }
            hash.update(if found.mode() & 0o111 == 0 {
                b"f"
            } else {
                b"x"
            });
            let mut content = Sha256::new();
            let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
            let mut options = fs::OpenOptions::new();
            options.read(true).custom_flags(flags.bits().cast_signed());
            let mut file = options.open(path)?;
            io::copy(&mut file, &mut Writer(&mut content))?;
            hash.update(content.finalize());
        } else {
            hash.update(if found.is_dir() { b"d" } else { b"?" });
        }
    }
    Ok(())
}

struct Writer<'a>(&'a mut Sha256);

impl io::Write for Writer<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A field is told from the next by its length.
fn field(hash: &mut Sha256, bytes: &[u8]) {
    hash.update((bytes.len() as u64).to_le_bytes());
    hash.update(bytes);
}
