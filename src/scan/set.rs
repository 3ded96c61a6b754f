//! Many files for many requests: walked in order, scanned in parallel, added up
//! in order.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use globset::{Candidate, GlobMatcher};
use rayon::prelude::*;

use crate::facts::FetchStats;
use crate::files::{Entry, WalkError, Walking};
use crate::reason::{Reason, ReasonCode};
use crate::scan::clock::timed;
use crate::scan::compile::Haystack;
use crate::scan::engine::{Answers, Context};
use crate::scan::file::{Finding, Job, Stop, cancelled, scan_file};
use crate::scan::tally::Tally;

/// Files scanned between two additions. It bounds what is held of findings and
/// how far the scan runs past the file that decides; larger ones make the threads
/// wait less for each other.
const CHUNK_FILES: usize = 128;

/// Which files of a walk a request wants.
pub(super) enum Selector {
    /// All requests want all of them.
    All,
    /// The requests of each range want those that the glob matches.
    Globs(Vec<(GlobMatcher, Range<usize>)>),
}

impl Selector {
    /// The requests, of those that are open, that want a file.
    fn wanting<'o>(&self, entry: &Entry, open: &'o [usize]) -> Cow<'o, [usize]> {
        match self {
            Self::All => Cow::Borrowed(open),
            Self::Globs(globs) => {
                let candidate = Candidate::new(entry.path());
                let matching = globs
                    .iter()
                    .filter(|(glob, _)| glob.is_match_candidate(&candidate));
                let requests: BTreeSet<_> = matching.flat_map(|(_, range)| range.clone()).collect();
                open.iter()
                    .filter(|index| requests.contains(index))
                    .copied()
                    .collect()
            }
        }
    }
}

/// The requests on one walk.
struct Set<'a, 'w> {
    context: &'w Context<'a>,
    selector: &'w Selector,
    walk: Walking,
    tallies: Vec<Tally<'a>>,
    /// `None` for a request whose pattern cannot be compiled.
    jobs: Vec<Option<Job>>,
}

/// A file of a chunk, and the requests that want it.
struct Item<'o> {
    entry: Entry,
    wanting: Cow<'o, [usize]>,
}

/// What a request is known to get while a chunk is being scanned.
#[derive(Debug)]
struct Progress {
    /// No file of the chunk after this one can matter.
    last_file: AtomicUsize,
    cpu_ns: AtomicU64,
}

/// What a file is charged at, and what requests found in it, in the order of
/// [`Item::wanting`]; those without an entry found nothing.
type Outcome = Result<(u64, Vec<(usize, Result<Finding, Stop>)>), Stop>;

/// How a walk ended.
enum End {
    Complete,
    Failed(Reason),
}

/// Runs requests over the files of a walk.
pub(super) fn scan_set(
    context: &Context<'_>,
    walk: Walking,
    indices: &[usize],
    selector: &Selector,
) -> (Answers, FetchStats) {
    let started: Vec<_> = indices
        .par_iter()
        .map(|&index| context.start(index))
        .collect();
    let (tallies, jobs) = started.into_iter().unzip();
    let mut set = Set {
        context,
        selector,
        walk,
        tallies,
        jobs,
    };
    let mut stats = FetchStats::default();
    while set.scan_chunk(&mut stats) {}
    let answers = set.tallies.into_iter().map(Tally::finish);
    (indices.iter().copied().zip(answers).collect(), stats)
}

impl Set<'_, '_> {
    /// Walks, scans and adds up some files. False if that was all.
    fn scan_chunk(&mut self, stats: &mut FetchStats) -> bool {
        let open: Vec<usize> = (0..self.tallies.len())
            .filter(|&index| self.tallies[index].is_open())
            .collect();
        if open.is_empty() {
            return false;
        }
        for &index in &open {
            if let Some(job) = &mut self.jobs[index] {
                job.limit = self.tallies[index].missing();
                job.places = self.tallies[index].missing_places();
            }
        }
        let (items, end) = self.gather(&open);
        let progress: Vec<_> = (0..self.tallies.len())
            .map(|_| Progress {
                last_file: AtomicUsize::new(usize::MAX),
                cpu_ns: AtomicU64::new(0),
            })
            .collect();
        let scanned: Vec<_> = items
            .par_iter()
            .enumerate()
            .map(|(position, item)| self.scan_item(position, item, &progress))
            .collect();
        for (item, scanned) in items.iter().zip(scanned) {
            self.add(item, scanned, stats);
        }
        for (tally, progress) in self.tallies.iter_mut().zip(progress) {
            tally.charge_cpu(progress.cpu_ns.into_inner());
        }
        match end {
            None => return true,
            Some(End::Failed(reason)) => self.fail_open(|_| Some(reason.clone())),
            Some(End::Complete) => self.fail_open(|tally| {
                let path = tally.request().path;
                (path.glob && !tally.has_files()).then(|| no_match(&path.text))
            }),
        }
        false
    }

    fn fail_open(&mut self, reason: impl Fn(&Tally<'_>) -> Option<Reason>) {
        for tally in self.tallies.iter_mut().filter(|tally| tally.is_open()) {
            if let Some(reason) = reason(tally) {
                tally.fail(reason);
            }
        }
    }

    /// The next files that somebody wants.
    fn gather<'o>(&mut self, open: &'o [usize]) -> (Vec<Item<'o>>, Option<End>) {
        let mut items = Vec::new();
        while items.len() < CHUNK_FILES {
            if self.context.cancel.is_cancelled() {
                return (items, Some(End::Failed(cancelled())));
            }
            match self.walk.next() {
                None => return (items, Some(End::Complete)),
                Some(Err(WalkError { path, error })) => {
                    let path = shown(&path);
                    return (items, Some(End::Failed(error.reason(&path))));
                }
                Some(Ok(entry)) if entry.file.is_none() => {}
                Some(Ok(entry)) => {
                    let wanting = self.selector.wanting(&entry, open);
                    if !wanting.is_empty() {
                        items.push(Item { entry, wanting });
                    }
                }
            }
        }
        (items, None)
    }

    /// Scans a file for the requests that it may matter to.
    fn scan_item(&self, position: usize, item: &Item<'_>, progress: &[Progress]) -> Outcome {
        let context = self.context;
        let Some(file) = &item.entry.file else {
            return Ok((0, Vec::new()));
        };
        let candidates = item.wanting.iter().filter_map(|&index| {
            let job = self.jobs[index].as_ref()?;
            // Jobs on whole files change how a file is read, so whether they run
            // must not hang on the schedule.
            let runs = job.haystack == Haystack::Text || progress[index].wants(position);
            runs.then_some((index, job))
        });
        let (indices, jobs): (Vec<usize>, Vec<&Job>) = candidates.unzip();
        if jobs.is_empty() {
            return Ok((0, Vec::new()));
        }
        let (scanned, cpu_ns) = timed(|| {
            context.pool.with_scratch(|scratch| {
                scan_file(
                    &**file,
                    &jobs,
                    true,
                    scratch,
                    context.limits,
                    context.cancel,
                )
            })
        });
        let share = cpu_ns / jobs.len() as u64;
        let mut findings = Vec::new();
        for ((index, job), finding) in indices.into_iter().zip(jobs).zip(scanned.findings) {
            progress[index].cpu_ns.fetch_add(share, Ordering::Relaxed);
            let decides = finding.as_ref().map_or(true, |finding| {
                job.limit.is_some_and(|limit| finding.count >= limit)
            });
            if decides {
                progress[index].stop_at(position);
            }
            if finding != Ok(Finding::default()) {
                findings.push((index, finding));
            }
        }
        Ok((scanned.bytes, findings))
    }

    /// Adds the next file to the requests that are still open.
    fn add(&mut self, item: &Item<'_>, outcome: Outcome, stats: &mut FetchStats) {
        let path = item.entry.display_path();
        let (bytes, mut findings) = match outcome {
            Ok((bytes, findings)) => (bytes, findings.into_iter().peekable()),
            Err(stop) => {
                let all = item.wanting.iter().map(|&index| (index, Err(stop.clone())));
                (0, all.collect::<Vec<_>>().into_iter().peekable())
            }
        };
        let mut is_needed = false;
        for &index in &*item.wanting {
            let finding = findings.next_if(|&(of, _)| of == index);
            let tally = &mut self.tallies[index];
            if tally.is_open() {
                tally.add(&path, bytes, finding.map(|(_, finding)| finding));
                is_needed = true;
            }
        }
        if is_needed {
            stats.files += 1;
            stats.bytes += bytes;
        }
    }
}

impl Progress {
    fn wants(&self, position: usize) -> bool {
        position <= self.last_file.load(Ordering::Relaxed)
    }

    fn stop_at(&self, position: usize) {
        self.last_file.fetch_min(position, Ordering::Relaxed);
    }
}

/// A directory for people.
fn shown(path: &[u8]) -> Cow<'_, str> {
    if path.is_empty() {
        Cow::Borrowed(".")
    } else {
        String::from_utf8_lossy(path)
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
