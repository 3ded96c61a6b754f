//! What a line must hold for a pattern to match it: literals that a search for many
//! patterns can look for before any regex is run.

mod edge;
mod extract;
mod parts;
mod plain;
#[cfg(test)]
mod soundness;

pub(super) use edge::{Edge, edge_holds};
pub(super) use extract::required;
pub(super) use plain::plain;

/// What a pattern needs: a line that matches holds at least one of the literals.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Required {
    /// At least one; none is empty.
    pub(super) literals: Vec<Literal>,
}

/// Bytes in a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Literal {
    /// The bytes; where case is ignored, ASCII letters are lower case.
    pub(super) bytes: Box<[u8]>,
    /// True if ASCII letters match in either case.
    pub(super) ignore_case: bool,
    /// What an occurrence says.
    pub(super) proof: Proof,
}

/// What the occurrence of a literal says about its line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Proof {
    /// With these neighbours the line matches; without them this occurrence is no
    /// match.
    Match { start: Edge, end: Edge },
    /// Only the regex can tell.
    Candidate,
}
