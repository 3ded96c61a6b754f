//! What is known of a content, and how two pieces of knowledge become one.

use std::sync::Arc;

use super::numbers::Translation;
use super::segment::{Entry, Segment};
use super::{Count, SlotSet};

/// What is known of a content, in the numbers of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Known {
    /// The slots that were counted. Contents that were counted for the same slots
    /// share the set.
    pub evaluated: Arc<SlotSet>,
    pub(super) hits: Vec<Hit>,
}

/// A slot and its count.
pub(super) type Hit = (u32, Count);

impl Known {
    /// The slots that were counted to anything but exactly 0, in ascending order.
    pub fn hits(&self) -> impl ExactSizeIterator<Item = (u32, Count)> + '_ {
        self.hits.iter().copied()
    }

    /// The count of a slot; `None` if it was not counted.
    #[must_use]
    pub fn get(&self, slot: u32) -> Option<Count> {
        if !self.evaluated.contains(slot) {
            return None;
        }
        let at = self.hits.binary_search_by_key(&slot, |hit| hit.0);
        let hit = at.ok().and_then(|at| self.hits.get(at));
        Some(hit.map_or(Count::ZERO, |hit| hit.1))
    }
}

/// The hits of an entry in other numbers, ascending. `None` if they make no sense:
/// `evaluated` is the set of the entry in those numbers.
pub(super) fn translate_hits(
    segment: &Segment,
    entry: &Entry,
    translation: &Translation,
    evaluated: &SlotSet,
) -> Option<Vec<Hit>> {
    let mut hits: Vec<Hit> = Vec::with_capacity(entry.hits.len() / 2);
    let mut is_ascending = true;
    let mut next = 0;
    segment.hits(entry, |slot, count| {
        let Some(slot) = translation.get(slot) else {
            return Some(());
        };
        if !evaluated.contains(slot) {
            return None;
        }
        is_ascending &= slot >= next;
        next = slot + 1;
        if count != Count::ZERO {
            hits.push((slot, count));
        }
        Some(())
    })?;
    if !is_ascending {
        hits.sort_by_key(|hit| hit.0);
        // Only a list with a key twice has a slot twice.
        hits.dedup_by(|later, kept| {
            let same = later.0 == kept.0;
            if same {
                kept.1 = better(kept.1, later.1);
            }
            same
        });
    }
    Some(hits)
}

/// Of two counts of the same thing the one that says more.
fn better(newer: Count, older: Count) -> Count {
    match (newer.exact, older.exact) {
        (true, _) => newer,
        (false, true) => older,
        (false, false) => Count::at_least(newer.count.max(older.count)),
    }
}

/// The hits of two pieces of knowledge of one content.
pub(super) fn combine(newer: (&SlotSet, &[Hit]), older: (&SlotSet, &[Hit])) -> Vec<Hit> {
    let mut hits = Vec::with_capacity(newer.1.len() + older.1.len());
    // Where only one has a hit the other may still have counted to 0.
    let only_newer = |&(slot, count): &Hit| match older.0.contains(slot) {
        true => (slot, better(count, Count::ZERO)),
        false => (slot, count),
    };
    let only_older = |&(slot, count): &Hit| match newer.0.contains(slot) {
        true => (slot, Count::ZERO),
        false => (slot, count),
    };
    let (mut new, mut old) = (newer.1.iter().peekable(), older.1.iter().peekable());
    loop {
        let (slot, count) = match (new.peek(), old.peek()) {
            (Some(n), Some(o)) if n.0 == o.0 => {
                let both = (n.0, better(n.1, o.1));
                new.next();
                old.next();
                both
            }
            (Some(n), Some(o)) if n.0 > o.0 => {
                let hit = only_older(o);
                old.next();
                hit
            }
            (Some(n), _) => {
                let hit = only_newer(n);
                new.next();
                hit
            }
            (None, Some(o)) => {
                let hit = only_older(o);
                old.next();
                hit
            }
            (None, None) => break,
        };
        if count != Count::ZERO {
            hits.push((slot, count));
        }
    }
    hits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exact_count_or_the_larger_bound_is_kept() {
        let newer: SlotSet = (0..8).collect();
        let older: SlotSet = (4..12).collect();
        let new_hits = [
            (1, Count::exact(1)),
            (4, Count::at_least(2)),
            (5, Count::at_least(3)),
            (6, Count::exact(4)),
            (7, Count::at_least(1)),
        ];
        let old_hits = [
            (4, Count::exact(20)),
            (5, Count::at_least(2)),
            (6, Count::at_least(1)),
            (9, Count::exact(9)),
        ];
        assert_eq!(
            combine((&newer, &new_hits), (&older, &old_hits)),
            [
                (1, Count::exact(1)),
                (4, Count::exact(20)),
                (5, Count::at_least(3)),
                (6, Count::exact(4)),
                // 7 was counted to exactly 0 before: the contents are the same.
                (9, Count::exact(9)),
            ]
        );
    }
}
