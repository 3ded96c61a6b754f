//! What one run asks and adds.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use super::known::Known;
use super::merge::{Source, merge};
use super::numbers::Numbers;
use super::part::Part;
use super::store::{Loaded, Store};
use super::unions::Unions;
use super::wire::write_hits;
use super::writer::Writer;
use super::{Count, Segment, SlotKey, SlotSet};
use crate::files::ContentId;

/// Most segments that a session leaves without merging them: each costs every
/// lookup a search.
const MAX_SEGMENTS: usize = 8;

/// One run's view of a store. Threads share it.
#[derive(Debug)]
pub struct Session<'s> {
    store: &'s Store,
    numbers: Numbers,
    /// One for each loaded segment, the newest first.
    parts: Vec<Part>,
    loaded: Arc<[Loaded]>,
    unions: Unions,
    fresh: Mutex<Writer>,
}

/// What a session wrote in the end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Saved {
    /// The bytes of the file; 0 if there was nothing to write.
    pub bytes: u64,
}

impl<'s> Session<'s> {
    pub(super) fn new(store: &'s Store, loaded: Arc<[Loaded]>, slots: &[SlotKey]) -> Self {
        let numbers = Numbers::new(slots);
        let parts = loaded
            .iter()
            .map(|loaded| Part::new(&loaded.segment, &numbers));
        Self {
            store,
            parts: parts.collect(),
            numbers,
            loaded,
            unions: Unions::default(),
            fresh: Mutex::default(),
        }
    }

    /// The slots that anything at all is known of.
    #[must_use]
    pub fn known_slots(&self) -> SlotSet {
        self.parts.iter().flat_map(Part::slots).collect()
    }

    /// What is known of a content. `None` if that is nothing.
    #[must_use]
    pub fn lookup(&self, id: &ContentId) -> Option<Known> {
        let mut known: Option<Known> = None;
        for (part, loaded) in self.parts.iter().zip(self.loaded.iter()) {
            let Some(older) = part.lookup(&loaded.segment, id) else {
                continue;
            };
            known = Some(match known {
                None => older,
                Some(newer) => self.unions.join(newer, older),
            });
        }
        known
    }

    /// Adds what was counted in a content: every slot of `evaluated`, which found
    /// what `hits` says, in ascending order, or exactly nothing.
    pub fn record(&self, id: ContentId, evaluated: &SlotSet, hits: &[(u32, Count)]) {
        let mut fresh = self.fresh.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(set) = fresh.set(evaluated) else {
            return;
        };
        // Without room an entry is only a cache that misses.
        let _ = fresh.entry(id, set, now(), |bytes| {
            write_hits(bytes, hits.iter().copied());
        });
    }

    /// Writes what was added. If nothing was, nothing is written, unless there are
    /// too many segments or what was of use was last noted to be more than a day
    /// ago.
    ///
    /// # Errors
    /// What the operating system says; what was kept before is whole all the same.
    pub fn save(self) -> io::Result<Saved> {
        self.save_at(now())
    }

    pub(super) fn save_at(mut self, now: u32) -> io::Result<Saved> {
        let fresh = std::mem::take(&mut self.fresh)
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        let adds = fresh.len() > 0;
        let fresh = fresh.into_segment(self.numbers.keys().to_vec(), now);
        let mut chosen = self.chosen(&fresh, adds, now);
        if !adds && (chosen.is_empty() || !self.store.has_all(self.names(&chosen))) {
            // Of many that would only tidy up, the first does.
            return Ok(Saved::default());
        }
        let mut bytes = self.merged(&fresh, &chosen, now);
        let rest = self.bytes_without(&chosen);
        if rest > 0 && rest.saturating_add(bytes.len()) > self.store.max_bytes() {
            // Merged sets can be larger than those that they come from.
            chosen = (0..self.loaded.len()).collect();
            bytes = self.merged(&fresh, &chosen, now);
        }
        if bytes.is_empty() {
            return Ok(Saved::default());
        }
        let len = bytes.len() as u64;
        let old: Vec<&str> = self.names(&chosen).collect();
        self.store.replace(bytes, &old)?;
        Ok(Saved { bytes: len })
    }

    /// The segments that are merged, so that there are never many and each is
    /// rewritten seldom: those not much larger than what is merged already, and
    /// those whose times are too old. All of them if there is no room.
    fn chosen(&self, fresh: &Segment, adds: bool, now: u32) -> Vec<usize> {
        let total = self.bytes_without(&[]);
        if total.saturating_add(if adds { fresh.len() } else { 0 }) > self.store.max_bytes() {
            return (0..self.loaded.len()).collect();
        }
        let len = |&index: &usize| self.loaded.get(index).map_or(0, |it| it.segment.len());
        let stale = |&index: &usize| {
            let both = self.parts.get(index).zip(self.loaded.get(index));
            both.is_some_and(|(part, loaded)| part.is_stale(&loaded.segment, now))
        };
        let (mut chosen, mut others): (Vec<usize>, Vec<usize>) =
            (0..self.loaded.len()).partition(stale);
        others.sort_by_key(len);
        if adds || !chosen.is_empty() || others.len() > MAX_SEGMENTS {
            let mut size = if adds { fresh.len() } else { 0 };
            size = chosen.iter().map(len).fold(size, usize::saturating_add);
            let many = others.len().saturating_sub(MAX_SEGMENTS - 1);
            for (number, index) in others.iter().enumerate() {
                if number >= many && len(index) > size.saturating_mul(2) {
                    break;
                }
                size = size.saturating_add(len(index));
                chosen.push(*index);
            }
        }
        // What is newer counts first.
        chosen.sort_unstable();
        chosen
    }

    fn merged(&self, fresh: &Segment, chosen: &[usize], now: u32) -> Vec<u8> {
        let none = |_: usize| false;
        let mut used = Vec::with_capacity(chosen.len());
        for &index in chosen {
            if let (Some(part), Some(loaded)) = (self.parts.get(index), self.loaded.get(index)) {
                used.push((&loaded.segment, |entry: usize| part.is_used(entry)));
            }
        }
        let mut sources = vec![Source {
            segment: fresh,
            is_used: &none,
        }];
        sources.extend(
            used.iter()
                .map(|(segment, is_used)| Source { segment, is_used }),
        );
        merge(&sources, &self.numbers, now, self.store.max_bytes())
    }

    fn names<'a>(&'a self, chosen: &'a [usize]) -> impl Iterator<Item = &'a str> {
        let loaded = chosen.iter().filter_map(|&index| self.loaded.get(index));
        loaded.map(|loaded| &*loaded.name)
    }

    /// The bytes on disk of the segments that are not chosen.
    fn bytes_without(&self, chosen: &[usize]) -> usize {
        let others = (0..).zip(self.loaded.iter());
        others
            .filter(|(index, _)| !chosen.contains(index))
            .map(|(_, loaded)| loaded.bytes())
            .fold(0, usize::saturating_add)
    }
}

/// Seconds since 1970.
fn now() -> u32 {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    u32::try_from(now.as_secs()).unwrap_or(u32::MAX)
}
