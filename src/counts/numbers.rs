//! From the numbers of one list of slots to those of another.

use std::collections::HashMap;
use std::sync::OnceLock;

use super::{SlotKey, SlotSet};

/// The number of a slot that the other list does not have.
pub(super) const NONE: u32 = u32::MAX;

/// A list of slots that others are translated to.
#[derive(Debug)]
pub(super) struct Numbers {
    keys: Vec<SlotKey>,
    by_key: OnceLock<HashMap<SlotKey, u32, foldhash::fast::RandomState>>,
}

impl Numbers {
    pub(super) fn new(keys: &[SlotKey]) -> Self {
        Self {
            keys: keys.to_vec(),
            by_key: OnceLock::new(),
        }
    }

    pub(super) fn keys(&self) -> &[SlotKey] {
        &self.keys
    }

    /// For each slot of another list its number in this one, or [`NONE`].
    pub(super) fn translate(&self, keys: &[SlotKey]) -> Vec<u32> {
        // Lists come in much the same order, so the next number is a good guess and
        // most lists need no hashing.
        let mut guess = 0_u32;
        keys.iter()
            .map(|key| {
                let guessed = self.keys.get(guess as usize) == Some(key);
                let number = if guessed { Some(guess) } else { self.get(key) };
                guess = number.map_or(guess, |number| number.saturating_add(1));
                number.unwrap_or(NONE)
            })
            .collect()
    }

    fn get(&self, key: &SlotKey) -> Option<u32> {
        let by_key = self.by_key.get_or_init(|| {
            let mut by_key = HashMap::with_capacity_and_hasher(self.keys.len(), <_>::default());
            for (number, key) in (0..NONE).zip(&self.keys) {
                by_key.entry(*key).or_insert(number);
            }
            by_key
        });
        by_key.get(key).copied()
    }
}

/// Where the slots of a list went.
#[derive(Debug)]
pub(super) struct Translation {
    to: Vec<u32>,
    /// So many of the first slots kept their number.
    kept: usize,
}

impl Translation {
    pub(super) fn new(to: Vec<u32>) -> Self {
        let kept = (0..).zip(&to).take_while(|(number, to)| number == *to);
        Self {
            kept: kept.count(),
            to,
        }
    }

    /// This translation after another one.
    pub(super) fn after(&self, first: &[u32]) -> Self {
        Self::new(
            first
                .iter()
                .map(|to| self.get(*to).unwrap_or(NONE))
                .collect(),
        )
    }

    /// The new number of a slot, if it has one.
    pub(super) fn get(&self, slot: u32) -> Option<u32> {
        self.to.get(slot as usize).copied().filter(|to| *to != NONE)
    }

    /// All new numbers.
    pub(super) fn targets(&self) -> impl Iterator<Item = u32> + '_ {
        self.to.iter().copied().filter(|to| *to != NONE)
    }

    /// True if every slot kept its number.
    pub(super) fn is_identity(&self) -> bool {
        self.kept == self.to.len()
    }

    /// The new numbers of a set.
    pub(super) fn set(&self, set: &SlotSet) -> SlotSet {
        if self.is_identity() {
            return set.clone();
        }
        // Whole words first.
        let words = set.words();
        let whole = words.len().min(self.kept / 64);
        let mut new = SlotSet::from_words(words.iter().take(whole).copied().collect());
        let mut rest = vec![0; whole];
        rest.extend(words.iter().skip(whole));
        let rest = SlotSet::from_words(rest);
        new.extend(rest.iter().filter_map(|slot| self.get(slot)));
        new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(numbers: impl IntoIterator<Item = u8>) -> Vec<SlotKey> {
        numbers.into_iter().map(|n| SlotKey([n; 16])).collect()
    }

    #[test]
    fn slots_are_found_in_any_order() {
        let numbers = Numbers::new(&keys([1, 2, 3, 4]));
        assert_eq!(numbers.translate(&keys([1, 2, 3, 4])), [0, 1, 2, 3]);
        assert!(numbers.by_key.get().is_none(), "nothing was hashed");
        assert_eq!(numbers.translate(&keys([2, 9, 1, 4])), [1, NONE, 0, 3]);
        // Of two equal keys the first is found, whichever was guessed.
        let twice = Numbers::new(&keys([5, 6, 5]));
        assert_eq!(twice.translate(&keys([9, 5])), [NONE, 0]);
    }

    #[test]
    fn sets_are_translated_slot_by_slot() {
        for shift in [0, 63, 64, 65, 130, 199] {
            // The slots from `shift` on go one down, and that one is gone.
            let to = (0..200).map(|slot| match slot {
                slot if slot < shift => slot,
                slot if slot == shift => NONE,
                slot => slot - 1,
            });
            let translation = Translation::new(to.collect());
            let set: SlotSet = (0..200).step_by(3).chain([shift]).collect();
            let slot_by_slot: SlotSet = set
                .iter()
                .filter_map(|slot| translation.get(slot))
                .collect();
            assert_eq!(translation.set(&set), slot_by_slot);
        }
    }
}
