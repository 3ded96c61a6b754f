//! Atoms from the outside: their forms, signatures and inverses, and what is refused.

use proptest::prelude::*;

use probity::flow::model::{
    ApplyError, Atom, AtomBody, AtomError, AtomId, AtomSignature, AtomSigner, BinaryProblem,
    OpKind, Provenance, SignatureError, SignedBy, SigningKeys, TextOp,
};

fn keys() -> SigningKeys {
    SigningKeys::from_seeds(&[1; 32], &[2; 32])
}

fn provenance() -> Provenance {
    Provenance {
        principal: "user:alice".into(),
        persona: "ship_captain".into(),
        agent_run_id: "run-1".into(),
        tool_call_id: None,
        trace_id: "trace-1".into(),
        transcript_ref: "tr-1".into(),
        timestamp: "2026-04-26T00:00:00Z".parse().expect("it is a time"),
    }
}

fn hello() -> Atom {
    let body = AtomBody {
        ops: vec![TextOp::insert(0, "hello")],
        parents: vec![AtomId::from_bytes([7; 32])],
        provenance: provenance(),
        inverse_of: None,
    };
    body.sign(&keys()).expect("the keys are good")
}

fn ops() -> impl Strategy<Value = Vec<TextOp>> {
    let op = (any::<bool>(), any::<u64>(), ".{0,12}").prop_map(|(inserts, offset, content)| {
        if inserts {
            TextOp::insert(offset, content)
        } else {
            TextOp::delete(offset, content)
        }
    });
    prop::collection::vec(op, 0..5)
}

fn ids() -> impl Strategy<Value = AtomId> {
    any::<[u8; 32]>().prop_map(AtomId::from_bytes)
}

prop_compose! {
    fn bodies()(
        ops in ops(),
        parents in prop::collection::vec(ids(), 0..4),
        inverse_of in prop::option::of(ids()),
        tool_call_id in prop::option::of(".{0,8}"),
        (principal, persona, trace_id) in (".{0,8}", ".{0,8}", ".{0,8}"),
        time in "20[0-9]{2}-0[1-9]-[12][0-8]T[01][0-9]:[0-5][0-9]:[0-5][0-9](\\.[0-9]{1,9})?(Z|[+-]0[0-9]:30)",
    ) -> AtomBody {
        AtomBody {
            ops,
            parents,
            provenance: Provenance {
                principal,
                persona,
                trace_id,
                tool_call_id,
                timestamp: time.parse().expect("it is a time"),
                ..provenance()
            },
            inverse_of,
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn atoms_come_back_from_both_forms(body in bodies()) {
        let signature = hello().signature().clone();
        let atom = Atom::new(body, signature).expect("it is small");
        let json = serde_json::to_string(&atom).expect("atoms are written");
        prop_assert_eq!(&serde_json::from_str::<Atom>(&json).expect("atoms are read"), &atom);
        let binary = atom.to_binary().expect("it is small");
        prop_assert_eq!(&Atom::from_binary(&binary).expect("atoms are read"), &atom);
        let body = atom.body().canonical().expect("it is small");
        prop_assert_eq!(body.len() + 224, binary.len());
    }

    /// Whatever byte is cut or changed: an error, or the same but for its signatures.
    #[test]
    fn no_other_bytes_are_the_atom(body in bodies(), at in any::<usize>(), bit in 0..8_u32) {
        let atom = Atom::new(body, hello().signature().clone()).expect("it is small");
        let binary = atom.to_binary().expect("it is small");
        let at = at % binary.len();
        prop_assert!(Atom::from_binary(&binary[..at]).is_err());
        let mut changed = binary.clone();
        changed[at] ^= 1 << bit;
        let signatures = binary.len() - 192;
        match Atom::from_binary(&changed) {
            Ok(other) => {
                prop_assert!(at >= signatures, "byte {} is covered by the id", at);
                prop_assert_eq!(other.id(), atom.id());
                prop_assert!(other.verify().is_err());
            }
            Err(error) => prop_assert!(error.at <= binary.len()),
        }
        let mut longer = binary;
        longer.push(0);
        let error = Atom::from_binary(&longer).expect_err("a byte follows");
        prop_assert_eq!(error.problem, BinaryProblem::Trailing(1));
    }

    #[test]
    fn bytes_of_any_kind_make_no_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = Atom::from_binary(&bytes);
        let mut bytes = bytes;
        bytes.splice(..0, *b"FATM\x01");
        let _ = Atom::from_binary(&bytes);
    }

    #[test]
    fn an_inverse_undoes_its_atom(
        text in ".{0,40}",
        edits in prop::collection::vec((any::<bool>(), any::<usize>(), 0..9_usize, ".{0,6}"), 0..8),
    ) {
        let (mut now, mut ops) = (text.clone(), Vec::new());
        for (inserts, at, size, content) in edits {
            let ends: Vec<usize> = now.char_indices().map(|(at, _)| at).chain([now.len()]).collect();
            let start = at % ends.len();
            let (from, to) = (ends[start], ends[(start + size).min(ends.len() - 1)]);
            if inserts {
                now.insert_str(from, &content);
                ops.push(TextOp::insert(from as u64, content));
            } else {
                ops.push(TextOp::delete(from as u64, &now[from..to]));
                now.replace_range(from..to, "");
            }
        }
        let body = AtomBody { ops, parents: Vec::new(), provenance: provenance(), inverse_of: None };
        let atom = body.sign(&keys()).expect("the keys are good");
        prop_assert_eq!(atom.apply(text.as_bytes()), Ok(now.clone().into_bytes()));
        let inverse = AtomBody::inverse_of(&atom, provenance());
        prop_assert_eq!(&inverse.parents, &[atom.id()]);
        prop_assert_eq!(inverse.inverse_of, Some(atom.id()));
        let inverse = inverse.sign(&keys()).expect("the keys are good");
        prop_assert_eq!(inverse.apply(now.as_bytes()), Ok(text.into_bytes()));
    }
}

#[test]
fn an_atom_has_this_json() {
    let atom = hello();
    let json = serde_json::to_string(&atom).expect("atoms are written");
    let id = atom.id();
    let parent = "07".repeat(32);
    let signature = serde_json::to_string(atom.signature()).expect("signatures are written");
    assert_eq!(
        json,
        format!(
            r#"{{"id":"{id}","ops":[{{"kind":"insert","offset":0,"content":"hello"}}],"parents":["{parent}"],"provenance":{{"principal":"user:alice","persona":"ship_captain","agent_run_id":"run-1","trace_id":"trace-1","transcript_ref":"tr-1","timestamp":"2026-04-26T00:00:00Z"}},"signature":{signature}}}"#
        )
    );
    // The key of the seed of 32 ones, in base64 with padding.
    assert!(
        signature.starts_with(
            r#"{"principal_key":"iojj3XQJ8ZX9UtstPLpdcspnCb8dlBIb83SIAbQPb1w=","principal_sig":""#
        ),
        "{signature}"
    );
}

#[test]
fn json_of_another_content_is_refused() {
    let json = serde_json::to_string(&hello()).expect("atoms are written");
    for (from, to, said) in [
        ("hello", "hallo", "its content has the id"),
        ("\"offset\":0", "\"offset\":1", "its content has the id"),
        ("\"offset\":0", "\"offset\":-1", "invalid value"),
        ("insert", "replace", "unknown variant `replace`"),
        ("2026-04-26T", "2026-04-31T", "RFC 3339"),
        (
            "user:alice\"",
            "user:alice\",\"principal\":\"user:bob\"",
            "duplicate field",
        ),
        (
            "iojj3XQJ8ZX9UtstPLpdcspnCb8dlBIb83SIAbQPb1w=",
            "iojj",
            "32 bytes in standard base64",
        ),
        (
            "iojj3XQJ8ZX9UtstPLpdcspnCb8dlBIb83SIAbQPb1w=",
            "iojj3XQJ8ZX9UtstPLpdcspnCb8dlBIb83SIAbQPb1wB",
            "32 bytes in standard base64",
        ),
    ] {
        assert!(json.contains(from), "{from}");
        let changed = json.replacen(from, to, 1);
        let error = serde_json::from_str::<Atom>(&changed).expect_err(to);
        assert!(error.to_string().contains(said), "{to}: {error}");
    }
}

#[test]
fn ids_may_be_written_in_upper_case_in_json() {
    let atom = hello();
    let json = serde_json::to_string(&atom).expect("atoms are written");
    let id = atom.id().to_string();
    let upper = json.replace(&id, &id.to_uppercase());
    assert_ne!(upper, json);
    let read: Atom = serde_json::from_str(&upper).expect("upper case is read");
    assert_eq!(
        serde_json::to_string(&read).expect("atoms are written"),
        json
    );
}

#[test]
fn counts_that_lie_are_refused_where_they_stand() {
    let binary = hello().to_binary().expect("it is small");
    let with = |at: usize, bytes: &[u8]| {
        let mut binary = binary.clone();
        binary.splice(at..at + bytes.len(), bytes.iter().copied());
        Atom::from_binary(&binary).expect_err("it was changed")
    };
    let huge = u32::MAX.to_le_bytes();
    let left = |at: usize| binary.len() - at;
    for (at, least) in [(5, 13_u64), (18, 1), (27, 32), (63, 1)] {
        let error = with(at, &huge);
        // Nothing was reserved: the count itself is what is wrong.
        assert_eq!(error.at, at + 4);
        let needed = u64::from(u32::MAX) * least;
        let left = left(at + 4);
        assert_eq!(error.problem, BinaryProblem::Truncated { needed, left });
    }
    assert_eq!(with(0, b"X").problem, BinaryProblem::Magic);
    assert_eq!(with(4, b"\x02").problem, BinaryProblem::Version(2));
    let tag = BinaryProblem::Tag {
        of: "an op",
        tag: 2,
    };
    assert_eq!(with(9, b"\x02").problem, tag);
    let utf8 = BinaryProblem::Utf8("the content of an op");
    assert_eq!(with(22, b"\xff").problem, utf8);
    assert!(matches!(with(22, b"j").problem, BinaryProblem::Id { .. }));
    let empty = Atom::from_binary(b"").expect_err("nothing is there");
    assert_eq!(empty.problem, BinaryProblem::Magic);
}

#[test]
fn ops_that_do_not_fit_are_named() {
    let atom = |ops| {
        let body = AtomBody {
            ops,
            parents: Vec::new(),
            provenance: provenance(),
            inverse_of: None,
        };
        body.sign(&keys()).expect("the keys are good")
    };
    let late = atom(vec![TextOp::insert(3, "!"), TextOp::insert(5, "?")]);
    let past = ApplyError::PastEnd {
        op: 1,
        offset: 5,
        length: 4,
    };
    assert_eq!(late.apply(b"abc"), Err(past));
    let far = atom(vec![TextOp::delete(u64::MAX, "")]);
    let past = ApplyError::PastEnd {
        op: 0,
        offset: u64::MAX,
        length: 3,
    };
    assert_eq!(far.apply(b"abc"), Err(past));
    let other = atom(vec![TextOp::delete(1, "bd")]);
    let mismatch = ApplyError::Mismatch { op: 0, offset: 1 };
    assert_eq!(other.apply(b"abc"), Err(mismatch.clone()));
    let longer = atom(vec![TextOp::delete(1, "bcd")]);
    assert_eq!(longer.apply(b"abc"), Err(mismatch));
    // Offsets count bytes, of texts that need not be UTF-8.
    let middle = atom(vec![TextOp::insert(1, "-")]);
    assert_eq!(middle.apply(&[0xff, 0xfe]), Ok(vec![0xff, b'-', 0xfe]));
    assert_eq!(TextOp::insert(1, "-").inverse().kind, OpKind::Delete);
}

#[test]
fn only_true_signatures_hold() {
    let atom = hello();
    assert_eq!(atom.verify(), Ok(()));
    let good = atom.signature().clone();
    let with = |change: &dyn Fn(&mut AtomSignature)| {
        let mut signature = good.clone();
        change(&mut signature);
        // It is an atom all the same: whether it is signed is asked for.
        let unsigned = Atom::new(atom.body().clone(), signature).expect("it is small");
        assert_eq!(unsigned.id(), atom.id());
        unsigned.verify().expect_err("it is not signed")
    };
    let (principal, persona) = (SignedBy::Principal, SignedBy::Persona);
    let mismatch = |by| SignatureError::Mismatch {
        atom: atom.id(),
        by,
    };
    assert_eq!(with(&|all| all.principal_sig[3] ^= 1), mismatch(principal));
    assert_eq!(with(&|all| all.persona_sig[40] ^= 1), mismatch(persona));
    let swapped = with(&|all| std::mem::swap(&mut all.principal_key, &mut all.persona_key));
    assert_eq!(swapped, mismatch(principal));
    // No point of the curve has this encoding.
    let none = with(&|all| all.persona_key = [2; 32]);
    assert_eq!(
        none,
        SignatureError::Key {
            atom: atom.id(),
            by: persona
        }
    );
    // The neutral point as a key would accept a signature of zero for any message.
    let weak = with(&|all| {
        all.principal_key = [0; 32];
        all.principal_key[0] = 1;
        all.principal_sig = [0; 64];
        all.principal_sig[0] = 1;
    });
    assert_eq!(weak, mismatch(principal));
}

#[test]
fn what_a_signer_answers_is_verified() {
    struct Other(Result<AtomSignature, String>);
    impl AtomSigner for Other {
        fn sign(&self, _: &AtomId) -> Result<AtomSignature, String> {
            self.0.clone()
        }
    }
    let atom = hello();
    let mut body = atom.body().clone();
    body.parents.clear();
    let of_another = Other(Ok(atom.signature().clone()));
    let error = body
        .clone()
        .sign(&of_another)
        .expect_err("it is of another atom");
    assert!(
        matches!(error, AtomError::Signature(SignatureError::Mismatch { .. })),
        "{error}"
    );
    let error = body.sign(&Other(Err("the agent is locked".into())));
    let error = error.expect_err("it refuses").to_string();
    assert!(
        error.ends_with("cannot be signed: the agent is locked"),
        "{error}"
    );
    let shown = format!("{:?}", keys());
    assert_eq!(shown, "SigningKeys(secret)");
}
