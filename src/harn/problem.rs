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

/// The most errors that are told of one file, and the most warnings.
pub const MOST_PROBLEMS: usize = 50;

/// Problems of one file.
#[derive(Debug, Default)]
pub(crate) struct Problems {
    errors: Vec<Problem>,
    warnings: Vec<Problem>,
    elsewhere: Option<Elsewhere>,
}

/// A file that is compiled because another one imports it: what is wrong with it is told
/// where it is imported.
#[derive(Debug)]
pub(crate) struct Elsewhere {
    /// Its path, as it is told.
    path: Box<str>,
    /// Where its lines end.
    line_ends: Vec<u32>,
    /// The import, in the file that problems are told of.
    import: Span,
}

impl Elsewhere {
    pub(crate) fn new(path: &str, source: &str, import: Span) -> Self {
        let ends = memchr::memchr_iter(b'\n', source.as_bytes());
        Self {
            path: path.into(),
            line_ends: ends.filter_map(|end| u32::try_from(end).ok()).collect(),
            import,
        }
    }

    fn place(&self, problem: Problem) -> Problem {
        let line = self
            .line_ends
            .partition_point(|end| *end < problem.span.start)
            + 1;
        Problem {
            message: format!("in `{}`, line {line}: {}", self.path, problem.message).into(),
            span: self.import,
            ..problem
        }
    }
}

impl Problems {
    pub(crate) fn push(&mut self, problem: Problem) {
        // Warnings, however many, never keep an error out.
        let list = match problem.severity {
            Severity::Error => &mut self.errors,
            Severity::Warning => &mut self.warnings,
        };
        if list.len() >= MOST_PROBLEMS {
            return;
        }
        let problem = match &self.elsewhere {
            Some(file) => file.place(problem),
            None => problem,
        };
        if !list.contains(&problem) {
            list.push(problem);
        }
    }

    /// Goes on with another file, or with the first one; gives what it was before.
    pub(crate) fn turn_to(&mut self, file: Option<Elsewhere>) -> Option<Elsewhere> {
        std::mem::replace(&mut self.elsewhere, file)
    }

    /// The place in the first file of what is at `span` in this one.
    pub(crate) fn told_at(&self, span: Span) -> Span {
        self.elsewhere.as_ref().map_or(span, |file| file.import)
    }

    pub(crate) fn has_errors(&self) -> bool {
        !self.errors.is_empty()
    }

    /// Everything, in the order of the source.
    pub(crate) fn into_sorted(self) -> Vec<Problem> {
        let mut all = self.errors;
        all.extend(self.warnings);
        all.sort_by_key(|problem| (problem.span, problem.severity, problem.code));
        all
    }
}
