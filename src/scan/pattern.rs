//! Parsing patterns in bounded time.
//!
//! Ignoring case in a large class costs time for every character in it, and a
//! pattern within the length limit can hold hundreds of such classes: seconds of
//! work before any size limit of the compiled form sees it.

use regex_syntax::ast::{self, Ast, Flag, Flags};
use regex_syntax::hir::Hir;
use regex_syntax::hir::translate::TranslatorBuilder;
use thiserror::Error;

use crate::facts::{Pattern, RegexFlags};
use crate::reason::{Reason, ReasonCode};

/// The longest pattern text, in bytes (ADR-0004).
pub const MAX_PATTERN_BYTES: usize = 4 << 10;

/// The largest compiled pattern, in bytes (ADR-0004).
pub const MAX_COMPILED_BYTES: usize = 2 << 20;

/// Characters whose case a pattern may make us ignore, at some ten nanoseconds
/// each.
const MAX_FOLDED: u64 = 5_000_000;

/// What a class by name may hold, such as `\pL`.
const NAMED_CLASS: u64 = 150_000;

/// What a class can hold at most.
const EVERYTHING: u64 = 0x11_0000;

/// Why a pattern cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PatternError {
    /// The text is over [`MAX_PATTERN_BYTES`].
    #[error("its text is over {MAX_PATTERN_BYTES} bytes; shorten it")]
    TooLong,
    /// Ignoring case in its classes would take too long.
    #[error("it ignores case in too many large classes; put `(?-i:…)` around those without case")]
    TooMuchFolding,
    /// The compiled form is over [`MAX_COMPILED_BYTES`].
    #[error("compiled, it is over {MAX_COMPILED_BYTES} bytes; lower its repetitions")]
    TooLarge,
    /// It is no regex.
    #[error("it is no regex: {0}")]
    Invalid(String),
}

impl PatternError {
    /// The reason of a fact that hangs on the pattern.
    #[must_use]
    pub fn reason(&self, pattern: &Pattern) -> Reason {
        let code = match self {
            Self::TooLong | Self::TooMuchFolding | Self::TooLarge => ReasonCode::PatternTooLarge,
            Self::Invalid(_) => ReasonCode::PatternInvalid,
        };
        let shown: String = pattern.text.chars().take(60).collect();
        let rest = if shown.len() < pattern.text.len() {
            "…"
        } else {
            ""
        };
        Reason::new(
            code,
            format!("the pattern /{shown}{rest}/ cannot be used: {self}"),
        )
    }
}

/// Parses a pattern for haystacks that need not be UTF-8.
///
/// # Errors
///
/// If it is no regex, too long, or would take too long to translate.
pub fn parse_pattern(pattern: &Pattern) -> Result<Hir, PatternError> {
    if pattern.text.len() > MAX_PATTERN_BYTES {
        return Err(PatternError::TooLong);
    }
    parse_text(&pattern.text, pattern.flags).map_err(|error| match error {
        SyntaxError::Regex(error) => PatternError::Invalid(short(&error)),
        SyntaxError::TooMuchFolding => PatternError::TooMuchFolding,
    })
}

/// Why a text is no pattern, with the place where `regex-syntax` knows one.
#[derive(Clone, Debug)]
pub(crate) enum SyntaxError {
    /// It is no regex.
    Regex(Box<regex_syntax::Error>),
    /// Ignoring case in its classes would take too long.
    TooMuchFolding,
}

impl<E: Into<regex_syntax::Error>> From<E> for SyntaxError {
    fn from(error: E) -> Self {
        Self::Regex(Box::new(error.into()))
    }
}

/// Parses a text of any length the way every part of the engine does.
pub(crate) fn parse_text(text: &str, flags: RegexFlags) -> Result<Hir, SyntaxError> {
    let ast = ast::parse::Parser::new().parse(text)?;
    let ignores_case = flags.contains(RegexFlags::IGNORE_CASE);
    if folded(&ast, ignores_case) > MAX_FOLDED {
        return Err(SyntaxError::TooMuchFolding);
    }
    let hir = TranslatorBuilder::new()
        .utf8(false)
        .case_insensitive(ignores_case)
        .multi_line(flags.contains(RegexFlags::MULTI_LINE))
        .dot_matches_new_line(flags.contains(RegexFlags::DOT_ALL))
        .build()
        .translate(text, &ast)?;
    Ok(hir)
}

/// What is wrong, without the picture of where.
fn short(error: &regex_syntax::Error) -> String {
    match error {
        regex_syntax::Error::Parse(error) => error.kind().to_string(),
        regex_syntax::Error::Translate(error) => error.kind().to_string(),
        other => other.to_string(),
    }
}

/// An upper bound on the characters whose case translating would ignore.
fn folded(ast: &Ast, ignores_case: bool) -> u64 {
    let folding = Folding {
        ignores_case,
        ..Folding::default()
    };
    let Ok(folded) = ast::visit(ast, folding);
    folded
}

#[derive(Debug, Default)]
struct Folding {
    /// True if case is ignored anywhere: where exactly is not worth tracking.
    ignores_case: bool,
    total: u64,
    /// Of the outermost bracketed class at hand: characters in its items, and how
    /// often all of them may be folded.
    characters: u64,
    times: u64,
}

impl Folding {
    fn flags(&mut self, flags: &Flags) {
        self.ignores_case |= flags.flag_state(Flag::CaseInsensitive) == Some(true);
    }
}

impl ast::Visitor for Folding {
    type Output = u64;
    type Err = std::convert::Infallible;

    fn finish(self) -> Result<u64, Self::Err> {
        Ok(if self.ignores_case { self.total } else { 0 })
    }

    fn visit_pre(&mut self, ast: &Ast) -> Result<(), Self::Err> {
        match ast {
            Ast::Flags(set) => self.flags(&set.flags),
            Ast::Group(group) => group
                .flags()
                .into_iter()
                .for_each(|flags| self.flags(flags)),
            Ast::ClassUnicode(class) => self.total += named(class.is_negated()),
            Ast::ClassBracketed(_) => (self.characters, self.times) = (0, 1),
            _ => {}
        }
        Ok(())
    }

    fn visit_post(&mut self, ast: &Ast) -> Result<(), Self::Err> {
        if let Ast::ClassBracketed(_) = ast {
            self.total += self.characters.min(EVERYTHING) * self.times;
        }
        Ok(())
    }

    fn visit_class_set_item_pre(&mut self, item: &ast::ClassSetItem) -> Result<(), Self::Err> {
        self.characters += match item {
            ast::ClassSetItem::Range(range) => {
                u64::from(u32::from(range.end.c).saturating_sub(u32::from(range.start.c))) + 1
            }
            ast::ClassSetItem::Unicode(class) => named(class.is_negated()),
            ast::ClassSetItem::Perl(class) => named(class.negated),
            ast::ClassSetItem::Ascii(class) => named(class.negated),
            ast::ClassSetItem::Bracketed(class) => {
                self.times += 1;
                if class.negated { EVERYTHING } else { 0 }
            }
            _ => 1,
        };
        Ok(())
    }

    fn visit_class_set_binary_op_pre(
        &mut self,
        _: &ast::ClassSetBinaryOp,
    ) -> Result<(), Self::Err> {
        self.times += 2;
        Ok(())
    }
}

const fn named(is_negated: bool) -> u64 {
    if is_negated { EVERYTHING } else { NAMED_CLASS }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Hir, PatternError> {
        parse_pattern(&Pattern {
            text: text.into(),
            flags: RegexFlags::NONE,
        })
    }

    #[test]
    fn patterns_that_are_slow_to_translate_are_refused() {
        let everything = "[ -\u{10ffff}]";
        for slow in [
            format!("(?i){}", everything.repeat(500)),
            format!("{}(?i:{})", "x", "\\pL".repeat(600)),
            format!("(?i){}{everything}{}", "[".repeat(200), "]".repeat(200)),
            format!("(?i)[{everything}{}]", "--a".repeat(100)),
            format!("(?i)[[^a]{}]", "&&b".repeat(100)),
        ] {
            assert_eq!(parse(&slow), Err(PatternError::TooMuchFolding), "{slow}");
        }
        assert!(parse(&everything.repeat(500)).is_ok());
        assert!(parse("(?i)\\w+ [^\\W_]+ [a-zà-ÿ]* \\pL \\PL [^a] [[:alpha:]]").is_ok());
    }

    #[test]
    fn errors_say_what_is_wrong_in_one_line() {
        let reason = parse("a(b").unwrap_err().reason(&Pattern {
            text: "a(b".into(),
            flags: RegexFlags::NONE,
        });
        assert_eq!(
            reason.to_string(),
            "pattern_invalid: the pattern /a(b/ cannot be used: it is no regex: unclosed group"
        );
        assert_eq!(parse(&"a".repeat(5000)), Err(PatternError::TooLong));
    }
}
