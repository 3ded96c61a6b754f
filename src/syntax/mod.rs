//! From source text to the untyped tree: lexer, grammar, repairs, printer.
//!
//! One lexer and one grammar read the superset `elench-predicate-v2`; v1 refuses
//! the newer forms by name and goes on, so that one look at a source finds all
//! that is wrong with it.

mod ast;
mod explain;
mod grammar;
mod junk;
mod lexer;
mod limits;
mod literal;
mod near;
mod parser;
mod print;
mod prose;
mod quoting;
mod repair;
mod sink;
mod token;

pub use ast::{
    Argument, ArgumentKind, CompareOp, Expr, ExprKind, Field, Method, Selector, SelectorKind,
};
pub use limits::{MAX_DIAGNOSTICS, MAX_NESTING, MAX_PRIMITIVES, MAX_SOURCE};
pub use literal::pattern_offset;
pub use parser::{Frontend, LalrParser, Parsed, parse};
pub use print::print;
pub(crate) use quoting::clip;
pub use quoting::quote;
pub(crate) use sink::Sink;
