//! From text to tokens. What is no token becomes a flaw for `repair`.

use bumpalo::Bump;
use bumpalo::collections::Vec as BumpVec;
use logos::{Lexer, Logos};

use crate::diagnostic::Span;
use crate::facts::{Primitive, RegexFlags};
use crate::language::Language;

use super::ast::{CompareOp, Field, Method};
use super::limits::{Counts, MAX_DIAGNOSTICS};
use super::literal::{self, Extent};
use super::near::WordOperator;
use super::token::{Flaw, Spanned, Token};

#[derive(Logos, Clone, Copy, Debug, PartialEq)]
#[logos(skip r"[ \t\r\n]+")]
enum Raw {
    #[token("&&")]
    AndAnd,
    #[token("||")]
    OrOr,
    #[token("!")]
    Bang,
    #[token("==", |_| CompareOp::Eq)]
    #[token("!=", |_| CompareOp::Ne)]
    #[token("<", |_| CompareOp::Lt)]
    #[token("<=", |_| CompareOp::Le)]
    #[token(">", |_| CompareOp::Gt)]
    #[token(">=", |_| CompareOp::Ge)]
    Compare(CompareOp),
    #[token("(")]
    Open,
    #[token(")")]
    Close,
    #[token(",")]
    Comma,
    #[token(".")]
    Dot,
    #[token("exists", |_| Primitive::Exists)]
    #[token("grep", |_| Primitive::Grep)]
    #[token("count", |_| Primitive::Count)]
    #[token("test", |_| Primitive::Test)]
    #[token("run", |_| Primitive::Run)]
    Primitive(Primitive),
    #[token("passed", |_| Field::Passed)]
    #[token("exit", |_| Field::Exit)]
    #[token("stdout", |_| Field::Stdout)]
    #[token("stderr", |_| Field::Stderr)]
    #[token("lines", |_| Field::Lines)]
    Field(Field),
    #[token("contains", |_| Method::Contains)]
    #[token("starts_with", |_| Method::StartsWith)]
    #[token("ends_with", |_| Method::EndsWith)]
    #[token("matches", |_| Method::Matches)]
    Method(Method),
    #[token("true", |_| true)]
    #[token("false", |_| false)]
    Bool(bool),
    #[regex("-?[0-9]+")]
    Int,
    #[regex(r"-?[0-9]+\.[0-9]+")]
    #[regex("-?[0-9]+[A-Za-z_][A-Za-z0-9_]*")]
    Number,
    #[token("\"", |lexer| literal_extent(lexer, b'"'))]
    Str(Extent),
    #[token("/", |lexer| literal_extent(lexer, b'/'))]
    Regex(Extent),
    #[token("#", comment)]
    Comment(bool),
    #[regex("[A-Za-z_][A-Za-z0-9_]*", word_end)]
    Word,
    #[token("=")]
    #[token("===")]
    Equals,
    #[token("&")]
    Ampersand,
    #[token("|")]
    Pipe,
    #[token("'", single_quoted)]
    SingleQuote(bool),
    #[regex(r"(?s).", other, priority = 0)]
    Other(Flaw),
}

/// Consumes a literal with its closing delimiter.
fn literal_extent(lexer: &mut Lexer<'_, Raw>, delimiter: u8) -> Extent {
    let extent = literal::extent(lexer.remainder().as_bytes(), delimiter);
    lexer.bump(extent.content + usize::from(extent.closed));
    extent
}

/// Consumes a comment. True if every character of it has a place there.
fn comment(lexer: &mut Lexer<'_, Raw>) -> bool {
    let rest = lexer.remainder();
    let end = memchr::memchr2(b'\n', b'\r', rest.as_bytes()).unwrap_or(rest.len());
    lexer.bump(end);
    !rest[..end].contains(has_no_place_in_comments)
}

/// Control characters and byte order marks, which stand in literals alone.
pub(super) fn has_no_place_in_comments(c: char) -> bool {
    c.is_control() && c != '\t' || c == '\u{feff}'
}

/// Extends a word over letters beyond ASCII, so that prose comes in words.
fn word_end(lexer: &mut Lexer<'_, Raw>) {
    let rest = lexer.remainder();
    let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_'));
    lexer.bump(end.unwrap_or(rest.len()));
}

/// True if a closing quote stands on the same line; it is consumed then.
fn single_quoted(lexer: &mut Lexer<'_, Raw>) -> bool {
    let extent = literal::extent(lexer.remainder().as_bytes(), b'\'');
    if extent.closed {
        lexer.bump(extent.content + 1);
    }
    extent.closed
}

/// Sorts a character that begins no token, and takes its repetitions with it.
fn other(lexer: &mut Lexer<'_, Raw>) -> Flaw {
    let Some(first) = lexer.slice().chars().next() else {
        return Flaw::Character;
    };
    if first.is_alphabetic() {
        word_end(lexer);
        return Flaw::Word;
    }
    let rest = lexer.remainder();
    lexer.bump(rest.len() - rest.trim_start_matches(first).len());
    if is_invisible(first) {
        Flaw::Control
    } else {
        Flaw::Character
    }
}

/// Control characters, foreign white space, byte order marks, and the marks
/// that join, part or turn text without being seen.
fn is_invisible(c: char) -> bool {
    c.is_control()
        || c.is_whitespace()
        || matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// The tokens of a source.
pub(super) struct Lexed<'a> {
    pub(super) tokens: BumpVec<'a, Spanned<'a>>,
    pub(super) counts: Counts,
    /// True if `repair` has to see the tokens before the parser does.
    pub(super) flawed: bool,
    /// Regexes so far that may go on behind their end.
    looked_ahead: usize,
}

/// Splits a source into tokens. An unterminated literal is the last of them,
/// because nothing behind it can be told apart.
pub(super) fn lex<'a>(language: Language, source: &'a str, arena: &'a Bump) -> Lexed<'a> {
    let v1 = language == Language::ElenchV1;
    let mut lexed = Lexed {
        tokens: BumpVec::with_capacity_in(24, arena),
        counts: Counts::default(),
        flawed: false,
        looked_ahead: 0,
    };
    let mut lexer = Raw::lexer(source);
    while let Some(raw) = lexer.next() {
        // The catch-all pattern leaves no text without a token.
        let raw = raw.unwrap_or(Raw::Other(Flaw::Character));
        let token = match raw {
            Raw::AndAnd => Token::AndAnd,
            Raw::OrOr => Token::OrOr,
            Raw::Bang => {
                lexed.counts.bangs += 1;
                Token::Bang
            }
            Raw::Compare(op) => Token::Compare(op),
            Raw::Open if lexed.groups(source) => {
                lexed.counts.groups += 1;
                lexed.flawed |= v1;
                Token::Group
            }
            Raw::Open => Token::Open,
            Raw::Close => Token::Close,
            Raw::Comma => Token::Comma,
            Raw::Dot => Token::Dot,
            Raw::Primitive(primitive) => {
                lexed.counts.primitives += 1;
                lexed.flawed |= v1 && primitive == Primitive::Count;
                Token::Primitive(primitive)
            }
            Raw::Field(field) => {
                lexed.flawed |= v1 && field == Field::Lines;
                Token::Field(field)
            }
            Raw::Method(method) => {
                lexed.flawed |= v1 && matches!(method, Method::StartsWith | Method::EndsWith);
                Token::Method(method)
            }
            Raw::Bool(value) => Token::Bool(value),
            Raw::Int => {
                lexed.flawed |= v1 && lexer.slice().starts_with('-');
                lexer
                    .slice()
                    .parse()
                    .map_or(Token::Flaw(Flaw::IntegerRange), Token::Int)
            }
            Raw::Str(extent) => string(&lexer, extent, arena),
            Raw::Regex(extent) => lexed.regex(&mut lexer, extent, arena, v1),
            Raw::Comment(true) if !v1 => continue,
            Raw::Comment(false) if !v1 => Token::Flaw(Flaw::Control),
            Raw::Comment(_) => Token::Flaw(Flaw::Comment),
            Raw::Number => Token::Flaw(Flaw::Number),
            Raw::Word => Token::Flaw(Flaw::Word),
            Raw::Equals => Token::Flaw(Flaw::Equals),
            Raw::Ampersand => Token::Flaw(Flaw::Ampersand),
            Raw::Pipe => Token::Flaw(Flaw::Pipe),
            Raw::SingleQuote(true) => Token::Flaw(Flaw::SingleQuoted),
            Raw::SingleQuote(false) => Token::Flaw(Flaw::Character),
            Raw::Other(flaw) => Token::Flaw(flaw),
        };
        let span = lexer.span();
        lexed.flawed |= match token {
            Token::Flaw(_) => true,
            Token::Regex(_, flags) => v1 && flags != RegexFlags::NONE,
            _ => false,
        };
        lexed.tokens.push(Spanned {
            token,
            span: Span::new(span.start, span.end),
        });
        if matches!(token, Token::Flaw(Flaw::OpenString | Flaw::OpenRegex)) {
            break;
        }
    }
    lexed
}

impl<'a> Lexed<'a> {
    fn regex(
        &mut self,
        lexer: &mut Lexer<'a, Raw>,
        extent: Extent,
        arena: &'a Bump,
        v1: bool,
    ) -> Token<'a> {
        if !extent.closed {
            return Token::Flaw(Flaw::OpenRegex);
        }
        let content = &lexer.slice()[1..=extent.content];
        let rest = lexer.remainder();
        let letters = rest
            .bytes()
            .take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
            .count();
        // A regex is an argument: anything but `,`, `)` or a comment behind it hints
        // that its own text goes on, unless there is no place where it would end.
        let next = rest[letters..]
            .trim_start_matches([' ', '\t', '\r', '\n'])
            .bytes()
            .next();
        let ends = match next {
            Some(b',' | b')') | None => true,
            Some(b'#') => !v1,
            Some(_) => false,
        };
        // Each look ahead may read all that is left: more of them than errors
        // are reported would take quadratic time for nothing.
        if !ends && self.looked_ahead < MAX_DIAGNOSTICS {
            self.looked_ahead += 1;
            if let Some(length) = literal::goes_on(rest) {
                lexer.bump(length);
                return Token::Flaw(Flaw::Slash);
            }
        }
        lexer.bump(letters);
        if extent.content == 0 {
            return Token::Flaw(Flaw::EmptyRegex);
        }
        match literal::flags(&rest[..letters]) {
            Some(flags) if extent.escaped => Token::Regex(literal::unslash(content, arena), flags),
            Some(flags) => Token::Regex(content, flags),
            None => Token::Flaw(Flaw::Flags),
        }
    }

    /// True if a `(` here groups, and does not begin an argument list.
    fn groups(&self, source: &str) -> bool {
        self.tokens.last().is_none_or(|before| {
            before.token.precedes_operand()
                || (before.token == Token::Flaw(Flaw::Word)
                    && WordOperator::of(&source[before.span.range()]).is_some())
        })
    }
}

fn string<'a>(lexer: &Lexer<'a, Raw>, extent: Extent, arena: &'a Bump) -> Token<'a> {
    if !extent.closed {
        return Token::Flaw(Flaw::OpenString);
    }
    let content = &lexer.slice()[1..=extent.content];
    if !extent.escaped {
        return Token::Str(content);
    }
    literal::unescape(content, arena).map_or(Token::Flaw(Flaw::Escape), Token::Str)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens<'a>(source: &'a str, arena: &'a Bump) -> Vec<Token<'a>> {
        lex(Language::ElenchV2, source, arena)
            .tokens
            .iter()
            .map(|spanned| spanned.token)
            .collect()
    }

    #[test]
    fn words_numbers_and_runs() {
        let arena = Bump::new();
        let word = Token::Flaw(Flaw::Word);
        assert_eq!(tokens("grepx héllo été _x1", &arena), [word; 4]);
        assert_eq!(tokens("5.exit", &arena)[..2], [Token::Int(5), Token::Dot]);
        assert_eq!(tokens("1.5", &arena), [Token::Flaw(Flaw::Number)]);
        assert_eq!(tokens("10k", &arena), [Token::Flaw(Flaw::Number)]);
        assert_eq!(tokens("[[[[", &arena), [Token::Flaw(Flaw::Character)]);
        assert_eq!(tokens("\0\0", &arena), [Token::Flaw(Flaw::Control)]);
        assert_eq!(tokens("\u{feff}", &arena), [Token::Flaw(Flaw::Control)]);
        assert_eq!(tokens("\u{a0}", &arena), [Token::Flaw(Flaw::Control)]);
        assert_eq!(
            tokens("-9223372036854775808 9223372036854775808", &arena),
            [Token::Int(i64::MIN), Token::Flaw(Flaw::IntegerRange)]
        );
        assert_eq!(tokens("# to the end\n5", &arena), [Token::Int(5)]);
    }

    #[test]
    fn parentheses_of_calls_and_groups() {
        let arena = Bump::new();
        let found = tokens("(run (\"x\") and (5", &arena);
        assert_eq!(found[0], Token::Group);
        assert_eq!(found[2], Token::Open);
        assert_eq!(found[6], Token::Group);
    }

    #[test]
    fn spans_are_bytes() {
        let arena = Bump::new();
        let lexed = lex(Language::ElenchV1, " \"é\" >= 1", &arena);
        assert_eq!(lexed.tokens[0].span, Span::new(1, 5));
        assert_eq!(lexed.tokens[1].span, Span::new(6, 8));
        assert!(!lexed.flawed);
    }
}
