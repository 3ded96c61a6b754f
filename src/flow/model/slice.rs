//! Slices as they are recorded. (flow.md, section 1.5.)

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::flow::model::approval::Approval;
use crate::flow::model::ids::{AtomId, IntentId, PredicateHash, SliceId, TestId, hash_parts};
use crate::flow::result::InvariantResult;

/// What a predicate came to. In JSON a list of two.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AppliedInvariant(
    /// The predicate.
    pub PredicateHash,
    /// Its result.
    pub InvariantResult,
);

/// A parent that keeps an atom out of a slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct UnresolvedParent {
    /// The atom that is left out.
    pub atom: AtomId,
    /// Its parent, which is not known or is left out itself.
    pub missing_parent: AtomId,
}

/// Whether a slice is whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum SliceStatus {
    /// It is.
    Ready,
    /// There is nothing in it.
    Empty,
    /// Atoms are left out.
    Blocked {
        /// Because of these.
        unresolved_parents: Vec<UnresolvedParent>,
    },
}

/// A slice that was derived from intents, with the results that gate it.
///
/// Decoding keeps the id that it finds, so that old records can be read and told about;
/// [`DerivedSlice::verify_id`] says whether it is that of the content.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DerivedSlice {
    id: SliceId,
    #[serde(flatten)]
    body: Body,
}

/// All that the id is a hash of. The order of the fields is that of the hash.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Body {
    atoms: Vec<AtomId>,
    intents: Vec<IntentId>,
    invariants_applied: Vec<AppliedInvariant>,
    required_tests: Vec<TestId>,
    approval_chain: Vec<Approval>,
    base_ref: AtomId,
    status: SliceStatus,
}

/// A slice that means nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SliceRecordError {
    /// A list of atoms is empty.
    #[error("a slice holds at least one atom")]
    NoAtoms,
    /// A result is sure of what is no number.
    #[error("the confidence of the result of predicate `{0}` is no finite number")]
    Confidence(PredicateHash),
    /// It cannot be written.
    #[error("a slice cannot be written as JSON: {0}")]
    Json(String),
    /// The id that it has is another than that of its content.
    #[error("slice {stated}: its content has the id {found}")]
    Id {
        /// The id that it has.
        stated: SliceId,
        /// The id of what it says.
        found: SliceId,
    },
}

impl Body {
    /// The SHA-256 of the compact JSON.
    fn id(&self) -> Result<SliceId, SliceRecordError> {
        // JSON has no other numbers: they would all be written as `null`.
        let applied = self.invariants_applied.iter();
        let mut wrong = applied.filter(|applied| !applied.1.confidence.is_finite());
        if let Some(AppliedInvariant(hash, _)) = wrong.next() {
            return Err(SliceRecordError::Confidence(hash.clone()));
        }
        let json =
            serde_json::to_vec(self).map_err(|error| SliceRecordError::Json(error.to_string()))?;
        Ok(SliceId::from_bytes(*Digest::of(&json).as_bytes()))
    }
}

impl DerivedSlice {
    /// A slice without results and approvals.
    pub(super) fn new(
        atoms: Vec<AtomId>,
        intents: Vec<IntentId>,
        required_tests: Vec<TestId>,
        base_ref: AtomId,
        status: SliceStatus,
    ) -> Result<Self, SliceRecordError> {
        let body = Body {
            atoms,
            intents,
            invariants_applied: Vec::new(),
            required_tests,
            approval_chain: Vec::new(),
            base_ref,
            status,
        };
        let id = body.id()?;
        Ok(Self { id, body })
    }

    /// The same slice with these results and approvals in place of what it has, and so
    /// with another id.
    ///
    /// # Errors
    /// [`SliceRecordError::Confidence`].
    pub fn with_results(
        mut self,
        invariants_applied: Vec<AppliedInvariant>,
        approval_chain: Vec<Approval>,
    ) -> Result<Self, SliceRecordError> {
        self.body.invariants_applied = invariants_applied;
        self.body.approval_chain = approval_chain;
        self.id = self.body.id()?;
        Ok(self)
    }

    /// Its id.
    #[must_use]
    pub const fn id(&self) -> SliceId {
        self.id
    }

    /// Its atoms, each after its parents.
    #[must_use]
    pub fn atoms(&self) -> &[AtomId] {
        &self.body.atoms
    }

    /// The intents that it was derived from, in order.
    #[must_use]
    pub fn intents(&self) -> &[IntentId] {
        &self.body.intents
    }

    /// What predicates came to.
    #[must_use]
    pub fn invariants_applied(&self) -> &[AppliedInvariant] {
        &self.body.invariants_applied
    }

    /// The tests that have to pass, in order.
    #[must_use]
    pub fn required_tests(&self) -> &[TestId] {
        &self.body.required_tests
    }

    /// Who approved it.
    #[must_use]
    pub fn approval_chain(&self) -> &[Approval] {
        &self.body.approval_chain
    }

    /// What it is to be applied to.
    #[must_use]
    pub const fn base_ref(&self) -> AtomId {
        self.body.base_ref
    }

    /// Whether it is whole.
    #[must_use]
    pub const fn status(&self) -> &SliceStatus {
        &self.body.status
    }

    /// Checks that the id is that of the content.
    ///
    /// # Errors
    /// [`SliceRecordError::Id`]; [`SliceRecordError::Confidence`].
    pub fn verify_id(&self) -> Result<(), SliceRecordError> {
        let (stated, found) = (self.id, self.body.id()?);
        if stated != found {
            return Err(SliceRecordError::Id { stated, found });
        }
        Ok(())
    }
}

/// A list of atoms as it is stored: the id is that of the list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Wire")]
pub struct FlowSlice {
    id: SliceId,
    atoms: Vec<AtomId>,
}

impl FlowSlice {
    /// The slice of atoms in their order. Its id is the SHA-256 of `FSLI` and the atoms.
    /// (flow.md, section 1.1.)
    ///
    /// # Errors
    /// [`SliceRecordError::NoAtoms`].
    pub fn new(atoms: Vec<AtomId>) -> Result<Self, SliceRecordError> {
        if atoms.is_empty() {
            return Err(SliceRecordError::NoAtoms);
        }
        let ids = atoms.iter().map(|atom| atom.as_bytes().as_slice());
        let head: [&[u8]; 1] = [b"FSLI"];
        let id = SliceId::from_bytes(hash_parts(head.into_iter().chain(ids)));
        Ok(Self { id, atoms })
    }

    /// Its id.
    #[must_use]
    pub const fn id(&self) -> SliceId {
        self.id
    }

    /// Its atoms.
    #[must_use]
    pub fn atoms(&self) -> &[AtomId] {
        &self.atoms
    }
}

/// A list of atoms in JSON, before its id is checked.
#[derive(Deserialize)]
struct Wire {
    id: SliceId,
    atoms: Vec<AtomId>,
}

impl TryFrom<Wire> for FlowSlice {
    type Error = SliceRecordError;

    fn try_from(wire: Wire) -> Result<Self, SliceRecordError> {
        let slice = Self::new(wire.atoms)?;
        if slice.id != wire.id {
            let (stated, found) = (wire.id, slice.id);
            return Err(SliceRecordError::Id { stated, found });
        }
        Ok(slice)
    }
}
