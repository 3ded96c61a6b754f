//! The files of all directories and globs: walked in order, scanned in parallel,
//! added up in order.

use std::sync::atomic::{AtomicUsize, Ordering};

use foldhash::{HashMap, HashMapExt};
use rayon::prelude::*;

use crate::facts::{FetchStats, Fetched};
use crate::files::{Flow, Limits, Reader, Reading};
use crate::reason::{Reason, ReasonCode};
use crate::scan::engine::Context;
use crate::scan::file::{Needs, Scanned, Scratch, scan_file};
use crate::scan::finding::stopped;
use crate::scan::ledger::Ledger;
use crate::scan::panel::{Engines, Panel, Wanted};
use crate::scan::sample::Sample;
use crate::scan::stream::{Event, Existence, Item, Stream, Targets};

/// Files scanned between two additions: few at first, since most requests are
/// decided soon or never, then more, so that threads seldom wait for each other.
const FIRST_FILES: usize = 32;
const MOST_FILES: usize = 512;

/// Files that one thread scans in a row, and the clock is read for.
const TASK_FILES: usize = 8;

/// Files that frequencies of grams are taken from.
const SAMPLE_FILES: usize = 16;

/// Up to so many members it is noticed at once when all of them are decided.
const FEW_MEMBERS: usize = 64;

/// What came of a walk.
pub(super) struct Walked {
    pub(super) counts: Vec<Fetched>,
    pub(super) existing: Vec<Existence>,
    pub(super) stats: FetchStats,
}

/// What is the same for all files of a chunk.
struct Chunk<'a, 'c> {
    context: &'c Context<'a>,
    panel: &'c Panel<'a>,
    needs: &'c Needs,
    /// By the number of the cover: what is searched in its files.
    wanted: &'c HashMap<usize, Wanted>,
    /// Files after this one matter to nobody.
    last: AtomicUsize,
    /// For each member the first file that decides it, where members are few and
    /// all files have one cover.
    decided: Vec<AtomicUsize>,
}

/// What serves many members of a walk at once.
#[derive(Default)]
struct Machinery {
    sample: Option<Sample>,
    engines: Engines,
    /// How many members it was built for.
    members: usize,
}

impl Walked {
    /// Answers the requests of groups, in their order. Groups from `first_glob` on
    /// are globs with their texts.
    pub(super) fn run<'a>(
        context: &Context<'a>,
        targets: Targets,
        groups: &[Vec<usize>],
        (first_glob, texts): (usize, &[&str]),
    ) -> Self {
        let indices = groups.concat();
        let (panel, members) = context.panel(&indices);
        let mut ledger = Ledger::new(panel.members.len());
        let mut members = members.into_iter();
        for (group, indices) in (0..).zip(groups) {
            ledger.add_group();
            context.enter(&mut ledger, indices, group, members.by_ref());
        }
        let mut existing = Vec::new();
        match Stream::new(context.tree, targets) {
            Ok(stream) => existing = run(context, stream, &panel, &mut ledger),
            Err(error) => ledger.fail_all(&Reason::new(
                ReasonCode::PathInvalid,
                format!("the globs of the batch cannot be matched together: {error}"),
            )),
        }
        for (group, text) in (first_glob..).zip(texts) {
            let group = u32::try_from(group).unwrap_or(u32::MAX);
            if ledger.is_empty(group) {
                ledger.fail(&[group], &no_match(text));
            }
        }
        let all: Vec<u32> = (0..)
            .zip(&panel.members)
            .map(|(number, _)| number)
            .collect();
        panel.count_tiers(&all, &mut ledger.stats.scan);
        let stats = ledger.stats;
        Self {
            counts: ledger.finish().collect(),
            existing,
            stats,
        }
    }
}

/// Walks, scans and adds up.
fn run<'a>(
    context: &Context<'a>,
    mut stream: Stream<'_>,
    panel: &Panel<'a>,
    ledger: &mut Ledger<'_>,
) -> Vec<Existence> {
    let cancel = context.scanner.cancel;
    let stop = || cancel.is_cancelled();
    let mut existing = Vec::new();
    let mut machinery = Machinery::default();
    let mut files = FIRST_FILES;
    let mut events = stream.next(files, &stop);
    while !events.is_empty() && (ledger.is_open() || stream.is_asked()) {
        let needs = ledger.needs();
        let mut wanted = HashMap::new();
        machinery.fit(panel, &needs, &events);
        for event in &events {
            if let Event::File(item) = event
                && !wanted.contains_key(&item.cover)
            {
                let members = ledger.members(&stream.cover(item.cover));
                wanted.insert(item.cover, panel.wanted(&members, &machinery.engines));
            }
        }
        let items: Vec<&Item> = events
            .iter()
            .filter_map(|event| match event {
                Event::File(item) => Some(item),
                Event::Failed(..) => None,
            })
            .collect();
        files = (files * 2).min(MOST_FILES);
        let chunk = Chunk::new(context, panel, &needs, &wanted);
        let (tasks, next) = rayon::join(|| chunk.scan(&items), || stream.next(files, &stop));
        for (items, (_, cpu_ns)) in items.chunks(TASK_FILES).zip(&tasks) {
            for item in items {
                let groups = stream.cover(item.cover);
                ledger.charge_cpu(&groups, cpu_ns / items.len() as u64);
            }
        }
        let mut scanned = tasks.into_iter().flat_map(|(scanned, _)| scanned);
        for event in &events {
            match event {
                Event::File(item) => {
                    let groups = stream.cover(item.cover);
                    if let Some(scanned) = scanned.next() {
                        let path = String::from_utf8_lossy(&item.path);
                        ledger.add(&path, &groups, &scanned);
                    }
                }
                Event::Failed(groups, reason) => ledger.fail(groups, reason),
            }
        }
        existing.extend(stream.answers());
        events = next;
    }
    if cancel.is_cancelled() {
        ledger.fail_all(&stopped(cancel));
        stream.answer_all(&Err(stopped(cancel)));
    }
    existing.extend(stream.answers());
    existing
}

impl Machinery {
    /// Makes ready for the members that are still searched. What was built before
    /// serves them too and is kept until half of it is of no use any more.
    fn fit(&mut self, panel: &Panel<'_>, needs: &Needs, events: &[Event]) {
        let open: Vec<u32> = (0..)
            .zip(&needs.limits)
            .filter(|&(_, &limit)| limit > 0)
            .map(|(number, _)| number)
            .collect();
        if self.members > 0 && open.len() * 2 > self.members {
            return;
        }
        let sample = || self.sample.get_or_insert_with(|| sample(events)).clone();
        self.engines = panel.engines(&open, sample);
        self.members = open.len();
    }
}

/// Frequencies in some of the files to come. What cannot be read is not in it.
fn sample(events: &[Event]) -> Sample {
    let mut sample = Sample::default();
    let mut reader = Reader::default();
    let reading = Reading {
        limits: Limits::default(),
        skip_binary: true,
        as_one: 0,
    };
    let step = events.len().div_ceil(SAMPLE_FILES).max(1);
    for event in events.iter().step_by(step) {
        if let Event::File(item) = event {
            let _ = item.file.read(&mut reader, &reading, &mut |block| {
                sample.add(block.bytes);
                Flow::Enough
            });
        }
    }
    sample
}

impl<'a, 'c> Chunk<'a, 'c> {
    fn new(
        context: &'c Context<'a>,
        panel: &'c Panel<'a>,
        needs: &'c Needs,
        wanted: &'c HashMap<usize, Wanted>,
    ) -> Self {
        let is_small = wanted.len() == 1 && panel.members.len() <= FEW_MEMBERS;
        let open = needs.limits.iter().take_while(|_| is_small);
        // Members that are decided already.
        let decided = open.map(|&limit| AtomicUsize::new(if limit == 0 { 0 } else { usize::MAX }));
        Self {
            context,
            panel,
            needs,
            wanted,
            last: AtomicUsize::new(usize::MAX),
            decided: decided.collect(),
        }
    }

    /// Scans files, a task for a few in a row, each with the CPU time it took.
    fn scan(&self, items: &[&Item]) -> Vec<(Vec<Scanned>, u64)> {
        let tasks = items.par_chunks(TASK_FILES).enumerate();
        let scanned = tasks.map(|(task, items)| {
            self.context.scanner.cancel.timed(|| {
                self.context.scratches.lend(|scratch| {
                    let files = (task * TASK_FILES..).zip(items);
                    files
                        .map(|(position, item)| self.scan_item(position, item, scratch))
                        .collect()
                })
            })
        });
        scanned.collect()
    }

    fn scan_item(&self, position: usize, item: &Item, scratch: &mut Scratch) -> Scanned {
        let Some(wanted) = self.wanted.get(&item.cover) else {
            return Scanned::nothing();
        };
        if wanted.is_empty() || self.last.load(Ordering::Relaxed) < position {
            return Scanned::nothing();
        }
        let what = (wanted, self.needs);
        let scanner = self.context.scanner;
        let scanned = scan_file(scanner, &*item.file, self.panel, what, true, scratch);
        self.note(position, &scanned);
        scanned
    }

    /// Notes which members a file decides.
    fn note(&self, position: usize, scanned: &Scanned) {
        if self.decided.is_empty() {
            return;
        }
        for (member, finding) in &scanned.findings {
            let member = *member as usize;
            if finding.count >= self.needs.limits[member] {
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

fn no_match(glob: &str) -> Reason {
    Reason::new(
        ReasonCode::PathNotFound,
        format!(
            "the glob {glob:?} matches no file; it is relative to the workspace root, and what \
             .gitignore excludes does not count"
        ),
    )
}
