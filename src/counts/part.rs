//! One segment in the numbers of a session.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use super::known::{Known, translate_hits};
use super::numbers::{Numbers, Translation};
use super::{Segment, SlotKey, SlotSet};
use crate::files::ContentId;

/// How old the times in a segment may get, in seconds, before a session that finds
/// it of use writes them anew: a day.
pub(super) const REFRESHED_AFTER: u32 = 24 * 60 * 60;

/// What a session makes of a segment.
#[derive(Debug)]
pub(super) struct Part {
    translation: Translation,
    /// The sets by their numbers in the segment, once they are asked for. `None` if
    /// they make no sense.
    sets: Vec<OnceLock<Option<Arc<SlotSet>>>>,
    /// Whether each entry was of use.
    used: Vec<AtomicBool>,
}

impl Part {
    pub(super) fn new(segment: &Segment, numbers: &Numbers) -> Self {
        let unused = segment.entries.iter().map(|_| AtomicBool::new(false));
        Self {
            translation: Translation::new(numbers.translate(segment.keys())),
            sets: segment.sets.iter().map(|_| OnceLock::new()).collect(),
            used: unused.collect(),
        }
    }

    /// The slots of the session that are in the segment.
    pub(super) fn slots(&self) -> impl Iterator<Item = u32> + '_ {
        self.translation.targets()
    }

    /// What the segment, which is the one of this part, knows of a content.
    pub(super) fn lookup(&self, segment: &Segment, id: &ContentId) -> Option<Known> {
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

    /// Whether the entry of a number was of use.
    pub(super) fn is_used(&self, entry: usize) -> bool {
        let used = self.used.get(entry);
        used.is_some_and(|used| used.load(Ordering::Relaxed))
    }

    /// True if something was of use whose times are too old: what is kept when room
    /// gets short depends on them.
    pub(super) fn is_stale(&self, segment: &Segment, now: u32) -> bool {
        let is_old = |time: u32| now.saturating_sub(time) > REFRESHED_AFTER;
        let mut used = (0..).zip(&segment.entries).filter(|it| self.is_used(it.0));
        let Some((_, first)) = used.next() else {
            return false;
        };
        let asked = (0..).zip(&segment.asked);
        is_old(first.used)
            || used.any(|(_, entry)| is_old(entry.used))
            || asked
                .filter(|(slot, _)| self.translation.get(*slot).is_some())
                .any(|(_, asked)| is_old(*asked))
    }
}

impl Segment {
    /// What this segment alone knows of a content, for slots that are numbered from
    /// 0 in the order of their keys. `None` if that is nothing.
    ///
    /// A session is for many contents; this takes time for every slot of both.
    #[must_use]
    pub fn lookup(&self, slots: &[SlotKey], id: &ContentId) -> Option<Known> {
        Part::new(self, &Numbers::new(slots)).lookup(self, id)
    }
}
