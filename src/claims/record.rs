//! What the engine takes from a record.

use std::borrow::Cow;
use std::fmt::Write as _;

use crate::diagnostic::{Code, Diagnostic, Span};
use crate::digest::Digest;
use crate::language::Language;

/// One record of a claim log, as far as the engine looks at it.
///
/// Borrows from the window; what came out of an envelope is owned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record<'a> {
    /// The claim's own id; nothing is presumed of its form.
    pub id: Option<Cow<'a, str>>,
    /// The claim's `kind`, as it stands.
    pub kind: Option<Cow<'a, str>>,
    /// The claim's text for people, if it has one.
    pub text: Option<Cow<'a, str>>,
    /// The language that the expression names, known or not; `None` also where
    /// [`super::Options::default_language`] filled it in.
    pub language: Option<Cow<'a, str>>,
    /// True if the claim came in an envelope: its signatures were not looked at.
    pub signed_unchecked: bool,
    /// What is to be done with the record.
    pub body: Body<'a>,
    /// Errors if, and only if, the body is [`Body::Invalid`]; warnings with any
    /// body. Spans count bytes of the raw record and are empty where there is no
    /// place.
    pub diagnostics: Vec<Diagnostic>,
}

/// What is to be done with a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body<'a> {
    /// Evaluate the expression.
    Predicate(Expression<'a>),
    /// Skip and count it: an annotation asserts nothing executable.
    Annotation,
    /// Report it.
    Invalid,
}

/// A predicate whose language is known and whose digest, if it states one, is
/// that of its source. The source itself is not yet parsed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expression<'a> {
    /// The language to parse it in.
    pub language: Language,
    /// The source, exactly as it stands.
    pub source: Cow<'a, str>,
    /// The digest of the source.
    pub digest: Digest,
}

impl Record<'_> {
    /// A record that no claim could be found in.
    pub(super) fn unreadable(diagnostics: Vec<Diagnostic>) -> Self {
        Self {
            id: None,
            kind: None,
            text: None,
            language: None,
            signed_unchecked: false,
            body: Body::Invalid,
            diagnostics,
        }
    }

    /// The same record, independent of the bytes it was read from.
    #[must_use]
    pub fn into_owned(self) -> Record<'static> {
        Record {
            id: self.id.map(owned),
            kind: self.kind.map(owned),
            text: self.text.map(owned),
            language: self.language.map(owned),
            signed_unchecked: self.signed_unchecked,
            body: match self.body {
                Body::Predicate(expression) => Body::Predicate(Expression {
                    language: expression.language,
                    source: owned(expression.source),
                    digest: expression.digest,
                }),
                Body::Annotation => Body::Annotation,
                Body::Invalid => Body::Invalid,
            },
            diagnostics: self.diagnostics,
        }
    }
}

fn owned(text: Cow<'_, str>) -> Cow<'static, str> {
    Cow::Owned(text.into_owned())
}

/// The diagnostics of a record that have no place in its bytes.
#[derive(Default)]
pub(super) struct Findings(pub(super) Vec<Diagnostic>);

impl Findings {
    /// Adds an error.
    pub(super) fn error(&mut self, code: Code, message: impl Into<Box<str>>) {
        self.0
            .push(Diagnostic::error(code, Span::default(), message));
    }

    /// Adds an error and what to do about it.
    pub(super) fn error_with_help(
        &mut self,
        code: Code,
        message: impl Into<Box<str>>,
        help: impl Into<Box<str>>,
    ) {
        self.0
            .push(Diagnostic::error(code, Span::default(), message).help(help));
    }

    /// Adds a warning.
    pub(super) fn warning(&mut self, code: Code, message: impl Into<Box<str>>) {
        self.0
            .push(Diagnostic::warning(code, Span::default(), message));
    }

    /// True if one of them refuses the record.
    pub(super) fn has_error(&self) -> bool {
        self.0.iter().any(Diagnostic::is_error)
    }
}

/// A log's own words in a message: in backquotes, on one line, not too long.
pub(super) fn quoted(text: &str) -> String {
    const SHOWN: usize = 80;
    let mut quoted = String::from("`");
    for char in text.chars().take(SHOWN) {
        if char.is_control() {
            // Writing to a string does not fail.
            let _ = write!(quoted, "{}", char.escape_default());
        } else {
            quoted.push(char);
        }
    }
    if text.chars().nth(SHOWN).is_some() {
        quoted.push('…');
    }
    quoted.push('`');
    quoted
}
