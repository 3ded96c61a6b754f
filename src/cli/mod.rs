//! The command line: options, commands, exit statuses.
//!
//! Results go to standard output, everything else to standard error.

mod args;
mod cache;
mod check;
mod completions;
mod digest;
mod disasm;
#[cfg(target_os = "linux")]
mod doctor;
mod duration;
mod error;
mod eval;
mod exit;
mod expression;
mod flow;
mod gate;
mod harn;
mod history;
mod input;
mod interrupt;
mod json;
mod lint;
mod logs;
mod man;
mod message;
mod options;
mod output;
#[cfg(target_os = "linux")]
mod policy;
mod progress;
mod run;
#[cfg(target_os = "linux")]
mod running;
mod setup;

pub use args::Cli;
pub use exit::Exit;
pub use run::run;
