//! Trees of files, and the workspace on disk as one: contained opens, walks and
//! reads. Nothing outside the root is ever opened, and nothing but regular files is
//! ever read.

#[cfg(target_os = "linux")]
mod beneath;
mod components;
mod disk;
mod error;
mod exact;
mod limits;
#[cfg(target_os = "linux")]
mod map;
#[cfg(all(test, target_os = "linux"))]
mod map_tests;
mod memory;
mod objects;
mod objects_walk;
mod open;
mod read;
#[cfg(test)]
mod read_tests;
mod readahead;
mod root;
#[cfg(test)]
mod root_tests;
mod rules;
#[cfg(target_os = "linux")]
mod sigbus;
mod slice;
mod text;
mod tree;
mod walk;
#[cfg(test)]
mod walk_tests;
mod whole;

pub(crate) use components::PATH_MAX;
pub use error::{FileError, OpenError};
pub use exact::{Exact, Standing};
pub use limits::Limits;
pub use memory::{MemoryFiles, memory_tree};
pub use objects::{Object, ObjectKind, ObjectTree, Objects, Resolved};
pub(crate) use objects_walk::MAX_ENTRIES;
pub use open::{FileId, OpenFile};
pub use read::{Block, Content, Flow, MAP_BYTES, PROBE_BYTES, Reader, Reading};
pub use root::{Found, Kind, Root};
pub(crate) use rules::{MAX_RULES_BYTES, Rules};
pub use slice::{read_slice, read_stream};
pub use text::{read_text, take_text};
pub use tree::{ContentId, Entry, File, Node, ReadFile, Tree, WalkError, Walking};
pub(crate) use walk::MAX_OPEN;
pub use walk::Walk;
pub use whole::{digest_open, read_open, read_whole};
