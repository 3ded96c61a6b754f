//! Derived slices, held against a reference that does what flow.md, section 1.5, says
//! word for word, and their JSON.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use proptest::prelude::*;
use sha2::{Digest as _, Sha256};

use probity::flow::model::{
    AppliedInvariant, Approval, AtomId, CoverageMap, Derivation, DeriveError, DerivedSlice,
    Evidence, FlowSlice, IntentId, SliceRecordError, SliceStatus, Span, TestId, UnresolvedParent,
};
use probity::flow::{InvariantResult, Verdict};

type Graph = BTreeMap<AtomId, Vec<AtomId>>;
type Intents = BTreeMap<IntentId, Vec<AtomId>>;

fn atom(number: usize) -> AtomId {
    let mut bytes = [0; 32];
    bytes[24..].copy_from_slice(&(number as u64).to_be_bytes());
    AtomId::from_bytes(bytes)
}

fn intent(number: u8) -> IntentId {
    IntentId::from_bytes([number; 32])
}

fn derive(
    graph: &Graph,
    intents: &Intents,
    coverage: &CoverageMap,
) -> Result<DerivedSlice, DeriveError> {
    let derivation = Derivation {
        atoms: graph,
        intents,
        coverage,
        base_ref: atom(999),
    };
    let candidates: Vec<IntentId> = intents.keys().rev().copied().collect();
    derivation.derive(&candidates, Vec::new(), Vec::new())
}

/// What a slice has to be.
#[derive(Debug, PartialEq)]
struct Wanted {
    atoms: Vec<AtomId>,
    tests: Vec<TestId>,
    unresolved: Vec<UnresolvedParent>,
}

/// The rules one after the other, over and over; none for an error.
fn plainly(graph: &Graph, seeds: &[AtomId], pairs: &[(TestId, AtomId)]) -> Option<Wanted> {
    let mut seeds: BTreeSet<AtomId> = seeds.iter().copied().collect();
    loop {
        // All ancestors.
        let mut all = BTreeSet::new();
        let mut todo: Vec<AtomId> = seeds.iter().copied().collect();
        while let Some(atom) = todo.pop() {
            let parents = graph.get(&atom);
            if all.contains(&atom) || parents.is_none() && !seeds.contains(&atom) {
                continue;
            }
            all.insert(atom);
            todo.extend(parents?);
        }
        // Without those whose ancestors are not known.
        let mut kept = all.clone();
        loop {
            let before = kept.len();
            let now = kept.clone();
            // A cycle is no reason to leave something out.
            kept.retain(|atom| {
                let mut parents = graph[atom].iter();
                parents.all(|parent| now.contains(parent))
            });
            if kept.len() == before {
                break;
            }
        }
        let tests: BTreeSet<TestId> = pairs
            .iter()
            .filter(|(_, atom)| kept.contains(atom))
            .map(|(test, _)| test.clone())
            .collect();
        let covered = pairs
            .iter()
            .filter(|(test, _)| tests.contains(test))
            .map(|(_, atom)| *atom);
        let before = seeds.len();
        seeds.extend(covered);
        if seeds.len() > before {
            continue;
        }
        // A cycle anywhere.
        let mut left = all.clone();
        loop {
            let before = left.len();
            let now = left.clone();
            left.retain(|atom| graph[atom].iter().any(|parent| now.contains(parent)));
            if left.is_empty() {
                break;
            }
            if left.len() == before {
                return None;
            }
        }
        let mut atoms: Vec<AtomId> = Vec::new();
        while atoms.len() < kept.len() {
            let next = kept.iter().find(|atom| {
                !atoms.contains(atom) && graph[*atom].iter().all(|parent| atoms.contains(parent))
            });
            atoms.push(*next?);
        }
        let unresolved: BTreeSet<UnresolvedParent> = all
            .difference(&kept)
            .flat_map(|atom| graph[atom].iter().map(|parent| (*atom, *parent)))
            .filter(|(_, parent)| !kept.contains(parent))
            .map(|(atom, missing_parent)| UnresolvedParent {
                atom,
                missing_parent,
            })
            .collect();
        return Some(Wanted {
            atoms,
            tests: tests.into_iter().collect(),
            unresolved: unresolved.into_iter().collect(),
        });
    }
}

/// Graphs of up to ten atoms with parents that may be unknown, and, rarely, in cycles.
fn graphs() -> impl Strategy<Value = Graph> {
    let parents = prop::collection::vec((0..10_usize, 0..20_u8), 0..3);
    prop::collection::vec(parents, 1..10).prop_map(|atoms| {
        let number = |at: usize| (at * 7) % 10;
        let parents = |(at, parents): (usize, Vec<(usize, u8)>)| {
            let parents = parents.into_iter().filter_map(|(parent, luck)| match luck {
                0 => Some(atom(number(parent))),
                1 => Some(atom(100 + parent)),
                _ => at
                    .checked_sub(1 + parent)
                    .map(|parent| atom(number(parent))),
            });
            (atom(number(at)), parents.collect())
        };
        atoms.into_iter().enumerate().map(parents).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn slices_are_what_the_rules_say(
        graph in graphs(),
        seeds in prop::collection::vec((0..12_u8, any::<prop::sample::Index>()), 0..4),
        covers in prop::collection::vec((0..4_u8, any::<prop::sample::Index>()), 0..8),
    ) {
        let known: Vec<AtomId> = graph.keys().copied().collect();
        let mut intents = Intents::new();
        for (number, at) in &seeds {
            intents.entry(intent(*number)).or_default().push(*at.get(&known));
        }
        let seeds: Vec<AtomId> = intents.values().flatten().copied().collect();
        let mut coverage = CoverageMap::default();
        let mut pairs = Vec::new();
        for (test, at) in covers {
            let pair = (TestId::from(format!("t{test}")), *at.get(&known));
            coverage.insert(pair.0.clone(), pair.1);
            pairs.push(pair);
        }
        let wanted = plainly(&graph, &seeds, &pairs);
        match (derive(&graph, &intents, &coverage), wanted) {
            (Err(DeriveError::Cycle(cycle)), None) => {
                let next = cycle.iter().cycle().skip(1);
                for (child, parent) in cycle.iter().zip(next) {
                    prop_assert!(graph[child].contains(parent), "{:?}", cycle);
                }
            }
            (Ok(slice), Some(wanted)) => {
                let status = if !wanted.unresolved.is_empty() {
                    SliceStatus::Blocked { unresolved_parents: wanted.unresolved }
                } else if wanted.atoms.is_empty() {
                    SliceStatus::Empty
                } else {
                    SliceStatus::Ready
                };
                prop_assert_eq!(slice.status(), &status);
                prop_assert_eq!(slice.atoms(), wanted.atoms);
                prop_assert_eq!(slice.required_tests(), wanted.tests);
                let named: Vec<IntentId> = intents.keys().copied().collect();
                prop_assert_eq!(slice.intents(), named);
                let json = serde_json::to_string(&slice).expect("slices are written");
                let read: DerivedSlice = serde_json::from_str(&json).expect("slices are read");
                prop_assert_eq!(read.verify_id(), Ok(()));
                prop_assert_eq!(read, slice);
            }
            (found, wanted) => prop_assert!(false, "{:?} but {:?}", found, wanted),
        }
    }

    /// Confidences go into the id as text, so each must come back as it was.
    #[test]
    fn results_keep_their_confidence(confidence in any::<f64>()) {
        prop_assume!(confidence.is_finite());
        let mut result = InvariantResult::block("c", "m");
        result.confidence = confidence;
        let slice = with_results(vec![AppliedInvariant("h".into(), result)])
            .expect("the confidence is finite");
        let json = serde_json::to_string(&slice).expect("slices are written");
        let read: DerivedSlice = serde_json::from_str(&json).expect("slices are read");
        prop_assert_eq!(read.verify_id(), Ok(()));
    }
}

fn with_results(results: Vec<AppliedInvariant>) -> Result<DerivedSlice, SliceRecordError> {
    let graph = Graph::from([(atom(1), vec![]), (atom(2), vec![atom(1)])]);
    let intents = Intents::from([(intent(5), vec![atom(2)])]);
    let mut coverage = CoverageMap::default();
    coverage.insert("suite::a".into(), atom(1));
    let approval = Approval {
        reviewer: "role:security".into(),
        approved_at: "2026-05-01T00:00:00Z".into(),
        reason: None,
        signature: Some("sig".into()),
    };
    derive(&graph, &intents, &coverage)
        .expect("all is known")
        .with_results(results, vec![approval])
}

#[test]
fn a_slice_has_this_json_and_the_hash_of_it() {
    let mut result = InvariantResult::block("secret_leak", "raw token");
    result.evidence = vec![
        Evidence::AtomPointer {
            atom: atom(2),
            diff_span: Span { start: 1, end: 4 },
        },
        Evidence::ExternalCitation {
            url: "https://example.org".into(),
            quote: "q".into(),
            fetched_at: "2026-05-01".into(),
        },
    ];
    let applied = AppliedInvariant("sha256:aa".into(), result);
    let slice = with_results(vec![applied]).expect("the confidence is finite");
    let (one, two, base) = (atom(1), atom(2), atom(999));
    let intent = intent(5);
    let body = format!(
        r#""atoms":["{one}","{two}"],"intents":["{intent}"],"invariants_applied":[["sha256:aa",{{"verdict":{{"kind":"block","error":{{"code":"secret_leak","message":"raw token"}}}},"evidence":[{{"kind":"atom_pointer","atom":"{two}","diff_span":{{"start":1,"end":4}}}},{{"kind":"external_citation","url":"https://example.org","quote":"q","fetched_at":"2026-05-01"}}],"confidence":1.0}}]],"required_tests":["suite::a"],"approval_chain":[{{"reviewer":"role:security","approved_at":"2026-05-01T00:00:00Z","signature":"sig"}}],"base_ref":"{base}","status":{{"status":"ready"}}}}"#
    );
    let hash = Sha256::digest(format!("{{{body}"));
    let id: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    let json = serde_json::to_string(&slice).expect("slices are written");
    assert_eq!(json, format!(r#"{{"id":"{id}",{body}"#));

    // A record whose content was changed is read, and found out.
    let forged = json.replace("secret_leak", "secret_kept");
    let forged: DerivedSlice = serde_json::from_str(&forged).expect("slices are read");
    let error = forged.verify_id().expect_err("it was changed");
    assert!(error.to_string().contains(&id), "{error}");
}

#[test]
fn the_other_states_have_this_json() {
    let graph = Graph::from([
        (atom(1), vec![atom(50)]),
        (atom(2), vec![atom(1), atom(3), atom(3)]),
        (atom(3), vec![]),
    ]);
    let none = CoverageMap::default();
    let intents = Intents::from([(intent(1), vec![atom(2)])]);
    let blocked = derive(&graph, &intents, &none).expect("it is blocked");
    // What depends on a left-out atom is left out too; its other ancestors stay.
    assert_eq!(blocked.atoms(), [atom(3)]);
    let status = serde_json::to_string(blocked.status()).expect("states are written");
    let (one, two, missing) = (atom(1), atom(2), atom(50));
    assert_eq!(
        status,
        format!(
            r#"{{"status":"blocked","unresolved_parents":[{{"atom":"{one}","missing_parent":"{missing}"}},{{"atom":"{two}","missing_parent":"{one}"}}]}}"#
        )
    );
    let empty = derive(&graph, &Intents::new(), &none).expect("nothing is wanted");
    let status = serde_json::to_string(empty.status()).expect("states are written");
    assert_eq!(status, r#"{"status":"empty"}"#);
}

#[test]
fn what_is_not_known_is_an_error() {
    let graph = Graph::from([(atom(1), vec![])]);
    let mut coverage = CoverageMap::default();
    let derivation = |coverage: &CoverageMap, intents: &Intents, named: &[IntentId]| {
        let derivation = Derivation {
            atoms: &graph,
            intents,
            coverage,
            base_ref: atom(999),
        };
        derivation.derive(named, Vec::new(), Vec::new())
    };
    let intents = Intents::from([(intent(1), vec![atom(1)]), (intent(2), vec![atom(9)])]);
    assert_eq!(
        derivation(&coverage, &intents, &[intent(1), intent(3)]),
        Err(DeriveError::UnknownIntent(intent(3)))
    );
    assert_eq!(
        derivation(&coverage, &intents, &[intent(2)]),
        Err(DeriveError::UnknownAtom {
            intent: intent(2),
            atom: atom(9)
        })
    );
    coverage.insert("t".into(), atom(1));
    coverage.insert("t".into(), atom(8));
    assert_eq!(
        derivation(&coverage, &intents, &[intent(1)]),
        Err(DeriveError::CoveredAtom {
            test: "t".into(),
            atom: atom(8)
        })
    );
}

#[test]
fn cycles_are_told() {
    let graph: Graph = (0..6)
        .map(|at| (atom(at), vec![atom((at + 1) % 6)]))
        .collect();
    let intents = Intents::from([(intent(1), vec![atom(3)])]);
    let error = derive(&graph, &intents, &CoverageMap::default()).expect_err("it is a cycle");
    assert_eq!(error, DeriveError::Cycle((0..6).map(atom).collect()));
    let text = error.to_string();
    assert!(text.ends_with(" and 2 more"), "{text}");
}

#[test]
fn a_result_without_a_confidence_has_no_hash() {
    let mut result = InvariantResult::block("c", "m");
    result.confidence = f64::NAN;
    let error = with_results(vec![AppliedInvariant("h".into(), result)]);
    assert_eq!(error, Err(SliceRecordError::Confidence("h".into())));
}

#[test]
fn results_of_other_shapes_are_not_read() {
    let slice = with_results(Vec::new()).expect("there are no results");
    let json = serde_json::to_string(&slice).expect("slices are written");
    let read = |applied: &str| {
        let applied = format!(r#""invariants_applied":[{applied}]"#);
        let json = json.replace(r#""invariants_applied":[]"#, &applied);
        serde_json::from_str::<DerivedSlice>(&json)
    };
    let good = read(r#"["h",{"verdict":{"kind":"allow"},"confidence":1.0,"more":1}]"#);
    let good = good.expect("unknown keys are let be");
    assert_eq!(good.invariants_applied()[0].1.verdict, Verdict::Allow);
    for wrong in [
        r#"["h",{"verdict":{"kind":"allow"}}]"#,
        r#"["h"]"#,
        r#"["h",{"verdict":{"kind":"allow"},"confidence":1.0},1]"#,
        r#"["h",{"verdict":{"kind":"allow"},"confidence":1.0,"evidence":[{"kind":"atom_pointer","atom":"ab","diff_span":{"start":0,"end":1}}]}]"#,
        r#"["h",{"verdict":{"kind":"allow"},"confidence":1e999}]"#,
    ] {
        assert!(read(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn lists_of_atoms_have_the_id_of_what_they_list() {
    let slice = FlowSlice::new(vec![atom(2), atom(1)]).expect("it has atoms");
    let json = serde_json::to_string(&slice).expect("slices are written");
    let (id, one, two) = (slice.id(), atom(1), atom(2));
    assert_eq!(
        json,
        format!(r#"{{"id":"{id}","atoms":["{two}","{one}"]}}"#)
    );
    assert_eq!(
        serde_json::from_str::<FlowSlice>(&json).expect("it is read"),
        slice
    );
    let swapped = format!(r#"{{"id":"{id}","atoms":["{one}","{two}"]}}"#);
    let error = serde_json::from_str::<FlowSlice>(&swapped).expect_err("the order counts");
    assert!(
        error.to_string().contains("its content has the id"),
        "{error}"
    );
    assert_eq!(FlowSlice::new(Vec::new()), Err(SliceRecordError::NoAtoms));
}

#[test]
fn the_two_sides_of_coverage_agree() {
    let mut coverage = CoverageMap::default();
    coverage.insert("t2".into(), atom(1));
    coverage.insert("t1".into(), atom(1));
    let json = serde_json::to_string(&coverage).expect("maps are written");
    let one = atom(1);
    assert_eq!(
        json,
        format!(
            r#"{{"tests_by_atom":{{"{one}":["t1","t2"]}},"atoms_by_test":{{"t1":["{one}"],"t2":["{one}"]}}}}"#
        )
    );
    assert_eq!(
        serde_json::from_str::<CoverageMap>(&json).expect("it is read"),
        coverage
    );
    for (half, said) in [
        (
            format!(r#"{{"tests_by_atom":{{"{one}":["t1"]}}}}"#),
            "`tests_by_atom` only",
        ),
        (
            format!(r#"{{"atoms_by_test":{{"t1":["{one}"]}}}}"#),
            "`atoms_by_test` only",
        ),
    ] {
        let error = serde_json::from_str::<CoverageMap>(&half).expect_err("one side is missing");
        assert!(error.to_string().contains(said), "{error}");
    }
}

/// Quadratic work would take hours.
fn in_time(started: Instant) {
    let took = started.elapsed();
    assert!(took < Duration::from_secs(120), "{took:?}");
}

/// A chain of atoms with ids against its order.
fn chain(count: usize) -> (Graph, Vec<AtomId>) {
    let ids: Vec<AtomId> = (0..count).rev().map(atom).collect();
    let parents = |at: usize| at.checked_sub(1).map(|parent| ids[parent]);
    let chain = (0..count).map(|at| (ids[at], parents(at).into_iter().collect()));
    (chain.collect(), ids)
}

#[test]
fn a_long_chain_is_derived_in_time() {
    let started = Instant::now();
    let count = 100_000;
    let (mut chain, ids) = chain(count);
    let intents = Intents::from([(intent(1), vec![ids[count - 1]])]);
    let slice = derive(&chain, &intents, &CoverageMap::default()).expect("all is known");
    assert_eq!(slice.atoms(), ids);

    chain.insert(ids[0], vec![ids[count - 1]]);
    let intents = Intents::from([(intent(1), vec![ids[7]])]);
    let error = derive(&chain, &intents, &CoverageMap::default()).expect_err("it is a cycle");
    assert!(matches!(error, DeriveError::Cycle(cycle) if cycle.len() == count));
    in_time(started);
}

#[test]
fn tests_that_bring_in_one_another_are_followed_in_time() {
    let started = Instant::now();
    let count = 20_000;
    let (chain, ids) = chain(count);
    let mut coverage = CoverageMap::default();
    for (at, pair) in ids.windows(2).enumerate() {
        coverage.insert(format!("t{at}").into(), pair[0]);
        coverage.insert(format!("t{at}").into(), pair[1]);
    }
    let intents = Intents::from([(intent(1), vec![ids[0]])]);
    let slice = derive(&chain, &intents, &coverage).expect("all is known");
    assert_eq!(slice.atoms(), ids);
    assert_eq!(slice.required_tests().len(), count - 1);
    in_time(started);
}

#[test]
fn wide_graphs_are_derived_in_time() {
    let started = Instant::now();
    // One atom on top of all others, all of them on one that is not known.
    let count = 20_000;
    let (missing, top) = (atom(count), atom(count + 1));
    let mut wide: Graph = (0..count).map(|at| (atom(at), vec![missing])).collect();
    wide.insert(top, (0..count).map(atom).collect());
    let intents = Intents::from([(intent(1), vec![top])]);
    let slice = derive(&wide, &intents, &CoverageMap::default()).expect("it is blocked");
    let SliceStatus::Blocked { unresolved_parents } = slice.status() else {
        panic!("{:?}", slice.status());
    };
    assert_eq!(unresolved_parents.len(), 2 * count);
    in_time(started);
}
