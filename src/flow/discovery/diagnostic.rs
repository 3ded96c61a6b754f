//! What discovery has to say. (flow.md, sections 2.4 and 10.2.)

use serde::{Serialize, Serializer};

use crate::diagnostic::{Severity, Span};
use crate::harn::Problem;

/// What a diagnostic is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum DiagnosticKind {
    /// The file is there and cannot be read.
    Unreadable,
    /// The file does not lex.
    Lex,
    /// The file does not parse.
    Parse,
    /// A predicate is both deterministic and semantic.
    BothModes,
    /// A predicate is neither.
    NoMode,
    /// A predicate does not say where its rule comes from.
    NoArchivist,
    /// The policy of a fallback is not known.
    UnknownPolicy,
    /// A semantic predicate names no fallback.
    NoFallback,
    /// The file, or one predicate, cannot be compiled.
    Load,
    /// The compiler finds something doubtful.
    Doubtful,
    /// The fallback is no predicate of the file or of an ancestor.
    UnresolvedFallback,
    /// The fallback is there and semantic.
    SemanticFallback,
    /// A parameter is of a capability that predicates are not given.
    Capability,
    /// A predicate is removed or changed by the slice that it judges.
    ChangedRule,
    /// A file of the slice has no text that predicates could judge.
    NoText,
    /// A file of the slice is too large to be judged.
    TooLarge,
}

impl DiagnosticKind {
    /// The stable code. (flow.md, sections 2.4 and 4.6.)
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Unreadable
            | Self::Lex
            | Self::Parse
            | Self::BothModes
            | Self::NoMode
            | Self::NoArchivist
            | Self::Doubtful => "predicate_discovery_error",
            Self::UnknownPolicy => "fallback_policy_invalid",
            Self::NoFallback => "fallback_missing",
            Self::Load => "predicate_load_error",
            Self::UnresolvedFallback => "fallback_unresolved",
            Self::SemanticFallback => "fallback_not_deterministic",
            Self::Capability => "predicate_runtime_error",
            Self::ChangedRule => "predicate_changed",
            Self::NoText => "no_text",
            Self::TooLarge => "too_large",
        }
    }
}

/// One remark on a predicate file. Written as
/// `{"severity","code","message","span":null|{"start","end"}}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiscoveryDiagnostic {
    /// Whether it refuses what it is about.
    pub severity: Severity,
    /// What it is about.
    pub kind: DiagnosticKind,
    /// For people. Says where, if `place` does not.
    pub message: Box<str>,
    /// The function that it is about.
    pub place: Option<Place>,
    /// The predicate that it is about.
    pub predicate: Option<Box<str>>,
    /// What the compiler says: its code, its own place and its hint.
    pub problem: Option<Problem>,
}

impl DiscoveryDiagnostic {
    /// The stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        self.kind.code()
    }

    /// True if it refuses what it is about.
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

/// A range of a source and where it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Place {
    /// The first byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
    /// The line of the first byte, from 1 on.
    #[serde(skip)]
    pub line: usize,
    /// Its column, from 1 on, in characters.
    #[serde(skip)]
    pub column: usize,
}

impl Serialize for DiscoveryDiagnostic {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Shape<'d> {
            severity: &'static str,
            code: &'static str,
            message: &'d str,
            span: Option<Place>,
        }
        Shape {
            severity: self.severity.name(),
            code: self.code(),
            message: &self.message,
            span: self.place,
        }
        .serialize(serializer)
    }
}

/// Finds lines and columns. What comes in the order of the source is found in one pass.
#[derive(Debug)]
pub(super) struct Places<'s> {
    source: &'s [u8],
    at: usize,
    line: usize,
    column: usize,
}

impl<'s> Places<'s> {
    pub(super) const fn new(source: &'s str) -> Self {
        Self {
            source: source.as_bytes(),
            at: 0,
            line: 1,
            column: 1,
        }
    }

    pub(super) fn of(&mut self, span: Span) -> Place {
        let start = (span.start as usize).min(self.source.len());
        if start < self.at {
            (self.at, self.line, self.column) = (0, 1, 1);
        }
        let passed = self.source.get(self.at..start).unwrap_or_default();
        let (mut rest, newline) = (passed, memchr::memrchr(b'\n', passed));
        if let Some(newline) = newline {
            self.line += memchr::memchr_iter(b'\n', passed).count();
            self.column = 1;
            rest = passed.get(newline + 1..).unwrap_or_default();
        }
        // Every byte but those that go on with a character begins one.
        let begins = |byte: &&u8| **byte & 0xC0 != 0x80;
        self.column += rest.iter().filter(begins).count();
        self.at = start;
        Place {
            start: span.start,
            end: span.end,
            line: self.line,
            column: self.column,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_lines_and_characters_in_any_order() {
        let source = "a\n\u{e4}\u{1f600}b\n\nc";
        let mut places = Places::new(source);
        let mut at = |needle: &str| {
            let start = source.find(needle).expect("it is there");
            let place = places.of(Span::new(start, start + 1));
            (place.line, place.column)
        };
        assert_eq!(at("a"), (1, 1));
        assert_eq!(at("b"), (2, 3));
        assert_eq!(at("c"), (4, 1));
        assert_eq!(at("\u{1f600}"), (2, 2));
    }
}
