//! Some files of a walk, scanned in parallel.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

use crate::budget::CancelToken;
use crate::counts::SlotSet;
use crate::scan::engine::Context;
use crate::scan::file::{Needs, Scanned, Scratch, scan_file};
use crate::scan::memory::{Memory, Recalled};
use crate::scan::panel::{Panel, Wanted};
use crate::scan::stream::Item;

/// Files that one thread scans in a row, and the clock is read for.
const TASK_FILES: usize = 8;

/// Files that one thread looks up in a row.
const TASK_LOOKUPS: usize = 32;

/// Up to so many members it is noticed at once when all of them are decided.
const FEW_MEMBERS: usize = 64;

/// A file with what it came to, and the CPU time that took, in nanoseconds.
#[derive(Debug)]
pub(super) struct Done {
    pub(super) scanned: Scanned,
    pub(super) cpu_ns: u64,
}

/// What is to be done with a file.
pub(super) enum Job {
    /// Nothing: it is known.
    Known(Done),
    /// To be searched for all that somebody wants, or for what is not known.
    Search(Option<Recalled>),
}

/// What is searched in a file.
pub(super) struct Task<'c> {
    pub(super) position: usize,
    pub(super) item: &'c Item,
    pub(super) wanted: &'c Wanted,
    /// What the search adds to the memory, if there is one.
    pub(super) filled: Option<&'c SlotSet>,
}

/// Where in a chunk everything is decided: files after that matter to nobody.
pub(super) struct Horizon {
    last: AtomicUsize,
    /// For each member the first file that decides it, where members are few and
    /// all files have one cover.
    decided: Vec<AtomicUsize>,
}

impl Horizon {
    /// `covers` is how many different covers the files have.
    pub(super) fn new(needs: &Needs, covers: usize) -> Self {
        let is_small = covers == 1 && needs.limits.len() <= FEW_MEMBERS;
        let open = needs.limits.iter().take_while(|_| is_small);
        // Members that are decided already.
        let decided = open.map(|&limit| AtomicUsize::new(if limit == 0 { 0 } else { usize::MAX }));
        Self {
            last: AtomicUsize::new(usize::MAX),
            decided: decided.collect(),
        }
    }

    fn is_past(&self, position: usize) -> bool {
        self.last.load(Ordering::Relaxed) < position
    }

    /// Notes which members a file decides.
    fn note(&self, position: usize, scanned: &Scanned, needs: &Needs) {
        if self.decided.is_empty() {
            return;
        }
        for (member, finding) in &scanned.findings {
            let member = *member as usize;
            if finding.count >= needs.limits[member] {
                self.decided[member].fetch_min(position, Ordering::Relaxed);
            }
        }
        let decided = self.decided.iter();
        let last = decided
            .map(|position| position.load(Ordering::Relaxed))
            .max();
        if scanned.stop.is_some() {
            self.last.fetch_min(position, Ordering::Relaxed);
        } else if let Some(last) = last {
            self.last.fetch_min(last, Ordering::Relaxed);
        }
    }
}

/// Looks up what is known of files; `asked` gives the members that are wanted of
/// each.
pub(super) fn look_up(
    memory: &Memory<'_>,
    items: &[&Item],
    asked: &(dyn Fn(&Item) -> Option<Arc<SlotSet>> + Sync),
    (needs, horizon): (&Needs, &Horizon),
    cancel: &CancelToken,
) -> Vec<Job> {
    let tasks = items.par_chunks(TASK_LOOKUPS).enumerate();
    let jobs = tasks.map(|(task, items)| {
        let (recalled, cpu_ns) = cancel.timed(|| {
            let recall = |item: &&Item| {
                let id = item.file.id().ok().flatten()?;
                memory.recall(id, &asked(item)?, needs)
            };
            items.iter().map(recall).collect::<Vec<_>>()
        });
        let cpu_ns = cpu_ns / items.len().max(1) as u64;
        let jobs = (task * TASK_LOOKUPS..).zip(recalled);
        let jobs = jobs.map(|(position, recalled)| match recalled {
            Some(it) if it.missing.is_empty() && it.again.is_empty() => {
                let scanned = it.scanned;
                horizon.note(position, &scanned, needs);
                Job::Known(Done { scanned, cpu_ns })
            }
            other => Job::Search(other),
        });
        jobs.collect::<Vec<_>>()
    });
    jobs.flatten_iter().collect()
}

/// Searches files.
pub(super) fn search(
    context: &Context<'_>,
    panel: &Panel<'_>,
    (needs, horizon): (&Needs, &Horizon),
    memory: Option<&Memory<'_>>,
    tasks: &[Task<'_>],
) -> Vec<Done> {
    let chunks = tasks.par_chunks(TASK_FILES);
    let done = chunks.map(|tasks| {
        let (scanned, cpu_ns) = context.scanner.cancel.timed(|| {
            context.scratches.lend(|scratch| {
                let scan = |task: &Task<'_>| {
                    let scanned = search_one(context, panel, (needs, horizon), task, scratch);
                    if let (Some(memory), Some(filled)) = (memory, task.filled)
                        && scanned.is_read
                    {
                        memory.record(filled, needs, &scanned);
                    }
                    scanned
                };
                tasks.iter().map(scan).collect::<Vec<_>>()
            })
        });
        let cpu_ns = cpu_ns / tasks.len().max(1) as u64;
        scanned
            .into_iter()
            .map(move |scanned| Done { scanned, cpu_ns })
    });
    done.flatten_iter().collect()
}

fn search_one(
    context: &Context<'_>,
    panel: &Panel<'_>,
    (needs, horizon): (&Needs, &Horizon),
    task: &Task<'_>,
    scratch: &mut Scratch,
) -> Scanned {
    if task.wanted.is_empty() || horizon.is_past(task.position) {
        return Scanned::nothing();
    }
    let what = (task.wanted, needs);
    let scanned = scan_file(
        context.scanner,
        &*task.item.file,
        panel,
        what,
        true,
        scratch,
    );
    horizon.note(task.position, &scanned, needs);
    scanned
}
