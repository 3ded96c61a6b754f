//! The files that are staged, as a tree that can be scanned.

use std::collections::BTreeMap;
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

/// A directory while it is filled: names, and what they stand for.
type Names = BTreeMap<Box<[u8]>, (ObjectKind, IndexId)>;

impl IndexFiles {
    /// The files below the workspace that `git commit` would commit.
    ///
    /// # Errors
    ///
    /// [`GitError`] if the index cannot be read, or holds a path in several versions: a
    /// merge is to be finished first.
    pub fn new(repository: Arc<Repository>) -> Result<Self, GitError> {
        // All that differs from nothing: what is only intended to be added is no part of it.
        let staged = repository.diff_index(None)?;
        let mut hash = Sha256::new();
        hash.update(b"probity.git.index.v1\0");
        hash.update(repository.space());
        let mut directories: Vec<Names> = vec![Names::new()];
        for TreeChange { path, new, .. } in &staged {
            let Some(item) = new else { continue };
            hash.update((path.len() as u64).to_le_bytes());
            hash.update(path);
            hash.update([item.mode as u8]);
            hash.update(item.id.as_bytes());
            if let Some(path) = repository.in_workspace(path) {
                insert(&mut directories, path, item)?;
            }
        }
        let directories = directories.into_iter().map(|names| {
            let objects = names
                .into_iter()
                .map(|(name, (kind, id))| Object { name, kind, id });
            objects.collect()
        });
        Ok(Self {
            directories: directories.collect(),
            space: hash.finalize().into(),
            repository,
        })
    }
}

fn insert(directories: &mut Vec<Names>, path: &[u8], item: &Item) -> Result<(), GitError> {
    let both = || {
        let path = String::from_utf8_lossy(path);
        GitError::Answer(format!(
            "{path}: a file and a directory, or twice in the index"
        ))
    };
    let mut at = 0;
    let mut names = path.split(|byte| *byte == b'/').peekable();
    while let Some(name) = names.next() {
        let next = directories.len();
        let is_last = names.peek().is_none();
        let (kind, id) = match item.mode {
            _ if !is_last => (ObjectKind::Directory, IndexId::Directory(next)),
            GitMode::Submodule => (ObjectKind::Directory, IndexId::Directory(next)),
            GitMode::Link => (ObjectKind::Link, IndexId::Blob(item.id)),
            GitMode::File | GitMode::Executable => (ObjectKind::File, IndexId::Blob(item.id)),
        };
        match directories[at].get(name) {
            Some((_, IndexId::Directory(known))) if !is_last => at = *known,
            Some(_) => return Err(both()),
            None => {
                directories[at].insert(name.into(), (kind, id));
                if id == IndexId::Directory(next) {
                    directories.push(Names::new());
                    at = next;
                }
            }
        }
    }
    Ok(())
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
