//! Words, numbers and characters that mean nothing, and what was meant by them.

use crate::diagnostic::{Code, Span};

use super::near::{self, Position, WordOperator};
use super::quoting::clip;
use super::repair::Repair;
use super::token::{Flaw, Spanned, Token};

impl<'a> Repair<'a, '_> {
    /// Reports a run of words, numbers and characters that mean nothing, with
    /// the words of the language that are strewn in.
    pub(super) fn junk(&mut self, at: usize) -> usize {
        let first = self.tokens[at];
        if let Some(token) = self.operator(first) {
            self.sound.push(token);
            return 1;
        }
        let run = self.run_length(at);
        let last = self.tokens[at + run - 1];
        let span = first.span.to(last.span);
        // Members of what is unknown are unknown too; that is not news.
        let stale = at >= 2
            && self.tokens[at - 1].token == Token::Dot
            && self
                .sound
                .iter()
                .rev()
                .nth(1)
                .is_some_and(|before| before.token == Token::Unknown);
        let mut token = Token::Unknown;
        if !stale {
            token = self.report_junk(at, run, span);
        }
        self.sound.push(Spanned { token, span });
        run
    }

    fn operator(&mut self, spanned: Spanned<'a>) -> Option<Spanned<'a>> {
        let operator = WordOperator::of(self.text(spanned.span))?;
        let token = self.word_operator(operator, spanned.span);
        Some(Spanned { token, ..spanned })
    }

    /// Tokens from `at` on that belong to one piece of junk.
    fn run_length(&self, at: usize) -> usize {
        let is_junk = |index: usize| {
            let Some(spanned) = self.tokens.get(index) else {
                return false;
            };
            let called = self
                .tokens
                .get(index + 1)
                .is_some_and(|next| next.token == Token::Open);
            match spanned.token {
                Token::Flaw(Flaw::Word) => WordOperator::of(self.text(spanned.span)).is_none(),
                Token::Flaw(Flaw::Character | Flaw::Number) => true,
                token => token.is_word() && !called,
            }
        };
        let mut end = at + 1;
        // A word with an argument list is a thing of its own.
        while self.tokens[end - 1].token != Token::Open && is_junk(end) {
            end += 1;
        }
        end - at
    }

    fn report_junk(&mut self, at: usize, run: usize, span: Span) -> Token<'a> {
        let text = self.text(span);
        let shown = clip(text);
        if text.contains(['\u{201c}', '\u{201d}', '\u{201e}', '\u{2018}', '\u{2019}']) {
            self.error(
                Code::UnexpectedCharacter,
                span,
                format!("`{shown}` has typographic quotes"),
                "strings stand in straight double quotes: `\"…\"`",
            );
            return Token::Unknown;
        }
        if run > 1
            && self.tokens[at..at + run]
                .iter()
                .any(|s| s.token == Token::Flaw(Flaw::Word))
        {
            self.error(
                Code::UnknownWord,
                span,
                format!("`{shown}` is nothing that the language knows"),
                "combine checks with `&&`, `||` and `!`; a claim in words belongs in \
                 `form: \"annotation\"`",
            );
            return Token::Unknown;
        }
        match self.tokens[at].token {
            Token::Flaw(Flaw::Number) => {
                self.error(
                    Code::UnexpectedCharacter,
                    span,
                    format!("`{shown}` is no integer"),
                    "integers are plain decimal digits, without fraction, unit or separators",
                );
                Token::Int(0)
            }
            Token::Flaw(Flaw::Word) => self.unknown_word(at, span),
            _ => {
                self.error(
                    Code::UnexpectedCharacter,
                    span,
                    format!("`{shown}` begins nothing that the language knows"),
                    character_help(text),
                );
                Token::Unknown
            }
        }
    }

    fn unknown_word(&mut self, at: usize, span: Span) -> Token<'a> {
        let word = self.text(span);
        let follows = |index: usize, token| {
            self.tokens
                .get(index)
                .is_some_and(|spanned| spanned.token == token)
        };
        let position = if at > 0 && follows(at - 1, Token::Dot) {
            Position::Member
        } else if follows(at + 1, Token::Open) {
            Position::Callee
        } else {
            Position::Alone
        };
        let nearest = near::nearest(self.language, word, position);
        let help = match (nearest, position) {
            (Some((name, _)), _) => format!("did you mean `{name}`?"),
            (None, Position::Member) => "a run has `.exit`, `.stdout` and `.stderr`, a test \
                has `.passed`, output has `.contains(\"…\")` and `.matches(/…/)`"
                .to_owned(),
            (None, Position::Callee) => "the checks are `grep`, `exists`, `test` and `run`; to \
                claim what a function returns, write a test and claim `test(\"its name\").passed`"
                .to_owned(),
            (None, Position::Alone) => "strings stand in double quotes; combine checks with \
                `&&`, `||` and `!`"
                .to_owned(),
        };
        self.error(
            Code::UnknownWord,
            span,
            format!("unknown word `{}`", clip(word)),
            &help,
        );
        nearest.map_or(Token::Unknown, |(_, token)| token)
    }
}

fn character_help(text: &str) -> &'static str {
    match text.chars().next() {
        Some('“' | '”' | '„' | '«' | '»') => "strings stand in plain double quotes, `\"`",
        Some('\'' | '‘' | '’' | '`') => "strings stand in double quotes, `\"`",
        Some('≥') => "write `>=`",
        Some('≤') => "write `<=`",
        Some('≠') => "write `!=`",
        Some('∧') => "write `&&`",
        Some('∨') => "write `||`",
        Some('¬') => "write `!`",
        Some('-' | '+' | '*' | '%') => {
            "there is no arithmetic; compare with the number that you mean"
        }
        Some('[' | '{') => "the language has no lists; combine checks with `&&` and `||`",
        Some(';') => "combine checks with `&&` and `||`",
        Some('$') => "the language has no variables; write the value itself",
        Some('\\') => "outside literals there are no escapes",
        _ => "remove it, or put it into a string",
    }
}
