//! Programs by the digest of their source: in memory and on disk.

mod compiler;
mod disk;
mod memory;
mod pack;

pub use compiler::{CacheCounts, Compiler};
pub use disk::{DiskCache, DiskStats};
pub use memory::{DEFAULT_CAPACITY, MemoryCache};

pub use crate::sealed::DirError as DiskCacheError;

use crate::check::Options;
use crate::digest::Digest;
use crate::language::Language;

/// What a program is cached under. The checker's options belong to it: a source
/// that one set of options accepts another may refuse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    /// The digest of the source.
    pub digest: Digest,
    /// The language of the source.
    pub language: Language,
    /// The options it was checked under.
    pub options: Options,
}
