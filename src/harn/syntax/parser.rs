//! The driver of the parser: limits before, checks of form after.

use std::cell::RefCell;
use std::convert::Infallible;

use bumpalo::Bump;
use lalrpop_util::{ErrorRecovery, ParseError};

use crate::diagnostic::Span;
use crate::harn::problem::{HarnCode, MOST_PROBLEMS, Problem, Problems};

use super::ast::{Item, ItemKind, Module};
use super::canonical::{Canonical, canonical};
use super::grammar::ModuleParser;
use super::lexer::{Tokens, lex};
use super::token::{Keyword, Spanned, Token};
use super::{MAX_DEPTH, MAX_SOURCE, form, layout};

/// An error of the grammar that the parser got over.
pub(super) type Recovered<'a> = ErrorRecovery<u32, Token<'a>, Infallible>;

/// The errors so far.
pub(super) type Errors<'a> = RefCell<Vec<Recovered<'a>>>;

/// Parses a predicate file into the arena: its tree, unless nothing can be made of it,
/// and what is wrong, in the order of the source.
///
/// ```
/// let arena = bumpalo::Bump::new();
/// let (module, problems) = probity::harn::syntax::parse("const A = 1", &arena);
/// assert!(problems.is_empty());
/// assert_eq!(module.unwrap().items.len(), 1);
/// ```
pub fn parse<'a>(source: &'a str, arena: &'a Bump) -> (Option<Module<'a>>, Vec<Problem>) {
    let mut problems = Problems::default();
    let parsed = parse_into(source, arena, &mut problems);
    (parsed.map(|parsed| parsed.module), problems.into_sorted())
}

/// A file that was parsed.
pub(crate) struct Parsed<'a> {
    pub(crate) module: Module<'a>,
    /// Its items again, as they are compared with others.
    pub(crate) canonical: Vec<Canonical>,
}

/// Parses a predicate file into the arena. `None` if nothing can be made of it; what is
/// wrong is in `problems` either way. Recurses no deeper than the limits allow,
/// whatever the source.
pub(crate) fn parse_into<'a>(
    source: &'a str,
    arena: &'a Bump,
    problems: &mut Problems,
) -> Option<Parsed<'a>> {
    if source.len() > MAX_SOURCE {
        let span = Span::new(0, 0);
        let message = format!("the file is over {} KiB", MAX_SOURCE >> 10);
        problems.push(Problem::error(HarnCode::FileTooLarge, span, message));
        return None;
    }
    let mut tokens = Tokens {
        arena,
        tokens: Vec::new(),
        problems,
    };
    lex(source, 0, 0, &mut tokens);
    let raw = tokens.tokens;
    let tokens = layout::arrange(&raw, problems)?;
    let recovered = RefCell::new(Vec::new());
    // Getting over an error costs more than going on: nobody reads thousands of them.
    let stream = tokens
        .iter()
        .take_while(|_| recovered.borrow().len() < MOST_PROBLEMS)
        .map(|spanned| Ok((spanned.span.start, spanned.token, spanned.span.end)));
    let parsed = ModuleParser::new().parse(arena, &recovered, stream);
    let recovered = recovered.into_inner();
    let is_cut = recovered.len() >= MOST_PROBLEMS;
    let mut errors: Vec<_> = recovered.into_iter().map(|found| found.error).collect();
    let module = match parsed {
        Ok(module) => Some(module),
        Err(error) => {
            if !is_cut {
                errors.push(error);
            }
            None
        }
    };
    for error in errors {
        if let Some(problem) = explain(source, error) {
            problems.push(problem);
        }
    }
    let module = module?;
    let mut is_too_deep = false;
    for item in module.items {
        if depth(item) > MAX_DEPTH {
            is_too_deep = true;
            problems.push(
                Problem::error(
                    HarnCode::NestedTooDeep,
                    item.span,
                    format!("this is nested over {MAX_DEPTH} deep"),
                )
                .help("split long chains and deep nesting into several statements"),
            );
        }
    }
    if is_too_deep {
        return None;
    }
    form::check(&module, problems);
    Some(Parsed {
        canonical: canonical(module.items, &tokens),
        module,
    })
}

const fn depth(item: &Item<'_>) -> u16 {
    match &item.kind {
        ItemKind::Import { .. } => 0,
        ItemKind::Attributed { target, .. } => target.depth,
        ItemKind::Stmt(stmt) => stmt.depth,
    }
}

/// Joins the parts of a name with dots.
pub(super) fn dotted<'a>(arena: &'a Bump, first: &str, next: &str) -> &'a str {
    let mut text = bumpalo::collections::String::new_in(arena);
    text.push_str(first);
    text.push('.');
    text.push_str(next);
    text.into_bump_str()
}

fn explain(source: &str, error: ParseError<u32, Token<'_>, Infallible>) -> Option<Problem> {
    match error {
        ParseError::UnrecognizedToken {
            token: (start, token, end),
            expected,
        } => unexpected(
            source,
            Spanned {
                token,
                span: Span { start, end },
            },
            &expected,
        ),
        ParseError::ExtraToken {
            token: (start, token, end),
        } => unexpected(
            source,
            Spanned {
                token,
                span: Span { start, end },
            },
            &[],
        ),
        ParseError::UnrecognizedEof { location, .. } => {
            let span = Span {
                start: location,
                end: location,
            };
            let problem = Problem::error(
                HarnCode::UnexpectedToken,
                span,
                "the file ends where more is wanted",
            );
            Some(problem.help("close what is open: `{`, `(` or `[`"))
        }
        ParseError::InvalidToken { location } => Some(Problem::error(
            HarnCode::UnexpectedToken,
            Span {
                start: location,
                end: location,
            },
            "this is no token",
        )),
        ParseError::User { error } => match error {},
    }
}

fn unexpected(source: &str, found: Spanned<'_>, expected: &[String]) -> Option<Problem> {
    let text = source.get(found.span.range()).unwrap_or_default();
    let problem = |message: String| Problem::error(HarnCode::UnexpectedToken, found.span, message);
    let wanted = |what: &str| expected.iter().any(|it| it.trim_matches('"') == what);
    Some(match found.token {
        // It was reported.
        Token::Flaw => return None,
        Token::Keyword(Keyword::Other, "var") => {
            Problem::error(HarnCode::NotInSubset, found.span, "there is no `var`")
                .help("write `let` for what changes and `const` for what does not")
        }
        Token::Keyword(Keyword::Other, word) => Problem::error(
            HarnCode::NotInSubset,
            found.span,
            format!("`{word}` is not in the subset"),
        ),
        Token::Sep if text == ";" => problem("`;` separates nothing here".into()),
        Token::Sep => problem("the line ends where more is wanted".into()),
        Token::Mark("=") => problem("`=` does not fit here".into())
            .help("`==` compares; an assignment is a statement of its own"),
        _ if wanted("end") && wanted(",") => {
            problem(format!("`{text}` does not fit here")).help("is a `,` missing before it?")
        }
        _ if wanted(",") => {
            problem(format!("`{text}` does not fit here")).help("is a `,` missing before it?")
        }
        _ if wanted("end") => problem(format!("`{text}` does not fit here"))
            .help("statements stand on lines of their own, or have a `;` between"),
        _ => problem(format!("`{text}` does not fit here")),
    })
}
