//! The layers of confinement, one file each. They are for the helper and its children.

mod files;
mod group;
mod limits;
mod namespaces;
mod syscalls;

pub(super) use files::{Files, Rules};
pub(super) use group::{Events, Group};
pub(super) use limits::restrict as restrict_resources;
pub(super) use namespaces::{OF_A_COMMAND, Shelter, own_proc};
pub(super) use syscalls::filter;
