//! Writing a segment.

use std::collections::HashMap;
use std::ops::Range;

use super::segment::{ENTRY_BYTES, Entry, HEAD_BYTES, MAGIC, SET_BYTES, SLOT_BYTES, Segment};
use super::wire::write_set;
use super::{SlotKey, SlotSet};
use crate::files::ContentId;
use crate::sealed::TAG_BYTES;

/// The sets, entries and hits of a segment that is being made.
#[derive(Debug, Default)]
pub(super) struct Writer {
    numbers: HashMap<SlotSet, u32, foldhash::fast::RandomState>,
    sets: Vec<Range<u32>>,
    set_bytes: Vec<u8>,
    entries: Vec<Entry>,
    hits: Vec<u8>,
}

impl Writer {
    /// The number of a set. `None` if there is no room.
    pub(super) fn set(&mut self, set: &SlotSet) -> Option<u32> {
        if let Some(number) = self.numbers.get(set) {
            return Some(*number);
        }
        let number = u32::try_from(self.sets.len()).ok()?;
        self.sets
            .push(append(&mut self.set_bytes, |bytes| write_set(bytes, set))?);
        self.numbers.insert(set.clone(), number);
        Some(number)
    }

    /// Adds an entry whose hits `write` appends. `None` if there is no room.
    pub(super) fn entry(
        &mut self,
        id: ContentId,
        set: u32,
        used: u32,
        write: impl FnOnce(&mut Vec<u8>),
    ) -> Option<()> {
        let hits = append(&mut self.hits, write)?;
        self.entries.push(Entry {
            id,
            set,
            used,
            hits,
        });
        Some(())
    }

    /// How many entries there are.
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// The bytes of the segment, for which the entries must be by ascending content
    /// and each once, with room for a tag in front. Empty if there are no entries.
    pub(super) fn encode(&self, keys: &[SlotKey], asked: &[u32]) -> Vec<u8> {
        let lens = [
            keys.len(),
            self.sets.len(),
            self.entries.len(),
            self.set_bytes.len(),
            self.hits.len(),
        ];
        let size = TAG_BYTES
            + HEAD_BYTES
            + keys.len() * SLOT_BYTES
            + self.sets.len() * SET_BYTES
            + self.entries.len() * ENTRY_BYTES
            + self.set_bytes.len()
            + self.hits.len();
        let mut bytes = Vec::with_capacity(size);
        bytes.resize(TAG_BYTES, 0);
        bytes.extend(MAGIC);
        for len in lens {
            match u32::try_from(len) {
                Ok(len) => bytes.extend(len.to_le_bytes()),
                Err(_) => return Vec::new(),
            }
        }
        for key in keys {
            bytes.extend(key.0);
        }
        for asked in asked {
            bytes.extend(asked.to_le_bytes());
        }
        for set in &self.sets {
            bytes.extend(set.end.to_le_bytes());
        }
        for entry in &self.entries {
            bytes.extend(entry.id.0);
            for number in [entry.set, entry.used, entry.hits.end] {
                bytes.extend(number.to_le_bytes());
            }
        }
        bytes.extend(&self.set_bytes);
        bytes.extend(&self.hits);
        if self.entries.is_empty() {
            bytes.clear();
        }
        bytes
    }

    /// What was written, the entries in any order, for a merge.
    pub(super) fn into_segment(self, keys: Vec<SlotKey>, asked: u32) -> Segment {
        let asked = vec![asked; keys.len()];
        let sets = (self.sets, self.set_bytes);
        Segment::of_parts(keys, asked, sets, (self.entries, self.hits))
    }
}

/// Appends what `write` does and says where it is; nothing if that is beyond 32
/// bits.
fn append(bytes: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) -> Option<Range<u32>> {
    let from = bytes.len();
    write(bytes);
    let range = u32::try_from(from)
        .ok()
        .zip(u32::try_from(bytes.len()).ok());
    if range.is_none() {
        bytes.truncate(from);
    }
    range.map(|(from, to)| from..to)
}
