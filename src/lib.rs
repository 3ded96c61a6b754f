//! Probity checks claims about a repository and gates changes to it.
//!
//! A claim is a *predicate* in a small, frozen language. Probity compiles it to
//! register bytecode, caches the program by the SHA-256 of its source, fetches
//! the facts that it needs once for a whole batch, and comes to a verdict: pass,
//! fail, unevaluated (with the reason) or invalid (with place and hint). Only
//! pass passes.
//!
//! ```text
//! source text ─lexer→ tokens ─grammar→ AST (arena) ─checker→ typed AST ─compiler→ Program
//!                                                                          │ cached by SHA-256
//! claim log ─reader→ windows of claims ─batch→ facts needed, each once ────┤
//!                                               │                          ▼
//!                       scan (fact sources) ────┴──→ fact table ──→ machine ──→ verdicts
//! ```
//!
//! ```
//! use probity::{Engine, Language, batch::Verdict};
//!
//! let engine = Engine::builder(".").build()?;
//! let program = engine.compile(
//!     Language::ElenchV1,
//!     r#"grep(/^edition = "2024"$/, "Cargo.toml") == 1 && !exists("Makefile")"#,
//! )?;
//! assert_eq!(engine.evaluate(&program)?.verdict, Verdict::Pass);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Start with [`Engine`] to embed it, [`claims::check_logs`] to judge logs,
//! [`facts::FactSource`] to supply facts, and [`elench`] for the names of
//! ADR-0004. Switch off the default feature `cli` to leave out the command line.

#![warn(missing_docs, unreachable_pub)]
#![warn(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr)]

#[cfg(feature = "ast")]
pub mod ast;
pub mod batch;
pub mod budget;
pub mod cache;
pub mod check;
pub mod claims;
#[cfg(feature = "cli")]
pub mod cli;
pub mod code;
mod compare;
pub mod counts;
pub mod diagnostic;
mod digest;
pub mod elench;
mod engine;
#[cfg(all(feature = "exec", target_os = "linux"))]
pub mod exec;
pub mod facts;
pub mod files;
pub mod flow;
pub mod git;
pub mod harn;
pub mod history;
mod language;
pub mod lower;
#[cfg(feature = "exec")]
pub mod policy;
mod reason;
#[cfg(feature = "cli")]
pub mod report;
pub mod scan;
mod sealed;
pub mod syntax;
#[cfg(all(feature = "exec", target_os = "linux"))]
mod testing;
pub mod vm;

pub use digest::{Digest, DigestError};
pub use engine::{BuildError, ClaimInput, Engine, EngineBuilder, EngineError, Watch};
pub use language::{Language, UnknownLanguage};
pub use reason::{Reason, ReasonCode};
