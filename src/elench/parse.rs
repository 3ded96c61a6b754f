//! `parse(source)` of ADR-0004, "Crate".

use crate::check::Options;
use crate::code::Program;
use crate::diagnostic::{Code, Diagnostic, Span, Stage};
use crate::language::Language;
use crate::lower::{CompileError, compile};

/// A predicate of `elench-predicate-v1` that parses and is well typed.
#[derive(Clone, Debug)]
pub struct Expression(Program);

/// Why a source is no predicate. Each variant carries the first error; the
/// others are in [`ParseError::diagnostics`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseError {
    /// Nothing but white space.
    #[error("the predicate is empty")]
    Empty,
    /// The source ends where more is wanted.
    #[error("{0}")]
    UnexpectedEof(CompileError),
    /// A regex that is none.
    #[error("{0}")]
    InvalidRegex(CompileError),
    /// Parts whose types do not fit.
    #[error("{0}")]
    Expected(CompileError),
    /// Anything else that the grammar does not have, prose included.
    #[error("{0}")]
    UnexpectedToken(CompileError),
}

impl ParseError {
    /// Every independent error that was found, in source order.
    #[must_use]
    pub fn diagnostics(&self) -> &[Diagnostic] {
        match self {
            Self::Empty => &[],
            Self::UnexpectedEof(error)
            | Self::InvalidRegex(error)
            | Self::Expected(error)
            | Self::UnexpectedToken(error) => &error.diagnostics,
        }
    }

    fn new(error: CompileError) -> Self {
        let first = error.diagnostics.iter().find(|found| found.is_error());
        match first.map(|found| found.code) {
            Some(Code::EmptySource) => Self::Empty,
            Some(Code::UnexpectedEnd | Code::UnterminatedLiteral) => Self::UnexpectedEof(error),
            Some(Code::InvalidRegex | Code::UnsupportedRegex | Code::PatternTooLarge) => {
                Self::InvalidRegex(error)
            }
            Some(code) if code.stage() == Stage::Type => Self::Expected(error),
            _ => Self::UnexpectedToken(error),
        }
    }
}

/// Parses and type-checks a predicate of `elench-predicate-v1`.
///
/// A predicate that asserts nothing, such as `1 == 1`, parses;
/// [`crate::elench::evaluate`] refuses it.
///
/// # Errors
/// [`ParseError`] for anything that is no predicate.
pub fn parse(source: &str) -> Result<Expression, ParseError> {
    parse_as(Language::ElenchV1, source)
}

pub(super) fn parse_as(language: Language, source: &str) -> Result<Expression, ParseError> {
    let options = Options {
        allow_vacuous: true,
    };
    compile(language, source, options)
        .map(Expression)
        .map_err(ParseError::new)
}

impl Expression {
    /// The compiled predicate.
    #[must_use]
    pub fn program(&self) -> &Program {
        &self.0
    }

    /// Where the predicate as a whole asserts nothing, if it does not.
    #[must_use]
    pub fn vacuous(&self) -> Option<Span> {
        self.0
            .warnings()
            .iter()
            .find(|found| matches!(found.code, Code::Vacuous | Code::VacuityUndecided))
            .map(|found| found.span)
    }
}
