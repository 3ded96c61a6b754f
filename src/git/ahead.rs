//! Objects that will be asked for soon, in their order.

use std::collections::BTreeMap;

use foldhash::{HashMap, HashMapExt as _};

use crate::git::Oid;

/// As many are remembered; of more, the oldest are forgotten.
const MAX_WANTED: usize = 1 << 16;

/// What was announced and not asked for yet.
#[derive(Debug)]
pub(super) struct Ahead {
    next: u64,
    in_order: BTreeMap<u64, Oid>,
    numbers: HashMap<Oid, u64>,
}

impl Ahead {
    pub(super) fn new() -> Self {
        Self {
            next: 0,
            in_order: BTreeMap::new(),
            numbers: HashMap::new(),
        }
    }

    /// Remembers an object as the last.
    pub(super) fn push(&mut self, oid: Oid) {
        if self.numbers.contains_key(&oid) {
            return;
        }
        if self.numbers.len() == MAX_WANTED
            && let Some((_, oldest)) = self.in_order.pop_first()
        {
            self.numbers.remove(&oldest);
        }
        self.in_order.insert(self.next, oid);
        self.numbers.insert(oid, self.next);
        self.next += 1;
    }

    /// Forgets an object; gives its number if it was remembered.
    pub(super) fn remove(&mut self, oid: Oid) -> Option<u64> {
        let number = self.numbers.remove(&oid)?;
        self.in_order.remove(&number);
        Some(number)
    }

    /// Forgets the object of a number and gives it. `None` if somebody else has it:
    /// what comes behind is for them, too.
    pub(super) fn take(&mut self, number: u64) -> Option<Oid> {
        let oid = self.in_order.remove(&number)?;
        self.numbers.remove(&oid);
        Some(oid)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn oid(number: u32) -> Oid {
        let mut name = [0; 20];
        name[..4].copy_from_slice(&number.to_le_bytes());
        Oid::new(&name).unwrap()
    }

    #[test]
    fn objects_are_taken_in_order_and_once() {
        let mut ahead = Ahead::new();
        for number in [5, 6, 7, 6, 8] {
            ahead.push(oid(number));
        }
        assert_eq!(ahead.remove(oid(9)), None);
        assert_eq!(ahead.remove(oid(5)), Some(0));
        assert_eq!(ahead.take(0), None);
        assert_eq!(ahead.take(1), Some(oid(6)));
        assert_eq!(ahead.remove(oid(6)), None);
        assert_eq!(ahead.take(2), Some(oid(7)));
        assert_eq!(ahead.take(4), None);
    }

    #[test]
    fn the_oldest_are_forgotten() {
        let mut ahead = Ahead::new();
        let many = u32::try_from(MAX_WANTED).unwrap();
        (0..many + 2).for_each(|number| ahead.push(oid(number)));
        assert_eq!(ahead.numbers.len(), MAX_WANTED);
        assert_eq!(ahead.remove(oid(1)), None);
        assert_eq!(ahead.remove(oid(2)), Some(2));
    }
}
