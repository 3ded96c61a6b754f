//! Sessions beside each other, and what a store does to stay small and tidy.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use super::store_tests::{content, key, known, record, row, segments, store};
use super::{Count, Saved, Segment, SlotSet, Store, clear, stats};
use crate::files::ContentId;

const MIB: u64 = 1 << 20;
const DAY: u32 = 24 * 60 * 60;

fn now() -> u32 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    u32::try_from(now.as_secs()).unwrap()
}

fn one(slot: u32) -> SlotSet {
    [slot].into_iter().collect()
}

#[test]
fn sessions_that_save_at_once_both_are_known() {
    let dir = tempfile::tempdir().unwrap();
    record(&store(dir.path(), MIB), &[0, 1], &[(1, row([(0, 1)]))]);
    // Both merge the segment that was there.
    let stores = [store(dir.path(), MIB), store(dir.path(), MIB)];
    let sessions = stores
        .each_ref()
        .map(|store| store.session(&[key(0), key(1)]));
    for (session, id) in sessions.iter().zip([2, 3]) {
        session.record(content(id), &one(0), &[(0, Count::exact(id.into()))]);
        // One content, and each found out something else.
        session.record(content(9), &one(id - 2), &[(id - 2, Count::exact(7))]);
    }
    for session in sessions {
        assert!(session.save().unwrap().bytes > 0);
    }
    let store = store(dir.path(), MIB);
    for id in 1..4 {
        assert_eq!(known(&store, &[0, 1], id), row([(0, id.into())]));
    }
    assert_eq!(known(&store, &[0, 1], 9), row([(0, 7), (1, 7)]));
}

#[test]
fn sixteen_threads_share_a_session() {
    let dir = tempfile::tempdir().unwrap();
    let slots: Vec<u32> = (0..200).collect();
    let truth = |id: u32| row(slots.iter().map(|slot| (*slot, u64::from(id * slot % 5))));
    let all: Vec<_> = (0..64).map(|id| (id, truth(id))).collect();
    record(&store(dir.path(), MIB), &slots, &all);
    let store = store(dir.path(), MIB);
    let keys: Vec<_> = slots.iter().map(|slot| key(*slot)).collect();
    let session = store.session(&keys);
    std::thread::scope(|scope| {
        for thread in 0..16 {
            let (session, truth, slots) = (&session, &truth, &slots);
            scope.spawn(move || {
                for id in 0..64 {
                    let known = session.lookup(&content(id)).unwrap();
                    for (slot, count) in truth(id) {
                        assert_eq!(known.get(slot), Some(count));
                    }
                    let fresh = 1000 + thread * 64 + id;
                    let hits: Vec<_> = truth(fresh)
                        .into_iter()
                        .filter(|hit| hit.1 != Count::ZERO)
                        .collect();
                    session.record(content(fresh), &slots.iter().copied().collect(), &hits);
                }
            });
        }
    });
    session.save().unwrap();
    for id in (0..64).chain(1000..2024) {
        assert_eq!(known(&store, &slots, id), truth(id));
    }
}

#[test]
fn what_is_not_a_segment_is_left_alone_and_in_nobodys_way() {
    let dir = tempfile::tempdir().unwrap();
    let rows = [(1, row([(0, 5)]))];
    record(&store(dir.path(), MIB), &[0], &rows);
    let space = segments(dir.path())[0].parent().unwrap().to_owned();
    fs::write(space.join("notes.txt"), "mine").unwrap();
    fs::write(space.join("1".repeat(40)), "garbage").unwrap();
    fs::create_dir(space.join("2".repeat(40))).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", space.join("3".repeat(40))).unwrap();
    // What looks like spaces.
    let spaces = dir.path().join("counts");
    std::os::unix::fs::symlink(&space, spaces.join("a".repeat(32))).unwrap();
    fs::write(spaces.join("b".repeat(32)), "").unwrap();
    // A writer was killed.
    fs::write(space.join(".tmp-half"), "PRBYCNT").unwrap();
    assert_eq!(stats(dir.path()).unwrap().segments, 2);
    let again = store(dir.path(), MIB);
    assert_eq!(known(&again, &[0], 1), rows[0].1);
    record(&again, &[0], &[(2, row([(0, 6)]))]);
    let again = store(dir.path(), MIB);
    assert_eq!(known(&again, &[0], 1), rows[0].1);
    assert_eq!(known(&again, &[0], 2), row([(0, 6)]));
    assert!(clear(dir.path()).unwrap().segments > 0);
    let left = fs::read_dir(&space).unwrap();
    let mut left: Vec<PathBuf> = left.map(|file| file.unwrap().path()).collect();
    left.sort();
    let names = ["2".repeat(40), "3".repeat(40), "notes.txt".into()];
    assert_eq!(left, names.map(|name| space.join(name)));
}

#[test]
fn segments_that_vanish_under_a_session_cost_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let store = store(dir.path(), MIB);
    record(&store, &[0], &[(1, row([(0, 5)]))]);
    let session = store.session(&[key(0)]);
    clear(dir.path()).unwrap();
    let known_before = session.lookup(&content(1)).unwrap();
    assert_eq!(known_before.get(0), Some(Count::exact(5)));
    session.record(content(2), &one(0), &[]);
    session.save().unwrap();
    assert_eq!(known(&store, &[0], 2), row([(0, 0)]));
}

#[test]
fn times_are_noted_anew_once_a_day() {
    let dir = tempfile::tempdir().unwrap();
    record(&store(dir.path(), MIB), &[0, 1], &[(1, row([(0, 5)]))]);
    let look_and_save = |now: u32| {
        let store = store(dir.path(), MIB);
        let session = store.session(&[key(0)]);
        assert!(session.lookup(&content(1)).is_some());
        session.save_at(now).unwrap()
    };
    let before = segments(dir.path());
    assert_eq!(look_and_save(now() + DAY - 100), Saved::default());
    // Clocks go wrong.
    assert_eq!(look_and_save(0), Saved::default());
    assert_eq!(segments(dir.path()), before);
    let later = now() + 2 * DAY;
    assert!(look_and_save(later).bytes > 0);
    assert_eq!(segments(dir.path()).len(), 1);
    assert_ne!(segments(dir.path()), before);
    assert_eq!(look_and_save(later + 100), Saved::default());
    // Nothing was of use: the times stay.
    let store = store(dir.path(), MIB);
    let session = store.session(&[key(1)]);
    assert!(session.lookup(&content(1)).is_none());
    assert_eq!(session.save_at(later + 9 * DAY).unwrap(), Saved::default());
}

#[test]
fn what_was_of_use_stays_when_there_is_no_room() {
    let dir = tempfile::tempdir().unwrap();
    let wide = |n: u64| row((0..100).map(|slot| (slot, n + 1)));
    let order: Vec<u32> = (0..100).collect();
    let rows: Vec<_> = (0..70).map(|id| (id, wide(3))).collect();
    record(&store(dir.path(), 20_000), &order, &rows);
    let again = store(dir.path(), 20_000);
    let keys: Vec<_> = order.iter().map(|slot| key(*slot)).collect();
    let session = again.session(&keys);
    for id in [7, 40] {
        assert!(session.lookup(&content(id)).is_some());
    }
    let hits: Vec<_> = order.iter().map(|slot| (*slot, Count::exact(1))).collect();
    for id in 100..130 {
        session.record(content(id), &SlotSet::below(100), &hits);
    }
    session.save_at(now() + 2 * DAY).unwrap();
    assert!(stats(dir.path()).unwrap().bytes <= 20_000);
    let kept = |ids: std::ops::Range<u32>| ids.filter(|id| !known(&again, &order, *id).is_empty());
    assert!(kept(0..70).any(|id| id == 7) && kept(0..70).any(|id| id == 40));
    assert!(kept(0..70).count() < 70);
    assert_eq!(kept(100..130).count(), 30, "the newest");
}

/// Leaves so many segments of about equal size, as sessions do that run at once.
fn leave_segments(dir: &Path, count: u32) {
    let stores: Vec<Store> = (0..count).map(|_| store(dir, MIB)).collect();
    let sessions: Vec<_> = stores
        .iter()
        .map(|store| store.session(&[key(0)]))
        .collect();
    for (id, session) in (0..).zip(&sessions) {
        session.record(content(id), &one(0), &[(0, Count::exact(id.into()))]);
    }
    for session in sessions {
        session.save().unwrap();
    }
}

#[test]
fn many_segments_are_merged_by_the_first_that_sees_them() {
    let dir = tempfile::tempdir().unwrap();
    leave_segments(dir.path(), 16);
    assert_eq!(stats(dir.path()).unwrap().segments, 16);
    // Neither adds anything, and both want to merge.
    let stores = [store(dir.path(), MIB), store(dir.path(), MIB)];
    let [one, two] = stores.each_ref().map(|store| store.session(&[key(0)]));
    assert!(one.save().unwrap().bytes > 0);
    assert_eq!(two.save().unwrap(), Saved::default());
    assert_eq!(stats(dir.path()).unwrap().segments, 1);
    let store = store(dir.path(), MIB);
    for id in 0..16 {
        assert_eq!(known(&store, &[0], id), row([(0, id.into())]));
    }
    let few = tempfile::tempdir().unwrap();
    leave_segments(few.path(), 8);
    let store = super::store_tests::store(few.path(), MIB);
    assert_eq!(store.session(&[key(0)]).save().unwrap(), Saved::default());
}

#[test]
fn all_spaces_together_are_bounded() {
    let dir = tempfile::tempdir().unwrap();
    let max_bytes = 20_000;
    let order: Vec<u32> = (0..100).collect();
    let rows: Vec<_> = (0..80)
        .map(|id| (id, row((0..100).map(|slot| (slot, 1)))))
        .collect();
    for number in 0..12_u8 {
        let store = Store::open(dir.path(), &[number], max_bytes).unwrap();
        record(&store, &order, &rows);
        assert!(stats(dir.path()).unwrap().bytes <= 4 * max_bytes);
        // Which of them depends on the second in which each was noted.
        let stays = (0..80).any(|id| !known(&store, &order, id).is_empty());
        assert!(stays, "its own stays");
    }
    // Small ones are bounded in number.
    for number in 0..100_u8 {
        let store = Store::open(dir.path(), &[number, 1], max_bytes).unwrap();
        record(&store, &[0], &[(1, row([(0, 5)]))]);
    }
    let spaces = fs::read_dir(dir.path().join("counts")).unwrap().count();
    assert_eq!(spaces, 64);
}

#[test]
fn a_segment_can_be_read_by_itself() {
    let dir = tempfile::tempdir().unwrap();
    record(
        &store(dir.path(), MIB),
        &[3, 4],
        &[(1, row([(3, 5), (4, 0)]))],
    );
    let bytes = fs::read(&segments(dir.path())[0]).unwrap();
    let segment = Segment::decode(bytes[32..].to_vec()).unwrap();
    assert_eq!(segment.keys(), [key(3), key(4)]);
    let ids: Vec<ContentId> = segment.contents().collect();
    assert_eq!(ids, [content(1)]);
    let known = segment
        .lookup(&[key(4), key(3), key(5)], &content(1))
        .unwrap();
    assert_eq!(known.hits().collect::<Vec<_>>(), [(1, Count::exact(5))]);
    assert_eq!((known.get(0), known.get(2)), (Some(Count::ZERO), None));
    assert!(segment.lookup(&[key(5)], &content(1)).is_none());
    assert!(segment.lookup(&[key(3)], &content(2)).is_none());
}
