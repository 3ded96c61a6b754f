//! Some files of a walk, scanned in parallel.

use std::cmp::Reverse;
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

/// Bytes of files after which a task holds no more of them.
const TASK_BYTES: u64 = 64 << 10;

/// From so many members on, a large file takes so long that nothing else should be
/// left to wait for at the end of a chunk.
const MANY_MEMBERS: usize = 256;

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

/// Searches files. Gives what they came to in the order of the tasks.
pub(super) fn search(
    context: &Context<'_>,
    panel: &Panel<'_>,
    (needs, horizon): (&Needs, &Horizon),
    memory: Option<&Memory<'_>>,
    tasks: &[Task<'_>],
) -> Vec<Done> {
    let scan = |task: &Task<'_>, scratch: &mut Scratch| {
        let scanned = search_one(context, panel, (needs, horizon), task, scratch);
        if let (Some(memory), Some(filled)) = (memory, task.filled)
            && scanned.is_read
        {
            memory.record(filled, needs, &scanned);
        }
        scanned
    };
    let order = order(tasks, panel.members.len() >= MANY_MEMBERS);
    let parts = order.par_iter().map(|part| {
        let (scanned, cpu_ns) = context.scanner.cancel.timed(|| {
            context.scratches.lend(|scratch| {
                let tasks = part.iter().filter_map(|&at| Some((at, tasks.get(at)?)));
                tasks
                    .map(|(at, task)| (at, scan(task, scratch)))
                    .collect::<Vec<_>>()
            })
        });
        let cpu_ns = cpu_ns / part.len().max(1) as u64;
        scanned
            .into_iter()
            .map(move |(at, scanned)| (at, Done { scanned, cpu_ns }))
    });
    let mut done: Vec<(usize, Done)> = parts.flatten_iter().collect();
    done.sort_unstable_by_key(|&(at, _)| at);
    done.into_iter().map(|(_, done)| done).collect()
}

/// The places of the tasks, in parts that are one thread's work each: in their order,
/// or the largest files first.
fn order(tasks: &[Task<'_>], by_size: bool) -> Vec<Vec<usize>> {
    let places: Vec<usize> = (0..tasks.len()).collect();
    if !by_size {
        return places.chunks(TASK_FILES).map(<[usize]>::to_vec).collect();
    }
    let sizes = tasks.par_iter().with_min_len(64);
    let sizes = sizes.map(|task| task.item.file.size_hint().unwrap_or(0));
    let mut sized: Vec<(u64, usize)> = sizes.collect::<Vec<_>>().into_iter().zip(places).collect();
    sized.sort_unstable_by_key(|&(size, at)| (Reverse(size), at));
    let mut parts = Vec::new();
    let mut bytes = 0;
    for (size, at) in sized {
        match parts.last_mut() {
            Some(part) if Vec::len(part) < TASK_FILES && bytes < TASK_BYTES => {
                bytes += size;
                part.push(at);
            }
            _ => {
                bytes = size;
                parts.push(vec![at]);
            }
        }
    }
    parts
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
