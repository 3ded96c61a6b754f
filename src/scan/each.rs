//! Counts of many patterns in single files, for whoever adds them up himself.

use std::sync::Arc;

use crate::budget::CancelToken;
use crate::counts::{SlotSet, Store};
use crate::facts::{PathSpec, Pattern, ScanStats};
use crate::files::{File, Limits, memory_tree};
use crate::reason::Reason;
use crate::scan::chunk::{Horizon, Job, look_up, search};
use crate::scan::engine::{Context, Counting, Request, ScanOptions};
use crate::scan::file::{Needs, Scanner};
use crate::scan::finding::stopped;
use crate::scan::machinery::Machinery;
use crate::scan::memory::Memory;
use crate::scan::plan::Plan;
use crate::scan::pool::Pool;
use crate::scan::prepare::Preparation;
use crate::scan::scratch::Scratches;
use crate::scan::stream::Item;
use crate::scan::walked::{Open, complete};

/// What a file holds of each pattern.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileCounts {
    /// Numbers of patterns and counts above 0, ascending.
    pub hits: Vec<(u32, u64)>,
    /// False if some count is not known: the file cannot be read to its end, say.
    pub is_sound: bool,
}

/// Counts patterns in one file after the other.
pub struct EachCounter<'a, 'c> {
    machinery: Machinery<'a, 'c>,
    memory: Option<&'c Memory<'c>>,
    needs: Needs,
    open: Open,
    /// For each member its pattern.
    patterns: Vec<u32>,
    /// What it took so far.
    pub stats: ScanStats,
}

/// Lends a counter of patterns, each of them once, as they are counted in files of
/// walks: those that are no text hold nothing. Or says for each pattern that cannot
/// be counted why not.
///
/// # Errors
///
/// The numbers of such patterns and the reasons, ascending.
pub fn count_each<R>(
    patterns: &[(Pattern, Counting)],
    limits: &Limits,
    counts: Option<&Store>,
    cancel: &CancelToken,
    work: impl FnOnce(&mut EachCounter<'_, '_>) -> R,
) -> Result<R, Vec<(u32, Reason)>> {
    let path = PathSpec {
        text: ".".into(),
        glob: false,
    };
    let requests: Vec<Request<'_>> = patterns
        .iter()
        .map(|(pattern, counting)| Request {
            pattern,
            path: &path,
            counting: *counting,
            limit: None,
            places: 0,
            fuel: None,
        })
        .collect();
    let Ok(tree) = memory_tree::<&[u8], &[u8]>([]) else {
        return Err(Vec::new());
    };
    let plan = Plan::new(&requests);
    let pool = Pool::new(&plan.slots);
    let preparation = Preparation::new(&plan, &pool, cancel);
    let context = Context {
        tree: &tree,
        requests: &requests,
        plan: &plan,
        preparation: &preparation,
        scanner: Scanner {
            pool: &pool,
            limits,
            cancel,
        },
        scratches: &Scratches::default(),
        options: ScanOptions { tier: None, counts },
    };
    let indices: Vec<usize> = (0..requests.len()).collect();
    let (slots, members) = context.members(&indices);
    preparation.prepare(slots.iter().copied());
    let failed = (0..).zip(&indices).filter_map(|(number, &index)| {
        let prepared = preparation.get(plan.slot_of[index])?;
        Some((number, prepared.as_ref().err()?.clone()))
    });
    let failed: Vec<(u32, Reason)> = failed.collect();
    if !failed.is_empty() {
        return Err(failed);
    }
    let of_members: Vec<_> = slots.iter().map(|&slot| plan.slots[slot]).collect();
    let memory = counts.map(|store| Memory::new(store, &of_members, &requests, limits));
    let mut of_member = vec![0; slots.len()];
    for (number, member) in (0..).zip(members) {
        if let Some(pattern) = of_member.get_mut(member as usize) {
            *pattern = number;
        }
    }
    let mut counter = EachCounter {
        needs: Needs {
            limits: vec![u64::MAX; slots.len()],
            places: vec![0; slots.len()],
        },
        open: Open::all(slots.len()),
        machinery: Machinery::new(&context, slots),
        memory: memory.as_ref(),
        patterns: of_member,
        stats: ScanStats::default(),
    };
    let result = work(&mut counter);
    if let Some(memory) = memory {
        memory.save();
    }
    Ok(result)
}

impl EachCounter<'_, '_> {
    /// The counts of some files, in their order.
    ///
    /// # Errors
    ///
    /// Why counting was stopped.
    pub fn count(&mut self, files: Vec<Box<dyn File>>) -> Result<Vec<FileCounts>, Reason> {
        let context = self.machinery.context;
        let cancel = context.scanner.cancel;
        let items = files.into_iter().map(|file| Item {
            path: Vec::new(),
            file,
            cover: 0,
        });
        let items: Vec<Item> = items.collect();
        let mut counts = Vec::with_capacity(items.len());
        if self.patterns.is_empty() {
            let nothing = || FileCounts {
                hits: Vec::new(),
                is_sound: true,
            };
            counts.resize_with(items.len(), nothing);
            return Ok(counts);
        }
        for items in items.chunks(FILES) {
            if cancel.is_cancelled() {
                return Err(stopped(cancel));
            }
            let items: Vec<&Item> = items.iter().collect();
            self.count_some(&items, &mut counts);
        }
        // What was stopped in the middle of a file is not sound either.
        match cancel.is_cancelled() {
            true => Err(stopped(cancel)),
            false => Ok(counts),
        }
    }

    fn count_some(&mut self, items: &[&Item], counts: &mut Vec<FileCounts>) {
        let context = self.machinery.context;
        let needs = &self.needs;
        let horizon = Horizon::new(needs, 0);
        let mut jobs: Vec<Job> = Vec::new();
        match self.memory.filter(|memory| !memory.is_empty()) {
            Some(memory) => {
                let all: Option<Arc<SlotSet>> = self.open.set(0);
                let asked = |_: &Item| all.clone();
                let of = (needs, &horizon);
                jobs = look_up(memory, items, &asked, of, context.scanner.cancel);
            }
            None => jobs.resize_with(items.len(), || Job::Search(None)),
        }
        let of = (self.memory, needs);
        let planned = self.machinery.make_ready(items, &jobs, &self.open, of);
        let tasks = self.machinery.tasks(items, &planned);
        let panel = self.machinery.panel.as_ref();
        for task in &tasks {
            task.item.file.prefetch();
        }
        let searched =
            panel.map(|panel| search(context, panel, (needs, &horizon), self.memory, &tasks));
        let mut searched = searched.unwrap_or_default().into_iter();
        for job in jobs {
            let done = match job {
                Job::Known(done) => Some(done),
                Job::Search(recalled) => searched.next().map(|done| complete(done, recalled)),
            };
            let Some(done) = done else {
                counts.push(FileCounts::default());
                continue;
            };
            let scanned = done.scanned;
            let stats = &mut self.stats;
            let (files, bytes) = match scanned.is_read {
                true => (&mut stats.read_files, &mut stats.read_bytes),
                false => (&mut stats.known_files, &mut stats.known_bytes),
            };
            *files += 1;
            *bytes += scanned.bytes;
            let is_sound = scanned.stop.is_none()
                && scanned
                    .findings
                    .iter()
                    .all(|(_, finding)| finding.stop.is_none());
            let hits = scanned.findings.iter().filter_map(|(member, finding)| {
                let pattern = *self.patterns.get(*member as usize)?;
                (finding.count > 0).then_some((pattern, finding.count))
            });
            let mut hits: Vec<(u32, u64)> = hits.collect();
            hits.sort_unstable();
            counts.push(FileCounts { hits, is_sound });
        }
    }
}

/// Files that are searched between two looks at whether to stop.
const FILES: usize = 256;
