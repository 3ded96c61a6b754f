//! Commits of a repository as trees of files, without a checkout.
//!
//! Objects come from `git cat-file --batch`, which runs nothing that a repository
//! could name: no hook, no filter, no pager, no transport. What a partial clone does
//! not hold is an error and is never fetched. What differs between commits, and what
//! the index holds, comes from plumbing that never looks into a file of the work tree.

mod ahead;
mod batch;
mod command;
mod commit;
mod differ;
mod discover;
mod error;
mod index_tree;
mod listing;
mod merge_base;
mod oid;
mod process;
mod records;
mod repository;
mod tree;

pub use commit::Commit;
pub use differ::{GitMode, Item, TreeChange};
pub use error::GitError;
pub use index_tree::{IndexFiles, IndexId, IndexTree};
pub use listing::{IndexEntry, Listed, Untracked};
pub use oid::Oid;
pub use repository::Repository;
pub use tree::{CommitFiles, CommitTree, TreeId};
