//! Follow-ups of blocked slices. (flow.md, section 12.3.)
//!
//! A remediation is data. This makes signed atoms and a slice of its own from it, which
//! has to pass all gates like any other; nothing is applied, stored or approved here.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::flow::model::atom::{Atom, AtomBody, AtomError, Provenance};
use crate::flow::model::coverage::CoverageMap;
use crate::flow::model::derive::{AtomGraph, Derivation, DeriveError};
use crate::flow::model::evidence::Remediation;
use crate::flow::model::ids::{AtomId, IntentId, SliceId, hash_parts};
use crate::flow::model::signature::AtomSigner;
use crate::flow::model::slice::{DerivedSlice, SliceRecordError};

/// The most characters of the description of a remediation.
pub const MAX_DESCRIPTION: usize = 200;

/// The most links to parents that a follow-up makes: each suggested atom gets one to each
/// atom of the blocked slice, and both numbers come from outside. They take 32 bytes each.
pub const MAX_LINKS: usize = 4_000_000;

/// What the ids of intents of follow-ups start from.
const DOMAIN: &[u8] = b"harn.flow.fixer.follow_up.v0";

/// The persona of who names none.
const PERSONA: &str = "fixer";

/// Who answers for a follow-up. The keys sign for this principal and this persona, so
/// what suggested atoms say of themselves is not taken over.
#[derive(Clone, Copy)]
pub struct FixerSigner<'s> {
    /// Whom the atoms are for.
    pub principal: &'s str,
    /// The persona that makes them; `fixer` if it is blank.
    pub persona: &'s str,
    /// Who signs them.
    pub keys: &'s dyn AtomSigner,
}

impl std::fmt::Debug for FixerSigner<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FixerSigner")
            .field("principal", &self.principal)
            .field("persona", &self.persona)
            .finish_non_exhaustive()
    }
}

/// What made a follow-up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum FixerTrigger {
    /// A predicate blocked the slice and said what to do.
    #[default]
    #[serde(rename = "invariant.blocked_with_remediation")]
    BlockedWithRemediation,
}

/// The record of a follow-up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FixerReceipt {
    /// What made it.
    pub trigger: FixerTrigger,
    /// The slice that is blocked.
    pub blocked_slice_id: SliceId,
    /// The slice that follows it.
    pub follow_up_slice_id: SliceId,
    /// The new atoms, in order of the suggestions.
    pub atom_ids: Vec<AtomId>,
    /// Whom they are for.
    pub principal: String,
    /// The persona that made them.
    pub persona: String,
    /// Whether principal and persona signed with keys of their own. If one key signed for
    /// both, nobody else has seen the atoms.
    pub cosigned: bool,
    /// What the remediation says.
    pub description: String,
}

/// What a remediation comes to. None of it is applied or stored.
#[derive(Clone, Debug, PartialEq)]
pub struct FollowUp {
    /// The intent that the slice is derived from.
    pub intent: IntentId,
    /// The new atoms, signed, each once, in order of the suggestions.
    pub atoms: Vec<Atom>,
    /// The slice of the new atoms with all ancestors, without results and approvals.
    pub slice: DerivedSlice,
    /// The record.
    pub receipt: FixerReceipt,
}

/// Why there is no follow-up.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FixerError {
    /// The remediation does not say what it does.
    #[error("the description of the remediation is blank")]
    BlankDescription,
    /// The remediation says too much.
    #[error(
        "the description of the remediation has {0} characters, and {MAX_DESCRIPTION} are allowed"
    )]
    LongDescription(usize),
    /// The remediation is words only.
    #[error("the remediation suggests no atom")]
    NoAtoms,
    /// It would take too much memory.
    #[error(
        "{atoms} suggested atoms on top of {parents} blocked ones are more than {MAX_LINKS} links"
    )]
    TooLarge {
        /// How many atoms are suggested.
        atoms: usize,
        /// How many atoms the blocked slice has.
        parents: usize,
    },
    /// Nobody answers for it.
    #[error("the principal who signs is blank")]
    BlankPrincipal,
    /// An atom of the blocked slice is not known.
    #[error("atom {0} of the blocked slice is not known")]
    UnknownAtom(AtomId),
    /// An atom cannot be made or signed.
    #[error("suggested atom {at}: {error}")]
    Atom {
        /// Which suggestion, from 0 on.
        at: usize,
        /// Why.
        error: AtomError,
    },
    /// The blocked slice is not the one that its id names.
    #[error(transparent)]
    Blocked(#[from] SliceRecordError),
    /// No slice can be derived.
    #[error(transparent)]
    Derive(#[from] DeriveError),
}

/// The known atoms and the new ones.
struct Overlay<'o> {
    known: &'o dyn AtomGraph,
    new: BTreeMap<AtomId, &'o [AtomId]>,
}

impl AtomGraph for Overlay<'_> {
    fn parents(&self, atom: &AtomId) -> Option<&[AtomId]> {
        let new = self.new.get(atom).copied();
        new.or_else(|| self.known.parents(atom))
    }
}

/// Makes a follow-up of a slice that a predicate has blocked, from what the predicate
/// suggests. That it was blocked is the caller's word: the slice need not have the result
/// in it yet.
///
/// The new atoms have the ops, run, trace, transcript and time of the suggestions; their
/// parents are all atoms of the blocked slice, so that ancestors which are not known keep
/// them out of the new slice and block it.
///
/// # Errors
/// [`FixerError`].
pub fn fix(
    blocked: &DerivedSlice,
    remediation: &Remediation,
    atoms: &dyn AtomGraph,
    coverage: &CoverageMap,
    signer: &FixerSigner<'_>,
) -> Result<FollowUp, FixerError> {
    check(remediation, blocked.atoms().len())?;
    if signer.principal.trim().is_empty() {
        return Err(FixerError::BlankPrincipal);
    }
    // The follow-up and its receipt name the slice by its id.
    blocked.verify_id()?;
    let parents: BTreeSet<AtomId> = blocked.atoms().iter().copied().collect();
    if let Some(atom) = parents.iter().find(|atom| atoms.parents(atom).is_none()) {
        return Err(FixerError::UnknownAtom(*atom));
    }
    let parents: Vec<AtomId> = parents.into_iter().collect();
    let persona = match signer.persona.trim() {
        "" => PERSONA,
        _ => signer.persona,
    };
    let mut ids = BTreeSet::new();
    let mut new = Vec::with_capacity(remediation.suggested_atoms.len());
    for (at, template) in remediation.suggested_atoms.iter().enumerate() {
        let body = AtomBody {
            ops: template.ops().to_vec(),
            parents: parents.clone(),
            provenance: Provenance {
                principal: signer.principal.to_owned(),
                persona: persona.to_owned(),
                ..template.provenance().clone()
            },
            inverse_of: template.body().inverse_of,
        };
        let signed = body.sign(signer.keys);
        let atom = signed.map_err(|error| FixerError::Atom { at, error })?;
        // Suggestions that differ only in what is replaced are one.
        if ids.insert(atom.id()) {
            new.push(atom);
        }
    }
    let (intent, slice) = derive(blocked, atoms, coverage, &new)?;
    let mut keys = new.iter().map(Atom::signature);
    let receipt = FixerReceipt {
        trigger: FixerTrigger::default(),
        blocked_slice_id: blocked.id(),
        follow_up_slice_id: slice.id(),
        atom_ids: new.iter().map(Atom::id).collect(),
        principal: signer.principal.to_owned(),
        persona: persona.to_owned(),
        cosigned: keys.all(|signature| signature.principal_key != signature.persona_key),
        description: remediation.description.clone(),
    };
    Ok(FollowUp {
        intent,
        atoms: new,
        slice,
        receipt,
    })
}

fn check(remediation: &Remediation, parents: usize) -> Result<(), FixerError> {
    if remediation.description.trim().is_empty() {
        return Err(FixerError::BlankDescription);
    }
    let length = remediation.description.chars().count();
    if length > MAX_DESCRIPTION {
        return Err(FixerError::LongDescription(length));
    }
    let atoms = remediation.suggested_atoms.len();
    if atoms == 0 {
        return Err(FixerError::NoAtoms);
    }
    if atoms.saturating_mul(parents) > MAX_LINKS {
        return Err(FixerError::TooLarge { atoms, parents });
    }
    Ok(())
}

/// The intent of the new atoms, and the slice that is derived from it.
fn derive(
    blocked: &DerivedSlice,
    known: &dyn AtomGraph,
    coverage: &CoverageMap,
    new: &[Atom],
) -> Result<(IntentId, DerivedSlice), FixerError> {
    let ids: Vec<AtomId> = new.iter().map(Atom::id).collect();
    let blocked_id = blocked.id();
    let head: [&[u8]; 2] = [DOMAIN, blocked_id.as_bytes()];
    let tail = ids.iter().map(|atom| atom.as_bytes().as_slice());
    let intent = IntentId::from_bytes(hash_parts(head.into_iter().chain(tail)));
    let overlay = Overlay {
        known,
        new: new.iter().map(|atom| (atom.id(), atom.parents())).collect(),
    };
    let derivation = Derivation {
        atoms: &overlay,
        intents: &BTreeMap::from([(intent, ids)]),
        coverage,
        base_ref: blocked.base_ref(),
    };
    let slice = derivation.derive(&[intent], Vec::new(), Vec::new())?;
    Ok((intent, slice))
}
