//! Executing what claims name: without a shell, confined, and ended for sure.
//!
//! The engine never forks. It talks to helpers, small processes that enter namespaces
//! (`helper.rs`) and start a first process in them (`init.rs`). That one forks, watches
//! and ends one command after the other (`supervise.rs`, `start.rs`); everything ends
//! with it.

mod capture;
mod client;
mod command;
mod confine;
mod executor;
mod frame;
mod helper;
mod init;
mod job;
mod layers;
mod observe;
mod program;
mod reuse;
mod stand;
mod start;
mod stdin;
mod supervise;
mod sys;
mod tree;

pub(crate) use command::Command;
pub use command::{Execution, Failure};
pub use executor::{ExecError, Executor};
pub use helper::serve_if_asked;
pub use layers::{Isolation, Lacking, Layer};
pub use observe::Observer;
pub(crate) use reuse::World;
pub use reuse::{Reuse, ReuseStats, clear as clear_reuse, stats as reuse_stats};
