//! What the attributes of a predicate say. (harn.md, section 6.1.)

use crate::diagnostic::Span;
use crate::digest::Digest;

/// A function that carries `@invariant`.
#[derive(Clone, Debug, PartialEq)]
pub struct Predicate {
    /// The name of the function.
    pub name: Box<str>,
    /// How it is evaluated.
    pub kind: Kind,
    /// Where its rule comes from.
    pub archivist: Option<Archivist>,
    /// Whether its first parameter is `HarnessAst`.
    pub wants_harness: bool,
    /// From the first attribute to the end of the function.
    pub span: Span,
    pub(crate) function: u32,
}

impl Predicate {
    /// The hash of its source, from the first attribute to the end of the function.
    /// (flow.md, section 2.5.)
    #[must_use]
    pub fn hash(&self, source: &str) -> String {
        let bytes = source.get(self.span.range()).unwrap_or_default();
        Digest::of(bytes.as_bytes()).to_string()
    }
}

/// How a predicate is evaluated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// From the slice alone.
    Deterministic,
    /// With a judge, and another predicate where there is none.
    Semantic {
        /// The predicate that stands in.
        fallback: Box<str>,
        /// Whether its verdict counts.
        policy: FallbackPolicy,
    },
}

/// What the verdict of a fallback is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FallbackPolicy {
    /// As much as that of the judge.
    Enforce,
    /// It warns at most.
    Advisory,
}

/// Where a rule comes from.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Archivist {
    /// URLs, or a constant's strings.
    pub evidence: Vec<Box<str>>,
    /// How sure it is, from 0 to 1.
    pub confidence: Option<f64>,
    /// When the evidence was read.
    pub source_date: Option<Box<str>>,
    /// Places that it was seen at.
    pub coverage_examples: Vec<Box<str>>,
}
