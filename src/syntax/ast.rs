//! The untyped tree. It lives in the caller's arena; lists are slices and `!`
//! chains are counts, so that its depth is bounded by the nesting limits.

use crate::diagnostic::Span;
use crate::facts::{Primitive, RegexFlags};

pub use crate::compare::CompareOp;

/// An expression with its place in the source.
#[derive(Clone, Copy, Debug)]
pub struct Expr<'a> {
    /// What it is.
    pub kind: ExprKind<'a>,
    /// The text it covers, parentheses around it included.
    pub span: Span,
}

/// The forms of expressions.
#[derive(Clone, Copy, Debug)]
pub enum ExprKind<'a> {
    /// Two or more operands of `||`.
    Or(&'a [Expr<'a>]),
    /// Two or more operands of `&&`.
    And(&'a [Expr<'a>]),
    /// An operand below that many `!`, one or more.
    Not(u32, &'a Expr<'a>),
    /// A comparison.
    Compare(CompareOp, &'a Expr<'a>, &'a Expr<'a>),
    /// A term followed by one or more fields; a method can only be the last.
    Select(&'a Expr<'a>, &'a [Selector<'a>]),
    /// A primitive with its arguments.
    Call(Primitive, &'a [Argument<'a>]),
    /// An integer literal.
    Int(i64),
    /// A string literal, unescaped.
    Str(&'a str),
    /// `true` or `false`.
    Bool(bool),
    /// A place that did not parse and has its diagnostic.
    Broken,
}

/// A field or method after a term.
#[derive(Clone, Copy, Debug)]
pub struct Selector<'a> {
    /// What it is.
    pub kind: SelectorKind<'a>,
    /// From the word to its end, without the dot.
    pub span: Span,
}

/// Fields and methods.
#[derive(Clone, Copy, Debug)]
pub enum SelectorKind<'a> {
    /// A field.
    Field(Field),
    /// A method with its arguments.
    Method(Method, &'a [Argument<'a>]),
    /// A place that did not parse and has its diagnostic.
    Broken,
}

/// A literal in the argument list of a primitive or method.
#[derive(Clone, Copy, Debug)]
pub struct Argument<'a> {
    /// What it is.
    pub kind: ArgumentKind<'a>,
    /// The literal with its delimiters.
    pub span: Span,
}

/// The literals that may stand as arguments.
#[derive(Clone, Copy, Debug)]
pub enum ArgumentKind<'a> {
    /// A string, unescaped.
    Str(&'a str),
    /// A regex with `\/` turned into `/`.
    Regex(&'a str, RegexFlags),
    /// An integer.
    Int(i64),
    /// `true` or `false`.
    Bool(bool),
    /// A place that did not parse and has its diagnostic.
    Broken,
}

/// The fields of records and, in v2, of output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Field {
    /// `.passed` of a test.
    Passed,
    /// `.exit` of a run.
    Exit,
    /// `.stdout` of a run.
    Stdout,
    /// `.stderr` of a run.
    Stderr,
    /// `.lines` of output, v2.
    Lines,
}

impl Field {
    /// The word of the language.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Exit => "exit",
            Self::Stdout => "stdout",
            Self::Stderr => "stderr",
            Self::Lines => "lines",
        }
    }
}

/// The methods of strings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Method {
    /// `.contains("…")`
    Contains,
    /// `.starts_with("…")`, v2.
    StartsWith,
    /// `.ends_with("…")`, v2.
    EndsWith,
    /// `.matches(/…/)`
    Matches,
}

impl Method {
    /// The word of the language.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Contains => "contains",
            Self::StartsWith => "starts_with",
            Self::EndsWith => "ends_with",
            Self::Matches => "matches",
        }
    }
}
