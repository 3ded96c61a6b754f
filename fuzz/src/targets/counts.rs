//! Segments of counts of arbitrary bytes: none, or ones that can be asked and
//! merged, and the merged one knows what they knew.

use std::collections::{BTreeMap, BTreeSet};

use probity::counts::{Count, Known, Segment, SlotKey};
use probity::files::ContentId;

const MAGIC: &[u8] = b"PRBYCNT\x01";

/// How many numbers a recipe has for slots, besides one that no segment has.
const SLOTS: u8 = 12;

/// Bytes that begin with the magic are read as they are. Others are a recipe for
/// two segments whose tables are sound and whose sets and hits are anything.
pub(crate) fn run(data: &[u8]) {
    if data.starts_with(MAGIC) {
        if let Some(segment) = Segment::decode(data.to_vec()) {
            // Of equal keys it is not said which gets what is known.
            let slots: BTreeSet<SlotKey> = segment.keys().iter().copied().collect();
            let slots: Vec<SlotKey> = slots.into_iter().collect();
            hold(&[segment], &slots);
        }
        return;
    }
    let mut bytes = data.iter().copied();
    let segments = [(); 2].map(|()| {
        let segment = Segment::decode(cook(&mut bytes));
        segment.expect("sound tables make a segment")
    });
    let slots: Vec<SlotKey> = (0..=SLOTS).rev().map(slot).collect();
    hold(&segments, &slots);
}

fn hold(segments: &[Segment], slots: &[SlotKey]) {
    let merged = Segment::merge(segments, slots, 1, usize::MAX);
    for id in segments.iter().flat_map(Segment::contents) {
        let all: Vec<&Segment> = segments
            .iter()
            .filter(|segment| segment.contents().any(|other| other == id))
            .collect();
        let known: Vec<Known> = all
            .iter()
            .filter_map(|segment| segment.lookup(slots, &id))
            .collect();
        for known in &known {
            sound(known, slots.len());
        }
        // An entry that makes no sense need not make the same none afterwards.
        if known.len() < all.len() {
            continue;
        }
        let merged = merged.as_ref().and_then(|merged| merged.lookup(slots, &id));
        let merged = merged.expect("what was known stays known");
        sound(&merged, slots.len());
        for slot in 0..=slots.len() as u32 {
            let expected = known
                .iter()
                .filter_map(|known| known.get(slot))
                .reduce(better);
            assert_eq!(merged.get(slot), expected, "slot {slot}");
        }
    }
    let bytes = usize::from(segments.iter().map(|it| it.keys().len()).sum::<usize>() as u8) * 8;
    let small = Segment::merge(segments, slots, 1, bytes);
    for id in small.iter().flat_map(Segment::contents) {
        let known = small.as_ref().and_then(|small| small.lookup(slots, &id));
        if let Some(known) = known {
            sound(&known, slots.len());
        }
    }
}

/// Every hit is on a slot that was counted, in ascending order, and says something.
fn sound(known: &Known, slots: usize) {
    let hits: BTreeMap<u32, Count> = known.hits().collect();
    assert!(hits.keys().copied().eq(known.hits().map(|hit| hit.0)));
    assert!(known.evaluated.iter().all(|slot| (slot as usize) < slots));
    for slot in known.evaluated.iter() {
        let count = hits.get(&slot).copied().unwrap_or(Count::ZERO);
        assert_eq!(known.get(slot), Some(count));
    }
    let zeros = hits.values().filter(|count| **count == Count::ZERO);
    assert_eq!(zeros.count(), 0);
    let counted = |slot: &u32| known.evaluated.contains(*slot);
    assert!(hits.keys().all(counted));
}

/// Of two counts the one that says more, the first if they say as much.
fn better(newer: Count, older: Count) -> Count {
    if newer.exact || (!older.exact && newer.count >= older.count) {
        newer
    } else {
        older
    }
}

fn slot(number: u8) -> SlotKey {
    SlotKey([number; 16])
}

/// Writes a segment as its format says. Without bytes everything is empty.
fn cook(recipe: &mut impl Iterator<Item = u8>) -> Vec<u8> {
    let mut next = |below: u8| recipe.next().unwrap_or(0) % below;
    let keys: Vec<u8> = (0..next(SLOTS)).map(|_| next(SLOTS)).collect();
    let (mut sets, mut set_ends) = (Vec::new(), Vec::new());
    for _ in 0..next(5) {
        sets.extend((0..next(7)).map(|_| next(255)));
        set_ends.push(sets.len() as u32);
    }
    let mut entries: BTreeMap<ContentId, (u8, Vec<u8>)> = BTreeMap::new();
    for _ in 0..next(8) {
        let id = ContentId([next(16) * 17; 32]);
        let set = next(6);
        let hits = (0..next(9)).map(|_| next(255)).collect();
        entries.insert(id, (set, hits));
    }
    let hits: Vec<u8> = entries.values().flat_map(|entry| entry.1.clone()).collect();

    let mut bytes = MAGIC.to_vec();
    for len in [
        keys.len(),
        set_ends.len(),
        entries.len(),
        sets.len(),
        hits.len(),
    ] {
        bytes.extend((len as u32).to_le_bytes());
    }
    for key in &keys {
        bytes.extend(slot(*key).0);
    }
    bytes.extend(vec![0; keys.len() * 4]);
    for end in set_ends {
        bytes.extend(end.to_le_bytes());
    }
    let mut end = 0;
    for (id, (set, hits)) in entries {
        end += hits.len() as u32;
        bytes.extend(id.0);
        bytes.extend(u32::from(set).to_le_bytes());
        bytes.extend([0; 4]);
        bytes.extend(end.to_le_bytes());
    }
    bytes.extend(sets);
    bytes.extend(hits);
    bytes
}
