//! Sets of slots.

use std::fmt;

const BITS: usize = u64::BITS as usize;

/// A set of slots: one bit for each number up to the largest, so a number costs up
/// to its eighth in bytes.
///
/// ```
/// use probity::counts::SlotSet;
///
/// let open: SlotSet = (0..100).collect();
/// let evaluated: SlotSet = [3, 99, 400].into_iter().collect();
/// let rest = open.difference(&evaluated);
/// assert_eq!(rest.len(), 98);
/// assert!(!rest.contains(3) && evaluated.contains(400));
/// ```
// INVARIANT: the last word is not zero, so equal sets have equal words.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub struct SlotSet {
    words: Vec<u64>,
}

impl SlotSet {
    /// The empty set.
    #[must_use]
    pub const fn new() -> Self {
        Self { words: Vec::new() }
    }

    /// The slots below `len`.
    #[must_use]
    pub fn below(len: u32) -> Self {
        let mut words = vec![u64::MAX; len as usize / BITS];
        if !(len as usize).is_multiple_of(BITS) {
            words.push((1 << (len as usize % BITS)) - 1);
        }
        Self { words }
    }

    pub(super) fn from_words(words: Vec<u64>) -> Self {
        let mut set = Self { words };
        set.trim();
        set
    }

    pub(super) fn words(&self) -> &[u64] {
        &self.words
    }

    /// True if the slot is in the set.
    #[must_use]
    pub fn contains(&self, slot: u32) -> bool {
        let word = self.words.get(slot as usize / BITS);
        word.is_some_and(|word| word >> (slot as usize % BITS) & 1 == 1)
    }

    /// Adds a slot; true if it was not there.
    pub fn insert(&mut self, slot: u32) -> bool {
        let at = slot as usize / BITS;
        if at >= self.words.len() {
            self.words.resize(at + 1, 0);
        }
        let bit = 1 << (slot as usize % BITS);
        // The word is there by now.
        self.words.get_mut(at).is_some_and(|word| {
            let new = *word & bit == 0;
            *word |= bit;
            new
        })
    }

    /// Adds the slots of another set.
    pub fn union_with(&mut self, other: &Self) {
        if other.words.len() > self.words.len() {
            self.words.resize(other.words.len(), 0);
        }
        for (word, other) in self.words.iter_mut().zip(&other.words) {
            *word |= other;
        }
    }

    /// The slots of either set.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        let mut union = self.clone();
        union.union_with(other);
        union
    }

    /// Removes the slots of another set.
    pub fn difference_with(&mut self, other: &Self) {
        for (word, other) in self.words.iter_mut().zip(&other.words) {
            *word &= !other;
        }
        self.trim();
    }

    /// The slots of this set that are not in the other.
    #[must_use]
    pub fn difference(&self, other: &Self) -> Self {
        let mut difference = self.clone();
        difference.difference_with(other);
        difference
    }

    /// Keeps the slots that are in another set too.
    pub fn intersect_with(&mut self, other: &Self) {
        self.words.truncate(other.words.len());
        for (word, other) in self.words.iter_mut().zip(&other.words) {
            *word &= other;
        }
        self.trim();
    }

    /// True if every slot is in the other set.
    #[must_use]
    pub fn is_subset(&self, other: &Self) -> bool {
        self.words.len() <= other.words.len()
            && self
                .words
                .iter()
                .zip(&other.words)
                .all(|(word, other)| word & !other == 0)
    }

    /// True if there is no slot.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// How many slots there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.words
            .iter()
            .map(|word| word.count_ones() as usize)
            .sum()
    }

    /// The slots in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        (0_u32..)
            .step_by(BITS)
            .zip(&self.words)
            .flat_map(|(from, &word)| {
                let mut rest = word;
                std::iter::from_fn(move || {
                    let bit = (rest != 0).then(|| rest.trailing_zeros())?;
                    rest &= rest - 1;
                    Some(from + bit)
                })
            })
    }

    fn trim(&mut self) {
        let zeros = self.words.iter().rev().take_while(|word| **word == 0);
        self.words.truncate(self.words.len() - zeros.count());
    }
}

impl fmt::Debug for SlotSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

impl FromIterator<u32> for SlotSet {
    fn from_iter<T: IntoIterator<Item = u32>>(slots: T) -> Self {
        let mut set = Self::new();
        set.extend(slots);
        set
    }
}

impl Extend<u32> for SlotSet {
    fn extend<T: IntoIterator<Item = u32>>(&mut self, slots: T) {
        for slot in slots {
            self.insert(slot);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn operations_are_those_of_a_naive_set(
            a in proptest::collection::btree_set(0_u32..300, 0..40),
            b in proptest::collection::btree_set(0_u32..300, 0..40),
        ) {
            let set = |slots: &BTreeSet<u32>| slots.iter().copied().collect::<SlotSet>();
            let (x, y) = (set(&a), set(&b));
            prop_assert_eq!(x.len(), a.len());
            prop_assert_eq!(x.is_empty(), a.is_empty());
            prop_assert_eq!(x.iter().collect::<Vec<_>>(), a.iter().copied().collect::<Vec<_>>());
            prop_assert_eq!(x.union(&y), set(&(&a | &b)));
            prop_assert_eq!(x.difference(&y), set(&(&a - &b)));
            let mut both = x.clone();
            both.intersect_with(&y);
            prop_assert_eq!(both, set(&(&a & &b)));
            prop_assert_eq!(x.is_subset(&y), a.is_subset(&b));
            prop_assert_eq!(x == y, a == b);
            for slot in 0..320 {
                prop_assert_eq!(x.contains(slot), a.contains(&slot));
            }
        }
    }

    #[test]
    fn the_slots_below_a_number() {
        for len in [0, 1, 63, 64, 65, 128, 1000] {
            assert_eq!(SlotSet::below(len), (0..len).collect());
        }
    }
}
