//! Many segments become one: each content once, within a bound.

use std::cmp::Reverse;
use std::ops::Range;

use super::all::AllSlots;
use super::known::{Hit, combine, translate_hits};
use super::numbers::{Numbers, Translation};
use super::segment::{ENTRY_BYTES, Entry, HEAD_BYTES, Segment};
use super::trim::{Kept, trim};
use super::wire::write_hits;
use super::writer::Writer;
use super::{SlotKey, SlotSet};
use crate::files::ContentId;
use crate::sealed::TAG_BYTES;

/// Most memory that the distinct sets of a merge take; entries with others are
/// dropped.
const MAX_SETS_BYTES: usize = 64 << 20;

/// A segment to merge.
pub(super) struct Source<'a> {
    pub(super) segment: &'a Segment,
    /// Whether the entry of a number was of use to the session that merges.
    pub(super) is_used: &'a dyn Fn(usize) -> bool,
}

/// The bytes of the segment that says what all of them say, newest first, with room
/// for a tag in front. The slots of the session come first and in its order.
///
/// If it would be over `max_bytes`, slots go that were not asked for in the longest
/// time, then contents that were not used. Empty if nothing is left.
pub(super) fn merge(
    sources: &[Source<'_>],
    session: &Numbers,
    now: u32,
    max_bytes: usize,
) -> Vec<u8> {
    let mut all = AllSlots::new(session, now);
    let mut room = MAX_SETS_BYTES;
    let parts = sources
        .iter()
        .map(|source| Part::new(source, &mut all, &mut room))
        .collect();
    let merge = Merge::new(parts, now);
    let full =
        HEAD_BYTES + all.bytes() + merge.groups.iter().map(|group| group.bytes).sum::<usize>();
    // Some room is left, or the next session would be over the bound again.
    let mut target = if full > max_bytes {
        max_bytes / 4 * 3
    } else {
        full
    };
    loop {
        let kept = trim(&merge, &all, full, target);
        let bytes = merge.write(&all, &kept);
        // Sizes are estimates. In the end nothing is left, which fits.
        if bytes.len() <= max_bytes {
            return bytes;
        }
        target = target.min(max_bytes) / 2;
    }
}

impl Segment {
    /// The segment that says what others say, the newest first, in at most
    /// `max_bytes`. The given slots come first in it; `now` is in seconds since
    /// 1970. `None` if nothing is left.
    #[must_use]
    pub fn merge(
        newest_first: &[Self],
        slots: &[SlotKey],
        now: u32,
        max_bytes: usize,
    ) -> Option<Self> {
        let sources: Vec<_> = newest_first
            .iter()
            .map(|segment| Source {
                segment,
                is_used: &|_| false,
            })
            .collect();
        let bytes = merge(&sources, &Numbers::new(slots), now, max_bytes);
        Self::decode_at(bytes, TAG_BYTES)
    }
}

/// One of the segments.
pub(super) struct Part<'a> {
    source: &'a Source<'a>,
    /// To the numbers of all slots.
    to_all: Vec<u32>,
    /// By their numbers in the segment: those that an entry needs and that make
    /// sense, in the numbers of the segment.
    sets: Vec<Option<SlotSet>>,
    /// The bytes of each set, shared by the entries that need it.
    shares: Vec<usize>,
}

/// The entry of a part.
struct Member {
    id: ContentId,
    part: usize,
    entry: usize,
}

/// What is known of one content.
pub(super) struct Group {
    members: Range<usize>,
    /// When it was last of use, and of those the newest segment that knows it.
    pub(super) used: u32,
    pub(super) part: usize,
    /// About what it takes.
    pub(super) bytes: usize,
}

/// All entries of the parts.
pub(super) struct Merge<'a> {
    parts: Vec<Part<'a>>,
    /// By content, the newest first.
    members: Vec<Member>,
    pub(super) groups: Vec<Group>,
}

impl<'a> Part<'a> {
    fn new(source: &'a Source<'a>, all: &mut AllSlots<'_>, room: &mut usize) -> Self {
        let segment = source.segment;
        let mut uses = vec![0_usize; segment.sets.len()];
        for entry in &segment.entries {
            if let Some(uses) = uses.get_mut(entry.set as usize) {
                *uses += 1;
            }
        }
        let mut needed = SlotSet::new();
        let mut shares = Vec::with_capacity(uses.len());
        let sets = (0..)
            .zip(&uses)
            .map(|(set, &uses)| {
                let bytes = segment.set_bytes(set).map_or(0, <[u8]>::len);
                shares.push(bytes.div_ceil(uses.max(1)));
                let set = if uses > 0 {
                    segment.set(set)?
                } else {
                    return None;
                };
                *room = room.checked_sub(size_of_val(set.words()))?;
                needed.union_with(&set);
                Some(set)
            })
            .collect();
        Self {
            source,
            to_all: all.add(segment, &needed),
            sets,
            shares,
        }
    }

    fn entry(&self, member: &Member) -> Option<&Entry> {
        self.source.segment.entries.get(member.entry)
    }

    /// Calls `each` with the number in all slots of every hit.
    fn each_hit(&self, member: &Member, mut each: impl FnMut(u32)) {
        let Some(entry) = self.entry(member) else {
            return;
        };
        // One that makes no sense is left out when it is written.
        let _ = self.source.segment.hits(entry, |slot, _| {
            each(*self.to_all.get(slot as usize)?);
            Some(())
        });
    }
}

impl<'a> Merge<'a> {
    fn new(parts: Vec<Part<'a>>, now: u32) -> Self {
        let mut members = Vec::new();
        for (number, part) in parts.iter().enumerate() {
            let entries = part.source.segment.entries.iter().enumerate();
            let sound = entries
                .filter(|(_, entry)| matches!(part.sets.get(entry.set as usize), Some(Some(_))));
            members.extend(sound.map(|(entry_number, entry)| Member {
                id: entry.id,
                part: number,
                entry: entry_number,
            }));
        }
        // What a session recorded last is newest.
        members.sort_unstable_by_key(|member| (member.id, member.part, Reverse(member.entry)));
        let mut groups = Vec::new();
        let mut from = 0;
        for group in members.chunk_by(|a, b| a.id == b.id) {
            let members = from..from + group.len();
            from = members.end;
            let mut used = 0;
            let mut bytes = 0;
            for member in group {
                let Some((part, entry)) = parts
                    .get(member.part)
                    .and_then(|part| Some((part, part.entry(member)?)))
                else {
                    continue;
                };
                let is_used = (part.source.is_used)(member.entry);
                used = used.max(if is_used { now } else { entry.used });
                let set = part.shares.get(entry.set as usize).copied();
                bytes += ENTRY_BYTES + entry.hits.len() + set.unwrap_or(0);
            }
            groups.push(Group {
                members,
                used,
                part: group.first().map_or(0, |member| member.part),
                bytes,
            });
        }
        Self {
            parts,
            members,
            groups,
        }
    }

    /// Calls `each` with the number in all slots of every hit there is.
    pub(super) fn each_hit(&self, mut each: impl FnMut(u32)) {
        for member in &self.members {
            if let Some(part) = self.parts.get(member.part) {
                part.each_hit(member, &mut each);
            }
        }
    }

    /// The segment of what is kept.
    fn write(&self, all: &AllSlots<'_>, kept: &Kept) -> Vec<u8> {
        let (numbers, keys, asked) = all.renumber(&kept.slots);
        let mut moved: Vec<_> = self
            .parts
            .iter()
            .map(|part| MovedPart::new(part, &numbers))
            .collect();
        let mut writer = Writer::default();
        for (group, _) in self
            .groups
            .iter()
            .zip(&kept.groups)
            .filter(|(_, kept)| **kept)
        {
            let members = self.members.get(group.members.clone()).unwrap_or_default();
            // Without room an entry is only a cache that misses.
            let _ = match members {
                [member] => write_alone(&mut writer, &mut moved, member, group.used),
                members => write_together(&mut writer, &moved, members, group.used),
            };
        }
        writer.encode(&keys, &asked)
    }
}

/// A part in the numbers of the new segment.
struct MovedPart<'a> {
    segment: &'a Segment,
    translation: Translation,
    sets: Vec<Option<SlotSet>>,
    /// The numbers of the sets in the new segment, once they have one.
    numbers: Vec<Option<u32>>,
}

impl<'a> MovedPart<'a> {
    fn new(part: &'a Part<'_>, numbers: &Translation) -> Self {
        let translation = numbers.after(&part.to_all);
        let moved = |set: &Option<SlotSet>| {
            let set = translation.set(set.as_ref()?);
            (!set.is_empty()).then_some(set)
        };
        Self {
            segment: part.source.segment,
            sets: part.sets.iter().map(moved).collect(),
            numbers: vec![None; part.sets.len()],
            translation,
        }
    }

    /// The set and the hits of an entry.
    fn read(&self, member: &Member) -> Option<(&SlotSet, Vec<Hit>)> {
        let entry = self.segment.entries.get(member.entry)?;
        let set = self.sets.get(entry.set as usize)?.as_ref()?;
        let hits = translate_hits(self.segment, entry, &self.translation, set)?;
        Some((set, hits))
    }
}

fn write_alone(
    writer: &mut Writer,
    parts: &mut [MovedPart<'_>],
    member: &Member,
    used: u32,
) -> Option<()> {
    let part = parts.get_mut(member.part)?;
    let entry = part.segment.entries.get(member.entry)?;
    let number = part.numbers.get_mut(entry.set as usize)?;
    let set = match *number {
        Some(set) => set,
        None => writer.set(part.sets.get(entry.set as usize)?.as_ref()?)?,
    };
    *number = Some(set);
    if part.translation.is_identity() {
        let hits = part.segment.hit_bytes(entry)?;
        return writer.entry(member.id, set, used, |bytes| bytes.extend(hits));
    }
    let (_, hits) = part.read(member)?;
    writer.entry(member.id, set, used, |bytes| write_hits(bytes, hits))
}

fn write_together(
    writer: &mut Writer,
    parts: &[MovedPart<'_>],
    members: &[Member],
    used: u32,
) -> Option<()> {
    let id = members.first()?.id;
    let mut read = members
        .iter()
        .filter_map(|member| parts.get(member.part)?.read(member));
    let (set, mut hits) = read.next()?;
    let mut set = set.clone();
    for (older_set, older_hits) in read {
        hits = combine((&set, &hits), (older_set, &older_hits));
        set.union_with(older_set);
    }
    let set = writer.set(&set)?;
    writer.entry(id, set, used, |bytes| write_hits(bytes, hits))
}
