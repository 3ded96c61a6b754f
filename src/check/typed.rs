//! The typed AST: what the checker hands to the compiler. Nothing here can be
//! ill-typed.

use crate::diagnostic::Span;
use crate::facts::RegexFlags;

pub use crate::compare::CompareOp;

/// A bool-valued node with its place in the source.
#[derive(Clone, Copy, Debug)]
pub struct TBool<'a> {
    /// What it is.
    pub kind: TBoolKind<'a>,
    /// Where it stands.
    pub span: Span,
}

/// The bool-valued forms.
#[derive(Clone, Copy, Debug)]
pub enum TBoolKind<'a> {
    /// `true` or `false`.
    Const(bool),
    /// An odd number of `!`.
    Not(&'a TBool<'a>),
    /// Two or more operands of `&&`.
    And(&'a [TBool<'a>]),
    /// Two or more operands of `||`.
    Or(&'a [TBool<'a>]),
    /// `exists(path)`.
    Exists(TPath<'a>),
    /// `test(name).passed`.
    Passed(&'a str),
    /// A comparison of two ints.
    CompareInt(CompareOp, TInt<'a>, TInt<'a>),
    /// `==` (or with `negated` `!=`) of two bools.
    EqualBool {
        /// True for `!=`.
        negated: bool,
        /// The left side.
        left: &'a TBool<'a>,
        /// The right side.
        right: &'a TBool<'a>,
    },
    /// `==` (or with `negated` `!=`) of two strings.
    EqualStr {
        /// True for `!=`.
        negated: bool,
        /// The left side.
        left: TStr<'a>,
        /// The right side.
        right: TStr<'a>,
    },
    /// `.contains`, `.starts_with` or `.ends_with`.
    Substring(SubstringOp, TStr<'a>, &'a str),
    /// `.matches`.
    Matches(TStr<'a>, TPattern<'a>),
}

/// The substring methods of strings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SubstringOp {
    /// `.contains`
    Contains,
    /// `.starts_with`, v2
    StartsWith,
    /// `.ends_with`, v2
    EndsWith,
}

/// An int-valued term.
#[derive(Clone, Copy, Debug)]
pub struct TInt<'a> {
    /// What it is.
    pub kind: TIntKind<'a>,
    /// Where it stands.
    pub span: Span,
}

/// The int-valued forms.
#[derive(Clone, Copy, Debug)]
pub enum TIntKind<'a> {
    /// A literal.
    Const(i64),
    /// `grep(pattern, path)`, never negative.
    Grep(TPattern<'a>, TPath<'a>),
    /// `count(pattern, path)` of v2, never negative.
    Count(TPattern<'a>, TPath<'a>),
    /// `run(command).exit`.
    Exit(&'a str),
    /// `.stdout.lines` or `.stderr.lines` of v2, never negative.
    Lines(&'a str, Stream),
}

/// A string-valued term.
#[derive(Clone, Copy, Debug)]
pub struct TStr<'a> {
    /// What it is.
    pub kind: TStrKind<'a>,
    /// Where it stands.
    pub span: Span,
}

/// The string-valued forms.
#[derive(Clone, Copy, Debug)]
pub enum TStrKind<'a> {
    /// A literal, unescaped.
    Const(&'a str),
    /// Output of `run(command)`.
    Output(&'a str, Stream),
}

/// Which output of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Stream {
    /// `.stdout`
    Stdout,
    /// `.stderr`
    Stderr,
}

/// A regex that is known to parse.
#[derive(Clone, Copy, Debug)]
pub struct TPattern<'a> {
    /// The text with `\/` turned into `/`, or the string's value.
    pub text: &'a str,
    /// Flags after the literal.
    pub flags: RegexFlags,
    /// Where the literal stands.
    pub span: Span,
}

/// A path argument.
#[derive(Clone, Copy, Debug)]
pub struct TPath<'a> {
    /// Relative to the workspace root.
    pub text: &'a str,
    /// True for a v2 glob, which is known to parse.
    pub glob: bool,
    /// Where the literal stands.
    pub span: Span,
}
