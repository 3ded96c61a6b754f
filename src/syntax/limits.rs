//! The caps of the language, checked on tokens before a tree is built.

use crate::diagnostic::{Code, Diagnostic, Span};

use super::token::{Spanned, Token};

/// Bytes of a source (ADR-0004: predicates are flat expressions).
pub const MAX_SOURCE: usize = 64 * 1024;
/// Calls of primitives in a source.
pub const MAX_PRIMITIVES: usize = 256;
/// Depth of `!`, and of parentheses, each for itself. No walk over the tree
/// recurses deeper than a small multiple of it.
pub const MAX_NESTING: usize = 128;
/// Diagnostics for one source; the rest is not worth reading.
pub const MAX_DIAGNOSTICS: usize = 32;

/// What the lexer counts on its way.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    pub(super) primitives: usize,
    pub(super) bangs: usize,
    pub(super) groups: usize,
}

/// The source as a whole, before lexing.
pub(super) fn check_size(source: &str) -> Option<Diagnostic> {
    (source.len() > MAX_SOURCE).then(|| {
        Diagnostic::error(
            Code::SourceTooLarge,
            Span::new(0, 1),
            format!("the source has {} bytes, the limit is 64 KiB", source.len()),
        )
        .help("split it into several claims")
    })
}

/// The token stream, before parsing.
pub(super) fn check_tokens(tokens: &[Spanned<'_>], counts: Counts) -> Option<Diagnostic> {
    if counts.primitives > MAX_PRIMITIVES {
        let first_over = tokens
            .iter()
            .filter(|spanned| matches!(spanned.token, Token::Primitive(_)))
            .nth(MAX_PRIMITIVES)
            .map_or_else(Span::default, |spanned| spanned.span);
        return Some(
            Diagnostic::error(
                Code::TooManyPrimitives,
                first_over,
                format!(
                    "{} primitives in one predicate, the limit is {MAX_PRIMITIVES}",
                    counts.primitives
                ),
            )
            .help("split it into several claims"),
        );
    }
    // Neither depth can pass what the whole source has of its token.
    if counts.bangs > MAX_NESTING || counts.groups > MAX_NESTING {
        return check_nesting(tokens);
    }
    None
}

/// Follows the two depths along the tokens. In a source with unbalanced
/// parentheses they are estimates; the parser then falls back on the counts.
fn check_nesting(tokens: &[Spanned<'_>]) -> Option<Diagnostic> {
    // The `!` above each open group, from the outside in.
    let mut bangs_above = [0; MAX_NESTING + 1];
    let mut groups = 0;
    let mut bangs = 0;
    let mut in_call = false;
    for spanned in tokens {
        match spanned.token {
            Token::Bang => {
                bangs += 1;
                if bangs_above[groups] + bangs > MAX_NESTING {
                    return Some(too_deep(spanned.span, "`!`"));
                }
                continue;
            }
            Token::Group => {
                if groups == MAX_NESTING {
                    return Some(too_deep(spanned.span, "parentheses"));
                }
                bangs_above[groups + 1] = bangs_above[groups] + bangs;
                groups += 1;
            }
            Token::Open => in_call = true,
            Token::Close if in_call => in_call = false,
            Token::Close => groups = groups.saturating_sub(1),
            _ => {}
        }
        bangs = 0;
    }
    None
}

fn too_deep(span: Span, what: &str) -> Diagnostic {
    Diagnostic::error(
        Code::NestedTooDeep,
        span,
        format!("{what} nested more than {MAX_NESTING} deep"),
    )
    .help("two `!` cancel each other, and `&&` and `||` need no parentheses of their own kind")
}
