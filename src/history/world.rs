//! The facts as they are at the commit at hand.

use std::collections::BTreeSet;
use std::sync::Arc;

use foldhash::HashMap;

use crate::budget::CancelToken;
use crate::facts::{Demand, FactSource as _, FactValue, ScanStats, WorkspaceSource};
use crate::files::{Kind, Limits, Objects as _, Tree as _};
use crate::git::{CommitTree, Oid, TreeId};
use crate::history::diff::{Difference, differences};
use crate::history::facts::Facts;
use crate::history::targets::Targets;

/// What the distinct files of all commits hold.
pub(super) type Counts = HashMap<Oid, Option<Arc<[(u32, u64)]>>>;

/// One commit and what it changed; an error if that cannot be told.
pub(super) struct Step {
    pub(super) tree: CommitTree,
    changes: Option<Vec<Difference>>,
}

/// What happened to the tree of each commit so far.
#[derive(Default)]
pub(super) struct Trail {
    /// The tree of the commit before, if all is known of it.
    last: Option<TreeId>,
}

impl Trail {
    /// The next commit, and the contents that may have to be counted.
    pub(super) fn step(
        &mut self,
        tree: CommitTree,
        targets: &Targets,
        contents: &mut Vec<(Oid, TreeId)>,
    ) -> Step {
        let files = tree.objects();
        let root = files.root();
        let changes = differences(files, self.last, root).ok();
        self.last = changes.is_some().then_some(root);
        for change in changes.iter().flatten() {
            let Some(new) = change.new else { continue };
            let content = new
                .walked_file()
                .filter(|_| !targets.of(&change.path).is_empty());
            contents.extend(content.map(|oid| (oid, new.id)));
        }
        Step { tree, changes }
    }
}

/// The facts and what they are added up from.
pub(super) struct World {
    pub(super) facts: Facts,
    totals: Vec<u64>,
    /// Files that have no sound count.
    unsound: BTreeSet<Vec<u8>>,
    /// True if nothing is known of the commit before, or it could not be added up.
    was_lost: bool,
    was_unsound: bool,
    limits: Limits,
    /// Facts that were looked up as `--at` does.
    pub(super) lookups: u64,
    pub(super) stats: ScanStats,
}

impl World {
    pub(super) fn new(facts: Facts, limits: Limits) -> Self {
        Self {
            totals: vec![0; facts.wanted.len()],
            facts,
            unsound: BTreeSet::new(),
            was_lost: true,
            was_unsound: false,
            limits,
            lookups: 0,
            stats: ScanStats::default(),
        }
    }

    /// Turns to the next commit. Gives the values of all facts that may have changed.
    pub(super) fn turn(
        &mut self,
        step: &Step,
        counts: &Counts,
        cancel: &CancelToken,
    ) -> Vec<(u32, FactValue)> {
        let changes = step.changes.as_deref();
        if changes.is_some_and(<[_]>::is_empty) && !self.was_lost {
            return Vec::new();
        }
        let is_restart = self.was_lost || changes.is_none();
        if is_restart {
            self.forget();
        }
        let mut changed = BTreeSet::new();
        let mut touched = BTreeSet::new();
        for change in changes.unwrap_or_default() {
            self.correct(change, counts, &mut changed);
            let places = self.facts.by_place.get(&change.path);
            touched.extend(places.into_iter().flatten().copied());
        }
        let mut lookups: BTreeSet<u32> = self.facts.others.iter().copied().collect();
        let mut values = Vec::new();
        let is_lost = changes.is_none() || !self.unsound.is_empty();
        for number in 0..self.facts.paths.len() {
            let is_touched = u32::try_from(number).is_ok_and(|it| touched.contains(&it));
            let path = &self.facts.paths[number];
            if is_restart || is_touched || path.is_loose {
                self.resolve(number, &step.tree, &mut lookups, &mut changed);
            }
        }
        if is_lost || is_restart || self.was_unsound {
            changed.extend(self.facts.walked());
            changed.extend(self.facts.asked.iter().flat_map(|glob| &glob.facts));
        }
        if is_lost {
            lookups.append(&mut changed);
        } else {
            self.add_up(&changed, &mut lookups, &mut values);
        }
        self.was_lost = changes.is_none();
        self.was_unsound = is_lost;
        let lookups: Vec<u32> = lookups.into_iter().collect();
        values.extend(self.look_up(&lookups, &step.tree, cancel));
        values
    }

    fn forget(&mut self) {
        self.totals.fill(0);
        self.unsound.clear();
        self.facts.targets.clear();
        for glob in &mut self.facts.asked {
            glob.entries = 0;
        }
    }

    /// Corrects the totals by one difference.
    fn correct(&mut self, change: &Difference, counts: &Counts, changed: &mut BTreeSet<u32>) {
        let walked = |seen: Option<crate::history::diff::Seen>| seen.filter(|it| it.is_walked);
        let (old, new) = (walked(change.old), walked(change.new));
        if old.is_some() != new.is_some() {
            for glob in self.facts.asked_globs(&change.path) {
                if let Some(glob) = self.facts.asked.get_mut(glob) {
                    glob.entries = match new {
                        Some(_) => glob.entries + 1,
                        None => glob.entries.saturating_sub(1),
                    };
                    changed.extend(&glob.facts);
                }
            }
        }
        let content =
            |seen: Option<crate::history::diff::Seen>| seen.and_then(|it| it.walked_file());
        let (old, new) = (content(old), content(new));
        if old == new {
            return;
        }
        let targets = self.facts.targets.of(&change.path);
        if targets.is_empty() {
            return;
        }
        for &target in &targets {
            let files = self.facts.targets.files(target);
            let Some(files) = files else { continue };
            let before = *files;
            match (old, new) {
                (None, Some(_)) => *files += 1,
                (Some(_), None) => *files = files.saturating_sub(1),
                _ => {}
            }
            // Of a glob it matters whether there are any.
            if (before == 0) != (*files == 0) {
                changed.extend(self.facts.targets.all_facts(target));
            }
        }
        let hits = |content: Option<Oid>| content.map(|oid| counts.get(&oid).cloned().flatten());
        let (old, new) = (hits(old), hits(new));
        match new {
            Some(None) => self.unsound.insert(change.path.clone()),
            _ => self.unsound.remove(&change.path),
        };
        for &target in &targets {
            for (hits, is_new) in [(&old, false), (&new, true)] {
                for &(pattern, count) in hits.iter().flatten().flat_map(|hits| hits.iter()) {
                    for &fact in self.facts.targets.facts(target, pattern) {
                        if let Some(total) = self.totals.get_mut(fact as usize) {
                            *total = match is_new {
                                true => total.saturating_add(count),
                                false => total.saturating_sub(count),
                            };
                        }
                        changed.insert(fact);
                    }
                }
            }
        }
    }

    /// Finds out anew where a path leads.
    fn resolve(
        &mut self,
        number: usize,
        tree: &CommitTree,
        lookups: &mut BTreeSet<u32>,
        changed: &mut BTreeSet<u32>,
    ) {
        let path = &mut self.facts.paths[number];
        lookups.extend(&path.asking);
        let names_parents = path.text.split('/').any(|name| name == "..");
        path.is_loose = names_parents || tree.passes_links(&path.text);
        let is_directory = matches!(tree.kind(&path.text), Ok(Kind::Directory));
        path.is_directory = is_directory && !path.is_loose;
        if path.is_directory {
            changed.extend(&path.counting);
        } else {
            lookups.extend(&path.counting);
        }
    }

    /// The values of facts that are added up.
    fn add_up(
        &mut self,
        changed: &BTreeSet<u32>,
        lookups: &mut BTreeSet<u32>,
        values: &mut Vec<(u32, FactValue)>,
    ) {
        let facts = &mut self.facts;
        for glob in &facts.asked {
            for &fact in glob.facts.iter().filter(|fact| changed.contains(fact)) {
                values.push((fact, FactValue::Bool(glob.entries > 0)));
            }
        }
        let mut counted: Vec<u32> = Vec::new();
        for path in facts.paths.iter().filter(|path| path.is_directory) {
            counted.extend(path.counting.iter().filter(|fact| changed.contains(fact)));
        }
        for &(fact, target) in &facts.globs {
            if !changed.contains(&fact) {
                continue;
            }
            if facts.targets.files(target).is_some_and(|files| *files > 0) {
                counted.push(fact);
            } else {
                lookups.insert(fact);
            }
        }
        let totals = &self.totals;
        values.extend(counted.into_iter().filter_map(|fact| {
            let count = *totals.get(fact as usize)?;
            Some((fact, FactValue::Count { count, exact: true }))
        }));
    }

    /// Looks facts up as an evaluation at the commit does.
    fn look_up(
        &mut self,
        lookups: &[u32],
        tree: &CommitTree,
        cancel: &CancelToken,
    ) -> Vec<(u32, FactValue)> {
        if lookups.is_empty() {
            return Vec::new();
        }
        let wanted = lookups
            .iter()
            .filter_map(|&fact| Some((fact, self.facts.wanted.get(fact as usize)?)));
        let (numbers, demands): (Vec<u32>, Vec<Demand<'_>>) = wanted
            .map(|(fact, (key, limit))| {
                let demand = Demand {
                    key,
                    limit: *limit,
                    places: 0,
                    fuel: None,
                };
                (fact, demand)
            })
            .unzip();
        self.lookups += demands.len() as u64;
        let source = WorkspaceSource::at(tree.clone(), self.limits);
        let (fetched, stats) = source.fetch(&demands, cancel);
        self.stats += stats.scan;
        numbers
            .into_iter()
            .zip(fetched.into_iter().map(|fetched| fetched.value))
            .collect()
    }
}

/// A file of a commit by its content.
pub(super) fn file(tree: &CommitTree, id: TreeId) -> Box<dyn crate::files::File> {
    tree.objects().file(&id)
}
