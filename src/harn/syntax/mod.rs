//! Tokens, the layout layer, the grammar and the tree of predicate files.
//! (harn.md, sections 1, 3 and 8.)

pub mod ast;
mod canonical;
mod depth;
mod form;
mod grammar;
mod layout;
mod lexer;
mod parser;
pub(crate) mod parts;
mod strings;
mod token;

pub(crate) use canonical::Canonical;
pub use parser::parse;
pub(crate) use parser::{Parsed, parse_into};

/// Longer files are refused, in bytes.
pub const MAX_SOURCE: usize = 1 << 20;

/// Brackets are nested no deeper.
pub const MAX_NESTING: usize = 64;

/// Trees are no deeper, chains of operators included.
pub const MAX_DEPTH: u16 = 400;
