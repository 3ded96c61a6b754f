//! What a changed path holds before or after the change.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use sha2::{Digest as _, Sha256};

use crate::files::PATH_MAX;
use crate::flow::changes::{ChangeLimits, ChangesError};
use crate::git::{GitError, GitMode, Item, Oid, Repository};

/// What kind of file a path stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A file.
    File,
    /// A file that its owner may execute.
    Executable,
    /// A symbolic link. It is never followed.
    Link,
    /// A repository of its own. Its files are not part of the change.
    Submodule,
}

impl FileKind {
    /// Its name in a slice.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Executable => "executable",
            Self::Link => "link",
            Self::Submodule => "submodule",
        }
    }

    /// Whether it is a file, executable or not.
    #[must_use]
    pub const fn is_file(self) -> bool {
        matches!(self, Self::File | Self::Executable)
    }
}

impl From<GitMode> for FileKind {
    fn from(mode: GitMode) -> Self {
        match mode {
            GitMode::File => Self::File,
            GitMode::Executable => Self::Executable,
            GitMode::Link => Self::Link,
            GitMode::Submodule => Self::Submodule,
        }
    }
}

/// What a path holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// UTF-8.
    Text(Arc<str>),
    /// No UTF-8, of so many bytes.
    Binary(u64),
    /// Over the limit, with its size in bytes if that was found out.
    TooLarge(Option<u64>),
    /// Where a link leads, if that is UTF-8.
    Link(Option<Arc<str>>),
    /// The commit of a submodule, if it has any.
    Submodule(Option<Oid>),
}

/// A changed path before or after the change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Side {
    /// What kind of file it is.
    pub kind: FileKind,
    /// What it holds.
    pub content: Content,
    /// Tells what it holds from anything else.
    pub(super) digest: [u8; 32],
}

impl Side {
    /// Its text, if it is a file of UTF-8 within the limits.
    #[must_use]
    pub const fn text(&self) -> Option<&Arc<str>> {
        match &self.content {
            Content::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Where a link leads.
    pub(super) fn link(target: &[u8]) -> Self {
        Self {
            kind: FileKind::Link,
            content: Content::Link(std::str::from_utf8(target).ok().map(Arc::from)),
            digest: digest(target),
        }
    }

    /// A repository of its own.
    pub(super) fn submodule(commit: Option<Oid>) -> Self {
        Self {
            kind: FileKind::Submodule,
            content: Content::Submodule(commit),
            digest: digest(commit.as_ref().map_or(&[], Oid::as_bytes)),
        }
    }
}

pub(super) fn digest(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

/// Reads sides within the limits.
pub(super) struct Loader<'a> {
    pub(super) repository: &'a Repository,
    pub(super) limits: &'a ChangeLimits,
    /// Bytes of all texts.
    kept: AtomicU64,
}

impl<'a> Loader<'a> {
    pub(super) const fn new(repository: &'a Repository, limits: &'a ChangeLimits) -> Self {
        Self {
            repository,
            limits,
            kept: AtomicU64::new(0),
        }
    }

    /// What an object holds.
    pub(super) fn item(&self, item: Item) -> Result<Side, ChangesError> {
        let kind = item.mode.into();
        let cap = match item.mode {
            GitMode::Submodule => return Ok(Side::submodule(Some(item.id))),
            GitMode::Link => PATH_MAX as u64,
            GitMode::File | GitMode::Executable => self.limits.max_text_bytes,
        };
        match self.repository.blob(item.id, cap, <[u8]>::to_vec) {
            Ok(target) if kind == FileKind::Link => Ok(Side::link(&target)),
            Ok(bytes) => self.bytes(kind, bytes),
            Err(GitError::TooLarge { size, .. }) => {
                Ok(Side {
                    kind,
                    content: match kind {
                        FileKind::Link => Content::Link(None),
                        _ => Content::TooLarge(Some(size)),
                    },
                    // The digest of the object is one of what it holds.
                    digest: digest(item.id.as_bytes()),
                })
            }
            Err(error) => Err(error.into()),
        }
    }

    /// What a file holds.
    pub(super) fn bytes(&self, kind: FileKind, bytes: Vec<u8>) -> Result<Side, ChangesError> {
        let (digest, size) = (digest(&bytes), bytes.len() as u64);
        let content = match String::from_utf8(bytes) {
            Ok(text) => {
                let before = self.kept.fetch_add(size, Ordering::Relaxed);
                let most = self.limits.max_total_bytes;
                if before.saturating_add(size) > most {
                    return Err(ChangesError::TooMuch(most));
                }
                Content::Text(text.into())
            }
            Err(_) => Content::Binary(size),
        };
        Ok(Side {
            kind,
            content,
            digest,
        })
    }

    /// Says that an object will be read soon.
    pub(super) fn announce(&self, item: Option<Item>) {
        let blob = item.filter(|item| item.mode != GitMode::Submodule);
        if let Some(item) = blob {
            self.repository.announce(item.id);
        }
    }
}
