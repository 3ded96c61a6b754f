//! Probity checks claims about a repository and gates changes to it.

pub mod batch;
pub mod cache;
pub mod check;
pub mod claims;
#[cfg(feature = "cli")]
pub mod cli;
pub mod code;
mod compare;
pub mod diagnostic;
mod digest;
pub mod elench;
mod engine;
pub mod facts;
pub mod files;
mod language;
pub mod lower;
mod reason;
#[cfg(feature = "cli")]
pub mod report;
pub mod scan;
pub mod syntax;
pub mod vm;

pub use digest::{Digest, DigestError};
pub use engine::{BuildError, ClaimInput, Engine, EngineBuilder, EngineError, Watch};
pub use language::{Language, UnknownLanguage};
pub use reason::{Reason, ReasonCode};
