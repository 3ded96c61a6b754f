//! Intents: atoms that were made for one goal. (flow.md, section 1.3.)

use std::ops::Deref;

use serde::{Deserialize, Serialize};

use crate::flow::model::ids::{AtomId, IntentId, hash_parts};

/// A stretch of a transcript, with both its ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TranscriptSpan {
    /// The transcript.
    pub transcript_ref: String,
    /// The first event.
    pub start_event_index: u64,
    /// The last event.
    pub end_event_index: u64,
}

/// Atoms that were made for one goal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Wire")]
pub struct Intent {
    id: IntentId,
    atoms: Vec<AtomId>,
    goal_description: String,
    origin_transcript_span: TranscriptSpan,
    confidence: f32,
}

/// An intent that means nothing.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum IntentError {
    /// It holds no atom.
    #[error("an intent holds at least one atom")]
    NoAtoms,
    /// Its confidence is no confidence.
    #[error("a confidence is a number from 0 to 1, and this is {0}")]
    Confidence(f32),
    /// Its stretch of the transcript ends before it starts.
    #[error("the events of an intent run from {start} to {end}, which is before")]
    Span {
        /// The first event.
        start: u64,
        /// The last event.
        end: u64,
    },
    /// The id that it has is another than that of its content.
    #[error("intent {stated}: its content has the id {found}")]
    Id {
        /// The id that it has.
        stated: IntentId,
        /// The id of what it says.
        found: IntentId,
    },
}

impl IntentId {
    /// The id of an intent: the SHA-256 of `FINT`, the transcript, both event indexes in
    /// 64 bits, the goal and the atoms. (flow.md, section 1.1.)
    #[must_use]
    pub fn of(span: &TranscriptSpan, goal: &str, atoms: &[AtomId]) -> Self {
        let (start, end) = (
            span.start_event_index.to_le_bytes(),
            span.end_event_index.to_le_bytes(),
        );
        let head: [&[u8]; 5] = [
            b"FINT",
            span.transcript_ref.as_bytes(),
            &start,
            &end,
            goal.as_bytes(),
        ];
        let atoms = atoms.iter().map(|atom| atom.as_bytes().as_slice());
        Self::from_bytes(hash_parts(head.into_iter().chain(atoms)))
    }
}

/// A confidence, which is finite and from 0 to 1.
pub(super) fn confidence(confidence: f32) -> Result<f32, IntentError> {
    if (0.0..=1.0).contains(&confidence) {
        Ok(confidence)
    } else {
        Err(IntentError::Confidence(confidence))
    }
}

impl Intent {
    /// An intent of atoms, in their order.
    ///
    /// # Errors
    /// [`IntentError`]: without an atom, with a confidence that is none, or with events
    /// that end before they start.
    pub fn new(
        atoms: Vec<AtomId>,
        goal: impl Into<String>,
        span: TranscriptSpan,
        confidence: f32,
    ) -> Result<Self, IntentError> {
        let goal_description = goal.into();
        Self {
            id: IntentId::of(&span, &goal_description, &atoms),
            atoms,
            goal_description,
            origin_transcript_span: span,
            confidence,
        }
        .checked()
    }

    fn checked(self) -> Result<Self, IntentError> {
        if self.atoms.is_empty() {
            return Err(IntentError::NoAtoms);
        }
        confidence(self.confidence)?;
        let span = &self.origin_transcript_span;
        let (start, end) = (span.start_event_index, span.end_event_index);
        if end < start {
            return Err(IntentError::Span { start, end });
        }
        Ok(self)
    }

    /// Its id.
    #[must_use]
    pub const fn id(&self) -> IntentId {
        self.id
    }

    /// Its atoms.
    #[must_use]
    pub fn atoms(&self) -> &[AtomId] {
        &self.atoms
    }

    /// What they were made for.
    #[must_use]
    pub fn goal_description(&self) -> &str {
        &self.goal_description
    }

    /// Where in a transcript they were made.
    #[must_use]
    pub const fn origin_transcript_span(&self) -> &TranscriptSpan {
        &self.origin_transcript_span
    }

    /// How sure it is that they belong together, from 0 to 1.
    #[must_use]
    pub const fn confidence(&self) -> f32 {
        self.confidence
    }

    /// Takes a confidence that is lower; a higher one changes nothing. The id does not
    /// cover the confidence.
    ///
    /// # Errors
    /// [`IntentError::Confidence`].
    pub fn lower_confidence(&mut self, to: f32) -> Result<(), IntentError> {
        self.confidence = self.confidence.min(confidence(to)?);
        Ok(())
    }

    /// Checks that the id is that of the content. Decoding does not, because the intents
    /// of follow-ups are named otherwise. (flow.md, section 12.3.)
    ///
    /// # Errors
    /// [`IntentError::Id`].
    pub fn verify_id(&self) -> Result<(), IntentError> {
        let span = &self.origin_transcript_span;
        let found = IntentId::of(span, &self.goal_description, &self.atoms);
        if found != self.id {
            let stated = self.id;
            return Err(IntentError::Id { stated, found });
        }
        Ok(())
    }

    /// Freezes it.
    #[must_use]
    pub const fn seal(self) -> SealedIntent {
        SealedIntent(self)
    }
}

/// An intent that changes no more.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SealedIntent(Intent);

impl Deref for SealedIntent {
    type Target = Intent;

    fn deref(&self) -> &Intent {
        &self.0
    }
}

/// An intent in JSON, before it is checked.
#[derive(Deserialize)]
struct Wire {
    id: IntentId,
    atoms: Vec<AtomId>,
    goal_description: String,
    origin_transcript_span: TranscriptSpan,
    confidence: f32,
}

impl TryFrom<Wire> for Intent {
    type Error = IntentError;

    fn try_from(wire: Wire) -> Result<Self, IntentError> {
        Self {
            id: wire.id,
            atoms: wire.atoms,
            goal_description: wire.goal_description,
            origin_transcript_span: wire.origin_transcript_span,
            confidence: wire.confidence,
        }
        .checked()
    }
}
