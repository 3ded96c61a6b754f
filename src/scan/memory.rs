//! What earlier runs counted in the files of walks, and what this one adds.

use std::sync::{Arc, Mutex, PoisonError};

use sha2::{Digest as _, Sha256};

use crate::counts::{Count, Known, Session, SlotKey, SlotSet, Store};
use crate::files::{ContentId, Limits};
use crate::scan::compile::Haystack;
use crate::scan::engine::{Counting, Request};
use crate::scan::file::{Needs, Scanned};
use crate::scan::finding::Finding;
use crate::scan::plan::Slot;

/// Changes when the same key would name other counts.
const VERSION: &[u8] = b"probity counts 1";

/// Places that are kept for each member and content.
const PLACES: u32 = 3;

/// The counts of the members of one walk, which are its first slots. One more slot
/// holds what a content is charged at; the rest, if places are wanted, the numbers of
/// the first matching lines.
#[derive(Debug)]
pub(super) struct Memory<'s> {
    session: Session<'s>,
    size: u32,
    /// For each member whether lines are counted: with matches, places depend on how
    /// far counting went.
    has_places: Vec<bool>,
    /// Members of which anything is known.
    known: SlotSet,
    /// What was asked and evaluated last, and what that left out.
    last_missing: Mutex<Option<Missing>>,
}

#[derive(Debug)]
struct Missing {
    asked: Arc<SlotSet>,
    evaluated: Arc<SlotSet>,
    missing: Arc<SlotSet>,
}

/// What is known of a file.
#[derive(Debug)]
pub(super) struct Recalled {
    /// What the members get that are known well enough.
    pub(super) scanned: Scanned,
    /// The members that were never counted in it.
    pub(super) missing: Arc<SlotSet>,
    /// Members that were not counted far enough, ascending.
    pub(super) again: Vec<u32>,
}

impl<'s> Memory<'s> {
    /// A memory for the slots of some requests, in the order of the members.
    pub(super) fn new(
        store: &'s Store,
        slots: &[Slot<'_>],
        requests: &[Request<'_>],
        limits: &Limits,
    ) -> Self {
        let mut keys: Vec<SlotKey> = slots
            .iter()
            .map(|slot| key(slot, requests, limits))
            .collect();
        let size = u32::try_from(keys.len()).unwrap_or(u32::MAX);
        keys.push(named([VERSION, b"\0size"]));
        let wants_places = requests.iter().any(|request| request.places > 0);
        let has_places = slots.iter();
        let has_places: Vec<bool> = has_places
            .map(|slot| wants_places && slot.counting == Counting::Lines)
            .collect();
        if wants_places {
            let lines = (0..slots.len()).flat_map(|member| (0..PLACES).map(move |n| (member, n)));
            let lines: Vec<SlotKey> = lines
                .map(|(member, n)| named([&keys[member].0, b"line", &n.to_le_bytes()]))
                .collect();
            keys.extend(lines);
        }
        let session = store.session(&keys);
        Self {
            known: session.known_slots(),
            session,
            size,
            has_places,
            last_missing: Mutex::new(None),
        }
    }

    /// True if something is known of a member in some file.
    pub(super) fn knows(&self, member: u32) -> bool {
        self.known.contains(member)
    }

    /// True if nothing is known at all.
    pub(super) fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// What is known of a content for those who ask.
    pub(super) fn recall(
        &self,
        id: ContentId,
        asked: &Arc<SlotSet>,
        needs: &Needs,
    ) -> Option<Recalled> {
        let known = self.session.lookup(&id)?;
        let size = known.get(self.size).filter(|size| size.exact)?;
        let mut findings = Vec::with_capacity(known.hits().len());
        let mut again = Vec::new();
        for (member, count) in known.hits() {
            let index = member as usize;
            if index >= self.has_places.len() || !asked.contains(member) {
                continue;
            }
            let (Some(&limit), Some(&places)) = (needs.limits.get(index), needs.places.get(index))
            else {
                continue;
            };
            let lines = self.lines(&known, member, places);
            match lines.filter(|_| count.exact || count.count >= limit) {
                None => again.push(member),
                Some(lines) => findings.push((
                    member,
                    Finding {
                        count: count.count.min(limit),
                        lines,
                        ..Finding::default()
                    },
                )),
            }
        }
        Some(Recalled {
            scanned: Scanned {
                bytes: size.count,
                id: Some(id),
                findings,
                stop: None,
                is_read: false,
            },
            missing: self.missing(asked, &known.evaluated),
            again,
        })
    }

    /// The first matching lines, as many as there are up to a number. `None` if they
    /// are not known.
    fn lines(&self, known: &Known, member: u32, places: usize) -> Option<Vec<u64>> {
        let mut lines = Vec::new();
        for place in (0_u32..).take(places) {
            let line = known.get(self.line_slot(member, place)?)?;
            if line == Count::ZERO {
                break;
            }
            lines.push(line.count);
        }
        Some(lines)
    }

    fn line_slot(&self, member: u32, place: u32) -> Option<u32> {
        let has_places = self.has_places.get(member as usize).copied();
        (has_places == Some(true) && place < PLACES)
            .then_some(self.size + 1 + member * PLACES + place)
    }

    /// The slots that a scan of some members fills.
    pub(super) fn filled(&self, members: &SlotSet, needs: &Needs) -> SlotSet {
        let mut filled = members.clone();
        filled.insert(self.size);
        if self.has_places.contains(&true) {
            for member in members.iter() {
                let places = needs.places.get(member as usize).copied().unwrap_or(0);
                let places = (0_u32..).take(places);
                filled.extend(places.map_while(|place| self.line_slot(member, place)));
            }
        }
        filled
    }

    /// Those of the asked that were not evaluated. Most files of a run give the same
    /// sets.
    fn missing(&self, asked: &Arc<SlotSet>, evaluated: &Arc<SlotSet>) -> Arc<SlotSet> {
        let mut last = self
            .last_missing
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(last) = &*last
            && Arc::ptr_eq(&last.asked, asked)
            && Arc::ptr_eq(&last.evaluated, evaluated)
        {
            return Arc::clone(&last.missing);
        }
        let missing = Arc::new(asked.difference(evaluated));
        *last = Some(Missing {
            asked: Arc::clone(asked),
            evaluated: Arc::clone(evaluated),
            missing: Arc::clone(&missing),
        });
        missing
    }

    /// Notes what a scan that fills some slots came to, unless the file may hold
    /// something else by now.
    pub(super) fn record(&self, filled: &SlotSet, needs: &Needs, scanned: &Scanned) {
        let (Some(id), None) = (scanned.id, &scanned.stop) else {
            return;
        };
        let mut left_out = SlotSet::new();
        let mut hits = Vec::with_capacity(scanned.findings.len() + 1);
        for (member, finding) in &scanned.findings {
            // What has more to tell than a count is found out again.
            if finding.stop.is_some() || finding.again > 0 {
                left_out.insert(*member);
                continue;
            }
            for (place, line) in (0_u32..).zip(&finding.lines) {
                let slot = self.line_slot(*member, place);
                let slot = slot.filter(|slot| filled.contains(*slot));
                hits.extend(slot.map(|slot| (slot, Count::exact(*line))));
            }
            let limit = needs.limits.get(*member as usize).copied().unwrap_or(0);
            let count = if finding.count < limit {
                Count::exact(finding.count)
            } else {
                Count::at_least(finding.count)
            };
            hits.push((*member, count));
        }
        hits.push((self.size, Count::exact(scanned.bytes)));
        hits.sort_unstable_by_key(|hit| hit.0);
        if left_out.is_empty() {
            self.session.record(id, filled, &hits);
        } else {
            self.session
                .record(id, &filled.difference(&left_out), &hits);
        }
    }

    /// Keeps what was recorded for later runs.
    pub(super) fn save(self) {
        // A cache that cannot be written is no failure: later runs scan again.
        let _ = self.session.save();
    }
}

/// Everything that a count depends on beside the content.
fn key(slot: &Slot<'_>, requests: &[Request<'_>], limits: &Limits) -> SlotKey {
    let counting = match slot.counting {
        Counting::Lines => b'l',
        Counting::Matches => b'm',
    };
    let haystack = match slot.haystack {
        Haystack::Lines => b'l',
        Haystack::Text => b't',
    };
    let kind = [counting, haystack, slot.pattern.flags.bits()];
    let limits = [
        limits.max_file_bytes,
        limits.max_line_bytes as u64,
        limits.max_text_bytes as u64,
        limits.max_count_work,
    ];
    let limits = limits.map(u64::to_le_bytes).concat();
    let text = slot.pattern.text.as_bytes();
    // Slots that are kept apart differ in their requests.
    let apart = slot.apart.and_then(|index| requests.get(index));
    let apart = apart.map(|request| format!("{:?} {:?}", request.limit, request.path));
    let apart = apart.unwrap_or_default();
    named([
        VERSION,
        &kind,
        &limits,
        &apart.len().to_le_bytes(),
        apart.as_bytes(),
        text,
    ])
}

fn named<const N: usize>(parts: [&[u8]; N]) -> SlotKey {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part);
    }
    let digest: [u8; 32] = hash.finalize().into();
    let mut key = [0; 16];
    key.copy_from_slice(&digest[..16]);
    SlotKey(key)
}
