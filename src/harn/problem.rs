//! What is wrong with a predicate file: place, code, reason, hint.

use std::fmt;

use crate::diagnostic::{Severity, Span};

macro_rules! codes {
    ($($(#[doc = $doc:literal])+ $variant:ident => $name:literal;)+) => {
        /// The stable codes of problems in predicate files.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum HarnCode {
            $($(#[doc = $doc])+ $variant,)+
        }

        impl HarnCode {
            /// Every code, in the order of the documentation.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The name in reports.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }
        }
    };
}

codes! {
    /// The file is over 1 MiB, or no UTF-8.
    FileTooLarge => "HARN-PAR-101";
    /// A character that starts no token.
    UnexpectedCharacter => "HARN-PAR-001";
    /// A token where another is wanted.
    UnexpectedToken => "HARN-PAR-002";
    /// A string or comment without its end.
    Unterminated => "HARN-PAR-003";
    /// A hole of an interpolated string that is not one expression.
    BadHole => "HARN-PAR-004";
    /// Nested too deep.
    NestedTooDeep => "HARN-PAR-005";
    /// An integer that does not fit 64 bits.
    IntegerTooLarge => "HARN-PAR-006";
    /// A form of the full language that this subset does not have.
    NotInSubset => "HARN-PAR-007";
    /// Something is assigned to that is no place.
    NotAPlace => "HARN-PAR-008";
    /// A required parameter after one with a default, or one behind the rest.
    ParameterOrder => "HARN-PAR-009";
    /// `break` or `continue` outside of a loop.
    OutsideLoop => "HARN-PAR-010";
    /// `try` with neither `catch` nor `finally`.
    BareTry => "HARN-PAR-012";
    /// Too many variables, constants or instructions in one function.
    FunctionTooLarge => "HARN-PAR-102";
    /// A variable that is not known.
    UnknownName => "HARN-NAM-001";
    /// A function that is not known, or not allowed.
    UnknownFunction => "HARN-NAM-002";
    /// An attribute that is not known.
    UnknownAttribute => "HARN-NAM-003";
    /// A method that no value has.
    UnknownMethod => "HARN-NAM-005";
    /// The same name twice in one scope.
    Redeclared => "HARN-NAM-006";
    /// A type that is not known.
    UnknownType => "HARN-NAM-007";
    /// An attribute where it means nothing.
    AttributeTarget => "HARN-NAM-011";
    /// An argument of an attribute that it does not take.
    AttributeArgument => "HARN-NAM-012";
    /// A spelling whose meaning changed between versions.
    RemovedMethod => "HARN-NAM-013";
    /// A value that may not be changed.
    Immutable => "HARN-OWN-001";
    /// Operands that do not go together.
    OperandTypes => "HARN-TYP-002";
    /// Too few or too many arguments.
    Arity => "HARN-TYP-003";
    /// Code that is never reached.
    Unreachable => "HARN-ORC-008";
    /// The attributes of a predicate do not fit together.
    Predicate => "HARN-ORC-009";
    /// An import that cannot be resolved.
    Import => "HARN-IMP-001";
    /// A constant pattern that is no regex.
    InvalidRegex => "HARN-RGX-001";
}

impl fmt::Display for HarnCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One remark on a predicate file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Whether the file is refused.
    pub severity: Severity,
    /// The stable cause.
    pub code: HarnCode,
    /// Lower case, says what is wrong, ends without a period.
    pub message: Box<str>,
    /// Where, in bytes of the source.
    pub span: Span,
    /// What to do about it.
    pub help: Option<Box<str>>,
}

impl Problem {
    /// An error, which refuses the file.
    pub fn error(code: HarnCode, span: Span, message: impl Into<Box<str>>) -> Self {
        Self {
            severity: Severity::Error,
            code,
            message: message.into(),
            span,
            help: None,
        }
    }

    /// A warning, which leaves the file valid.
    pub fn warning(code: HarnCode, span: Span, message: impl Into<Box<str>>) -> Self {
        Self {
            severity: Severity::Warning,
            ..Self::error(code, span, message)
        }
    }

    /// Adds what to do about it.
    #[must_use]
    pub fn help(mut self, help: impl Into<Box<str>>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// True if it refuses the file.
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

/// The most problems that are told of one file.
pub const MOST_PROBLEMS: usize = 50;

/// Problems of one file.
#[derive(Debug, Default)]
pub(crate) struct Problems(Vec<Problem>);

impl Problems {
    pub(crate) fn push(&mut self, problem: Problem) {
        if self.0.len() < MOST_PROBLEMS && !self.0.contains(&problem) {
            self.0.push(problem);
        }
    }

    pub(crate) fn has_errors(&self) -> bool {
        self.0.iter().any(Problem::is_error)
    }

    /// Everything, in the order of the source.
    pub(crate) fn into_sorted(mut self) -> Vec<Problem> {
        self.0
            .sort_by_key(|problem| (problem.span, problem.severity, problem.code));
        self.0
    }
}
