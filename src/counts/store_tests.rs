//! What one session records the next ones know, whatever else happens to the files.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use proptest::prelude::*;

use super::{Count, SlotKey, SlotSet, Store, clear, stats};
use crate::files::ContentId;

pub(super) fn key(number: u32) -> SlotKey {
    let mut key = [0; 16];
    key[..4].copy_from_slice(&number.to_le_bytes());
    key[15] = 7;
    SlotKey(key)
}

pub(super) fn content(number: u32) -> ContentId {
    let mut id = [3; 32];
    id[..4].copy_from_slice(&number.to_be_bytes());
    ContentId(id)
}

pub(super) fn store(dir: &Path, max_bytes: u64) -> Store {
    Store::open(dir, b"a workspace", max_bytes).unwrap()
}

/// Counts of some slots in one content.
pub(super) type Row = BTreeMap<u32, Count>;

/// Records rows in one session, whose slots stand in the given order.
pub(super) fn record(store: &Store, order: &[u32], rows: &[(u32, Row)]) {
    let keys: Vec<SlotKey> = order.iter().map(|&slot| key(slot)).collect();
    let session = store.session(&keys);
    let place = |slot: &u32| order.iter().position(|of| of == slot).unwrap() as u32;
    for (id, row) in rows {
        let evaluated: SlotSet = row.keys().map(place).collect();
        let mut hits: Vec<(u32, Count)> = row
            .iter()
            .filter(|(_, count)| **count != Count::ZERO)
            .map(|(slot, count)| (place(slot), *count))
            .collect();
        hits.sort_by_key(|hit| hit.0);
        session.record(content(*id), &evaluated, &hits);
    }
    session.save().unwrap();
}

/// What a new session knows of some slots in a content.
pub(super) fn known(store: &Store, order: &[u32], id: u32) -> Row {
    let keys: Vec<SlotKey> = order.iter().map(|&slot| key(slot)).collect();
    let session = store.session(&keys);
    let Some(known) = session.lookup(&content(id)) else {
        return Row::new();
    };
    let of = |(place, &slot): (u32, &u32)| Some((slot, known.get(place)?));
    (0..).zip(order).filter_map(of).collect()
}

pub(super) fn row(slots: impl IntoIterator<Item = (u32, u64)>) -> Row {
    let counts = slots.into_iter();
    counts
        .map(|(slot, count)| (slot, Count::exact(count)))
        .collect()
}

pub(super) fn segments(dir: &Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for space in fs::read_dir(dir.join("counts")).unwrap() {
        let files = fs::read_dir(space.unwrap().path()).unwrap();
        found.extend(files.map(|file| file.unwrap().path()));
    }
    found
}

#[test]
fn what_was_recorded_is_known_in_any_order_of_slots() {
    let dir = tempfile::tempdir().unwrap();
    let rows = [(1, row([(0, 5), (1, 0), (2, 300)])), (2, row([(1, 9)]))];
    record(&store(dir.path(), 1 << 20), &[0, 1, 2], &rows);
    let again = store(dir.path(), 1 << 20);
    assert_eq!(known(&again, &[0, 1, 2], 1), rows[0].1);
    assert_eq!(known(&again, &[9, 2, 0], 1), row([(2, 300), (0, 5)]));
    assert_eq!(known(&again, &[2, 1], 2), row([(1, 9)]));
    assert_eq!(known(&again, &[7, 8], 1), Row::new());
    assert_eq!(known(&again, &[0, 1], 3), Row::new());
    let other = Store::open(dir.path(), b"another workspace", 1 << 20).unwrap();
    assert_eq!(known(&other, &[0, 1, 2], 1), Row::new());
    assert_eq!(
        again.session(&[key(4), key(2)]).known_slots(),
        [1].into_iter().collect()
    );
}

#[test]
fn a_session_that_adds_nothing_writes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let store = store(dir.path(), 1 << 20);
    record(&store, &[0], &[]);
    assert_eq!(stats(dir.path()).unwrap().segments, 0);
    record(&store, &[0], &[(1, row([(0, 1)]))]);
    let before = segments(dir.path());
    let session = store.session(&[key(0)]);
    assert!(session.lookup(&content(1)).is_some());
    session.save().unwrap();
    assert_eq!(segments(dir.path()), before);
}

#[test]
fn there_are_few_segments_within_the_bound_however_many_sessions() {
    let dir = tempfile::tempdir().unwrap();
    let max_bytes = 20_000;
    let order: Vec<u32> = (0..20).collect();
    for number in 0..200 {
        let store = store(dir.path(), max_bytes);
        let rows: Vec<_> = (0..5)
            .map(|file| {
                (
                    number * 5 + file,
                    row((0..20).map(|slot| (slot, u64::from(number)))),
                )
            })
            .collect();
        record(&store, &order, &rows);
        let stats = stats(dir.path()).unwrap();
        assert!(stats.bytes <= max_bytes, "{stats:?}");
        assert!(stats.segments <= 9, "{stats:?}");
        // What was recorded last is still there.
        assert_eq!(known(&store, &order, number * 5), rows[0].1);
    }
    let removed = clear(dir.path()).unwrap();
    assert!(removed.segments > 0);
    assert_eq!(stats(dir.path()).unwrap().bytes, 0);
}

#[test]
fn segments_that_were_tampered_with_or_torn_are_ignored() {
    let dir = tempfile::tempdir().unwrap();
    let rows = [(1, row([(0, 5), (1, 0)]))];
    record(&store(dir.path(), 1 << 20), &[0, 1], &rows);
    let file = segments(dir.path()).pop().unwrap();
    let sound = fs::read(&file).unwrap();
    for at in 0..sound.len() {
        let mut bytes = sound.clone();
        bytes[at] ^= 0x10;
        fs::write(&file, &bytes).unwrap();
        assert_eq!(known(&store(dir.path(), 1 << 20), &[0, 1], 1), Row::new());
        fs::write(&file, &sound[..at]).unwrap();
        assert_eq!(known(&store(dir.path(), 1 << 20), &[0, 1], 1), Row::new());
    }
    fs::write(&file, &sound).unwrap();
    assert_eq!(known(&store(dir.path(), 1 << 20), &[0, 1], 1), rows[0].1);
    // Under another name it is another file.
    fs::rename(&file, file.with_file_name("0".repeat(40))).unwrap();
    assert_eq!(known(&store(dir.path(), 1 << 20), &[0, 1], 1), Row::new());
}

#[test]
fn sixteen_writers_lose_nothing_that_matters() {
    let dir = tempfile::tempdir().unwrap();
    std::thread::scope(|scope| {
        for writer in 0..16 {
            let dir = dir.path();
            scope.spawn(move || {
                for round in 0..10 {
                    let store = store(dir, 1 << 20);
                    let id = writer * 10 + round;
                    let rows = [(id, row([(0, u64::from(id)), (1, 0)]))];
                    record(&store, &[0, 1], &rows);
                    // Others may have merged it away meanwhile; it is never wrong.
                    let found = known(&store, &[0, 1], id);
                    assert!(found == rows[0].1 || found.is_empty());
                }
            });
        }
    });
    let store = store(dir.path(), 1 << 20);
    let found = (0..160).filter(|&id| {
        let found = known(&store, &[0, 1], id);
        assert!(found.is_empty() || found == row([(0, u64::from(id)), (1, 0)]));
        !found.is_empty()
    });
    assert!(found.count() > 0);
}

#[test]
fn a_directory_that_cannot_be_written_is_an_error_of_saving_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = tempfile::tempdir().unwrap();
    let store = store(dir.path(), 1 << 20);
    fs::write(dir.path().join("counts"), "in the way").unwrap();
    let session = store.session(&[key(0)]);
    session.record(content(1), &[0].into_iter().collect(), &[]);
    assert!(session.save().is_err());
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o777)).unwrap();
    assert!(
        Store::open(dir.path(), b"", 1 << 20).is_err(),
        "anybody could write it"
    );
}

/// How many of a slot a content really holds.
fn truth(id: u32, slot: u32) -> u64 {
    u64::from((id * 31 + slot) * 7919 % 1000).saturating_sub(600)
}

/// Slots in some order, and rows over them.
fn session() -> impl Strategy<Value = (Vec<u32>, Vec<(u32, Row)>)> {
    let order = Just((0..90_u32).collect::<Vec<_>>()).prop_shuffle();
    let order = (order, 1_usize..90).prop_map(|(order, len)| order[..len].to_vec());
    order.prop_flat_map(|order| {
        let slots = order.clone();
        let slot = (0..slots.len()).prop_map(move |at| slots[at]);
        // Up to which number each was counted.
        let limit = prop_oneof![Just(u64::MAX), 1_u64..300];
        let row = proptest::collection::btree_map(slot, limit, 1..40);
        let row = (0_u32..6, row).prop_map(|(id, limits)| {
            let counts = limits
                .into_iter()
                .map(|(slot, limit)| match truth(id, slot) {
                    count if count < limit => (slot, Count::exact(count)),
                    _ => (slot, Count::at_least(limit)),
                });
            (id, counts.collect())
        });
        let rows = proptest::collection::vec(row, 0..5);
        (Just(order), rows)
    })
}

/// Merges what a session says into what was known, by the definition.
fn learn(model: &mut BTreeMap<u32, Row>, rows: &[(u32, Row)]) {
    for (id, row) in rows {
        let known = model.entry(*id).or_default();
        for (slot, new) in row {
            let old = known.get(slot).copied();
            let better = match old {
                Some(old) if !new.exact && (old.exact || old.count > new.count) => old,
                _ => *new,
            };
            known.insert(*slot, better);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn sessions_know_what_those_before_recorded(
        sessions in proptest::collection::vec(session(), 1..8),
        at_once: bool,
    ) {
        let dir = tempfile::tempdir().unwrap();
        // Stores that have read what is there leave what others write alone.
        let mut stores: Vec<Store> = sessions.iter().map(|_| store(dir.path(), 1 << 20)).collect();
        if at_once {
            stores.iter().for_each(|store| drop(store.session(&[])));
        }
        let mut model = BTreeMap::new();
        for (order, rows) in &sessions {
            record(&stores.pop().unwrap(), order, rows);
            learn(&mut model, rows);
            let store = store(dir.path(), 1 << 20);
            for (order, _) in &sessions {
                for id in 0..6 {
                    let mut expected = model.get(&id).cloned().unwrap_or_default();
                    expected.retain(|slot, _| order.contains(slot));
                    prop_assert_eq!(known(&store, order, id), expected);
                }
            }
        }
    }
}
