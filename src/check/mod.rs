//! Types, vacuity and lints: from source to a typed tree that cannot fail to
//! compile, or to diagnostics.

mod arguments;
mod cases;
mod command;
mod entry;
mod hir;
mod lint;
mod path;
pub mod pattern;
mod possible;
#[cfg(test)]
mod traps;
pub mod typed;
mod types;
mod vacuity;
mod variable;
#[cfg(test)]
mod worlds;

#[cfg(all(feature = "exec", target_os = "linux"))]
pub(crate) use command::shell_syntax;
pub use entry::{Checked, Options, check};
pub use lint::lint;
