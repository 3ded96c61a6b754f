//! One segment: what was found in some contents, as an immutable run of bytes.
//!
//! ```text
//! magic      7 bytes, and the version of the format
//! slots, sets, entries, bytes of sets, bytes of hits      u32 each
//! keys       16 bytes for each slot
//! asked      u32 for each slot: when a session last asked for it
//! set ends   u32 for each set: where it ends in the bytes of sets
//! entries    content 32 bytes, set u32, used u32, end in the bytes of hits u32;
//!            by ascending content, each once
//! the bytes of sets, the bytes of hits
//! ```
//!
//! Integers are little-endian, times are seconds since 1970. Slots are numbered
//! within the segment. A slot of an entry's set without a hit was counted to
//! exactly 0.
//!
//! [`Segment::decode`] looks at the tables alone; sets and hits are read when they
//! are asked for, and one that makes no sense is as good as none.

use std::ops::Range;

use super::wire::{read_hits, read_set};
use super::{Count, SlotKey, SlotSet};
use crate::files::ContentId;

/// The magic and, as its last byte, the version of the format.
pub(super) const MAGIC: [u8; 8] = *b"PRBYCNT\x01";

/// The bytes before the keys.
pub(super) const HEAD_BYTES: usize = MAGIC.len() + 5 * 4;

/// The bytes of the tables for each slot, set and entry.
pub(super) const SLOT_BYTES: usize = 16 + 4;
pub(super) const SET_BYTES: usize = 4;
pub(super) const ENTRY_BYTES: usize = 32 + 3 * 4;

/// What was found in some contents.
#[derive(Debug)]
pub struct Segment {
    pub(super) keys: Vec<SlotKey>,
    pub(super) asked: Vec<u32>,
    pub(super) sets: Vec<Range<u32>>,
    /// By ascending content, each once.
    pub(super) entries: Vec<Entry>,
    /// Where the entries begin whose content begins with a byte.
    fan: Vec<u32>,
    /// What `sets` points into begins here in `bytes`, ...
    sets_from: usize,
    /// ... and what the entries point into here.
    hits_from: usize,
    bytes: Vec<u8>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) id: ContentId,
    pub(super) set: u32,
    pub(super) used: u32,
    pub(super) hits: Range<u32>,
}

impl Segment {
    /// Reads a segment; `None` if the bytes are none of this version of the format.
    ///
    /// Takes memory in proportion to the bytes, whatever they say.
    #[must_use]
    pub fn decode(bytes: Vec<u8>) -> Option<Self> {
        Self::decode_at(bytes, 0)
    }

    /// The same for bytes with something before the segment.
    pub(super) fn decode_at(bytes: Vec<u8>, from: usize) -> Option<Self> {
        let mut rest = bytes.get(from..)?.strip_prefix(&MAGIC)?;
        let mut lens = [0; 5];
        for len in &mut lens {
            *len = u32::from_le_bytes(take(&mut rest)?);
        }
        let [slots, sets, entries, set_bytes, hit_bytes] = lens.map(u64::from);
        // Sums of products of 32 bits: nothing overflows.
        let tables =
            slots * SLOT_BYTES as u64 + sets * SET_BYTES as u64 + entries * ENTRY_BYTES as u64;
        if rest.len() as u64 != tables + set_bytes + hit_bytes {
            return None;
        }
        // They lie within the bytes, so they fit.
        let sets_from = from + HEAD_BYTES + tables as usize;
        let hits_from = sets_from + set_bytes as usize;

        let keys = (0..slots)
            .map(|_| take(&mut rest).map(SlotKey))
            .collect::<Option<_>>()?;
        let asked = (0..slots)
            .map(|_| take(&mut rest).map(u32::from_le_bytes))
            .collect::<Option<_>>()?;
        let mut end = 0;
        let sets = (0..sets)
            .map(|_| range(&mut end, take(&mut rest)?))
            .collect::<Option<Vec<_>>>()?;
        if u64::from(end) > set_bytes {
            return None;
        }
        let mut end = 0;
        let entries = (0..entries)
            .map(|_| {
                Some(Entry {
                    id: ContentId(take(&mut rest)?),
                    set: u32::from_le_bytes(take(&mut rest)?),
                    used: u32::from_le_bytes(take(&mut rest)?),
                    hits: range(&mut end, take(&mut rest)?)?,
                })
            })
            .collect::<Option<Vec<_>>>()?;
        let ascending = entries
            .iter()
            .zip(entries.iter().skip(1))
            .all(|(entry, next)| entry.id < next.id);
        if u64::from(end) > hit_bytes || !ascending {
            return None;
        }
        Some(Self {
            keys,
            asked,
            sets,
            fan: fan(&entries),
            entries,
            sets_from,
            hits_from,
            bytes,
        })
    }

    /// A segment that was never bytes, its entries in any order: good for a merge
    /// alone.
    pub(super) fn of_parts(
        keys: Vec<SlotKey>,
        asked: Vec<u32>,
        (sets, mut set_bytes): (Vec<Range<u32>>, Vec<u8>),
        (entries, mut bytes): (Vec<Entry>, Vec<u8>),
    ) -> Self {
        let sets_from = bytes.len();
        bytes.append(&mut set_bytes);
        Self {
            keys,
            asked,
            sets,
            entries,
            fan: Vec::new(),
            sets_from,
            hits_from: 0,
            bytes,
        }
    }

    /// The keys of its slots.
    #[must_use]
    pub fn keys(&self) -> &[SlotKey] {
        &self.keys
    }

    /// The contents that something is known of, in ascending order.
    pub fn contents(&self) -> impl Iterator<Item = ContentId> + '_ {
        self.entries.iter().map(|entry| entry.id)
    }

    pub(super) fn slots(&self) -> u32 {
        u32::try_from(self.keys.len()).unwrap_or(u32::MAX)
    }

    /// The number of bytes that it takes on disk.
    pub(super) fn len(&self) -> usize {
        let sets = self.sets.last().map_or(0, |set| set.end as usize);
        let hits: usize = self.entries.iter().map(|entry| entry.hits.len()).sum();
        HEAD_BYTES
            + self.keys.len() * SLOT_BYTES
            + self.sets.len() * SET_BYTES
            + self.entries.len() * ENTRY_BYTES
            + sets
            + hits
    }

    /// The number of the entry of a content.
    pub(super) fn find(&self, id: &ContentId) -> Option<usize> {
        let first = usize::from(id.0[0]);
        let from = *self.fan.get(first)? as usize;
        let to = *self.fan.get(first + 1)? as usize;
        let among = self.entries.get(from..to)?;
        let at = among.binary_search_by(|entry| entry.id.cmp(id)).ok()?;
        Some(from + at)
    }

    /// A set by its number, as it is written.
    pub(super) fn set_bytes(&self, set: u32) -> Option<&[u8]> {
        let range = self.sets.get(set as usize)?;
        self.bytes.get(shifted(range, self.sets_from))
    }

    /// A set by its number.
    pub(super) fn set(&self, set: u32) -> Option<SlotSet> {
        read_set(self.set_bytes(set)?, self.slots())
    }

    /// The hits of an entry, as they are written.
    pub(super) fn hit_bytes(&self, entry: &Entry) -> Option<&[u8]> {
        self.bytes.get(shifted(&entry.hits, self.hits_from))
    }

    /// Calls `each` for every hit of an entry in ascending order of slots. `None` if
    /// they make no sense, or as soon as `each` says so.
    pub(super) fn hits(
        &self,
        entry: &Entry,
        each: impl FnMut(u32, Count) -> Option<()>,
    ) -> Option<()> {
        read_hits(self.hit_bytes(entry)?, self.slots(), each)
    }
}

fn shifted(range: &Range<u32>, by: usize) -> Range<usize> {
    range.start as usize + by..range.end as usize + by
}

fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (taken, after) = rest.split_first_chunk()?;
    *rest = after;
    Some(*taken)
}

/// From where the last one ended to where this one does.
fn range(end: &mut u32, bytes: [u8; 4]) -> Option<Range<u32>> {
    let from = *end;
    *end = u32::from_le_bytes(bytes);
    (from <= *end).then_some(from..*end)
}

/// For each first byte of a content, how many entries have a smaller one; then how
/// many there are.
fn fan(entries: &[Entry]) -> Vec<u32> {
    let mut fan = vec![0_u32; 257];
    for entry in entries {
        if let Some(after) = fan.get_mut(usize::from(entry.id.0[0]) + 1) {
            *after += 1;
        }
    }
    let mut sum = 0;
    for count in &mut fan {
        sum += *count;
        *count = sum;
    }
    fan
}
