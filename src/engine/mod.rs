//! The embedding API: one engine for a workspace, shared by all threads.

mod builder;
mod evaluate;

pub use builder::{BuildError, EngineBuilder};
pub use evaluate::{ClaimInput, Engine, EngineError, Watch};
