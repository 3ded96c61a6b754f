//! Flaws of the token stream: each is reported, and a token takes its place, so
//! that the parser can look for what else is wrong.

use bumpalo::Bump;
use bumpalo::collections::Vec as BumpVec;

use crate::diagnostic::{Code, Diagnostic, Span};
use crate::facts::{Primitive, RegexFlags};
use crate::language::Language;

use super::ast::{CompareOp, Field, Method};
use super::lexer::has_no_place_in_comments;
use super::literal;
use super::near::WordOperator;
use super::quoting::{clip, quote, slash};
use super::sink::Sink;
use super::token::{Flaw, Spanned, Token};

/// Replaces every flaw and reports it, along with the forms that the language
/// does not have yet.
pub(super) fn repair<'a>(
    language: Language,
    source: &'a str,
    tokens: &[Spanned<'a>],
    arena: &'a Bump,
    sink: &mut Sink,
) -> BumpVec<'a, Spanned<'a>> {
    let cut = cut_at_open_string(source, tokens);
    let tokens = cut.as_deref().unwrap_or(tokens);
    let mut repair = Repair {
        language,
        source,
        arena,
        tokens,
        sink,
        group_seen: false,
        sound: BumpVec::with_capacity_in(tokens.len(), arena),
    };
    let mut at = 0;
    while at < tokens.len() {
        at += repair.step(at);
    }
    repair.sound
}

/// Where a quote is missing, strings and the text between them change places:
/// the last string stays open, and the first that a word touches is the one
/// that was never closed. Gives the tokens up to there.
fn cut_at_open_string<'a>(source: &str, tokens: &[Spanned<'a>]) -> Option<Vec<Spanned<'a>>> {
    if tokens.last()?.token != Token::Flaw(Flaw::OpenString) {
        return None;
    }
    let at = tokens.windows(2).position(|pair| {
        matches!(pair[0].token, Token::Str(_) | Token::Flaw(Flaw::Escape))
            && pair[0].span.end == pair[1].span.start
            && (pair[1].token == Token::Flaw(Flaw::Word) || pair[1].token.is_word())
    })?;
    let mut kept = tokens[..=at].to_vec();
    let open = kept.last_mut()?;
    let start = open.span.range().start;
    let end = source[start..].find(['\n', '\r']);
    open.token = Token::Flaw(Flaw::OpenString);
    open.span = Span::new(start, end.map_or(source.len(), |length| start + length));
    Some(kept)
}

/// The state of a repair. The other half of it, `junk`, handles what means
/// nothing at all.
pub(super) struct Repair<'a, 't> {
    pub(super) language: Language,
    source: &'a str,
    arena: &'a Bump,
    pub(super) tokens: &'t [Spanned<'a>],
    sink: &'t mut Sink,
    /// One parenthesis stands for all: the others have the same cure.
    group_seen: bool,
    pub(super) sound: BumpVec<'a, Spanned<'a>>,
}

impl<'a> Repair<'a, '_> {
    /// Handles the token at `at` and says how many it took.
    fn step(&mut self, at: usize) -> usize {
        let Spanned { token, span } = self.tokens[at];
        let Token::Flaw(flaw) = token else {
            if self.language == Language::ElenchV1 {
                self.refuse_newer_form(token, span);
            }
            self.sound.push(Spanned { token, span });
            return 1;
        };
        match flaw {
            Flaw::Word | Flaw::Character | Flaw::Number => return self.junk(at),
            Flaw::Comment | Flaw::Control => self.drop_unseen(flaw, span),
            _ => {
                let token = self.replace(flaw, span);
                self.sound.push(Spanned { token, span });
            }
        }
        1
    }

    pub(super) fn text(&self, span: Span) -> &'a str {
        &self.source[span.range()]
    }

    pub(super) fn error(
        &mut self,
        code: Code,
        span: Span,
        message: impl Into<Box<str>>,
        help: &str,
    ) {
        self.sink
            .push(Diagnostic::error(code, span, message).help(help));
    }

    /// Reports a token that is fine in v2.
    fn refuse_newer_form(&mut self, token: Token<'_>, span: Span) {
        let (what, help) = match token {
            Token::Group if self.group_seen => return,
            Token::Group => {
                self.group_seen = true;
                (
                    "parentheses for grouping",
                    "name that language, or spread them out: `!(a && b)` is `!a || !b`",
                )
            }
            Token::Int(value) if value < 0 => (
                "negative integers",
                "counts are never negative; a program that a signal ends has exit status 128 \
                 and more",
            ),
            Token::Primitive(Primitive::Count) => (
                "`count`",
                "`grep` counts matching lines; name `elench-predicate-v2` to count matches",
            ),
            Token::Field(Field::Lines) => (
                "`.lines`",
                "name that language, or look into the output with `.contains` or `.matches`",
            ),
            Token::Method(Method::StartsWith) => (
                "`.starts_with`",
                "name that language, or write `.matches(/^…/)`",
            ),
            Token::Method(Method::EndsWith) => (
                "`.ends_with`",
                "name that language, or write `.matches(/…$/)`",
            ),
            Token::Regex(text, flags) if flags != RegexFlags::NONE => {
                let message =
                    format!("only `elench-predicate-v2` has flags, `{flags}`, after a regex");
                let text = clip(&slash(text));
                let help = format!("begin the pattern with them: `/(?{flags}){text}/`");
                return self.error(Code::RegexFlags, span, message, &help);
            }
            _ => return,
        };
        self.error(
            Code::NeedsV2,
            span,
            format!("only `elench-predicate-v2` has {what}"),
            help,
        );
    }

    /// Reports what leaves no token.
    fn drop_unseen(&mut self, flaw: Flaw, span: Span) {
        if flaw == Flaw::Comment {
            self.error(
                Code::NeedsV2,
                span,
                "only `elench-predicate-v2` has comments",
                "remove it, or name that language",
            );
            return;
        }
        let text = self.text(span);
        let first = || text.chars().next().map(|c| (0, c));
        let (at, unseen) = text
            .char_indices()
            .find(|&(_, c)| has_no_place_in_comments(c))
            .or_else(first)
            .unwrap_or_default();
        // A run of it stays one place; a comment is not to blame as a whole.
        let span = match at {
            0 => span,
            _ => Span::new(
                span.range().start + at,
                span.range().start + at + unseen.len_utf8(),
            ),
        };
        let number = u32::from(unseen);
        let (what, help) = match number {
            0xfeff => ("a byte order mark", "save the text as UTF-8 without one"),
            0 => ("a NUL character", "remove it; in a string write `\\0`"),
            _ => (
                "a character that cannot be seen",
                "remove it; between tokens stand spaces, tabs and line ends only",
            ),
        };
        self.error(
            Code::ControlCharacter,
            span,
            format!("{what}, U+{number:04X}, outside a literal"),
            help,
        );
    }

    /// Reports a flaw of one token and gives what was most likely meant.
    fn replace(&mut self, flaw: Flaw, span: Span) -> Token<'a> {
        let text = self.text(span);
        match flaw {
            Flaw::Equals => {
                self.error(
                    Code::SingleEquals,
                    span,
                    format!("`{text}` is no operator"),
                    match self.source.as_bytes().get(span.range().end) {
                        Some(b'>') => "at least is `>=`, and equality is `==`",
                        Some(b'<') => "at most is `<=`, and equality is `==`",
                        _ => "equality is `==`; to search a string write `.contains` or `.matches`",
                    },
                );
                Token::Compare(CompareOp::Eq)
            }
            Flaw::Ampersand => self.word_operator(WordOperator::And, span),
            Flaw::Pipe => self.word_operator(WordOperator::Or, span),
            Flaw::SingleQuoted => {
                let value = self.arena.alloc_str(&text[1..text.len() - 1]);
                self.error(
                    Code::SingleQuotes,
                    span,
                    "strings stand in double quotes",
                    &format!("write `{}`", quote(value)),
                );
                Token::Str(value)
            }
            Flaw::OpenString => {
                self.open_literal(span, "string", '"', "\\n");
                Token::Str(&text[1..])
            }
            Flaw::OpenRegex => {
                self.open_literal(span, "regex", '/', "\\n");
                Token::Unknown
            }
            Flaw::Escape => {
                self.unknown_escapes(span);
                Token::Unknown
            }
            Flaw::EmptyRegex => {
                self.error(
                    Code::EmptyRegex,
                    span,
                    "a regex without a pattern",
                    "put what to look for between the slashes; comments do not begin with `//`",
                );
                Token::Unknown
            }
            Flaw::Slash => self.bare_slash(span),
            Flaw::Flags => self.unknown_flags(span),
            Flaw::IntegerRange => {
                self.error(
                    Code::IntegerTooLarge,
                    span,
                    format!("`{}` is out of range", clip(text)),
                    "the largest integer is 9223372036854775807",
                );
                Token::Int(i64::MAX)
            }
            Flaw::Word | Flaw::Character | Flaw::Number | Flaw::Comment | Flaw::Control => {
                Token::Unknown
            }
        }
    }

    pub(super) fn word_operator(&mut self, operator: WordOperator, span: Span) -> Token<'a> {
        let symbol = operator.symbol();
        self.error(
            Code::WordOperator,
            span,
            format!("`{}` is no operator", self.text(span)),
            &format!("write `{symbol}`"),
        );
        operator.token()
    }

    fn open_literal(&mut self, span: Span, what: &str, delimiter: char, line_end: &str) {
        let more = span.range().end < self.source.len();
        let message = if more {
            format!("this {what} goes on over the end of the line")
        } else {
            format!("this {what} has no end")
        };
        let help = if more {
            format!(
                "close it with `{delimiter}` on the same line; a line end in it is `{line_end}`"
            )
        } else {
            format!("close it with `{delimiter}`")
        };
        self.error(Code::UnterminatedLiteral, span, message, &help);
    }

    fn unknown_escapes(&mut self, span: Span) {
        let text = self.text(span);
        for range in literal::unknown_escapes(&text[1..text.len() - 1]) {
            let start = span.range().start + 1;
            let place = Span::new(start + range.start, start + range.end);
            let escape = self.text(place);
            let help = if escape == "\\u" {
                "a character by its number is `\\u{e9}`, one to six hexadecimal digits".to_owned()
            } else {
                format!(
                    "for a backslash write `\\\\`; for a pattern use a regex literal, `/{escape}…/`"
                )
            };
            self.error(
                Code::UnknownEscape,
                place,
                format!("strings have no escape `{escape}`"),
                &help,
            );
        }
    }

    fn bare_slash(&mut self, span: Span) -> Token<'a> {
        let text = self.text(span);
        let content = literal::unslash(&text[1..text.len() - 1], self.arena);
        self.error(
            Code::UnescapedSlash,
            span,
            "a bare `/` ends a regex",
            &format!("in a regex a slash is `\\/`: write `/{}/`", slash(content)),
        );
        Token::Regex(content, RegexFlags::NONE)
    }

    fn unknown_flags(&mut self, span: Span) -> Token<'a> {
        let text = self.text(span);
        let end = text.rfind('/').unwrap_or(0);
        let letters = &text[end + 1..];
        let help = if self.language == Language::ElenchV1 {
            "flags begin the pattern: `/(?i)…/`; a slash in a pattern is `\\/`"
        } else {
            "the flags are `i`, `m` and `s`, each once; a slash in a pattern is `\\/`"
        };
        self.error(
            Code::RegexFlags,
            Span::new(span.range().start + end + 1, span.range().end),
            format!("`{}` after a regex are no flags", clip(letters)),
            help,
        );
        let content = text.get(1..end).unwrap_or_default();
        Token::Regex(literal::unslash(content, self.arena), RegexFlags::NONE)
    }
}
