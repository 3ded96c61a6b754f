//! What facts are read from: the workspace on disk, or a commit of a repository.

use std::sync::Arc;

use std::ffi::OsStr;
use std::fmt;
use std::os::unix::ffi::OsStrExt;

use crate::files::{Block, Content, FileError, Flow, Kind, Reader, Reading};

/// Names the content of a file without reading it: equal ids, equal bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ContentId(pub [u8; 32]);

/// A tree of files. Every path is resolved inside it.
pub trait Tree: Send + Sync {
    /// Tells this tree, whatever is in it by now, from others: what is known of the
    /// files of one is kept apart from what is known of others.
    fn space(&self) -> Vec<u8>;

    /// What stands at a path, following links that stay inside.
    ///
    /// # Errors
    ///
    /// If the path is no path, leads nowhere or leads outside.
    fn kind(&self, path: &str) -> Result<Kind, FileError>;

    /// The same, ready to be read.
    ///
    /// # Errors
    ///
    /// As [`Tree::kind`]; [`FileError::NotRegular`] for what is never read.
    fn find<'a>(&'a self, path: &'a str) -> Result<Node<'a>, FileError>;

    /// Whether a link stands at a path and leads nowhere, which [`Tree::find`] does not
    /// tell from nothing being there. Trees without links need not say.
    fn dangles(&self, path: &str) -> bool {
        let _ = path;
        false
    }

    /// The files and directories below a location that [`Tree::find`] gave, in
    /// walk order: sorted by the bytes of their names, every directory followed by
    /// what is in it. Links are not followed; `.git` and what the tree's
    /// `.gitignore` files exclude is left out.
    ///
    /// A directory that cannot be walked is an error in its place, after its own
    /// entry; the walk goes on behind it.
    fn walk(&self, location: &[u8]) -> Walking;
}

/// A tree that several share.
impl<T: Tree + ?Sized> Tree for Arc<T> {
    fn space(&self) -> Vec<u8> {
        (**self).space()
    }

    fn kind(&self, path: &str) -> Result<Kind, FileError> {
        (**self).kind(path)
    }

    fn find<'a>(&'a self, path: &'a str) -> Result<Node<'a>, FileError> {
        (**self).find(path)
    }

    fn dangles(&self, path: &str) -> bool {
        (**self).dangles(path)
    }

    fn walk(&self, location: &[u8]) -> Walking {
        (**self).walk(location)
    }
}

/// The entries of a walk.
pub type Walking = Box<dyn Iterator<Item = Result<Entry, WalkError>> + Send + Sync>;

/// What a path leads to.
pub enum Node<'a> {
    /// A regular file.
    File(Box<dyn File + 'a>),
    /// A directory, by the names that lead to it without any link, joined by `/`;
    /// empty for the root.
    Directory(Vec<u8>),
}

/// One regular file or directory of a walk.
pub struct Entry {
    /// Relative to the root, `/`-separated.
    pub path: Vec<u8>,
    /// The file; `None` for a directory.
    pub file: Option<Box<dyn File>>,
}

impl Entry {
    /// Relative to the root, as the operating system has it.
    #[must_use]
    pub fn path(&self) -> &OsStr {
        OsStr::from_bytes(&self.path)
    }

    /// Relative to the root, for people.
    #[must_use]
    pub fn display_path(&self) -> Box<str> {
        String::from_utf8_lossy(&self.path).into()
    }
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Entry({})", self.display_path())
    }
}

/// What stopped a walk, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WalkError {
    /// The directory that could not be walked, relative to the root.
    pub path: Vec<u8>,
    /// Why.
    pub error: FileError,
}

/// A regular file of a tree.
pub trait File: Send + Sync {
    /// What the file holds by now, if that can be told without reading it and
    /// nobody can have changed it unnoticed since.
    ///
    /// # Errors
    ///
    /// As for reading it.
    fn id(&self) -> Result<Option<ContentId>, FileError>;

    /// Hands out the file in blocks of whole lines.
    fn read(
        &self,
        reader: &mut Reader,
        reading: &Reading,
        consume: &mut dyn FnMut(Block<'_>) -> Flow,
    ) -> ReadFile;

    /// Says that the file will be read soon.
    fn prefetch(&self) {}

    /// Its size in bytes, if that is known or cheaply found out. What to do first may
    /// depend on it, and nothing else.
    fn size_hint(&self) -> Option<u64> {
        None
    }
}

/// What reading a file came to. What was handed out holds only if `content` is no
/// error but [`FileError::TooLarge`].
#[derive(Clone, Debug)]
pub struct ReadFile {
    /// The size of the file in bytes, 0 if it could not be opened.
    pub size: u64,
    /// As [`File::id`], of what was read.
    pub id: Option<ContentId>,
    /// What the file turned out to be.
    pub content: Result<Content, FileError>,
}
