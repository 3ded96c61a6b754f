//! All slots of a merge, in one list: those of the session, then the others.

use std::collections::HashMap;

use super::numbers::{NONE, Numbers, Translation};
use super::segment::{SLOT_BYTES, Segment};
use super::{SlotKey, SlotSet};

/// The slots that something is known of.
pub(super) struct AllSlots<'a> {
    session: &'a Numbers,
    others: Vec<SlotKey>,
    by_key: HashMap<SlotKey, u32, foldhash::fast::RandomState>,
    /// When each was last asked for, by a session.
    pub(super) asked: Vec<u32>,
    /// Those that an entry has in its set.
    pub(super) needed: SlotSet,
    pub(super) now: u32,
}

impl<'a> AllSlots<'a> {
    pub(super) fn new(session: &'a Numbers, now: u32) -> Self {
        Self {
            session,
            others: Vec::new(),
            by_key: HashMap::default(),
            asked: vec![now; session.keys().len()],
            needed: SlotSet::new(),
            now,
        }
    }

    /// Adds the slots of a segment that its entries need and gives them numbers.
    pub(super) fn add(&mut self, segment: &Segment, needed: &SlotSet) -> Vec<u32> {
        let mut to_all = self.session.translate(&segment.keys);
        let slots = to_all.iter_mut().zip(&segment.keys).zip(&segment.asked);
        for (slot, ((to, key), asked)) in (0..).zip(slots) {
            if !needed.contains(slot) {
                continue;
            }
            if *to == NONE {
                *to = *self.by_key.entry(*key).or_insert_with(|| {
                    let number = u32::try_from(self.asked.len()).unwrap_or(NONE);
                    self.others.push(*key);
                    self.asked.push(0);
                    number
                });
            }
            if let Some(all) = self.asked.get_mut(*to as usize) {
                *all = (*all).max(*asked);
                self.needed.insert(*to);
            }
        }
        to_all
    }

    /// About what the needed ones take.
    pub(super) fn bytes(&self) -> usize {
        self.needed.len() * SLOT_BYTES
    }

    /// The slots of `kept` alone: their new numbers, their keys, and when they were
    /// asked for.
    pub(super) fn renumber(&self, kept: &SlotSet) -> (Translation, Vec<SlotKey>, Vec<u32>) {
        let mut to = vec![NONE; self.asked.len()];
        let mut keys = Vec::with_capacity(kept.len());
        let mut asked = Vec::with_capacity(kept.len());
        let mut next = 0;
        for slot in kept.iter() {
            let at = slot as usize;
            let other = at.checked_sub(self.session.keys().len());
            let key = match other {
                None => self.session.keys().get(at),
                Some(other) => self.others.get(other),
            };
            let (Some(key), Some(time), Some(to)) = (key, self.asked.get(at), to.get_mut(at))
            else {
                continue;
            };
            keys.push(*key);
            asked.push(*time);
            *to = next;
            next += 1;
        }
        (Translation::new(to), keys, asked)
    }
}
