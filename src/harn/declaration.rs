//! A predicate as its attributes declare it, whether or not it can be evaluated.
//! (flow.md, sections 2.2 to 2.5.)

use serde::{Deserialize, Serialize};

use crate::diagnostic::Span;
use crate::digest::Digest;
use crate::harn::predicate::{Archivist, FallbackPolicy};
use crate::harn::problem::Problem;

/// How a predicate comes to its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// From the slice alone.
    Deterministic,
    /// With a judge.
    Semantic,
}

/// A function with a bare `@invariant`.
#[derive(Clone, Debug, PartialEq)]
pub struct Declaration {
    /// The name of the function.
    pub name: Box<str>,
    /// How it is evaluated; deterministic where it does not say.
    pub mode: Mode,
    /// The predicate that a semantic one names as its fallback. It need not be there.
    pub fallback: Option<Box<str>>,
    /// What the fallback is worth; to enforce where nothing valid is said.
    pub policy: FallbackPolicy,
    /// Where its rule comes from.
    pub archivist: Option<Archivist>,
    /// Whether it also judges what shipped before it was written: `@retroactive`.
    pub is_retroactive: bool,
    /// Whether its first parameter is `HarnessAst`.
    pub wants_harness: bool,
    /// From the first attribute to the end of the function.
    pub span: Span,
    /// From `fn`, behind any `pub`, to the end of the function.
    pub function_span: Span,
    /// The digest of the bytes of `span`: the predicate hash. (flow.md, section 2.5.)
    pub hash: Digest,
    /// The closure hash, which also covers the helpers, constants, types and imports that
    /// the predicate reaches. `None` if the file cannot be compiled.
    pub closure: Option<Digest>,
    /// What is wrong with its attributes, in the order of [`FlawKind`].
    pub flaws: Vec<Flaw>,
}

impl Declaration {
    /// True if what is wrong with its attributes keeps it from being evaluated.
    #[must_use]
    pub fn is_refused(&self) -> bool {
        self.flaws.iter().any(|flaw| flaw.problem.is_error())
    }
}

/// Something that is wrong with the attributes of a predicate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flaw {
    /// What.
    pub kind: FlawKind,
    /// What is told of it; an error refuses the predicate.
    pub problem: Problem,
}

/// What can be wrong with the attributes of a predicate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum FlawKind {
    /// It is deterministic and semantic at once.
    BothModes,
    /// It is neither.
    NoMode,
    /// It does not say where its rule comes from: a warning.
    NoArchivist,
    /// The policy of its fallback is neither `enforce` nor `advisory`.
    UnknownPolicy,
    /// It is semantic and names no fallback.
    NoFallback,
    /// A parameter is of a capability that predicates are not given.
    Capability,
}
