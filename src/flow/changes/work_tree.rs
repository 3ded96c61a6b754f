//! The files on disk against a commit.
//!
//! git itself compares them by running what its configuration names (filters, a file
//! system monitor, `git status` in submodules), and takes a file for unchanged if its
//! times are. Here every file that is tracked is read; it is unchanged if its blob would
//! have the same name.

use std::collections::BTreeMap;

use rayon::prelude::*;

use crate::files::{Exact, OpenFile, Root, Standing, digest_open, read_open};
use crate::flow::changes::side::{FileKind, Loader, Side};
use crate::flow::changes::{ChangesError, Raw};
use crate::git::{Commit, GitError, GitMode, Item};

/// Paths that one thread looks at in a row.
const CHUNK: usize = 128;

/// What is known of a path before it is looked at.
#[derive(Default)]
struct Slot {
    base: Option<Item>,
    index: Option<Item>,
    /// Whether it need not be on disk.
    is_skipped: bool,
    is_untracked: bool,
    /// An untracked repository.
    is_repository: bool,
}

/// What differs between a commit and the files on disk: those that the index knows, and
/// those that are neither in the index nor ignored.
pub(super) fn differences(
    loader: &Loader<'_>,
    base: Option<&Commit>,
) -> Result<Vec<Raw>, ChangesError> {
    let repository = loader.repository;
    let mut slots: BTreeMap<Box<[u8]>, Slot> = BTreeMap::new();
    for (path, item) in repository.list_commit(base)? {
        slots.entry(path).or_default().base = Some(item);
    }
    for entry in repository.list_index()? {
        let slot = slots.entry(entry.path).or_default();
        slot.index = Some(entry.item);
        slot.is_skipped = entry.is_skipped;
    }
    for untracked in repository.list_untracked()? {
        let slot = slots.entry(untracked.path).or_default();
        slot.is_untracked = true;
        slot.is_repository = untracked.is_repository;
    }
    slots.retain(|path, _| repository.in_workspace(path).is_some());
    let slots: Vec<(Box<[u8]>, Slot)> = slots.into_iter().collect();
    let root = Root::open(repository.top()?)?;
    let trusts_modes = repository.trusts_file_modes()?;
    let chunks = slots.par_chunks(CHUNK).map(|chunk| {
        let mut look = Look {
            loader,
            exact: Exact::new(&root),
            trusts_modes,
        };
        let mut found = Vec::new();
        for (path, slot) in chunk {
            found.extend(look.compare(path, slot)?);
        }
        Ok(found)
    });
    // The first error in their order, whatever thread meets one first.
    let chunks: Vec<Result<Vec<Raw>, ChangesError>> = chunks.collect();
    let mut found = Vec::new();
    for chunk in chunks {
        found.extend(chunk?);
    }
    Ok(found)
}

/// Both sides of a path, as far as there are any.
type Sides = (Option<Side>, Option<Side>);

struct Look<'a> {
    loader: &'a Loader<'a>,
    exact: Exact<'a>,
    trusts_modes: bool,
}

impl Look<'_> {
    /// Looks at a path; `None` if it is as it was.
    fn compare(&mut self, path: &[u8], slot: &Slot) -> Result<Option<Raw>, ChangesError> {
        let sides = match self.standing(path, slot)? {
            Standing::File {
                file,
                is_executable,
            } => self.file(path, slot, &file, is_executable)?,
            Standing::Nothing if slot.is_skipped && slot.index == slot.base => None,
            standing => {
                let new = self.no_file(path, slot, standing)?;
                let old = slot.base.map(|item| self.loader.item(item)).transpose()?;
                (old != new).then_some((old, new))
            }
        };
        Ok(sides.map(|(old, new)| Raw {
            path: path.into(),
            old,
            new,
        }))
    }

    fn standing(&mut self, path: &[u8], slot: &Slot) -> Result<Standing, ChangesError> {
        // What the index does not know is gone for git, or is untracked, or ignored.
        if slot.index.is_none() && !slot.is_untracked {
            return Ok(Standing::Nothing);
        }
        let standing = self.exact.look(path);
        standing.map_err(|error| ChangesError::file(path, error))
    }

    /// The new side where no file is on disk.
    fn no_file(
        &mut self,
        path: &[u8],
        slot: &Slot,
        standing: Standing,
    ) -> Result<Option<Side>, ChangesError> {
        Ok(match standing {
            Standing::Nothing => {
                let index = slot.index.filter(|_| slot.is_skipped);
                index.map(|item| self.loader.item(item)).transpose()?
            }
            Standing::Link(target) => Some(Side::link(&target)),
            Standing::Directory => {
                let module = slot.index.filter(|item| item.mode == GitMode::Submodule);
                match module {
                    Some(module) if self.is_empty_module(path)? => Some(self.loader.item(module)?),
                    None if !slot.is_repository => None,
                    _ => Some(Side::submodule(self.loader.repository.nested_head(path))),
                }
            }
            Standing::Other(what) => {
                return Err(ChangesError::Special {
                    path: String::from_utf8_lossy(path).into(),
                    what,
                });
            }
            // `compare` has it.
            Standing::File { .. } => None,
        })
    }

    /// True for a submodule that was not cloned.
    fn is_empty_module(&mut self, path: &[u8]) -> Result<bool, ChangesError> {
        let inside = [path, b"/.git"].concat();
        let standing = self.exact.look(&inside);
        let standing = standing.map_err(|error| ChangesError::file(path, error))?;
        Ok(matches!(standing, Standing::Nothing))
    }

    fn file(
        &self,
        path: &[u8],
        slot: &Slot,
        file: &OpenFile,
        is_executable: bool,
    ) -> Result<Option<Sides>, ChangesError> {
        let unreadable = |error| ChangesError::file(path, error);
        let repository = self.loader.repository;
        let cap = self.loader.limits.max_text_bytes;
        let known = slot.index.or(slot.base).map(|item| item.mode);
        let is_executable = match self.trusts_modes {
            true => is_executable,
            false => known == Some(GitMode::Executable),
        };
        let kind = match is_executable {
            true => FileKind::Executable,
            false => FileKind::File,
        };
        let same_kind = slot.base.filter(|item| FileKind::from(item.mode) == kind);
        let load_base = || slot.base.map(|item| self.loader.item(item)).transpose();
        if file.size() > cap {
            let digest = digest_open(file).map_err(unreadable)?;
            if let Some(base) = same_kind
                && repository.digest(base.id, file.size())? == Some(digest)
            {
                return Ok(None);
            }
            let new = Side {
                kind,
                content: super::Content::TooLarge(Some(file.size())),
                digest,
            };
            return Ok(Some((load_base()?, Some(new))));
        }
        let bytes = read_open(file, cap).map_err(unreadable)?;
        let old = match same_kind {
            None => load_base()?,
            Some(base) => {
                if base.id.is_of_blob(&bytes) {
                    return Ok(None);
                }
                match repository.blob(base.id, cap, <[u8]>::to_vec) {
                    Ok(old) => Some(self.loader.bytes(kind, old)?),
                    Err(GitError::TooLarge { .. }) => load_base()?,
                    Err(error) => return Err(error.into()),
                }
            }
        };
        Ok(Some((old, Some(self.loader.bytes(kind, bytes)?))))
    }
}
