//! Tokens as the grammar sees them, after the layout layer.

use crate::diagnostic::Span;

/// A word that is no name, unless it follows a dot or is a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keyword {
    Break,
    Catch,
    Const,
    Continue,
    Else,
    False,
    Finally,
    Fn,
    For,
    Guard,
    If,
    Import,
    In,
    Let,
    Match,
    Nil,
    Pub,
    Return,
    Throw,
    True,
    Try,
    Type,
    While,
    /// Reserved in the full language and no part of the subset.
    Other,
}

impl Keyword {
    pub(super) fn of(word: &str) -> Option<Self> {
        Some(match word {
            "break" => Self::Break,
            "catch" => Self::Catch,
            "const" => Self::Const,
            "continue" => Self::Continue,
            "else" => Self::Else,
            "false" => Self::False,
            "finally" => Self::Finally,
            "fn" => Self::Fn,
            "for" => Self::For,
            "guard" => Self::Guard,
            "if" => Self::If,
            "import" => Self::Import,
            "in" => Self::In,
            "let" => Self::Let,
            "match" => Self::Match,
            "nil" => Self::Nil,
            "pub" => Self::Pub,
            "return" => Self::Return,
            "throw" => Self::Throw,
            "true" => Self::True,
            "try" => Self::Try,
            "type" => Self::Type,
            "while" => Self::While,
            "defer" | "enum" | "extends" | "impl" | "interface" | "override" | "parallel"
            | "pipeline" | "retry" | "spawn" | "struct" | "throws" | "var" | "yield" => Self::Other,
            _ => return None,
        })
    }
}

/// A token. The texts of strings are decoded; they and names are in the arena or in
/// the source.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Token<'a> {
    Name(&'a str),
    Keyword(Keyword, &'a str),
    Int(i64),
    Float(f64),
    Str(&'a str),
    Raw(&'a str),
    /// An interpolated string: then come `Str` and holes, then its end.
    StrOpen,
    StrClose,
    HoleOpen,
    HoleClose,
    /// An operator or a delimiter that means the same everywhere.
    Mark(&'static str),
    /// A `{`, which the layout layer tells apart.
    Brace,
    BlockOpen,
    DictOpen,
    ClosureOpen,
    NotIn,
    GuardElse,
    Newline,
    /// What separates statements: line ends that count, and `;`.
    Sep,
    /// What was reported already.
    Flaw,
}

/// A token and its place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Spanned<'a> {
    pub(super) token: Token<'a>,
    pub(super) span: Span,
}
