//! The files of a commit.

use std::sync::Arc;

use sha2::{Digest as _, Sha256};

use crate::files::{
    Block, ContentId, File, FileError, Flow, Object, ObjectKind, ObjectTree, Objects, ReadFile,
    Reader, Reading, read_slice, read_stream,
};
use crate::git::batch::Body;
use crate::git::process::Type;
use crate::git::repository::Entries;
use crate::git::{Commit, GitError, Oid, Repository};

/// The files of a commit, as a tree that can be scanned.
pub type CommitTree = ObjectTree<CommitFiles>;

/// The object behind an entry; `None` for a directory that is always empty: a
/// submodule, whose files belong to another repository.
pub type TreeId = Option<Oid>;

/// The files of a commit.
#[derive(Debug)]
pub struct CommitFiles {
    repository: Arc<Repository>,
    root: TreeId,
}

impl CommitFiles {
    /// The files below the workspace as a commit has them; none if the commit has no
    /// such directory.
    ///
    /// # Errors
    ///
    /// [`GitError`] if the trees that lead there cannot be read.
    pub fn new(repository: Arc<Repository>, commit: &Commit) -> Result<Self, GitError> {
        let mut root = Some(commit.tree);
        for name in repository.prefix() {
            let Some(tree) = root else { break };
            let entries = repository.tree(tree)?;
            let entry = entries.iter().find(|entry| *entry.name == *name);
            let directory = entry.filter(|entry| entry.kind == ObjectKind::Directory);
            root = directory.and_then(|entry| entry.id);
        }
        Ok(Self { repository, root })
    }

    /// No files: what is there before anything is committed.
    #[must_use]
    pub const fn none(repository: Arc<Repository>) -> Self {
        Self {
            repository,
            root: None,
        }
    }

    /// The repository that they are in.
    #[must_use]
    pub const fn repository(&self) -> &Arc<Repository> {
        &self.repository
    }
}

impl Objects for CommitFiles {
    type Id = TreeId;

    fn space(&self) -> Vec<u8> {
        self.repository.space()
    }

    fn root(&self) -> TreeId {
        self.root
    }

    fn list(&self, directory: &TreeId) -> Result<Entries, FileError> {
        match directory {
            Some(oid) => self
                .repository
                .tree(*oid)
                .map_err(|error| error.in_tree("directory")),
            None => Ok(Arc::new([])),
        }
    }

    fn text(&self, id: &TreeId, cap: u64, what: &'static str) -> Result<Vec<u8>, FileError> {
        let oid = id.ok_or(FileError::NotRegular("directory"))?;
        text(&self.repository, oid, cap, what)
    }

    fn file(self: &Arc<Self>, id: &TreeId) -> Box<dyn File> {
        Box::new(Blob {
            repository: Arc::clone(&self.repository),
            id: *id,
        })
    }
}

/// The whole of a blob.
pub(super) fn text(
    repository: &Repository,
    oid: Oid,
    cap: u64,
    what: &'static str,
) -> Result<Vec<u8>, FileError> {
    let read = repository.batch.read(oid, Type::Blob, cap, <[u8]>::to_vec);
    read.map_err(|error| error.in_tree(what))
}

/// A file of a commit or of the index.
pub(super) struct Blob {
    pub(super) repository: Arc<Repository>,
    pub(super) id: TreeId,
}

impl File for Blob {
    fn id(&self) -> Result<Option<ContentId>, FileError> {
        let oid = self.id.ok_or(FileError::NotRegular("directory"))?;
        let mut hash = Sha256::new();
        hash.update(b"blob");
        hash.update(oid.as_bytes());
        Ok(Some(ContentId(hash.finalize().into())))
    }

    fn prefetch(&self) {
        if let Some(oid) = self.id {
            self.repository.batch.announce(oid);
        }
    }

    fn read(
        &self,
        _: &mut Reader,
        reading: &Reading,
        consume: &mut dyn FnMut(Block<'_>) -> Flow,
    ) -> ReadFile {
        let (size, content) = match self.id {
            None => (0, Err(FileError::NotRegular("directory"))),
            Some(oid) => {
                let cap = reading.limits.max_file_bytes;
                let batch = &self.repository.batch;
                let read = batch.lend(oid, cap, |body| match body {
                    Body::Whole(text) => {
                        let content = read_slice(text, reading, consume);
                        Ok((text.len() as u64, content))
                    }
                    Body::Stream(source, size) => {
                        let content = read_stream(source, size, reading, consume)?;
                        Ok((size, content))
                    }
                });
                match read {
                    Ok(read) => read,
                    Err(error) => {
                        let size = match error {
                            GitError::TooLarge { size, .. } => size,
                            _ => 0,
                        };
                        (size, Err(error.in_tree("file")))
                    }
                }
            }
        };
        ReadFile {
            size,
            id: self.id().ok().flatten(),
            content,
        }
    }
}

/// The entries of a tree object, sorted by the bytes of the names. A name that could
/// lead elsewhere, or is there twice, makes the tree no tree.
pub(super) fn parse_tree(oid: Oid, object: &[u8]) -> Result<Entries, GitError> {
    let damaged = |problem| GitError::Damaged { oid, problem };
    let mut entries = Vec::new();
    let mut rest = object;
    let id_len = oid.as_bytes().len();
    while !rest.is_empty() {
        let entry = parse_entry(rest, id_len).ok_or_else(|| damaged("is no sound tree"))?;
        let (mode, name, id, after) = entry;
        rest = after;
        if matches!(name, b"" | b"." | b"..") || name.contains(&b'/') {
            return Err(damaged("is a tree with a name that leads elsewhere"));
        }
        let kind = match mode {
            b"40000" | b"040000" | b"160000" => ObjectKind::Directory,
            b"120000" => ObjectKind::Link,
            mode if mode.starts_with(b"100") => ObjectKind::File,
            _ => return Err(damaged("is a tree with an entry of unknown mode")),
        };
        entries.push(Object {
            name: name.into(),
            kind,
            id: Some(id).filter(|_| mode != b"160000"),
        });
    }
    entries.sort_unstable_by(|one, other| one.name.cmp(&other.name));
    let twice = entries.iter().zip(entries.iter().skip(1));
    if twice.into_iter().any(|(one, next)| one.name == next.name) {
        return Err(damaged("is a tree with a name twice"));
    }
    Ok(entries.into())
}

/// Mode, name and object of an entry, and what follows it.
type ParsedEntry<'a> = (&'a [u8], &'a [u8], Oid, &'a [u8]);

fn parse_entry(rest: &[u8], id_len: usize) -> Option<ParsedEntry<'_>> {
    let space = memchr::memchr(b' ', rest)?;
    let (mode, rest) = (rest.get(..space)?, rest.get(space + 1..)?);
    let nul = memchr::memchr(0, rest)?;
    let (name, rest) = (rest.get(..nul)?, rest.get(nul + 1..)?);
    let (id, rest) = rest.split_at_checked(id_len)?;
    Some((mode, name, Oid::new(id)?, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(entries: &[(&str, &str)]) -> Vec<u8> {
        let mut object = Vec::new();
        for (mode, name) in entries {
            object.extend(format!("{mode} {name}\0").as_bytes());
            object.extend([7; 20]);
        }
        object
    }

    #[test]
    fn entries_are_sorted_by_their_names_alone() {
        let oid = Oid::new(&[1; 20]).unwrap();
        let entries = [
            ("100644", "a.b"),
            ("40000", "a"),
            ("100755", "a0"),
            ("120000", "l"),
            ("160000", "s"),
        ];
        let parsed = parse_tree(oid, &tree(&entries)).unwrap();
        let names: Vec<_> = parsed.iter().map(|entry| &*entry.name).collect();
        assert_eq!(names, [&b"a"[..], b"a.b", b"a0", b"l", b"s"]);
        assert_eq!(parsed[3].kind, ObjectKind::Link);
        assert_eq!(
            (parsed[4].kind, parsed[4].id),
            (ObjectKind::Directory, None)
        );
    }

    #[test]
    fn trees_that_lead_elsewhere_are_none() {
        let oid = Oid::new(&[1; 20]).unwrap();
        for bad in [
            [("100644", ".."), ("100644", "a")],
            [("100644", "a/b"), ("100644", "c")],
            [("100644", "a"), ("40000", "a")],
            [("100644", ""), ("100644", "c")],
            [("7", "a"), ("100644", "c")],
        ] {
            assert!(parse_tree(oid, &tree(&bad)).is_err(), "{bad:?}");
        }
        let sound = tree(&[("100644", "a"), ("100644", "b")]);
        for cut in 1..sound.len() {
            assert!(parse_tree(oid, &sound[..cut]).is_err() || cut == sound.len() / 2);
        }
    }
}
