//! The files that are staged, as a tree that can be scanned.

use std::sync::Arc;

use sha2::{Digest as _, Sha256};

use crate::files::{File, FileError, Object, ObjectKind, ObjectTree, Objects};
use crate::git::tree::{Blob, text};
use crate::git::{GitError, GitMode, Item, Oid, Repository, TreeChange};

/// What is staged, as a tree that can be scanned.
pub type IndexTree = ObjectTree<IndexFiles>;

/// The files of the index, as they were when it was read.
#[derive(Debug)]
pub struct IndexFiles {
    repository: Arc<Repository>,
    /// The root is the first.
    directories: Vec<Arc<[Object<IndexId>]>>,
    space: [u8; 32],
}

/// Names a directory, a file or a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum IndexId {
    /// A directory, by its number; that of a submodule is empty.
    Directory(usize),
    /// A file or a link, by its object.
    Blob(Oid),
}

/// As many directories are made of one index: so many bytes of it can be directories with
/// nothing but a directory in them that each is more than it takes there.
const MAX_DIRECTORIES: usize = 1 << 22;

impl IndexFiles {
    /// The files below the workspace that `git commit` would commit.
    ///
    /// What is only intended to be added is not among them, and what a sparse checkout
    /// leaves out on disk is. The index is read once; blobs are read when they are asked
    /// for.
    ///
    /// # Errors
    ///
    /// [`GitError::Unmerged`] if the index holds any path in several versions: a merge is
    /// to be finished first. [`GitError`] if the index cannot be read.
    pub fn new(repository: Arc<Repository>) -> Result<Self, GitError> {
        // All that differs from nothing.
        let staged = repository.diff_index(None)?;
        let mut hash = Sha256::new();
        hash.update(b"probity.git.index.v1\0");
        for part in [&*repository.space(), repository.workspace()] {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        let mut planting = Planting::default();
        for TreeChange { path, new, .. } in &staged {
            let Some(item) = new else { continue };
            let Some(path) = repository.in_workspace(path) else {
                continue;
            };
            hash.update((path.len() as u64).to_le_bytes());
            hash.update(path);
            hash.update([item.mode as u8]);
            hash.update(item.id.as_bytes());
            planting.add(path, item)?;
        }
        Ok(Self {
            directories: planting.finish()?,
            space: hash.finalize().into(),
            repository,
        })
    }

    /// The repository that they are in.
    #[must_use]
    pub const fn repository(&self) -> &Arc<Repository> {
        &self.repository
    }
}

/// A directory while it is filled.
#[derive(Default)]
struct Bed<'p> {
    path: &'p [u8],
    entries: Vec<Object<IndexId>>,
}

/// Makes directories of paths that come sorted by their bytes, so that all that is below a
/// directory comes in a row.
struct Planting<'p> {
    /// The root is the first.
    beds: Vec<Bed<'p>>,
    /// The directories that hold the last path, by their numbers, without the root.
    above: Vec<(&'p [u8], usize)>,
}

impl Default for Planting<'_> {
    fn default() -> Self {
        Self {
            beds: vec![Bed::default()],
            above: Vec::new(),
        }
    }
}

impl<'p> Planting<'p> {
    fn add(&mut self, path: &'p [u8], item: &Item) -> Result<(), GitError> {
        let mut depth = 0;
        let mut start = 0;
        for slash in memchr::memchr_iter(b'/', path) {
            let name = path.get(start..slash).unwrap_or_default();
            if self.above.get(depth).is_none_or(|(at, _)| *at != name) {
                self.above.truncate(depth);
                let number = self.bed(path.get(..slash).unwrap_or_default())?;
                self.put(name, ObjectKind::Directory, IndexId::Directory(number));
                self.above.push((name, number));
            }
            (depth, start) = (depth + 1, slash + 1);
        }
        self.above.truncate(depth);
        let (kind, id) = match item.mode {
            GitMode::Submodule => (ObjectKind::Directory, IndexId::Directory(self.bed(path)?)),
            GitMode::Link => (ObjectKind::Link, IndexId::Blob(item.id)),
            GitMode::File | GitMode::Executable => (ObjectKind::File, IndexId::Blob(item.id)),
        };
        self.put(path.get(start..).unwrap_or_default(), kind, id);
        Ok(())
    }

    /// A directory with nothing in it.
    fn bed(&mut self, path: &'p [u8]) -> Result<usize, GitError> {
        let number = self.beds.len();
        if number == MAX_DIRECTORIES {
            return Err(GitError::TooMany(MAX_DIRECTORIES));
        }
        self.beds.push(Bed {
            path,
            entries: Vec::new(),
        });
        Ok(number)
    }

    /// Puts an entry into the directory of the last path.
    fn put(&mut self, name: &[u8], kind: ObjectKind, id: IndexId) {
        let number = self.above.last().map_or(0, |(_, number)| *number);
        if let Some(bed) = self.beds.get_mut(number) {
            let name = name.into();
            bed.entries.push(Object { name, kind, id });
        }
    }

    /// Sorts the directories by names: `a.b` stands before `a/b` among the paths.
    fn finish(self) -> Result<Vec<Arc<[Object<IndexId>]>>, GitError> {
        let sorted = self.beds.into_iter().map(|bed| {
            let mut entries = bed.entries;
            entries.sort_unstable_by(|one, other| one.name.cmp(&other.name));
            let mut pairs = entries.iter().zip(entries.iter().skip(1));
            match pairs.find(|(one, next)| one.name == next.name) {
                None => Ok(entries.into()),
                Some((twice, _)) => {
                    let names = [bed.path, &*twice.name];
                    let path = names[usize::from(bed.path.is_empty())..].join(&b'/');
                    let path = String::from_utf8_lossy(&path);
                    Err(GitError::Answer(format!(
                        "{path}: a file and a directory of the index"
                    )))
                }
            }
        });
        sorted.collect()
    }
}

impl Objects for IndexFiles {
    type Id = IndexId;

    fn space(&self) -> Vec<u8> {
        self.space.to_vec()
    }

    fn root(&self) -> IndexId {
        IndexId::Directory(0)
    }

    fn list(&self, directory: &IndexId) -> Result<Arc<[Object<IndexId>]>, FileError> {
        let known = match directory {
            IndexId::Directory(number) => self.directories.get(*number),
            IndexId::Blob(_) => None,
        };
        Ok(known.cloned().unwrap_or_default())
    }

    fn text(&self, id: &IndexId, cap: u64, what: &'static str) -> Result<Vec<u8>, FileError> {
        match id {
            IndexId::Blob(oid) => text(&self.repository, *oid, cap, what),
            IndexId::Directory(_) => Err(FileError::NotRegular("directory")),
        }
    }

    fn file(self: &Arc<Self>, id: &IndexId) -> Box<dyn File> {
        Box::new(Blob {
            repository: Arc::clone(&self.repository),
            id: match id {
                IndexId::Blob(oid) => Some(*oid),
                IndexId::Directory(_) => None,
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn planted(paths: &[(&str, GitMode)]) -> Result<Vec<Vec<String>>, GitError> {
        let id = Oid::new(&[7; 20]).expect("a name");
        let mut planting = Planting::default();
        for (path, mode) in paths {
            planting.add(path.as_bytes(), &Item { mode: *mode, id })?;
        }
        let name = |object: &Object<IndexId>| {
            let name = String::from_utf8_lossy(&object.name).into_owned();
            match object.id {
                IndexId::Directory(number) => format!("{name}={number}"),
                IndexId::Blob(_) => name,
            }
        };
        let directories = planting.finish()?;
        let names = directories.iter().map(|it| it.iter().map(name).collect());
        Ok(names.collect())
    }

    #[test]
    fn directories_are_sorted_by_names_and_paths_are_not() {
        let paths = ["a.b", "a/b.c/x", "a/b/c", "a/b/d/e", "a/b0", "a0"];
        let files = paths.map(|path| (path, GitMode::File));
        let expected = [
            vec!["a=1", "a.b", "a0"],
            vec!["b=3", "b.c=2", "b0"],
            vec!["x"],
            vec!["c", "d=4"],
            vec!["e"],
        ];
        assert_eq!(planted(&files).expect("directories"), expected);
    }

    #[test]
    fn a_path_is_one_thing() {
        for mode in [GitMode::File, GitMode::Link, GitMode::Submodule] {
            let paths = [("d/a", mode), ("d/a.b", mode), ("d/a/b", mode)];
            let error = planted(&paths).expect_err("twice");
            let said = error.to_string();
            assert!(said.contains("d/a: a file and a directory"), "{said}");
        }
    }
}
