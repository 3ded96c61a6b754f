//! Harn: the language of Flow predicates, a subset of it.

mod builtins;
mod compile;
mod fault;
mod files;
mod listing;
mod module;
mod patterns;
mod predicate;
mod problem;
pub mod syntax;
mod value;
mod vm;
mod workspace;

pub use builtins::Builtin;
pub use fault::{ErrorClass, Fault, Limit};
pub use files::compile_file;
pub use module::Module;
pub use predicate::{Archivist, FallbackPolicy, Kind, Predicate};
pub use problem::{HarnCode, MOST_PROBLEMS, Problem};
pub use value::{Heap, Value};
pub(crate) use vm::Sifted;
pub use vm::{Limits, Machine, Usage};
pub use workspace::Workspace;
