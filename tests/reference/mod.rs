//! The reference evaluator: what a predicate means, done the slow and obvious
//! way, with nothing shared and nothing taken from the crate under test.
//!
//! One file per question: what the tokens are ([`lex`]), what the tree is
//! ([`parse`], [`tree`]), whether its types fit ([`types`]), what it is worth
//! ([`eval`]), what the workspace says ([`files`], [`ignored`], [`glob`]), and
//! whether it asserts anything ([`vacuity`]).

mod eval;
pub(crate) mod files;
mod glob;
pub(crate) mod harn;
mod ignored;
mod lex;
mod parse;
pub(crate) mod tree;
mod types;
mod vacuity;
mod verdict;

pub(crate) use eval::{FactValue, Output, Tri, evaluate};
pub(crate) use files::fact_in;
pub(crate) use tree::Fact;
pub(crate) use vacuity::constant;
pub(crate) use verdict::{Stage, Verdict, eval_in, eval_with, parse, parse_call};
