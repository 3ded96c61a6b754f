//! Queries over the syntax tree of a source text, by tree-sitter.
//!
//! ```
//! use probity::ast::{Outcome, Request, search};
//!
//! let source = "fn main() {}\nfn other() {}\n";
//! let query = r#"(function_item name: (identifier) @name (#eq? @name "main"))"#;
//! let found = search(&Request::new(source, query, "rust"));
//! assert_eq!(found.outcome, Outcome::Ok);
//! assert_eq!(found.matches.len(), 1);
//! assert_eq!(found.matches[0].capture("name").map(|node| node.text), Some("main"));
//! ```
//!
//! Source and query may come from anybody: both are limited in size, work is
//! charged against a budget, and [`Request::cancel`] is asked all the while. Costs
//! are not time: repairs of broken sources and patterns with many ways to match take
//! much more of it than others, so whoever needs an end in time has to cancel. Memory
//! is limited by [`Limits::source`] alone: a tree takes up to 300 bytes for each byte
//! of source. Neither the compilation of a query nor one test of a regex can be
//! interrupted; limits keep both short.
//!
//! # Predicates
//!
//! `#eq?`, `#match?`, their forms `not-`, `any-` and `any-not-`, `#any-of?` and
//! `#not-any-of?` are evaluated; `#set!` is allowed and changes nothing. Any other
//! predicate makes the query invalid. A predicate holds if it holds for all nodes
//! of its capture (for none as well), with `any-` if it holds for at least one.

use std::sync::Arc;

mod languages;
mod predicates;
mod query;
mod scan;
mod search;

#[cfg(test)]
mod hostile_tests;
#[cfg(test)]
mod search_tests;

pub use search::search;

/// What to look for, in what.
#[derive(Clone, Copy)]
pub struct Request<'a, 'c> {
    /// The text to parse. It need not be correct.
    pub source: &'a str,
    /// The query, in tree-sitter's language.
    pub query: &'a str,
    /// The language of the source, such as `rust` or `rs`.
    pub language: &'a str,
    /// How many matches to return: [`DEFAULT_MATCHES`] if not given, never more than
    /// [`Limits::matches`].
    pub max_matches: Option<usize>,
    /// What the search may use.
    pub limits: Limits,
    /// Asked every few hundred operations; `true` stops the search. It is called
    /// from C and must not panic.
    pub cancel: &'c dyn Fn() -> bool,
}

impl<'a> Request<'a, 'static> {
    /// A request with default limits that nobody cancels.
    #[must_use]
    pub fn new(source: &'a str, query: &'a str, language: &'a str) -> Self {
        fn never() -> bool {
            false
        }
        Self {
            source,
            query,
            language,
            max_matches: None,
            limits: Limits::default(),
            cancel: &never,
        }
    }
}

/// How many matches are returned if a request says nothing.
pub const DEFAULT_MATCHES: usize = 10_000;

/// The longest query, whatever the limits say: tree-sitter numbers the steps of a
/// query with 16 bits and does not check; a byte makes at most two steps.
pub const LONGEST_QUERY: usize = 16 << 10;

/// What one search may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of source; more stops the search.
    pub source: usize,
    /// Bytes of query, at most [`LONGEST_QUERY`]; more makes the query invalid.
    pub query: usize,
    /// Matches; more truncates the result.
    pub matches: usize,
    /// Bytes that the texts of matches and captures take together, with
    /// [`NODE_OVERHEAD`] for each; more truncates the result.
    pub output: u64,
    /// [`Found::cost`]; more stops the search.
    pub cost: u64,
}

/// What a node counts towards [`Limits::output`] besides its text.
pub const NODE_OVERHEAD: u64 = 64;

impl Default for Limits {
    fn default() -> Self {
        Self {
            source: 4 << 20,
            query: LONGEST_QUERY,
            matches: 100_000,
            output: 64 << 20,
            cost: 1 << 32,
        }
    }
}

/// What a search found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found<'a> {
    /// How it ended.
    pub outcome: Outcome,
    /// The language by its main name; as requested if it is not supported.
    pub language: String,
    /// Whether matches were left out because of a limit.
    pub truncated: bool,
    /// Whether the source has syntax errors.
    pub had_errors: bool,
    /// Sorted by start, then end. Of a truncated result: the first that were found.
    /// Empty unless the outcome is [`Outcome::Ok`].
    pub matches: Vec<Match<'a>>,
    /// The work that was done: bytes of query and source, operations of the parser
    /// and the matcher (in hundreds), bytes that predicates looked at, matches. The
    /// same for the same request with the same version of the grammars.
    pub cost: u64,
}

/// How a search ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It was carried out, whether there are matches or not.
    Ok,
    /// The query is wrong, for the reason given.
    InvalidQuery(String),
    /// No grammar for this language is built in.
    UnsupportedLanguage,
    /// It was given up.
    Stopped(Stop),
}

/// Why a search was given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// [`Request::cancel`] said so.
    Cancelled,
    /// It would have cost more than [`Limits::cost`], or one test of a regex more than
    /// any test may: a large regex on a text of megabytes.
    Cost,
    /// The source is longer than [`Limits::source`].
    Source,
}

/// One match of a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Match<'a> {
    /// From the start of the first captured node to the end of the last. Of a match
    /// that captured nothing: its outermost node, of a group the first node.
    pub node: Node<'a>,
    /// What was captured, by name without `@`, in the order of names in the query.
    /// Of a capture that holds several nodes: the first.
    pub captures: Vec<(Arc<str>, Node<'a>)>,
}

impl<'a> Match<'a> {
    /// What was captured under a name.
    #[must_use]
    pub fn capture(&self, name: &str) -> Option<&Node<'a>> {
        let (_, node) = self.captures.iter().find(|(known, _)| **known == *name)?;
        Some(node)
    }
}

/// A piece of the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node<'a> {
    /// Its text.
    pub text: &'a str,
    /// Where it is.
    pub range: Range,
}

/// A range of the source. All counts start at 0, columns are in bytes, ends are
/// excluded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// The offset of the first byte.
    pub start_byte: usize,
    /// The offset behind the last byte.
    pub end_byte: usize,
    /// The line of the first byte.
    pub start_row: usize,
    /// The bytes before it in its line.
    pub start_col: usize,
    /// The line of the end.
    pub end_row: usize,
    /// The bytes before the end in its line.
    pub end_col: usize,
}

/// The names of the supported languages, without aliases.
#[must_use]
pub fn languages() -> Vec<&'static str> {
    languages::Grammar::ALL
        .iter()
        .map(|grammar| grammar.name())
        .collect()
}
