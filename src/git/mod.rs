//! Commits of a repository as trees of files, without a checkout.
//!
//! Objects come from `git cat-file --batch`, which runs nothing that a repository
//! could name: no hook, no filter, no pager, no transport. What a partial clone does
//! not hold is an error and is never fetched.

mod ahead;
mod batch;
mod command;
mod commit;
mod discover;
mod error;
mod oid;
mod process;
mod repository;
mod tree;

pub use commit::Commit;
pub use error::GitError;
pub use oid::Oid;
pub use repository::Repository;
pub use tree::{CommitFiles, CommitTree, TreeId};
