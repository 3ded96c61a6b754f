//! A tree of files that a program holds in memory: a candidate change, a test.

use std::collections::BTreeMap;
use std::sync::Arc;

use sha2::{Digest as _, Sha256};

use crate::files::{
    Block, ContentId, File, FileError, Flow, Object, ObjectKind, ObjectTree, Objects, ReadFile,
    Reader, Reading, read_slice,
};

/// Files in memory by their paths.
#[derive(Debug, Default)]
pub struct MemoryFiles {
    /// The root is the first.
    directories: Vec<Arc<[Object<Id>]>>,
}

/// Names a directory by its number, or holds a file.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Id {
    /// A directory.
    Directory(usize),
    /// What a file holds.
    Content(Arc<[u8]>),
}

#[derive(Debug, Default)]
struct Directory {
    entries: BTreeMap<Box<[u8]>, Child>,
}

#[derive(Debug)]
enum Child {
    Directory(usize),
    File(Arc<[u8]>),
}

/// A tree of the files that are given by path. `.` and empty names in a path are
/// passed over.
///
/// # Errors
///
/// [`FileError::Outside`] for a path with `..` or an absolute one,
/// [`FileError::Invalid`] for one that names no file or one twice over: a directory
/// cannot be a file as well.
pub fn memory_tree<P: AsRef<[u8]>, C: Into<Arc<[u8]>>>(
    files: impl IntoIterator<Item = (P, C)>,
) -> Result<ObjectTree<MemoryFiles>, FileError> {
    let mut directories = vec![Directory::default()];
    for (path, content) in files {
        let path = path.as_ref();
        if path.starts_with(b"/") {
            return Err(FileError::Outside);
        }
        let names = path.split(|&byte| byte == b'/');
        let mut names = names.filter(|name| !matches!(*name, b"" | b".")).peekable();
        let mut at = 0;
        let mut content = Some(content.into());
        while let Some(name) = names.next() {
            if name == b".." {
                return Err(FileError::Outside);
            }
            let is_last = names.peek().is_none();
            let fresh = directories.len();
            let entries = &mut directories[at].entries;
            match (entries.get(name), content.take()) {
                (None, Some(file)) if is_last => {
                    entries.insert(name.into(), Child::File(file));
                }
                (None, rest) if !is_last => {
                    entries.insert(name.into(), Child::Directory(fresh));
                    directories.push(Directory::default());
                    (at, content) = (fresh, rest);
                }
                (Some(Child::Directory(below)), rest) if !is_last => {
                    (at, content) = (*below, rest);
                }
                _ => return Err(FileError::Invalid("is there twice")),
            }
        }
        if content.is_some() {
            return Err(FileError::Invalid("names no file"));
        }
    }
    let directories = directories.into_iter().map(|directory| {
        let entries = directory.entries.into_iter().map(|(name, child)| {
            let (kind, id) = match child {
                Child::Directory(number) => (ObjectKind::Directory, Id::Directory(number)),
                Child::File(content) => (ObjectKind::File, Id::Content(content)),
            };
            Object { name, kind, id }
        });
        entries.collect()
    });
    Ok(ObjectTree::new(MemoryFiles {
        directories: directories.collect(),
    }))
}

impl Objects for MemoryFiles {
    type Id = Id;

    /// Contents are named by what they hold, so all such trees may share it.
    fn space(&self) -> Vec<u8> {
        b"memory".into()
    }

    fn root(&self) -> Id {
        Id::Directory(0)
    }

    fn list(&self, directory: &Id) -> Result<Arc<[Object<Id>]>, FileError> {
        match directory {
            Id::Directory(number) => self.directories.get(*number).cloned(),
            Id::Content(_) => None,
        }
        .ok_or(FileError::NotFound)
    }

    fn text(&self, id: &Id, cap: u64, what: &'static str) -> Result<Vec<u8>, FileError> {
        match id {
            Id::Content(content) if content.len() as u64 <= cap => Ok(content.to_vec()),
            Id::Content(_) => Err(FileError::TooLarge { what, cap }),
            Id::Directory(_) => Err(FileError::NotRegular("directory")),
        }
    }

    fn file(self: &Arc<Self>, id: &Id) -> Box<dyn File> {
        Box::new(match id {
            Id::Content(content) => MemoryFile(Some(Arc::clone(content))),
            Id::Directory(_) => MemoryFile(None),
        })
    }
}

/// A file; `None` if it is a directory, which nobody should ask for.
struct MemoryFile(Option<Arc<[u8]>>);

impl File for MemoryFile {
    fn id(&self) -> Result<Option<ContentId>, FileError> {
        let id = |content: &Arc<[u8]>| {
            let mut hash = Sha256::new();
            hash.update(b"memory");
            hash.update(content);
            ContentId(hash.finalize().into())
        };
        Ok(self.0.as_ref().map(id))
    }

    fn read(
        &self,
        _: &mut Reader,
        reading: &Reading,
        consume: &mut dyn FnMut(Block<'_>) -> Flow,
    ) -> ReadFile {
        let Some(content) = &self.0 else {
            return ReadFile {
                size: 0,
                id: None,
                content: Err(FileError::NotRegular("directory")),
            };
        };
        ReadFile {
            size: content.len() as u64,
            id: self.id().ok().flatten(),
            content: read_slice(content, reading, consume),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::{Kind, Tree as _};

    #[test]
    fn files_are_found_and_walked() {
        let files = [
            ("b/./c.rs", "1"),
            ("b.rs", "2"),
            ("a", ""),
            (".gitignore", "*.log\n"),
            ("b/x.log", ""),
        ];
        let tree = memory_tree(files.map(|(path, text)| (path, text.as_bytes()))).unwrap();
        let walked: Vec<_> = tree
            .walk(b"")
            .map(|entry| entry.unwrap().display_path())
            .collect();
        assert_eq!(
            walked,
            [
                ".gitignore".into(),
                "a".into(),
                "b".into(),
                "b/c.rs".into(),
                "b.rs".into()
            ] as [Box<str>; 5]
        );
        assert_eq!(tree.kind("b/../b/c.rs"), Ok(Kind::File));
        assert_eq!(tree.kind("b/"), Ok(Kind::Directory));
        assert_eq!(tree.kind("a/"), Err(FileError::NotFound));
        assert_eq!(tree.kind("b/.."), Ok(Kind::Directory));
        assert_eq!(tree.kind(".."), Err(FileError::Outside));
        assert_eq!(tree.kind("nothing"), Err(FileError::NotFound));
    }

    #[test]
    fn paths_that_make_no_tree_are_refused() {
        let refused = |files: &[&str]| {
            let files = files.iter().map(|path| (*path, *b"x"));
            memory_tree(files).map(|_| ()).unwrap_err()
        };
        assert_eq!(refused(&["../a"]), FileError::Outside);
        assert_eq!(refused(&["/a"]), FileError::Outside);
        assert_eq!(refused(&["."]), FileError::Invalid("names no file"));
        for twice in [["a", "a"], ["a", "a/b"], ["a/b", "a"]] {
            assert_eq!(refused(&twice), FileError::Invalid("is there twice"));
        }
    }
}
