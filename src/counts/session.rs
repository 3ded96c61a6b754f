//! What one run asks and adds.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use super::known::{Known, combine, translate_hits};
use super::merge::{Source, merge};
use super::numbers::{Numbers, Translation};
use super::store::{Loaded, Store};
use super::wire::write_hits;
use super::writer::Writer;
use super::{Count, SlotKey, SlotSet};
use crate::files::ContentId;

/// One run's view of a store. Threads share it.
#[derive(Debug)]
pub struct Session<'s> {
    store: &'s Store,
    numbers: Numbers,
    /// The newest first.
    parts: Vec<Part>,
    loaded: Arc<[Loaded]>,
    fresh: Mutex<Writer>,
}

/// A segment in the numbers of the session.
#[derive(Debug)]
struct Part {
    translation: Translation,
    /// The sets by their numbers in the segment, once they are asked for. `None` if
    /// they make no sense.
    sets: Vec<OnceLock<Option<Arc<SlotSet>>>>,
    /// Whether each entry was of use.
    used: Vec<AtomicBool>,
}

impl<'s> Session<'s> {
    pub(super) fn new(store: &'s Store, loaded: Arc<[Loaded]>, slots: &[SlotKey]) -> Self {
        let numbers = Numbers::new(slots);
        let parts = loaded.iter().map(|loaded| {
            let segment = &loaded.segment;
            Part {
                translation: Translation::new(numbers.translate(segment.keys())),
                sets: segment.sets.iter().map(|_| OnceLock::new()).collect(),
                used: segment
                    .entries
                    .iter()
                    .map(|_| AtomicBool::new(false))
                    .collect(),
            }
        });
        Self {
            store,
            parts: parts.collect(),
            numbers,
            loaded,
            fresh: Mutex::default(),
        }
    }

    /// The slots that anything at all is known of.
    #[must_use]
    pub fn known_slots(&self) -> SlotSet {
        let mut known = SlotSet::new();
        for part in &self.parts {
            known.extend(part.translation.targets());
        }
        known
    }

    /// What is known of a content. `None` if that is nothing.
    #[must_use]
    pub fn lookup(&self, id: &ContentId) -> Option<Known> {
        let mut known: Option<Known> = None;
        for (part, loaded) in self.parts.iter().zip(self.loaded.iter()) {
            let Some(older) = part.lookup(loaded, id) else {
                continue;
            };
            known = Some(match known {
                None => older,
                Some(newer) => Known {
                    hits: combine(
                        (&newer.evaluated, &newer.hits),
                        (&older.evaluated, &older.hits),
                    ),
                    evaluated: Arc::new(newer.evaluated.union(&older.evaluated)),
                },
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

    /// Writes what was added. If nothing was, nothing is written.
    ///
    /// # Errors
    /// What the operating system says; what was kept before is whole all the same.
    pub fn save(self) -> io::Result<()> {
        let fresh = self
            .fresh
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        if fresh.len() == 0 {
            return Ok(());
        }
        let now = now();
        let max_bytes = self.store.max_bytes();
        let fresh = fresh.into_segment(self.numbers.keys().to_vec(), now);
        // Those that are not much larger are merged, so that there are never many
        // and each is rewritten seldom.
        let mut by_size: Vec<usize> = (0..self.loaded.len()).collect();
        by_size.sort_by_key(|&index| self.loaded.get(index).map_or(0, |it| it.segment.len()));
        let sizes = self.loaded.iter().map(|loaded| loaded.segment.len());
        let is_full = sizes.sum::<usize>().saturating_add(fresh.len()) > max_bytes;
        let mut size = fresh.len();
        let mut merged = Vec::new();
        for index in by_size {
            let Some(loaded) = self.loaded.get(index) else {
                continue;
            };
            let len = loaded.segment.len();
            if !is_full && len > size.saturating_mul(2) {
                break;
            }
            size = size.saturating_add(len);
            merged.push(index);
        }
        // What is newer counts first.
        merged.sort_unstable();
        let none = |_: usize| false;
        let used: Vec<_> = merged
            .iter()
            .filter_map(|&index| {
                let part = self.parts.get(index)?;
                let is_used = move |entry: usize| {
                    let used = part.used.get(entry);
                    used.is_some_and(|used| used.load(Ordering::Relaxed))
                };
                Some((self.loaded.get(index)?, is_used))
            })
            .collect();
        let mut sources = vec![Source {
            segment: &fresh,
            is_used: &none,
        }];
        sources.extend(used.iter().map(|(loaded, is_used)| Source {
            segment: &loaded.segment,
            is_used,
        }));
        let bytes = merge(&sources, &self.numbers, now, max_bytes);
        if bytes.is_empty() {
            return Ok(());
        }
        let old: Vec<&str> = used.iter().map(|(loaded, _)| &*loaded.name).collect();
        self.store.replace(bytes, &old)
    }
}

impl Part {
    fn lookup(&self, loaded: &Loaded, id: &ContentId) -> Option<Known> {
        let segment = &loaded.segment;
        let number = segment.find(id)?;
        let entry = segment.entries.get(number)?;
        let set = self.sets.get(entry.set as usize)?;
        let evaluated = set.get_or_init(|| {
            let set = segment.set(entry.set)?;
            Some(Arc::new(self.translation.set(&set)))
        });
        let evaluated = evaluated.as_ref().filter(|set| !set.is_empty())?;
        let hits = translate_hits(segment, entry, &self.translation, evaluated)?;
        if let Some(used) = self.used.get(number)
            && !used.load(Ordering::Relaxed)
        {
            used.store(true, Ordering::Relaxed);
        }
        Some(Known {
            evaluated: Arc::clone(evaluated),
            hits,
        })
    }
}

/// Seconds since 1970.
fn now() -> u32 {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    u32::try_from(now.as_secs()).unwrap_or(u32::MAX)
}
