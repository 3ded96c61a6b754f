//! The numbers, sets and hits of a segment as bytes.
//!
//! Numbers are in LEB128. A set is a byte that says how it is written and either
//! the bytes of its bits, lowest first, or its slots as numbers: the distance from
//! the one before, less one. A hit is such a distance and twice the count, plus one
//! if it is only a lower bound.

use super::{Count, SlotSet};

const DENSE: u8 = 0;
const SPARSE: u8 = 1;

/// Takes a number off the front.
pub(super) fn read_number(bytes: &mut &[u8]) -> Option<u64> {
    let (&first, rest) = bytes.split_first()?;
    // Nearly all are this short.
    if first < 0x80 {
        *bytes = rest;
        return Some(u64::from(first));
    }
    let mut number = u64::from(first & 0x7f);
    let mut shift = 7;
    let mut rest = rest;
    loop {
        let (&byte, after) = rest.split_first()?;
        rest = after;
        let bits = u64::from(byte & 0x7f);
        if shift > 63 || bits << shift >> shift != bits {
            return None;
        }
        number |= bits << shift;
        if byte < 0x80 {
            *bytes = rest;
            return Some(number);
        }
        shift += 7;
    }
}

/// Appends a number.
pub(super) fn write_number(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Calls `each` for every hit in ascending order of slots. `None` if the bytes are
/// no hits on slots below `slots`, or as soon as `each` says so.
pub(super) fn read_hits(
    mut bytes: &[u8],
    slots: u32,
    mut each: impl FnMut(u32, Count) -> Option<()>,
) -> Option<()> {
    let mut next = 0;
    while !bytes.is_empty() {
        let slot = read_slot(&mut bytes, &mut next, slots)?;
        let count = read_number(&mut bytes)?;
        let count = Count {
            count: count >> 1,
            exact: count & 1 == 0,
        };
        each(slot, count)?;
    }
    Some(())
}

/// Appends hits in ascending order of slots.
pub(super) fn write_hits(bytes: &mut Vec<u8>, hits: impl IntoIterator<Item = (u32, Count)>) {
    let mut next = 0;
    for (slot, count) in hits {
        write_slot(bytes, &mut next, slot);
        // Counts of 63 bits are out of reach; one that is not is a lower bound.
        let (number, exact) = match count.count.checked_shl(1) {
            Some(number) if number >> 1 == count.count => (number, count.exact),
            _ => (u64::MAX - 1, false),
        };
        write_number(bytes, number | u64::from(!exact));
    }
}

/// The set that bytes are; `None` if they are no set of slots below `slots`. Takes
/// at most an eighth of `slots` bytes of memory.
pub(super) fn read_set(bytes: &[u8], slots: u32) -> Option<SlotSet> {
    let (&kind, mut bytes) = bytes.split_first()?;
    let set = match kind {
        DENSE => {
            let words = bytes.chunks(8).map(|chunk| {
                let mut word = [0; 8];
                for (to, from) in word.iter_mut().zip(chunk) {
                    *to = *from;
                }
                u64::from_le_bytes(word)
            });
            SlotSet::from_words(words.collect())
        }
        SPARSE => {
            let mut set = SlotSet::new();
            let mut next = 0;
            while !bytes.is_empty() {
                set.insert(read_slot(&mut bytes, &mut next, slots)?);
            }
            set
        }
        _ => return None,
    };
    set.is_subset(&SlotSet::below(slots)).then_some(set)
}

/// Appends a set in the shorter of its two forms.
pub(super) fn write_set(bytes: &mut Vec<u8>, set: &SlotSet) {
    let from = bytes.len();
    let bits = set.words().iter().flat_map(|word| word.to_le_bytes());
    let used = set.words().len() * 8 - set.words().last().map_or(0, leading_zero_bytes);
    // A slot takes a byte at least.
    if set.len() <= used {
        bytes.push(SPARSE);
        let mut next = 0;
        for slot in set.iter() {
            write_slot(bytes, &mut next, slot);
        }
        if bytes.len() - from <= used + 1 {
            return;
        }
        bytes.truncate(from);
    }
    bytes.push(DENSE);
    bytes.extend(bits.take(used));
}

fn leading_zero_bytes(word: &u64) -> usize {
    word.leading_zeros() as usize / 8
}

fn read_slot(bytes: &mut &[u8], next: &mut u64, slots: u32) -> Option<u32> {
    let slot = next.checked_add(read_number(bytes)?)?;
    *next = slot + 1;
    u32::try_from(slot).ok().filter(|slot| *slot < slots)
}

fn write_slot(bytes: &mut Vec<u8>, next: &mut u32, slot: u32) {
    write_number(bytes, u64::from(slot.saturating_sub(*next)));
    *next = slot.saturating_add(1);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn numbers_that_are_too_large_or_cut_are_none() {
        for number in [0, 1, 127, 128, 300, u64::from(u32::MAX), u64::MAX] {
            let mut bytes = Vec::new();
            write_number(&mut bytes, number);
            assert_eq!(read_number(&mut &bytes[..]), Some(number));
            for cut in 0..bytes.len() {
                assert_eq!(read_number(&mut &bytes[..cut]), None);
            }
        }
        assert_eq!(read_number(&mut &[0xff; 11][..]), None);
        let two_to_the_64 = [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 2];
        assert_eq!(read_number(&mut &two_to_the_64[..]), None);
    }

    #[test]
    fn counts_beyond_63_bits_become_lower_bounds() {
        for count in [u64::MAX, 1 << 63] {
            let mut bytes = Vec::new();
            write_hits(&mut bytes, [(7, Count::exact(count))]);
            let mut read = Vec::new();
            read_hits(&bytes, 8, |slot, count| {
                read.push((slot, count));
                Some(())
            })
            .unwrap();
            assert_eq!(read, [(7, Count::at_least(u64::MAX >> 1))]);
            assert_eq!(read_hits(&bytes, 7, |_, _| Some(())), None);
        }
    }

    proptest! {
        #[test]
        fn sets_come_back(slots in proptest::collection::btree_set(0_u32..2000, 0..300), full: bool) {
            let set: SlotSet = if full { SlotSet::below(slots.len() as u32) } else { slots.into_iter().collect() };
            let mut bytes = Vec::new();
            write_set(&mut bytes, &set);
            prop_assert!(bytes.len() <= 1 + 250);
            prop_assert_eq!(read_set(&bytes, 2000), Some(set.clone()));
            if let Some(last) = set.iter().last() {
                prop_assert_eq!(read_set(&bytes, last), None);
            }
        }
    }
}
