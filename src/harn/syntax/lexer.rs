//! From text to raw tokens: strings are decoded, comments are gone, line ends and
//! braces are still what they are in the text.

use bumpalo::Bump;
use logos::{Lexer, Logos};

use crate::diagnostic::Span;
use crate::harn::problem::{HarnCode, Problem, Problems};

use super::strings;
use super::token::{Keyword, Spanned, Token};

#[derive(Logos, Clone, Copy, Debug, PartialEq)]
#[logos(skip r"([ \t\r]|\\\r?\n)+")]
#[logos(skip(r"//[^\n]*", allow_greedy = true))]
enum Raw {
    #[regex(r"[\p{Alphabetic}_][\p{Alphabetic}\p{N}_]*")]
    Word,
    #[regex("[0-9]+")]
    Int,
    #[regex(r"[0-9]+\.[0-9]+")]
    Float,
    #[token("\"")]
    #[token("\"\"\"")]
    #[regex("r#*\"")]
    Quote,
    #[token("/*")]
    Comment,
    #[token("\n")]
    Newline,
    #[token(";")]
    Semicolon,
    #[token("{")]
    Brace,
    #[token("==", |_| "==")]
    #[token("!=", |_| "!=")]
    #[token("&&", |_| "&&")]
    #[token("||", |_| "||")]
    #[token("|>", |_| "|>")]
    #[token("??", |_| "??")]
    #[token("**", |_| "**")]
    #[token("?.", |_| "?.")]
    #[token("->", |_| "->")]
    #[token("<=", |_| "<=")]
    #[token(">=", |_| ">=")]
    #[token("+=", |_| "+=")]
    #[token("-=", |_| "-=")]
    #[token("*=", |_| "*=")]
    #[token("/=", |_| "/=")]
    #[token("%=", |_| "%=")]
    #[token("...", |_| "...")]
    #[token("..=", |_| "..=")]
    #[token("..", |_| "..")]
    #[token("=", |_| "=")]
    #[token("!", |_| "!")]
    #[token(".", |_| ".")]
    #[token("+", |_| "+")]
    #[token("-", |_| "-")]
    #[token("*", |_| "*")]
    #[token("/", |_| "/")]
    #[token("%", |_| "%")]
    #[token("<", |_| "<")]
    #[token(">", |_| ">")]
    #[token("?", |_| "?")]
    #[token("|", |_| "|")]
    #[token("&", |_| "&")]
    #[token("}", |_| "}")]
    #[token("(", |_| "(")]
    #[token(")", |_| ")")]
    #[token("[", |_| "[")]
    #[token("]", |_| "]")]
    #[token(",", |_| ",")]
    #[token(":", |_| ":")]
    #[token("@", |_| "@")]
    Mark(Fixed),
}

/// Named, as the derivation takes a lifetime for that of the text.
type Fixed = &'static str;

/// Where tokens and problems go.
pub(super) struct Tokens<'a, 'p> {
    pub(super) arena: &'a Bump,
    pub(super) tokens: Vec<Spanned<'a>>,
    pub(super) problems: &'p mut Problems,
}

impl<'a> Tokens<'a, '_> {
    pub(super) fn push(&mut self, token: Token<'a>, start: usize, end: usize) {
        let span = Span::new(start, end);
        self.tokens.push(Spanned { token, span });
    }

    /// Reports a problem, and leaves a token for what is at fault.
    pub(super) fn flaw(&mut self, problem: Problem) {
        let span = problem.span;
        self.problems.push(problem);
        self.tokens.push(Spanned {
            token: Token::Flaw,
            span,
        });
    }
}

/// Takes a text apart that starts at an offset of the source. `holes` counts how many
/// strings it is inside of.
pub(super) fn lex<'a>(text: &'a str, offset: usize, holes: usize, to: &mut Tokens<'a, '_>) {
    let mut lexer = Raw::lexer(text);
    if offset == 0 && text.starts_with("#!") {
        lexer.bump(text.find('\n').unwrap_or(text.len()));
    }
    while let Some(raw) = lexer.next() {
        let (start, end) = (offset + lexer.span().start, offset + lexer.span().end);
        let slice = lexer.slice();
        match raw {
            Ok(Raw::Word) => match Keyword::of(slice) {
                Some(keyword) => to.push(Token::Keyword(keyword, slice), start, end),
                None => to.push(Token::Name(slice), start, end),
            },
            Ok(Raw::Int) => int(&lexer, start, end, to),
            Ok(Raw::Float) => to.push(
                Token::Float(slice.parse().unwrap_or(f64::INFINITY)),
                start,
                end,
            ),
            Ok(Raw::Quote) => {
                let rest = lexer.remainder();
                let used = strings::read(slice, rest, start, holes, to);
                lexer.bump(used);
            }
            Ok(Raw::Comment) => match comment(lexer.remainder()) {
                Some(len) => {
                    // What counts is whether lines end after it.
                    lexer.bump(len);
                }
                None => {
                    let rest = lexer.remainder().len();
                    lexer.bump(rest);
                    let problem = Problem::error(
                        HarnCode::Unterminated,
                        Span::new(start, end),
                        "the comment has no end",
                    );
                    to.flaw(problem.help("close every `/*` with a `*/`: comments nest"));
                }
            },
            Ok(Raw::Newline) => to.push(Token::Newline, start, end),
            Ok(Raw::Semicolon) => to.push(Token::Sep, start, end),
            Ok(Raw::Brace) => to.push(Token::Brace, start, end),
            Ok(Raw::Mark(mark)) => to.push(Token::Mark(mark), start, end),
            Err(()) => {
                let what = slice.escape_debug();
                let span = Span::new(start, end);
                to.flaw(Problem::error(
                    HarnCode::UnexpectedCharacter,
                    span,
                    format!("`{what}` starts no token"),
                ));
            }
        }
    }
}

fn int<'a>(lexer: &Lexer<'a, Raw>, start: usize, end: usize, to: &mut Tokens<'a, '_>) {
    let slice = lexer.slice();
    let rest = lexer.remainder();
    let word_end = rest
        .find(|next: char| !next.is_alphanumeric() && next != '_')
        .unwrap_or(rest.len());
    if matches!(&rest[..word_end], "ms" | "s" | "m" | "h" | "d" | "w") {
        let span = Span::new(start, end + word_end);
        let problem = Problem::error(
            HarnCode::NotInSubset,
            span,
            "durations are not in the subset",
        );
        to.flaw(problem.help("write a plain number"));
        return;
    }
    match slice.parse() {
        Ok(value) => to.push(Token::Int(value), start, end),
        Err(_) => to.flaw(Problem::error(
            HarnCode::IntegerTooLarge,
            Span::new(start, end),
            "the integer is over 9223372036854775807",
        )),
    }
}

/// The length of the rest of a comment, which may hold others.
fn comment(rest: &str) -> Option<usize> {
    let bytes = rest.as_bytes();
    let (mut depth, mut at) = (1, 0);
    while depth > 0 {
        let found = memchr::memchr2(b'/', b'*', bytes.get(at..)?)?;
        at += found;
        match bytes.get(at..at + 2)? {
            b"/*" => {
                depth += 1;
                at += 2;
            }
            b"*/" => {
                depth -= 1;
                at += 2;
            }
            _ => at += 1,
        }
    }
    Some(at)
}
