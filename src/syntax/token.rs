//! The tokens the grammar reads, and the flaws that repair turns into tokens.

use crate::diagnostic::Span;
use crate::facts::{Primitive, RegexFlags};

use super::ast::{CompareOp, Field, Method};

/// A token of the grammar.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Token<'a> {
    /// `&&`
    AndAnd,
    /// `||`
    OrOr,
    /// `!`
    Bang,
    /// A comparison operator.
    Compare(CompareOp),
    /// `(` of a call.
    Open,
    /// `(` that groups.
    Group,
    /// `)`
    Close,
    /// `,`
    Comma,
    /// `.`
    Dot,
    /// The word of a primitive.
    Primitive(Primitive),
    /// The word of a field.
    Field(Field),
    /// The word of a method.
    Method(Method),
    /// `true` or `false`.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A string, unescaped.
    Str(&'a str),
    /// A regex with `\/` turned into `/`.
    Regex(&'a str, RegexFlags),
    /// Text that was reported and that the grammar takes for any operand.
    Unknown,
    /// What the lexer could not make a token of; repair replaces it.
    Flaw(Flaw),
}

impl Token<'_> {
    /// True for what an operand begins behind, so that a `(` there groups.
    pub(super) const fn precedes_operand(self) -> bool {
        matches!(
            self,
            Self::AndAnd
                | Self::OrOr
                | Self::Bang
                | Self::Compare(_)
                | Self::Open
                | Self::Group
                | Self::Comma
                | Self::Dot
                | Self::Flaw(
                    Flaw::Equals | Flaw::Ampersand | Flaw::Pipe | Flaw::Comment | Flaw::Control
                )
        )
    }

    /// True for the words of the language.
    pub(super) const fn is_word(self) -> bool {
        matches!(
            self,
            Self::Primitive(_) | Self::Method(_) | Self::Field(_) | Self::Bool(_)
        )
    }

    /// True for what can begin an operand.
    pub(super) const fn begins_operand(self) -> bool {
        matches!(
            self,
            Self::Bang
                | Self::Group
                | Self::Primitive(_)
                | Self::Bool(_)
                | Self::Int(_)
                | Self::Str(_)
                | Self::Unknown
        )
    }
}

/// Why a piece of text is no token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flaw {
    /// A word that the language does not have.
    Word,
    /// `=` or `===`
    Equals,
    /// `&`
    Ampersand,
    /// `|`
    Pipe,
    /// `'…'` on one line.
    SingleQuoted,
    /// A string without its end on the line; the last token.
    OpenString,
    /// A regex without its end on the line; the last token.
    OpenRegex,
    /// A string with an escape that strings do not have.
    Escape,
    /// `//`
    EmptyRegex,
    /// A regex that goes on after a `/` without a backslash.
    Slash,
    /// A regex followed by letters that are no flags.
    Flags,
    /// An integer out of range.
    IntegerRange,
    /// Digits followed by a fraction or letters.
    Number,
    /// `#…`, a comment where there are none.
    Comment,
    /// Characters that nobody sees.
    Control,
    /// Any other character, or a run of the same one.
    Character,
}

/// A token with its place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Spanned<'a> {
    pub(super) token: Token<'a>,
    pub(super) span: Span,
}
