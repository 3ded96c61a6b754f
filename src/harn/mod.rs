//! Harn: the language of Flow predicates, a subset of it.

mod builtins;
mod compile;
mod declaration;
mod fault;
mod feedback;
mod files;
mod inspection;
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
pub use declaration::{Declaration, Flaw, FlawKind, Mode};
pub use fault::{ErrorClass, Fault, Limit};
pub use feedback::{FeedbackError, FeedbackOptions, flow_invariant_feedback};
pub(crate) use files::import_from;
pub use files::{Import, compile_file, inspect};
pub use inspection::Inspection;
pub use module::Module;
pub use predicate::{Archivist, FallbackPolicy, Kind, Predicate};
pub use problem::{HarnCode, MOST_PROBLEMS, Problem};
pub(crate) use value::Keys;
pub use value::{Given, Heap, MAX_JSON, Value};
pub(crate) use vm::Sifted;
pub use vm::{Limits, Machine, Usage};
pub use workspace::Workspace;
