//! What searches the files of a walk: built when the first file has to be searched,
//! for those who are still searched then.

use std::sync::Arc;

use foldhash::{HashMap, HashMapExt};

use crate::counts::SlotSet;
use crate::facts::ScanStats;
use crate::files::{Flow, Limits, Reader, Reading};
use crate::scan::chunk::{Job, Task};
use crate::scan::engine::Context;
use crate::scan::file::Needs;
use crate::scan::memory::Memory;
use crate::scan::panel::{Engines, Panel, Wanted};
use crate::scan::sample::Sample;
use crate::scan::stream::Item;
use crate::scan::walked::Open;

/// Files that frequencies of grams are taken from.
const SAMPLE_FILES: usize = 16;

/// The panel of a walk and its engines.
pub(super) struct Machinery<'a, 'c> {
    pub(super) context: &'c Context<'a>,
    /// The slots of the members.
    slots: Vec<usize>,
    pub(super) panel: Option<Panel<'a>>,
    /// The members that the panel is prepared for.
    prepared: SlotSet,
    sample: Option<Sample>,
    engines: Engines,
    /// The members that the engines were built for.
    built: SlotSet,
    /// What is searched in the files of the chunk.
    wanted: Vec<Search>,
    /// The tiers of members that were prepared since somebody took this.
    pub(super) stats: ScanStats,
}

/// What is searched in some files.
struct Search {
    of: SlotSet,
    wanted: Wanted,
    /// What that adds to the memory, if there is one.
    filled: Option<SlotSet>,
}

impl<'a, 'c> Machinery<'a, 'c> {
    pub(super) fn new(context: &'c Context<'a>, slots: Vec<usize>) -> Self {
        Self {
            context,
            slots,
            panel: None,
            prepared: SlotSet::new(),
            sample: None,
            engines: Engines::default(),
            built: SlotSet::new(),
            wanted: Vec::new(),
            stats: ScanStats::default(),
        }
    }

    /// Plans the searches of a chunk and builds what they need. Gives the position of
    /// each file to search, and the number of what is wanted of it.
    pub(super) fn make_ready(
        &mut self,
        items: &[&Item],
        jobs: &[Job],
        open: &Open,
        (memory, needs): (Option<&Memory<'_>>, &Needs),
    ) -> Vec<(usize, usize)> {
        let mut sets: Vec<SlotSet> = Vec::new();
        // Equal sets are told by where they come from.
        let mut numbers: HashMap<(usize, &[u32]), usize> = HashMap::new();
        let mut planned = Vec::new();
        for (position, (item, job)) in items.iter().zip(jobs).enumerate() {
            let Job::Search(recalled) = job else {
                continue;
            };
            let (origin, again) = match recalled {
                None => (item.cover, &[][..]),
                Some(recalled) => (Arc::as_ptr(&recalled.missing) as usize, &*recalled.again),
            };
            let number = *numbers.entry((origin, again)).or_insert_with(|| {
                sets.push(match recalled {
                    None => open.members(item.cover).iter().copied().collect(),
                    Some(recalled) => {
                        let again: SlotSet = again.iter().copied().collect();
                        recalled.missing.union(&again)
                    }
                });
                sets.len() - 1
            });
            planned.push((position, number));
        }
        let mut needed = SlotSet::new();
        for set in &sets {
            needed.union_with(set);
        }
        let is_same = self.fit(&needed, items);
        let mut before = std::mem::take(&mut self.wanted);
        if let Some(panel) = &self.panel {
            let wanted = sets.into_iter().map(|set| {
                let filled = memory.map(|memory| memory.filled(&set, needs));
                // Most chunks are searched for what the chunk before was.
                let known = before.iter().position(|search| is_same && search.of == set);
                if let Some(known) = known {
                    let wanted = before.swap_remove(known).wanted;
                    return Search {
                        of: set,
                        wanted,
                        filled,
                    };
                }
                let members: Vec<u32> = set.iter().collect();
                let wanted = panel.wanted(&members, &self.engines);
                Search {
                    of: set,
                    wanted,
                    filled,
                }
            });
            self.wanted = wanted.collect();
        }
        planned
    }

    /// The searches that were planned.
    pub(super) fn tasks<'t>(
        &'t self,
        items: &[&'t Item],
        planned: &[(usize, usize)],
    ) -> Vec<Task<'t>> {
        let tasks = planned.iter().filter_map(|&(position, number)| {
            let search = self.wanted.get(number)?;
            Some(Task {
                position,
                item: items.get(position)?,
                wanted: &search.wanted,
                filled: search.filled.as_ref(),
            })
        });
        tasks.collect()
    }

    /// Makes ready for some members. What was built before serves them too, unless
    /// half of it is of no use any more. True if nothing was built.
    fn fit(&mut self, needed: &SlotSet, items: &[&Item]) -> bool {
        if needed.is_empty() {
            return true;
        }
        let new = needed.difference(&self.prepared);
        if self.panel.is_none() || !new.is_empty() {
            let slots = new
                .iter()
                .filter_map(|member| self.slots.get(member as usize));
            self.context.preparation.prepare(slots.copied());
            self.prepared.union_with(&new);
            let panel = self.context.panel(&self.slots);
            let new: Vec<u32> = new.iter().collect();
            panel.count_tiers(&new, &mut self.stats);
            self.panel = Some(panel);
            self.built = SlotSet::new();
        }
        let is_fit = needed.is_subset(&self.built) && needed.len() * 2 > self.built.len();
        if let Some(panel) = &self.panel
            && !is_fit
        {
            let members: Vec<u32> = needed.iter().collect();
            let sample = || self.sample.get_or_insert_with(|| sample(items)).clone();
            self.engines = panel.engines(&members, sample);
            self.built = needed.clone();
            return false;
        }
        true
    }
}

/// Frequencies in some of the files to come. What cannot be read is not in it.
fn sample(items: &[&Item]) -> Sample {
    let mut sample = Sample::default();
    let mut reader = Reader::default();
    let reading = Reading {
        limits: Limits::default(),
        skip_binary: true,
        as_one: 0,
    };
    let step = items.len().div_ceil(SAMPLE_FILES).max(1);
    for item in items.iter().step_by(step) {
        let _ = item.file.read(&mut reader, &reading, &mut |block| {
            sample.add(block.bytes);
            Flow::Enough
        });
    }
    sample
}
