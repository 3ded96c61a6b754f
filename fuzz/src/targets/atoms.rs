//! The records of Flow on arbitrary bytes: an error, or a record that comes back from
//! each of its forms.

use std::fmt::Debug;

use probity::flow::model::{Atom, CoverageMap, DerivedSlice, FlowSlice, Intent};

/// What starts with the magic of an atom is read as one. Anything else is JSON of any
/// record.
pub(crate) fn run(data: &[u8]) {
    if data.starts_with(b"FATM") {
        if let Ok(atom) = Atom::from_binary(data) {
            // There is one form of each atom.
            assert_eq!(atom.to_binary().expect("it was read"), data);
            check(&atom);
        }
        return;
    }
    if let Ok(atom) = serde_json::from_slice::<Atom>(data) {
        check(&atom);
    }
    json::<Intent>(data);
    json::<DerivedSlice>(data);
    json::<FlowSlice>(data);
    json::<CoverageMap>(data);
}

fn check(atom: &Atom) {
    let binary = atom.to_binary().expect("its counts fit");
    assert_eq!(&Atom::from_binary(&binary).expect("it was written"), atom);
    let json = serde_json::to_vec(atom).expect("it can be written");
    let read: Atom = serde_json::from_slice(&json).expect("it was written");
    assert_eq!(&read, atom);
    let verified = atom.verify().is_ok();
    assert_eq!(read.verify().is_ok(), verified);
    if let Ok(text) = atom.apply(b"text") {
        let inverse = probity::flow::model::AtomBody::inverse_of(atom, atom.provenance().clone());
        let inverse = Atom::new(inverse, atom.signature().clone()).expect("its counts fit");
        assert_eq!(inverse.apply(&text).as_deref(), Ok(&b"text"[..]));
    }
}

fn json<R: serde::Serialize + serde::de::DeserializeOwned + PartialEq + Debug>(data: &[u8]) {
    if let Ok(record) = serde_json::from_slice::<R>(data) {
        let json = serde_json::to_vec(&record).expect("it can be written");
        let read: R = serde_json::from_slice(&json).expect("it was written");
        assert_eq!(read, record);
    }
}
