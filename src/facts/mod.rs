//! Facts: what the primitives of a predicate establish about the world.

#[cfg(all(feature = "exec", target_os = "linux"))]
mod execution;
mod exists;
mod grep;
mod key;
mod refused;
mod source;
mod table;
mod workspace;
#[cfg(test)]
mod workspace_tests;

pub use crate::budget::CancelToken;
pub use key::{FactKey, PathSpec, Pattern, Primitive, RegexFlags};
pub use source::{
    Cost, Demand, FactSource, FactValue, FetchStats, Fetched, Place, RunOutput, ScanStats,
    TestOutcome, TestRun,
};
pub use table::{Cell, FactTable};
pub use workspace::WorkspaceSource;
