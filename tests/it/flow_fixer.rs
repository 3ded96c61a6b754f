//! Follow-ups of blocked slices.

use std::collections::BTreeMap;

use sha2::{Digest as _, Sha256};

use probity::flow::InvariantResult;
use probity::flow::model::{
    AppliedInvariant, Atom, AtomBody, AtomId, AtomSignature, AtomSigner, CoverageMap, Derivation,
    DerivedSlice, FixerError, FixerReceipt, FixerSigner, IntentId, Provenance, Remediation,
    SigningKeys, SliceStatus, TextOp, fix,
};

fn keys() -> SigningKeys {
    SigningKeys::from_seeds(&[3; 32], &[4; 32])
}

fn atom(parents: Vec<AtomId>, content: &str) -> Atom {
    let body = AtomBody {
        ops: vec![TextOp::insert(0, content)],
        parents,
        provenance: Provenance {
            principal: "user:template".into(),
            persona: "predicate".into(),
            agent_run_id: "run-7".into(),
            tool_call_id: Some("call-7".into()),
            trace_id: "trace-7".into(),
            transcript_ref: "tr-7".into(),
            timestamp: "2026-04-26T00:00:00Z".parse().expect("it is a time"),
        },
        inverse_of: None,
    };
    let other = SigningKeys::from_seeds(&[9; 32], &[9; 32]);
    body.sign(&other).expect("the keys are good")
}

/// A slice of a chain that a predicate has blocked.
struct Blocked {
    atoms: BTreeMap<AtomId, Atom>,
    slice: DerivedSlice,
    coverage: CoverageMap,
    remediation: Remediation,
}

fn blocked() -> Blocked {
    let first = atom(Vec::new(), "first");
    let second = atom(vec![first.id()], "second");
    let intent = IntentId::from_bytes([1; 32]);
    let mut coverage = CoverageMap::default();
    coverage.insert("suite::second".into(), second.id());
    let derivation = Derivation {
        atoms: &BTreeMap::from([(first.id(), vec![]), (second.id(), vec![first.id()])]),
        intents: &BTreeMap::from([(intent, vec![second.id()])]),
        coverage: &coverage,
        base_ref: AtomId::from_bytes([8; 32]),
    };
    let remediation = Remediation {
        description: "take the token out".into(),
        suggested_atoms: vec![atom(Vec::new(), "fixed"), atom(vec![second.id()], "more")],
    };
    let mut result = InvariantResult::block("secret_leak", "raw token");
    result.remediation = Some(remediation.clone());
    let applied = vec![AppliedInvariant("sha256:aa".into(), result)];
    let slice = derivation.derive(&[intent], applied, Vec::new());
    Blocked {
        slice: slice.expect("all is known"),
        atoms: BTreeMap::from([(first.id(), first), (second.id(), second)]),
        coverage,
        remediation,
    }
}

fn signer(keys: &SigningKeys) -> FixerSigner<'_> {
    FixerSigner {
        principal: "user:alice",
        persona: " ",
        keys,
    }
}

#[test]
fn a_follow_up_is_signed_on_top_of_the_blocked_slice() {
    let Blocked {
        atoms,
        slice,
        coverage,
        remediation,
    } = blocked();
    let keys = keys();
    let done = fix(&slice, &remediation, &atoms, &coverage, &signer(&keys)).expect("it is fixed");

    let mut parents: Vec<AtomId> = slice.atoms().to_vec();
    parents.sort_unstable();
    let contents: Vec<&str> = done
        .atoms
        .iter()
        .map(|atom| &*atom.ops()[0].content)
        .collect();
    assert_eq!(contents, ["fixed", "more"]);
    for atom in &done.atoms {
        assert_eq!(atom.parents(), parents);
        assert_eq!(atom.verify(), Ok(()));
        let made = atom.provenance();
        assert_eq!((&*made.principal, &*made.persona), ("user:alice", "fixer"));
        assert_eq!(
            (&*made.agent_run_id, made.tool_call_id.as_deref()),
            ("run-7", Some("call-7"))
        );
    }
    let mut hash = Sha256::new();
    hash.update(b"harn.flow.fixer.follow_up.v0");
    hash.update(slice.id().as_bytes());
    for atom in &done.atoms {
        hash.update(atom.id().as_bytes());
    }
    let intent = IntentId::from_bytes(hash.finalize().into());
    assert_eq!(done.intent, intent);

    // A slice of its own, to be judged and approved anew.
    assert_eq!(done.slice.intents(), [intent]);
    assert_eq!(done.slice.status(), &SliceStatus::Ready);
    assert_eq!(done.slice.atoms()[..2], slice.atoms()[..]);
    assert_eq!(done.slice.atoms().len(), 4);
    assert_eq!(done.slice.required_tests(), slice.required_tests());
    assert_eq!(done.slice.base_ref(), slice.base_ref());
    assert!(done.slice.invariants_applied().is_empty());
    assert!(done.slice.approval_chain().is_empty());

    let (blocked, follow_up) = (slice.id(), done.slice.id());
    let (one, two) = (done.atoms[0].id(), done.atoms[1].id());
    let receipt = serde_json::to_string(&done.receipt).expect("receipts are written");
    assert_eq!(
        receipt,
        format!(
            r#"{{"trigger":"invariant.blocked_with_remediation","blocked_slice_id":"{blocked}","follow_up_slice_id":"{follow_up}","atom_ids":["{one}","{two}"],"principal":"user:alice","persona":"fixer","cosigned":true,"description":"take the token out"}}"#
        )
    );
    let read: FixerReceipt = serde_json::from_str(&receipt).expect("receipts are read");
    assert_eq!(read, done.receipt);

    // The same again comes to the same.
    let again = fix(&slice, &remediation, &atoms, &coverage, &signer(&keys));
    assert_eq!(again, Ok(done));
}

#[test]
fn a_persona_that_is_named_is_kept_and_one_key_is_no_cosignature() {
    let Blocked {
        atoms,
        slice,
        coverage,
        mut remediation,
    } = blocked();
    let template = remediation.suggested_atoms[0].clone();
    // The same change on other parents: they are replaced, so it is the same atom.
    remediation.suggested_atoms = vec![template, atom(vec![slice.atoms()[0]], "fixed")];
    let one_key = SigningKeys::from_seeds(&[3; 32], &[3; 32]);
    let named = FixerSigner {
        persona: "mender",
        ..signer(&one_key)
    };
    let done = fix(&slice, &remediation, &atoms, &coverage, &named).expect("it is fixed");
    assert_eq!(done.atoms.len(), 1);
    assert_eq!(done.receipt.persona, "mender");
    assert_eq!(done.atoms[0].provenance().persona, "mender");
    assert!(!done.receipt.cosigned);
}

#[test]
fn what_breaks_a_rule_is_refused() {
    let Blocked {
        atoms,
        slice,
        coverage,
        remediation,
    } = blocked();
    let keys = keys();
    let with = |change: &dyn Fn(&mut Remediation)| {
        let mut remediation = remediation.clone();
        change(&mut remediation);
        fix(&slice, &remediation, &atoms, &coverage, &signer(&keys))
    };
    let blank = with(&|remediation| remediation.description = " \n".into());
    assert_eq!(blank, Err(FixerError::BlankDescription));
    let long = with(&|remediation| remediation.description = "é".repeat(201));
    assert_eq!(long, Err(FixerError::LongDescription(201)));
    assert!(with(&|remediation| remediation.description = "é".repeat(200)).is_ok());
    let none = with(&|remediation| remediation.suggested_atoms.clear());
    assert_eq!(none, Err(FixerError::NoAtoms));

    let nobody = FixerSigner {
        principal: "",
        ..signer(&keys)
    };
    let refused = fix(&slice, &remediation, &atoms, &coverage, &nobody);
    assert_eq!(refused, Err(FixerError::BlankPrincipal));

    let mut fewer = atoms.clone();
    fewer.remove(&slice.atoms()[1]);
    let unknown = fix(&slice, &remediation, &fewer, &coverage, &signer(&keys));
    assert_eq!(unknown, Err(FixerError::UnknownAtom(slice.atoms()[1])));

    struct Locked;
    impl AtomSigner for Locked {
        fn sign(&self, _: &AtomId) -> Result<AtomSignature, String> {
            Err("locked".into())
        }
    }
    let locked = FixerSigner {
        keys: &Locked,
        ..signer(&keys)
    };
    let refused = fix(&slice, &remediation, &atoms, &coverage, &locked);
    assert!(matches!(refused, Err(FixerError::Atom { at: 0, .. })));
}

#[test]
fn a_blocked_slice_whose_history_is_incomplete_blocks_its_follow_up() {
    let Blocked {
        mut atoms,
        slice,
        coverage,
        remediation,
    } = blocked();
    let keys = keys();
    // Its second atom is still known, whose parent no longer is.
    let [first, second] = slice.atoms() else {
        panic!("{:?}", slice.atoms());
    };
    let derivation = Derivation {
        atoms: &BTreeMap::from([(*second, Vec::new())]),
        intents: &BTreeMap::from([(slice.intents()[0], vec![*second])]),
        coverage: &coverage,
        base_ref: slice.base_ref(),
    };
    let blocked = derivation.derive(slice.intents(), Vec::new(), Vec::new());
    atoms.remove(first);
    let blocked = blocked.expect("all is known");
    let done = fix(&blocked, &remediation, &atoms, &coverage, &signer(&keys));
    let done = done.expect("it is blocked, not refused");
    assert!(matches!(done.slice.status(), SliceStatus::Blocked { .. }));
    assert!(done.slice.atoms().is_empty());
}

#[test]
fn a_slice_that_is_not_what_its_id_says_is_refused() {
    let Blocked {
        atoms,
        slice,
        coverage,
        remediation,
    } = blocked();
    let json = serde_json::to_string(&slice).expect("slices are written");
    let forged = json.replace("raw token", "no token");
    let forged: DerivedSlice = serde_json::from_str(&forged).expect("slices are read");
    let refused = fix(&forged, &remediation, &atoms, &coverage, &signer(&keys()));
    assert!(
        matches!(refused, Err(FixerError::Blocked(_))),
        "{refused:?}"
    );
}
