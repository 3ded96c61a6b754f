//! The workspace on disk: contained opens, walks and reads. Nothing outside the
//! root is ever opened, and nothing but regular files is ever read.

#[cfg(target_os = "linux")]
mod beneath;
mod components;
mod error;
mod limits;
mod open;
mod read;
mod root;
#[cfg(test)]
mod root_tests;
mod rules;
mod walk;
#[cfg(test)]
mod walk_tests;

pub use error::{FileError, OpenError};
pub use limits::Limits;
pub use open::{FileId, OpenFile};
pub use read::{Block, Content, Flow, PROBE_BYTES, Reader, Reading};
pub use root::{Found, Kind, Root};
pub use walk::{Entry, Walk, WalkError};
