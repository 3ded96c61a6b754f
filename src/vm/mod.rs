//! The register machine with three-valued logic.

mod compare;
mod machine;
mod text;
mod trace;
mod value;

pub use machine::{evaluate, evaluate_in};
pub use trace::{Trace, evaluate_traced};
pub use value::{Cause, Text, Truth, Value, View, Why};
