//! The layers of confinement, one file each. All run in the helper's children.

mod files;
mod limits;
mod namespaces;
mod syscalls;

pub(super) use files::{Files, restrict as restrict_files};
pub(super) use limits::restrict as restrict_resources;
pub(super) use namespaces::{NAMESPACES, enter, flags};
pub(super) use syscalls::restrict as restrict_syscalls;
