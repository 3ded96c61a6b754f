//! What results rest on and what to do about them. (flow.md, section 3.1.)

use serde::{Deserialize, Serialize};

use crate::flow::model::atom::Atom;
use crate::flow::model::ids::AtomId;

/// A stretch of a diff or transcript.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    /// Where it starts.
    pub start: u64,
    /// Where it ends.
    pub end: u64,
}

/// What a result rests on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Evidence {
    /// A stretch of the diff of an atom.
    AtomPointer {
        /// The atom.
        atom: AtomId,
        /// Which stretch.
        diff_span: Span,
    },
    /// A value in the metadata of a directory.
    MetadataPath {
        /// The directory.
        directory: String,
        /// The namespace of the key.
        namespace: String,
        /// The key.
        key: String,
    },
    /// A stretch of a transcript.
    TranscriptExcerpt {
        /// The transcript.
        transcript_id: String,
        /// Which stretch.
        span: Span,
    },
    /// A page elsewhere.
    ExternalCitation {
        /// Where it is.
        url: String,
        /// What it says.
        quote: String,
        /// When it was read.
        fetched_at: String,
    },
}

/// What could be done about a verdict. It is never done by itself: see
/// [`fix`](crate::flow::model::fix).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remediation {
    /// In words.
    pub description: String,
    /// As changes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub suggested_atoms: Vec<Atom>,
}
