//! The seam of the parser and its lalrpop driver.

use std::convert::Infallible;

use bumpalo::Bump;
use lalrpop_util::{ErrorRecovery, ParseError};

use crate::diagnostic::{Code, Diagnostic, Span};
use crate::language::Language;

use super::ast::Expr;
use super::grammar::PredicateParser;
use super::limits::{self, MAX_NESTING};
use super::sink::Sink;
use super::token::{Spanned, Token};
use super::{explain, lexer, prose, repair};

/// An error of the grammar that the parser got over.
pub(super) type Recovered<'a> = ErrorRecovery<u32, Token<'a>, Infallible>;

/// What became of a source.
#[derive(Debug)]
pub struct Parsed<'a> {
    /// The tree, with broken places where there are errors; `None` if nothing
    /// could be made of the source.
    pub expr: Option<Expr<'a>>,
    /// Errors in the order of the source.
    pub diagnostics: Vec<Diagnostic>,
}

/// A parser of predicates. The rest of the engine knows no more of it.
pub trait Frontend {
    /// Turns a source into a tree in the arena. Never panics, and recurses no
    /// deeper than the limits allow, whatever the source.
    fn parse<'a>(&self, language: Language, source: &'a str, arena: &'a Bump) -> Parsed<'a>;
}

/// The parser that lalrpop generates from `grammar/claims.lalrpop`.
#[derive(Clone, Copy, Debug, Default)]
pub struct LalrParser;

/// Parses a source with the standard parser.
///
/// ```
/// use bumpalo::Bump;
/// use probity::{Language, syntax};
///
/// let arena = Bump::new();
/// let parsed = syntax::parse(Language::ElenchV1, r#"exists("src")"#, &arena);
/// assert!(parsed.diagnostics.is_empty());
/// ```
pub fn parse<'a>(language: Language, source: &'a str, arena: &'a Bump) -> Parsed<'a> {
    LalrParser.parse(language, source, arena)
}

impl Frontend for LalrParser {
    fn parse<'a>(&self, language: Language, source: &'a str, arena: &'a Bump) -> Parsed<'a> {
        if let Some(diagnostic) = limits::check_size(source) {
            return Parsed::refused(diagnostic);
        }
        let lexed = lexer::lex(language, source, arena);
        if lexed.tokens.is_empty() {
            return Parsed::refused(
                Diagnostic::error(
                    Code::EmptySource,
                    Span::new(0, source.len()),
                    "the predicate is empty",
                )
                .help("say what to check, such as `exists(\"path\")`"),
            );
        }
        if let Some(diagnostic) = limits::check_tokens(&lexed.tokens, lexed.counts) {
            return Parsed::refused(diagnostic);
        }
        let mut sink = Sink::default();
        let mut tokens = lexed.tokens;
        if lexed.flawed {
            if let Some(diagnostic) = prose::judge(source, &tokens) {
                return Parsed::refused(diagnostic);
            }
            tokens = repair::repair(language, source, &tokens, arena, &mut sink);
        }

        let mut recovered = Vec::new();
        let stream = tokens
            .iter()
            .map(|&Spanned { token, span }| Ok((span.start, token, span.end)));
        let result = PredicateParser::new().parse(arena, &mut recovered, stream);
        let intact = recovered.is_empty();
        let mut errors: Vec<_> = recovered.into_iter().map(|found| found.error).collect();
        let mut expr = match result {
            Ok(expr) => Some(expr),
            Err(error) => {
                errors.push(error);
                None
            }
        };
        if !errors.is_empty() {
            explain::explain(source, &tokens, errors, &mut sink);
        }
        // Recovery may nest groups that the limits took for closed.
        if !intact && lexed.counts.groups > MAX_NESTING {
            expr = None;
        }
        Parsed {
            expr,
            diagnostics: sink.into_sorted(),
        }
    }
}

impl Parsed<'_> {
    fn refused(diagnostic: Diagnostic) -> Self {
        Self {
            expr: None,
            diagnostics: vec![diagnostic],
        }
    }
}

/// An error of the grammar as lalrpop gives it.
pub(super) type GrammarError<'a> = ParseError<u32, Token<'a>, Infallible>;
