//! Trees that are not on disk: directories of objects, resolved and walked by the
//! rules that hold for the workspace on disk.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::files::components::{MAX_DEPTH, MAX_LINKS, PATH_MAX};
use crate::files::objects_walk::ObjectWalk;
use crate::files::root::check;
use crate::files::{File, FileError, Kind, Node, Tree, Walking};

/// The longest name, in bytes, as most file systems have it.
const NAME_MAX: usize = 255;

/// What stands in a directory of objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObjectKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Link,
}

/// An entry of a directory.
#[derive(Clone, Debug)]
pub struct Object<I> {
    /// Without any `/`.
    pub name: Box<[u8]>,
    /// What it is.
    pub kind: ObjectKind,
    /// Names what it holds.
    pub id: I,
}

/// Where objects come from.
pub trait Objects: Send + Sync + 'static {
    /// Names a directory, a file or a link.
    type Id: Clone + Send + Sync;

    /// As [`Tree::space`].
    fn space(&self) -> Vec<u8>;

    /// The directory that paths start from.
    fn root(&self) -> Self::Id;

    /// What is in a directory, sorted by the bytes of the names, each once.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    fn list(&self, directory: &Self::Id) -> Result<Arc<[Object<Self::Id>]>, FileError>;

    /// Where a link leads, or what a small file holds; no more than `cap` bytes.
    ///
    /// # Errors
    ///
    /// If it cannot be read, or [`FileError::TooLarge`] naming `what`.
    fn text(&self, id: &Self::Id, cap: u64, what: &'static str) -> Result<Vec<u8>, FileError>;

    /// A regular file.
    fn file(self: &Arc<Self>, id: &Self::Id) -> Box<dyn File>;
}

/// Objects as a [`Tree`].
#[derive(Debug)]
pub struct ObjectTree<O>(Arc<O>);

impl<O> Clone for ObjectTree<O> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<O: Objects> ObjectTree<O> {
    /// The objects.
    #[must_use]
    pub fn objects(&self) -> &Arc<O> {
        &self.0
    }

    /// A tree of these objects.
    pub fn new(objects: O) -> Self {
        Self(Arc::new(objects))
    }

    /// Resolves a path, following links that stay inside.
    ///
    /// # Errors
    ///
    /// As [`Tree::find`].
    pub fn resolve(&self, path: &str) -> Result<Resolved<O::Id>, FileError> {
        self.resolve_counting(path, &mut 0)
    }

    /// True if resolving a path follows a link, wherever it leads.
    pub fn passes_links(&self, path: &str) -> bool {
        let mut links = 0;
        // Links are counted before they can fail.
        let _ = self.resolve_counting(path, &mut links);
        links > 0
    }

    fn resolve_counting(
        &self,
        path: &str,
        links: &mut usize,
    ) -> Result<Resolved<O::Id>, FileError> {
        check(path)?;
        if path.len() >= PATH_MAX {
            return Err(FileError::Invalid("is too long"));
        }
        let mut below: Vec<(Box<[u8]>, O::Id)> = Vec::new();
        let mut pending = VecDeque::new();
        let mut wants_directory = path.ends_with('/');
        prepend(&mut pending, path.as_bytes())?;
        while let Some(name) = pending.pop_front() {
            match &*name {
                b"." => continue,
                b".." => {
                    below.pop().ok_or(FileError::Outside)?;
                    continue;
                }
                _ => {}
            }
            let root = self.0.root();
            let directory = below.last().map_or(&root, |(_, id)| id);
            let entry = entry(&self.0.list(directory)?, &name).ok_or(FileError::NotFound)?;
            match entry.kind {
                ObjectKind::Directory if below.len() == MAX_DEPTH => {
                    return Err(FileError::TooDeep);
                }
                ObjectKind::Directory => below.push((entry.name, entry.id)),
                ObjectKind::Link => {
                    *links += 1;
                    if *links > MAX_LINKS {
                        return Err(FileError::LinkLoop);
                    }
                    let target = self.0.text(&entry.id, PATH_MAX as u64, "link")?;
                    if target.starts_with(b"/") {
                        return Err(FileError::Outside);
                    }
                    if target.is_empty() {
                        return Err(FileError::NotFound);
                    }
                    wants_directory |= pending.is_empty() && target.ends_with(b"/");
                    prepend(&mut pending, &target)?;
                }
                ObjectKind::File if wants_directory || !pending.is_empty() => {
                    return Err(FileError::NotFound);
                }
                ObjectKind::File => {
                    return Ok(Resolved {
                        location: location(&below, Some(&entry.name)),
                        file: Some(entry.id),
                    });
                }
            }
        }
        Ok(Resolved {
            location: location(&below, None),
            file: None,
        })
    }
}

/// Where a path leads.
#[derive(Clone, Debug)]
pub struct Resolved<I> {
    /// The names from the root to it, without links, `.` and `..`, joined by `/`.
    pub location: Vec<u8>,
    /// The file; `None` if it is a directory.
    pub file: Option<I>,
}

fn location<I>(below: &[(Box<[u8]>, I)], last: Option<&[u8]>) -> Vec<u8> {
    let names = below.iter().map(|(name, _)| &**name).chain(last);
    names.collect::<Vec<_>>().join(&b'/')
}

/// The entry of a name.
pub(super) fn entry<I: Clone>(entries: &[Object<I>], name: &[u8]) -> Option<Object<I>> {
    let at = entries.binary_search_by(|entry| (*entry.name).cmp(name));
    entries.get(at.ok()?).cloned()
}

fn prepend(pending: &mut VecDeque<Box<[u8]>>, path: &[u8]) -> Result<(), FileError> {
    for name in path.rsplit(|&byte| byte == b'/') {
        if name.len() > NAME_MAX {
            return Err(FileError::Invalid("is too long"));
        }
        if !name.is_empty() {
            pending.push_front(name.into());
        }
    }
    Ok(())
}

impl<O: Objects> Tree for ObjectTree<O> {
    fn space(&self) -> Vec<u8> {
        self.0.space()
    }

    fn kind(&self, path: &str) -> Result<Kind, FileError> {
        Ok(match self.resolve(path)?.file {
            Some(_) => Kind::File,
            None => Kind::Directory,
        })
    }

    fn find<'a>(&'a self, path: &'a str) -> Result<Node<'a>, FileError> {
        let resolved = self.resolve(path)?;
        Ok(match resolved.file {
            Some(id) => Node::File(self.0.file(&id)),
            None => Node::Directory(resolved.location),
        })
    }

    fn dangles(&self, path: &str) -> bool {
        let links = |path: &str| {
            let mut links = 0;
            let found = self.resolve_counting(path, &mut links);
            (matches!(found, Err(FileError::NotFound)), links)
        };
        let (is_missing, all) = links(path);
        // Those on the way to the directory that holds it do not count.
        let on_the_way = path.rsplit_once('/').map_or(0, |(above, _)| links(above).1);
        is_missing && all > on_the_way
    }

    fn walk(&self, location: &[u8]) -> Walking {
        Box::new(ObjectWalk::new(Arc::clone(&self.0), location))
    }
}
