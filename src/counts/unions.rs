//! What several segments know of a content, with sets that contents share.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use super::SlotSet;
use super::known::{Known, combine};

/// Most unions that are kept: contents whose sets are all their own would fill the
/// memory. Further ones are made each time.
const MAX_UNIONS: usize = 256;

/// Unions of sets, each made once.
#[derive(Debug, Default)]
pub(super) struct Unions {
    by_sets: RwLock<HashMap<[usize; 2], Union, foldhash::fast::RandomState>>,
}

#[derive(Clone, Debug)]
struct Union {
    /// Kept, so that nothing else gets their addresses.
    of: [Arc<SlotSet>; 2],
    set: Arc<SlotSet>,
    is_disjoint: bool,
}

impl Unions {
    /// Two pieces of knowledge of one content as one.
    pub(super) fn join(&self, newer: Known, older: Known) -> Known {
        let union = self.union(&newer.evaluated, &older.evaluated);
        // A pattern that is new and found nowhere is the usual case.
        let hits = if union.is_disjoint && newer.hits.is_empty() {
            older.hits
        } else if union.is_disjoint && older.hits.is_empty() {
            newer.hits
        } else {
            let [new_set, old_set] = &union.of;
            combine((new_set, &newer.hits), (old_set, &older.hits))
        };
        Known {
            evaluated: union.set,
            hits,
        }
    }

    fn union(&self, newer: &Arc<SlotSet>, older: &Arc<SlotSet>) -> Union {
        let key = [newer, older].map(|set| Arc::as_ptr(set).addr());
        let by_sets = self.by_sets.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(union) = by_sets.get(&key) {
            return union.clone();
        }
        let is_full = by_sets.len() >= MAX_UNIONS;
        drop(by_sets);
        let set = newer.union(older);
        let union = Union {
            of: [Arc::clone(newer), Arc::clone(older)],
            is_disjoint: set.len() == newer.len() + older.len(),
            set: Arc::new(set),
        };
        if is_full {
            return union;
        }
        // Another thread may have been first; all share what it made.
        let mut by_sets = self.by_sets.write().unwrap_or_else(PoisonError::into_inner);
        by_sets.entry(key).or_insert(union).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counts::Count;

    fn known(evaluated: &Arc<SlotSet>, hits: &[(u32, u64)]) -> Known {
        let hits = hits.iter().map(|hit| (hit.0, Count::exact(hit.1)));
        Known {
            evaluated: Arc::clone(evaluated),
            hits: hits.collect(),
        }
    }

    #[test]
    fn contents_with_the_same_sets_share_their_union() {
        let unions = Unions::default();
        let [a, b, c] = [0..4, 4..6, 3..6].map(|slots| Arc::new(slots.collect::<SlotSet>()));
        let one = unions.join(known(&b, &[(4, 1)]), known(&a, &[(0, 1)]));
        let two = unions.join(known(&b, &[]), known(&a, &[(0, 1), (2, 5)]));
        assert!(Arc::ptr_eq(&one.evaluated, &two.evaluated));
        let all = Arc::new(SlotSet::below(6));
        assert_eq!(one, known(&all, &[(0, 1), (4, 1)]));
        assert_eq!(two, known(&all, &[(0, 1), (2, 5)]));
        let three = unions.join(known(&b, &[(5, 2)]), known(&a, &[]));
        assert_eq!(three, known(&all, &[(5, 2)]));
        // Where both counted, one that found nothing says so.
        let four = unions.join(known(&c, &[]), known(&a, &[(0, 1), (3, 9)]));
        assert_eq!(four, known(&all, &[(0, 1)]));
    }

    #[test]
    fn more_unions_than_are_kept_are_right_as_well() {
        let unions = Unions::default();
        for number in 0..2000_u32 {
            let [a, b] = [number, number + 1].map(|slot| Arc::new([slot].into_iter().collect()));
            let joined = unions.join(known(&a, &[]), known(&b, &[(number + 1, 3)]));
            let both = Arc::new([number, number + 1].into_iter().collect());
            assert_eq!(joined, known(&both, &[(number + 1, 3)]));
        }
        let kept = unions.by_sets.read().unwrap().len();
        assert_eq!(kept, MAX_UNIONS);
    }
}
