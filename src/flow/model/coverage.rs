//! Which tests cover which atoms. (flow.md, section 1.4.)

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::flow::model::ids::{AtomId, TestId};

/// Which tests cover which atoms, by atom and by test: both say the same.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Wire")]
pub struct CoverageMap {
    tests_by_atom: BTreeMap<AtomId, BTreeSet<TestId>>,
    atoms_by_test: BTreeMap<TestId, BTreeSet<AtomId>>,
}

/// The two sides of a map say different things.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("test `{test}` covers atom {atom} in `{within}` only; a map has it on both sides")]
pub struct CoverageError {
    /// The test.
    pub test: TestId,
    /// The atom.
    pub atom: AtomId,
    /// The side that has it.
    pub within: &'static str,
}

impl CoverageMap {
    /// Notes that a test covers an atom.
    pub fn insert(&mut self, test: TestId, atom: AtomId) {
        let atoms = self.atoms_by_test.entry(test.clone()).or_default();
        atoms.insert(atom);
        self.tests_by_atom.entry(atom).or_default().insert(test);
    }

    /// The tests that cover an atom, in order.
    pub fn tests_of(&self, atom: &AtomId) -> impl Iterator<Item = &TestId> {
        self.tests_by_atom.get(atom).into_iter().flatten()
    }

    /// The atoms that a test covers, in order.
    pub fn atoms_of(&self, test: &TestId) -> impl Iterator<Item = &AtomId> {
        self.atoms_by_test.get(test).into_iter().flatten()
    }
}

/// A map in JSON, before it is checked.
#[derive(Deserialize)]
struct Wire {
    #[serde(default)]
    tests_by_atom: BTreeMap<AtomId, BTreeSet<TestId>>,
    #[serde(default)]
    atoms_by_test: BTreeMap<TestId, BTreeSet<AtomId>>,
}

/// The first pair that one side has and the other does not.
fn one_sided<'m, K: Ord, V: Ord>(
    one: &'m BTreeMap<K, BTreeSet<V>>,
    other: &BTreeMap<V, BTreeSet<K>>,
) -> Option<(&'m K, &'m V)> {
    let pairs = one
        .iter()
        .flat_map(|(key, values)| values.iter().map(move |value| (key, value)));
    let mut missing = pairs.filter(|(key, value)| {
        let keys = other.get(*value);
        !keys.is_some_and(|keys| keys.contains(*key))
    });
    missing.next()
}

impl TryFrom<Wire> for CoverageMap {
    type Error = CoverageError;

    /// A pair that only one side has would be found or missed depending on where the
    /// search comes from, so that a test could be left out.
    fn try_from(wire: Wire) -> Result<Self, CoverageError> {
        let fault = |test: &TestId, atom: &AtomId, within| CoverageError {
            test: test.clone(),
            atom: *atom,
            within,
        };
        if let Some((atom, test)) = one_sided(&wire.tests_by_atom, &wire.atoms_by_test) {
            return Err(fault(test, atom, "tests_by_atom"));
        }
        if let Some((test, atom)) = one_sided(&wire.atoms_by_test, &wire.tests_by_atom) {
            return Err(fault(test, atom, "atoms_by_test"));
        }
        Ok(Self {
            tests_by_atom: wire.tests_by_atom,
            atoms_by_test: wire.atoms_by_test,
        })
    }
}
