//! Slices from candidate intents. (flow.md, section 1.5.)

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;

use crate::flow::model::approval::Approval;
use crate::flow::model::atom::Atom;
use crate::flow::model::closure::Walk;
use crate::flow::model::coverage::CoverageMap;
use crate::flow::model::ids::{AtomId, IntentId, TestId};
use crate::flow::model::intent::Intent;
use crate::flow::model::slice::{AppliedInvariant, DerivedSlice, SliceRecordError, SliceStatus};

/// The atoms of a cycle that an error names at most.
const SHOWN: usize = 4;

/// The atoms that are known, with their parents.
pub trait AtomGraph {
    /// The parents of an atom; none if the atom is not known.
    fn parents(&self, atom: &AtomId) -> Option<&[AtomId]>;
}

/// The intents that are known, with their atoms.
pub trait IntentIndex {
    /// The atoms of an intent; none if the intent is not known.
    fn atoms(&self, intent: &IntentId) -> Option<&[AtomId]>;
}

impl AtomGraph for BTreeMap<AtomId, Vec<AtomId>> {
    fn parents(&self, atom: &AtomId) -> Option<&[AtomId]> {
        self.get(atom).map(Vec::as_slice)
    }
}

impl AtomGraph for BTreeMap<AtomId, Atom> {
    fn parents(&self, atom: &AtomId) -> Option<&[AtomId]> {
        self.get(atom).map(Atom::parents)
    }
}

impl AtomGraph for HashMap<AtomId, Atom> {
    fn parents(&self, atom: &AtomId) -> Option<&[AtomId]> {
        self.get(atom).map(Atom::parents)
    }
}

impl IntentIndex for BTreeMap<IntentId, Vec<AtomId>> {
    fn atoms(&self, intent: &IntentId) -> Option<&[AtomId]> {
        self.get(intent).map(Vec::as_slice)
    }
}

impl IntentIndex for BTreeMap<IntentId, Intent> {
    fn atoms(&self, intent: &IntentId) -> Option<&[AtomId]> {
        self.get(intent).map(Intent::atoms)
    }
}

/// What slices are derived from.
#[derive(Clone, Copy)]
pub struct Derivation<'i> {
    /// The atoms that are known.
    pub atoms: &'i dyn AtomGraph,
    /// The intents that are known.
    pub intents: &'i dyn IntentIndex,
    /// Which tests cover which atoms.
    pub coverage: &'i CoverageMap,
    /// What the slice is to be applied to.
    pub base_ref: AtomId,
}

impl fmt::Debug for Derivation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Derivation")
            .field("base_ref", &self.base_ref)
            .finish_non_exhaustive()
    }
}

/// Why no slice can be derived.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DeriveError {
    /// A candidate is not known.
    #[error("intent {0} is not known")]
    UnknownIntent(IntentId),
    /// An atom of a candidate is not known.
    #[error("atom {atom} of intent {intent} is not known")]
    UnknownAtom {
        /// The candidate.
        intent: IntentId,
        /// Its atom.
        atom: AtomId,
    },
    /// An atom that a required test covers is not known.
    #[error("atom {atom}, which the required test `{test}` covers, is not known")]
    CoveredAtom {
        /// The test.
        test: TestId,
        /// The atom.
        atom: AtomId,
    },
    /// Atoms that are parents of one another, each the child of the next, the last one
    /// of the first.
    #[error("atoms are parents of one another: {}", shown(.0))]
    Cycle(Vec<AtomId>),
    /// The slice cannot be put together.
    #[error(transparent)]
    Slice(#[from] SliceRecordError),
}

fn shown(atoms: &[AtomId]) -> String {
    let first = atoms.iter().take(SHOWN).map(AtomId::to_string);
    let mut text = first.collect::<Vec<_>>().join(", ");
    if let Some(more) = atoms.len().checked_sub(SHOWN).filter(|more| *more > 0) {
        text.push_str(&format!(" and {more} more"));
    }
    text
}

impl Derivation<'_> {
    /// The slice of candidates: their atoms with all ancestors, and the atoms that share
    /// a required test with them, until nothing is added. Atoms of which an ancestor is
    /// not known are left out and block the slice. The results and approvals go in as
    /// they are.
    ///
    /// # Errors
    /// [`DeriveError`]: something that is not known, parents in a cycle, or a result with
    /// a confidence that cannot be written.
    pub fn derive(
        &self,
        candidates: &[IntentId],
        invariants_applied: Vec<AppliedInvariant>,
        approval_chain: Vec<Approval>,
    ) -> Result<DerivedSlice, DeriveError> {
        let candidates: BTreeSet<IntentId> = candidates.iter().copied().collect();
        let mut walk = Walk::new(self.atoms, self.coverage);
        for &intent in &candidates {
            let atoms = self.intents.atoms(&intent);
            for &atom in atoms.ok_or(DeriveError::UnknownIntent(intent))? {
                walk.reach(atom)
                    .ok_or(DeriveError::UnknownAtom { intent, atom })?;
            }
        }
        let closure = walk.finish()?;
        let status = if !closure.unresolved.is_empty() {
            SliceStatus::Blocked {
                unresolved_parents: closure.unresolved,
            }
        } else if closure.atoms.is_empty() {
            SliceStatus::Empty
        } else {
            SliceStatus::Ready
        };
        let slice = DerivedSlice::new(
            closure.atoms,
            candidates.into_iter().collect(),
            closure.tests.into_iter().collect(),
            self.base_ref,
            status,
        )?;
        Ok(slice.with_results(invariants_applied, approval_chain)?)
    }
}
