//! The files of all directories and globs: walked in order, scanned in parallel,
//! added up in order.

use std::sync::Arc;

use foldhash::{HashMap, HashMapExt};

use crate::counts::SlotSet;
use crate::facts::{FetchStats, Fetched};
use crate::files::FileError;
use crate::reason::{Reason, ReasonCode};
use crate::scan::chunk::{Done, Horizon, Job, look_up, search};
use crate::scan::engine::Context;
use crate::scan::finding::{Stop, stopped};
use crate::scan::ledger::Ledger;
use crate::scan::machinery::Machinery;
use crate::scan::memory::{Memory, Recalled};
use crate::scan::stream::{Event, Existence, Item, Stream, Targets};

/// Files scanned between two additions: few at first, since most requests are
/// decided soon or never, then more, so that threads seldom wait for each other.
const FIRST_FILES: usize = 32;
const MOST_FILES: usize = 1024;
const GROWTH: usize = 4;

/// What came of a walk.
pub(super) struct Walked {
    pub(super) counts: Vec<Fetched>,
    pub(super) existing: Vec<Existence>,
    pub(super) stats: FetchStats,
}

impl Walked {
    /// Answers the requests of groups, in their order. Groups from `first_glob` on
    /// are globs with their texts.
    pub(super) fn run(
        context: &Context<'_>,
        targets: Targets,
        groups: &[Vec<usize>],
        (first_glob, texts): (usize, &[&str]),
    ) -> Self {
        let indices = groups.concat();
        let (slots, members) = context.members(&indices);
        let memory = context.options.counts.map(|store| {
            let slots: Vec<_> = slots.iter().map(|&slot| context.plan.slots[slot]).collect();
            Memory::new(store, &slots, context.requests, context.scanner.limits)
        });
        // What an earlier run counted is known to be sound.
        let unknown = (0..).zip(&slots).filter(|&(member, _)| {
            let memory = memory.as_ref();
            memory.is_none_or(|memory| !memory.knows(member))
        });
        context.preparation.prepare(unknown.map(|(_, &slot)| slot));
        let mut ledger = Ledger::new(slots.len());
        let mut members = members.into_iter();
        for (group, indices) in (0..).zip(groups) {
            ledger.add_group();
            context.enter(&mut ledger, indices, group, members.by_ref());
        }
        let mut existing = Vec::new();
        match Stream::new(context.tree, targets) {
            Ok(stream) => {
                let mut machinery = Machinery::new(context, slots);
                existing = run(stream, &mut machinery, memory.as_ref(), &mut ledger);
            }
            Err(error) => ledger.fail_all(&Reason::new(
                ReasonCode::PathInvalid,
                format!("the globs of the batch cannot be matched together: {error}"),
            )),
        }
        if let Some(memory) = memory {
            memory.save();
        }
        for (group, text) in (first_glob..).zip(texts) {
            let group = u32::try_from(group).unwrap_or(u32::MAX);
            if ledger.is_empty(group) {
                ledger.fail(&[group], &no_match(text));
            }
        }
        let stats = ledger.stats;
        Self {
            counts: ledger.finish().collect(),
            existing,
            stats,
        }
    }
}

/// Walks, looks up, scans and adds up.
fn run(
    mut stream: Stream<'_>,
    machinery: &mut Machinery<'_, '_>,
    memory: Option<&Memory<'_>>,
    ledger: &mut Ledger<'_>,
) -> Vec<Existence> {
    let context = machinery.context;
    let cancel = context.scanner.cancel;
    let stop = || cancel.is_cancelled();
    let recalls = memory.filter(|memory| !memory.is_empty());
    let mut existing = Vec::new();
    let mut files = FIRST_FILES;
    let mut events = stream.next(files, recalls.is_none(), &stop);
    while !events.is_empty() && (ledger.is_open() || stream.is_asked()) {
        let needs = ledger.needs();
        let items: Vec<&Item> = events
            .iter()
            .filter_map(|event| match event {
                Event::File(item) => Some(item),
                Event::Failed(..) => None,
            })
            .collect();
        let open = Open::new(&items, &stream, ledger, memory.is_some());
        let horizon = Horizon::new(&needs, open.members.len());
        files = (files * GROWTH).min(MOST_FILES);
        let mut next = None;
        let mut jobs: Vec<Job> = Vec::new();
        if let Some(memory) = recalls {
            let asked = |item: &Item| open.set(item.cover);
            let known = || look_up(memory, &items, &asked, (&needs, &horizon), cancel);
            let (known, walked) =
                rayon::join(known, || stream.next(files, recalls.is_none(), &stop));
            jobs = known;
            next = Some(walked);
        } else {
            jobs.resize_with(items.len(), || Job::Search(None));
        }
        let planned = machinery.make_ready(&items, &jobs, &open, (memory, &needs));
        let tasks = machinery.tasks(&items, &planned);
        if recalls.is_some() {
            // Only now it is known who is read at all.
            tasks.iter().for_each(|task| task.item.file.prefetch());
        }
        let done = if let Some(panel) = &machinery.panel
            && !tasks.is_empty()
        {
            let searched = || search(context, panel, (&needs, &horizon), memory, &tasks);
            if next.is_some() {
                searched()
            } else {
                let (done, walked) =
                    rayon::join(searched, || stream.next(files, recalls.is_none(), &stop));
                next = Some(walked);
                done
            }
        } else {
            Vec::new()
        };
        ledger.stats.scan += std::mem::take(&mut machinery.stats);
        add(&events, jobs, done, &stream, ledger);
        existing.extend(stream.answers());
        events = match next {
            Some(next) => next,
            None => stream.next(files, recalls.is_none(), &stop),
        };
    }
    if cancel.is_cancelled() {
        ledger.fail_all(&stopped(cancel));
        stream.answer_all(&Err(stopped(cancel)));
    }
    existing.extend(stream.answers());
    existing
}

/// Adds up what the files of some events came to, in their order. What is not known
/// was searched.
fn add(
    events: &[Event],
    jobs: Vec<Job>,
    searched: Vec<Done>,
    stream: &Stream<'_>,
    ledger: &mut Ledger<'_>,
) {
    let mut jobs = jobs.into_iter();
    let mut searched = searched.into_iter();
    for event in events {
        let item = match event {
            Event::File(item) => item,
            Event::Failed(groups, reason) => {
                ledger.fail(groups, reason);
                continue;
            }
        };
        let done = match jobs.next() {
            Some(Job::Known(done)) => Some(done),
            Some(Job::Search(recalled)) => searched.next().map(|done| complete(done, recalled)),
            None => None,
        };
        if let Some(done) = done {
            let groups = stream.cover(item.cover);
            ledger.charge_cpu(&groups, done.cpu_ns);
            let path = String::from_utf8_lossy(&item.path);
            ledger.add(&path, &groups, &done.scanned);
        }
    }
}

/// What a search found, with what was known before.
pub(super) fn complete(mut done: Done, recalled: Option<Recalled>) -> Done {
    let scanned = &mut done.scanned;
    if let Some(recalled) = recalled
        && scanned.is_read
    {
        if scanned.id == recalled.scanned.id {
            scanned.findings.extend(recalled.scanned.findings);
        } else {
            // Half of the answer is about what it held before.
            scanned.findings.clear();
            scanned.stop = Some(Stop::File(FileError::Changed));
        }
    }
    done
}

/// The members that are wanted of the files of a chunk, by the number of the cover.
pub(super) struct Open {
    members: HashMap<usize, Vec<u32>>,
    /// The same as sets, where they are of use.
    sets: HashMap<usize, Arc<SlotSet>>,
}

impl Open {
    /// All of so many members, for one cover.
    pub(super) fn all(members: usize) -> Self {
        let all: Vec<u32> = (0..).take(members).collect();
        let set: SlotSet = all.iter().copied().collect();
        Self {
            members: std::iter::once((0, all)).collect(),
            sets: std::iter::once((0, Arc::new(set))).collect(),
        }
    }

    /// Those of one cover as a set, if sets are of use.
    pub(super) fn set(&self, cover: usize) -> Option<Arc<SlotSet>> {
        self.sets.get(&cover).cloned()
    }

    /// Those of one cover.
    pub(super) fn members(&self, cover: usize) -> &[u32] {
        self.members.get(&cover).map_or(&[], Vec::as_slice)
    }

    fn new(items: &[&Item], stream: &Stream<'_>, ledger: &Ledger<'_>, with_sets: bool) -> Self {
        let mut open = Self {
            members: HashMap::new(),
            sets: HashMap::new(),
        };
        for item in items {
            open.members
                .entry(item.cover)
                .or_insert_with(|| ledger.members(&stream.cover(item.cover)));
        }
        if with_sets {
            let sets = open.members.iter();
            let sets = sets.map(|(&cover, members)| {
                let set: SlotSet = members.iter().copied().collect();
                (cover, Arc::new(set))
            });
            open.sets = sets.collect();
        }
        open
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
