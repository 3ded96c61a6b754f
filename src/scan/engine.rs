//! From requests to answers: each path once, each tree once.

use std::collections::BTreeMap;

use rayon::prelude::*;

use crate::facts::{CancelToken, FactValue, FetchStats, Fetched, PathSpec, Pattern};
use crate::files::{File, Limits, Node, Tree};
use crate::reason::Reason;
use crate::scan::clock::timed;
use crate::scan::file::{Job, cancelled, scan_file};
use crate::scan::glob::glob;
use crate::scan::plan::Plan;
use crate::scan::pool::Pool;
use crate::scan::set::{Selector, scan_set};
use crate::scan::tally::Tally;

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Counting {
    /// Lines that match: `grep`.
    Lines,
    /// Matches that do not overlap: `count` of `elench-predicate-v2`.
    Matches,
}

/// One count that is wanted.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The regex.
    pub pattern: &'a Pattern,
    /// The files.
    pub path: &'a PathSpec,
    /// Lines or matches.
    pub counting: Counting,
    /// This many decide, so counting stops there.
    pub limit: Option<u64>,
    /// How many places to report. Counting does not go on for them past the
    /// limit.
    pub places: usize,
}

/// What every part of a scan needs.
pub(super) struct Context<'a> {
    pub(super) root: &'a dyn Tree,
    pub(super) limits: &'a Limits,
    pub(super) cancel: &'a CancelToken,
    pub(super) requests: &'a [Request<'a>],
    pub(super) plan: &'a Plan<'a>,
    pub(super) pool: &'a Pool<'a>,
}

/// Answers with the index of their request.
pub(super) type Answers = Vec<(usize, Fetched)>;

/// A path, once it was looked at.
enum Looked {
    Answered(Answers, FetchStats),
    /// A directory, by its location.
    Directory(Vec<u8>),
}

/// Answers every request, in order.
///
/// Values, places, fuel, bytes and the totals depend on the files and the
/// requests alone: a file counts as read if, in walk order, some request was
/// still undecided when its turn came. An error in a file whose turn comes after
/// the limit was reached is none.
#[must_use]
pub fn scan(
    root: &dyn Tree,
    limits: &Limits,
    requests: &[Request<'_>],
    cancel: &CancelToken,
) -> (Vec<Fetched>, FetchStats) {
    let plan = Plan::new(requests);
    let pool = Pool::new(plan.patterns.iter().copied());
    let context = Context {
        root,
        limits,
        cancel,
        requests,
        plan: &plan,
        pool: &pool,
    };
    let mut answers = Vec::with_capacity(requests.len());
    let mut stats = FetchStats::default();
    let mut directories: BTreeMap<Vec<u8>, Vec<usize>> = BTreeMap::new();
    let looked: Vec<_> = plan
        .paths
        .par_iter()
        .map(|(path, indices)| (context.look_at(path, indices), indices))
        .collect();
    for (looked, indices) in looked {
        match looked {
            Looked::Answered(new, read) => {
                answers.extend(new);
                add(&mut stats, read);
            }
            // Two spellings of one directory are one walk.
            Looked::Directory(location) => {
                directories.entry(location).or_default().extend(indices);
            }
        }
    }
    for (location, indices) in &directories {
        let walk = root.walk(location);
        let (new, read) = scan_set(&context, walk, indices, &Selector::All);
        answers.extend(new);
        add(&mut stats, read);
    }
    let (new, read) = context.scan_globs();
    answers.extend(new);
    add(&mut stats, read);
    answers.sort_unstable_by_key(|&(index, _)| index);
    (
        answers.into_iter().map(|(_, answer)| answer).collect(),
        stats,
    )
}

fn add(stats: &mut FetchStats, read: FetchStats) {
    stats.files += read.files;
    stats.bytes += read.bytes;
}

impl Context<'_> {
    fn look_at(&self, path: &str, indices: &[usize]) -> Looked {
        let refuse = |reason| Looked::Answered(refuse(indices, &reason), FetchStats::default());
        if self.cancel.is_cancelled() {
            return refuse(cancelled());
        }
        match self.root.find(path) {
            Ok(Node::Directory(location)) => Looked::Directory(location),
            Ok(Node::File(file)) => self.scan_found(path, &*file, indices),
            Err(error) => refuse(error.reason(path)),
        }
    }

    /// Scans a file that a path names directly: whole, whatever it holds.
    fn scan_found(&self, path: &str, file: &dyn File, indices: &[usize]) -> Looked {
        let mut tallies: Vec<_> = indices.iter().map(|&index| self.start(index)).collect();
        let open: Vec<_> = (0..tallies.len())
            .filter(|&index| tallies[index].0.is_open())
            .collect();
        let mut stats = FetchStats::default();
        if !open.is_empty() {
            let jobs: Vec<_> = open
                .iter()
                .filter_map(|&index| tallies[index].1.as_ref())
                .collect();
            let (scanned, cpu_ns) = timed(|| {
                self.pool.with_scratch(|scratch| {
                    scan_file(file, &jobs, false, scratch, self.limits, self.cancel)
                })
            });
            let share = cpu_ns / open.len() as u64;
            for (&index, finding) in open.iter().zip(scanned.findings) {
                let tally = &mut tallies[index].0;
                tally.charge_cpu(share);
                tally.add(path, scanned.bytes, Some(finding));
            }
            stats = FetchStats {
                files: 1,
                bytes: scanned.bytes,
            };
        }
        let answers = tallies.into_iter().map(|(tally, _)| tally.finish());
        let answers = indices.iter().copied().zip(answers).collect();
        Looked::Answered(answers, stats)
    }

    /// Makes a request ready to run. A pattern that cannot be compiled fails it
    /// before any file is read.
    pub(super) fn start(&self, index: usize) -> (Tally<'_>, Option<Job>) {
        let request = &self.requests[index];
        let mut tally = Tally::new(request);
        if self.cancel.is_cancelled() {
            tally.fail(cancelled());
            return (tally, None);
        }
        let ready = self.pool.get(self.plan.pattern_of[index]);
        match ready {
            Ok(ready) => {
                tally.charge_regex(ready.cpu_ns);
                let job = Job {
                    matcher: ready.matcher,
                    cache_key: ready.cache_key,
                    counting: request.counting,
                    haystack: request.haystack(),
                    limit: request.limit,
                    places: request.places,
                };
                (tally, Some(job))
            }
            Err(reason) => {
                tally.fail(reason);
                (tally, None)
            }
        }
    }

    /// One walk over the workspace for all globs.
    fn scan_globs(&self) -> (Answers, FetchStats) {
        let mut answers = Vec::new();
        let mut indices = Vec::new();
        let mut globs = Vec::new();
        for (text, requests) in &self.plan.globs {
            match glob(text) {
                Ok(glob) => {
                    let from = indices.len();
                    indices.extend(requests);
                    globs.push((glob, from..indices.len()));
                }
                Err(reason) => answers.extend(refuse(requests, &reason)),
            }
        }
        if indices.is_empty() {
            return (answers, FetchStats::default());
        }
        let walk = self.root.walk(b"");
        let (new, stats) = scan_set(self, walk, &indices, &Selector::Globs(globs));
        answers.extend(new);
        (answers, stats)
    }
}

fn refuse(indices: &[usize], reason: &Reason) -> Answers {
    let unknown = || Fetched::from(FactValue::Unknown(reason.clone()));
    indices.iter().map(|&index| (index, unknown())).collect()
}
