//! From requests to answers: each path once, each tree once, each file once.

use std::collections::BTreeMap;

use rayon::prelude::*;

use crate::budget::CancelToken;
use crate::counts::Store;
use crate::facts::{Cost, FactValue, FetchStats, Fetched, PathSpec, Pattern};
use crate::files::{File, Limits, Node, Tree};
use crate::reason::Reason;
use crate::scan::file::{Needs, Scanner, scan_file};
use crate::scan::finding::stopped;
use crate::scan::fuel;
use crate::scan::glob::glob;
use crate::scan::ledger::Ledger;
use crate::scan::panel::{Member, Panel};
use crate::scan::plan::Plan;
use crate::scan::pool::Pool;
use crate::scan::prepare::Preparation;
use crate::scan::sample::Sample;
use crate::scan::scratch::Scratches;
use crate::scan::stream::Targets;
use crate::scan::walked::Walked;

/// Of files that are named, those so many places further on are read ahead.
const AHEAD_FILES: usize = 32;

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
    /// The most fuel that the request may take by itself.
    pub fuel: Option<u64>,
}

/// How the lines that match a pattern are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Tier {
    /// Its only literal is searched by itself.
    Literal,
    /// Its literals are searched with those of all others in one pass.
    Literals,
    /// It has no literal of use; its automaton is run with those of others.
    Combined,
    /// Its regex is run by itself.
    Regex,
}

/// How to scan.
#[derive(Clone, Copy, Debug, Default)]
pub struct ScanOptions<'a> {
    /// Puts every pattern that it can serve into a tier. Answers do not depend on
    /// it.
    pub tier: Option<Tier>,
    /// What earlier runs counted in the files of directories and globs, to which
    /// this one adds. Answers do not depend on it but for the CPU time.
    pub counts: Option<&'a Store>,
}

/// Whether something exists, and how many of what was counted.
#[derive(Debug)]
pub struct Answers {
    /// For each request.
    pub counts: Vec<Fetched>,
    /// For each glob that was asked about.
    pub existing: Vec<Fetched>,
    /// Totals.
    pub stats: FetchStats,
}

/// What every part of a scan needs.
#[derive(Clone, Copy)]
pub(super) struct Context<'a> {
    pub(super) tree: &'a dyn Tree,
    pub(super) requests: &'a [Request<'a>],
    pub(super) plan: &'a Plan<'a>,
    pub(super) preparation: &'a Preparation<'a>,
    pub(super) scanner: Scanner<'a>,
    pub(super) scratches: &'a Scratches,
    pub(super) options: ScanOptions<'a>,
}

/// Answers every request, and whether anything matches each glob of `existing`.
///
/// Values, places, fuel, bytes and the totals depend on the files and the
/// requests alone: a file counts as read if, in walk order, some request was
/// still undecided when its turn came. An error in a file whose turn comes after
/// the limit was reached is none.
#[must_use]
pub fn scan(
    tree: &dyn Tree,
    limits: &Limits,
    requests: &[Request<'_>],
    existing: &[&PathSpec],
    options: ScanOptions<'_>,
    cancel: &CancelToken,
) -> Answers {
    let plan = Plan::new(requests);
    let pool = Pool::new(&plan.slots);
    let preparation = Preparation::new(&plan, &pool, cancel);
    let scratches = Scratches::default();
    let paths: Vec<(&str, &Vec<usize>)> = plan.paths.iter().map(|(path, of)| (*path, of)).collect();
    let nodes: Vec<_> = paths.par_iter().map(|(path, _)| tree.find(path)).collect();
    let context = Context {
        tree,
        requests,
        plan: &plan,
        preparation: &preparation,
        scanner: Scanner {
            pool: &pool,
            limits,
            cancel,
        },
        scratches: &scratches,
        options,
    };
    let mut answers = Book::new(requests.len());
    let mut named = Vec::new();
    let mut directories: BTreeMap<Vec<u8>, Vec<usize>> = BTreeMap::new();
    for ((path, indices), node) in paths.into_iter().zip(nodes) {
        match node {
            Ok(Node::File(file)) => named.push((path, file, indices)),
            // Two spellings of one directory are one target.
            Ok(Node::Directory(location)) => {
                directories.entry(location).or_default().extend(indices);
            }
            Err(error) => answers.refuse(indices, &error.reason(path)),
        }
    }
    let of_named = named.iter().flat_map(|(.., indices)| indices.iter());
    preparation.prepare(of_named.map(|&index| plan.slot_of[index]));
    let scanned: Vec<_> = named
        .par_iter()
        .enumerate()
        .map(|(position, (path, file, indices))| {
            if let Some((_, ahead, _)) = named.get(position + AHEAD_FILES) {
                ahead.prefetch();
            }
            (context.scan_named(path, &**file, indices), *indices)
        })
        .collect();
    for ((fetched, stats), indices) in scanned {
        answers.add_stats(stats);
        answers.extend(indices.iter().copied().zip(fetched));
    }
    let existing = context.walk(directories, existing, &mut answers);
    drop(preparation);
    rayon::join(|| scratches.dismantle(), || pool.dismantle());
    Answers {
        counts: answers.finish(cancel),
        existing,
        stats: answers.stats,
    }
}

/// Answers by request.
struct Book {
    counts: Vec<Option<Fetched>>,
    stats: FetchStats,
}

impl Book {
    fn new(requests: usize) -> Self {
        Self {
            counts: vec![None; requests],
            stats: FetchStats::default(),
        }
    }

    fn extend(&mut self, answers: impl IntoIterator<Item = (usize, Fetched)>) {
        for (index, answer) in answers {
            self.counts[index] = Some(answer);
        }
    }

    fn refuse(&mut self, indices: &[usize], reason: &Reason) {
        let unknown = || Fetched::from(FactValue::Unknown(reason.clone()));
        self.extend(indices.iter().map(|&index| (index, unknown())));
    }

    fn add_stats(&mut self, stats: FetchStats) {
        self.stats += stats;
    }

    fn finish(&mut self, cancel: &CancelToken) -> Vec<Fetched> {
        let counts = std::mem::take(&mut self.counts);
        let missing = || Fetched::from(FactValue::Unknown(stopped(cancel)));
        counts
            .into_iter()
            .map(|count| count.unwrap_or_else(missing))
            .collect()
    }
}

impl<'a> Context<'a> {
    /// The slots of some requests, which are the members of a panel for them, and
    /// for each request its member.
    pub(super) fn members(&self, indices: &[usize]) -> (Vec<usize>, Vec<u32>) {
        let mut slots: Vec<usize> = indices
            .iter()
            .map(|&index| self.plan.slot_of[index])
            .collect();
        let of_requests = slots.clone();
        slots.sort_unstable();
        slots.dedup();
        let member = |slot: &usize| {
            u32::try_from(slots.binary_search(slot).unwrap_or(0)).unwrap_or(u32::MAX)
        };
        let numbers = of_requests.iter().map(member).collect();
        (slots, numbers)
    }

    /// The panel of some slots. Only those that are prepared can be searched by it.
    pub(super) fn panel(&self, slots: &[usize]) -> Panel<'a> {
        let members = slots.iter().map(|&number| {
            let prepared = self.preparation.get(number);
            let prepared = prepared.and_then(|prepared| prepared.as_ref().ok());
            Member {
                number,
                slot: self.plan.slots[number],
                required: prepared.and_then(|prepared| prepared.required.clone()),
            }
        });
        Panel::new(members.collect(), self.options.tier)
    }

    /// Puts requests on the books of a panel.
    pub(super) fn enter(
        &self,
        ledger: &mut Ledger<'a>,
        indices: &[usize],
        group: u32,
        members: impl Iterator<Item = u32>,
    ) {
        for (&index, member) in indices.iter().zip(members) {
            // What is not prepared was counted by an earlier run.
            let prepared = match self.preparation.get(self.plan.slot_of[index]) {
                Some(Ok(prepared)) => Ok(prepared.cpu_ns),
                Some(Err(reason)) => Err(reason.clone()),
                None => Ok(0),
            };
            ledger.add_request(&self.requests[index], group, member, prepared);
        }
    }

    /// Scans a file that a path names directly: whole, whatever it holds.
    fn scan_named(
        &self,
        path: &str,
        file: &dyn File,
        indices: &[usize],
    ) -> (Vec<Fetched>, FetchStats) {
        let (slots, members) = self.members(indices);
        let panel = self.panel(&slots);
        let mut ledger = Ledger::new(panel.members.len());
        ledger.add_group();
        self.enter(&mut ledger, indices, 0, members.into_iter());
        let open = ledger.members(&[0]);
        if !open.is_empty() {
            panel.count_tiers(&open, &mut ledger.stats.scan);
            let engines = panel.engines(&open, Sample::default);
            let wanted = panel.wanted(&open, &engines);
            let needs: Needs = ledger.needs();
            let (scanned, cpu_ns) = self.scanner.cancel.timed(|| {
                self.scratches.lend(|scratch| {
                    let what = (&wanted, &needs);
                    scan_file(self.scanner, file, &panel, what, false, scratch)
                })
            });
            ledger.charge_cpu(&[0], cpu_ns);
            ledger.add(path, &[0], &scanned);
        }
        let stats = ledger.stats;
        (ledger.finish().collect(), stats)
    }

    /// Walks all directories and globs.
    fn walk(
        &self,
        directories: BTreeMap<Vec<u8>, Vec<usize>>,
        existing: &[&PathSpec],
        answers: &mut Book,
    ) -> Vec<Fetched> {
        let mut existence: Vec<Option<Fetched>> = vec![None; existing.len()];
        let mut targets = Targets {
            directories: BTreeMap::new(),
            globs: Vec::new(),
            existing: Vec::new(),
        };
        for (index, path) in existing.iter().enumerate() {
            match glob(&path.text) {
                Ok(glob) => targets.existing.push((glob, index)),
                Err(reason) => existence[index] = Some(FactValue::Unknown(reason).into()),
            }
        }
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for (location, indices) in directories {
            targets.directories.insert(location, number(groups.len()));
            groups.push(indices);
        }
        let first_glob = groups.len();
        let mut texts = Vec::new();
        for (text, indices) in &self.plan.globs {
            match glob(text) {
                Ok(glob) => {
                    targets.globs.push((glob, number(groups.len())));
                    groups.push(indices.clone());
                    texts.push(*text);
                }
                Err(reason) => answers.refuse(indices, &reason),
            }
        }
        if groups.is_empty() && targets.existing.is_empty() {
            return finish_existence(existence, self.scanner.cancel);
        }
        let indices = groups.concat();
        let walked = Walked::run(self, targets, &groups, (first_glob, &texts));
        answers.add_stats(walked.stats);
        answers.extend(indices.into_iter().zip(walked.counts));
        for found in walked.existing {
            existence[found.index] = Some(Fetched {
                value: match found.exists {
                    Ok(exists) => FactValue::Bool(exists),
                    Err(reason) => FactValue::Unknown(reason),
                },
                cost: Cost {
                    fuel: fuel::RESOLVE + fuel::ENTRY * found.entries,
                    ..Cost::default()
                },
                places: Vec::new(),
                tests: Vec::new(),
                reused: false,
            });
        }
        finish_existence(existence, self.scanner.cancel)
    }
}

fn finish_existence(existence: Vec<Option<Fetched>>, cancel: &CancelToken) -> Vec<Fetched> {
    let missing = || Fetched::from(FactValue::Unknown(stopped(cancel)));
    existence
        .into_iter()
        .map(|fetched| fetched.unwrap_or_else(missing))
        .collect()
}

fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
