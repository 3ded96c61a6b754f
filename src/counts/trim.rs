//! What a merge keeps within a bound.

use std::cmp::Reverse;

use super::SlotSet;
use super::all::AllSlots;
use super::merge::Merge;
use super::segment::{HEAD_BYTES, SLOT_BYTES};

/// What a hit takes: nearly always a byte for the slot and one for the count.
const HIT_BYTES: usize = 2;

/// What stays.
pub(super) struct Kept {
    pub(super) slots: SlotSet,
    /// For each group.
    pub(super) groups: Vec<bool>,
}

/// Makes room until about `target` of the `full` bytes are left: slots that this
/// session did not ask for go first, those that were not asked for in the longest
/// time before others; then the contents that were not used in the longest time.
pub(super) fn trim(merge: &Merge<'_>, all: &AllSlots<'_>, full: usize, target: usize) -> Kept {
    let mut kept = Kept {
        slots: all.needed.clone(),
        groups: vec![true; merge.groups.len()],
    };
    if full <= target {
        return kept;
    }
    let slots_left = trim_slots(merge, all, full, target, &mut kept.slots);
    // What the hits on those slots take off a group is not looked at one by one.
    let of_groups = |bytes: usize| {
        let before = full.saturating_sub(HEAD_BYTES + all.bytes()).max(1);
        let after = slots_left.saturating_sub(HEAD_BYTES + kept.slots.len() * SLOT_BYTES);
        (bytes as u128 * after as u128).div_ceil(before as u128) as usize
    };
    let mut left = HEAD_BYTES + kept.slots.len() * SLOT_BYTES;
    let mut newest: Vec<_> = merge.groups.iter().zip(&mut kept.groups).collect();
    newest.sort_by_key(|(group, _)| (Reverse(group.used), group.part));
    for (group, kept) in newest {
        left = left.saturating_add(of_groups(group.bytes));
        *kept = left <= target;
    }
    kept
}

/// Removes slots and says about what is left then.
fn trim_slots(
    merge: &Merge<'_>,
    all: &AllSlots<'_>,
    full: usize,
    target: usize,
    slots: &mut SlotSet,
) -> usize {
    let mut weights = vec![SLOT_BYTES; all.asked.len()];
    merge.each_hit(|slot| {
        if let Some(weight) = weights.get_mut(slot as usize) {
            *weight += HIT_BYTES;
        }
    });
    let asked = |slot: u32| all.asked.get(slot as usize).copied().unwrap_or(0);
    let mut oldest: Vec<_> = slots.iter().filter(|slot| asked(*slot) < all.now).collect();
    oldest.sort_by_key(|slot| asked(*slot));
    let mut left = full;
    let mut gone = SlotSet::new();
    for slot in oldest {
        if left <= target {
            break;
        }
        let weight = weights.get(slot as usize).copied().unwrap_or(0);
        left = left.saturating_sub(weight);
        gone.insert(slot);
    }
    slots.difference_with(&gone);
    left
}
