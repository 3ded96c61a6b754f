//! One walk for all targets: the files below every directory and of every glob, each
//! once, with the targets that it belongs to.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;

use foldhash::{HashMap, HashMapExt};
use globset::{Candidate, Glob, GlobSet, GlobSetBuilder};

use crate::files::{Entry, File, Tree, Walking};
use crate::reason::Reason;

/// What comes next of a walk.
pub(super) enum Event {
    /// A file that somebody wants.
    File(Item),
    /// A directory that cannot be walked, and the targets that it belongs to.
    Failed(Vec<u32>, Reason),
}

/// A file of a walk.
pub(super) struct Item {
    pub(super) path: Vec<u8>,
    pub(super) file: Box<dyn File>,
    /// The targets that it belongs to, by the number of their set.
    pub(super) cover: usize,
}

/// Whether something that a glob matches exists.
#[derive(Debug)]
pub(super) struct Existence {
    /// The number that the asker gave.
    pub(super) index: usize,
    pub(super) exists: Result<bool, Reason>,
    /// The entries that were looked at.
    pub(super) entries: u64,
}

/// The targets of a scan.
pub(super) struct Targets {
    /// Directories by location, with their group.
    pub(super) directories: BTreeMap<Vec<u8>, u32>,
    /// Globs with their groups.
    pub(super) globs: Vec<(Glob, u32)>,
    /// Globs of which it is asked whether they match anything, with the numbers that
    /// the asker gave.
    pub(super) existing: Vec<(Glob, usize)>,
}

/// The walks over all targets, one after the other.
pub(super) struct Stream<'a> {
    tree: &'a dyn Tree,
    directories: BTreeMap<Vec<u8>, u32>,
    /// Directories that were not met yet.
    unmet: BTreeMap<Vec<u8>, u32>,
    globs: GlobSet,
    /// The groups of the globs, in the order of the set.
    glob_groups: Vec<u32>,
    existing: GlobSet,
    /// Of each glob in `existing` the asker's number, until it is answered.
    asking: Vec<Option<usize>>,
    unanswered: usize,
    answers: Vec<Existence>,
    entries: u64,
    /// Where walks start, last first.
    starts: Vec<Vec<u8>>,
    walking: Option<Walking>,
    /// The only group that the walk is for, if it is not for all.
    only: Option<u32>,
    /// The directory of the entry before, and the groups of the directories above.
    parent: Vec<u8>,
    above: Vec<u32>,
    covers: Vec<Arc<[u32]>>,
    numbers: HashMap<Vec<u32>, usize>,
}

impl<'a> Stream<'a> {
    /// # Errors
    ///
    /// If the globs cannot be compiled together.
    pub(super) fn new(tree: &'a dyn Tree, targets: Targets) -> Result<Self, globset::Error> {
        let set = |globs: &mut dyn Iterator<Item = Glob>| {
            let mut builder = GlobSetBuilder::new();
            for glob in globs {
                builder.add(glob);
            }
            builder.build()
        };
        let globs = set(&mut targets.globs.iter().map(|(glob, _)| glob.clone()))?;
        let existing = set(&mut targets.existing.iter().map(|(glob, _)| glob.clone()))?;
        let everything = !targets.globs.is_empty() || !targets.existing.is_empty();
        // A directory below another one is met on its walk.
        let mut starts: Vec<Vec<u8>> = Vec::new();
        if everything {
            starts.push(Vec::new());
        }
        for location in targets.directories.keys() {
            let is_below = ancestors(location).any(|above| targets.directories.contains_key(above));
            if !everything && !is_below {
                starts.push(location.clone());
            }
        }
        starts.reverse();
        Ok(Self {
            tree,
            unmet: targets.directories.clone(),
            directories: targets.directories,
            globs,
            glob_groups: targets.globs.into_iter().map(|(_, group)| group).collect(),
            existing,
            unanswered: targets.existing.len(),
            asking: targets
                .existing
                .into_iter()
                .map(|(_, index)| Some(index))
                .collect(),
            answers: Vec::new(),
            entries: 0,
            starts,
            walking: None,
            only: None,
            parent: Vec::new(),
            above: Vec::new(),
            covers: Vec::new(),
            numbers: HashMap::new(),
        })
    }

    /// True if it is still to be seen whether something exists.
    pub(super) fn is_asked(&self) -> bool {
        self.unanswered > 0
    }

    /// The targets of a set.
    pub(super) fn cover(&self, number: usize) -> Arc<[u32]> {
        self.covers.get(number).cloned().unwrap_or_default()
    }

    /// The next events, up to a number of files; with `prefetch` all of those are
    /// read soon. None are left if there are none.
    pub(super) fn next(
        &mut self,
        files: usize,
        prefetch: bool,
        stop: &dyn Fn() -> bool,
    ) -> Vec<Event> {
        let mut events = Vec::new();
        let mut found = 0;
        while found < files && !stop() {
            let Some(walking) = self.walking() else {
                break;
            };
            match walking.next() {
                None => self.walking = None,
                Some(Err(failed)) => {
                    let shown = String::from_utf8_lossy(&failed.path);
                    let shown = if shown.is_empty() { "." } else { &shown };
                    let reason = failed.error.reason(shown);
                    self.answer_all(&Err(reason.clone()));
                    let mut groups = self.directories_above(&failed.path);
                    if self.only.is_none() {
                        groups.extend(&self.glob_groups);
                    }
                    events.push(Event::Failed(groups, reason));
                }
                Some(Ok(entry)) => {
                    if let Some(item) = self.sort(entry) {
                        if prefetch {
                            item.file.prefetch();
                        }
                        events.push(Event::File(item));
                        found += 1;
                    }
                }
            }
        }
        events
    }

    /// What is known of the globs that were asked about, once: after the last event
    /// all of it.
    pub(super) fn answers(&mut self) -> Vec<Existence> {
        std::mem::take(&mut self.answers)
    }

    /// Answers all that is still asked.
    pub(super) fn answer_all(&mut self, exists: &Result<bool, Reason>) {
        self.unanswered = 0;
        for index in self.asking.iter_mut().filter_map(Option::take) {
            self.answers.push(Existence {
                index,
                exists: exists.clone(),
                entries: self.entries,
            });
        }
    }

    /// The walk at hand.
    fn walking(&mut self) -> Option<&mut Walking> {
        if self.walking.is_none() {
            let start = match self.starts.pop() {
                Some(start) => start,
                None => {
                    self.answer_all(&Ok(false));
                    // Left out by the walk of a directory above, or behind an error.
                    let (location, group) = self.unmet.pop_first()?;
                    self.only = Some(group);
                    location
                }
            };
            self.unmet.remove(&start);
            self.parent.clear();
            self.above = self.directories_above(&start);
            self.parent.extend(&start);
            self.walking = Some(self.tree.walk(&start));
        }
        self.walking.as_mut()
    }

    /// The directories among the targets that a path is or lies below.
    fn directories_above(&self, path: &[u8]) -> Vec<u32> {
        if let Some(only) = self.only {
            return vec![only];
        }
        let directories = ancestors(path).chain([path]);
        let groups = directories.filter_map(|directory| self.directories.get(directory));
        groups.copied().collect()
    }

    /// Finds out whom an entry belongs to; `None` for directories and for files that
    /// nobody wants.
    fn sort(&mut self, entry: Entry) -> Option<Item> {
        self.entries += 1;
        if self.unanswered > 0 {
            let candidate = Candidate::new(entry.path());
            for number in self.existing.matches_candidate(&candidate) {
                if let Some(index) = self.asking[number].take() {
                    self.unanswered -= 1;
                    self.answers.push(Existence {
                        index,
                        exists: Ok(true),
                        entries: self.entries,
                    });
                }
            }
        }
        let Some(file) = entry.file else {
            if self.only.is_none() {
                self.unmet.remove(&entry.path);
            }
            return None;
        };
        let directory = memchr::memrchr(b'/', &entry.path).unwrap_or(0);
        if self.parent != entry.path[..directory] {
            self.parent.clear();
            self.parent.extend(&entry.path[..directory]);
            self.above = self.directories_above(&entry.path[..directory]);
        }
        let mut groups = self.above.clone();
        if self.only.is_none() && !self.globs.is_empty() {
            let candidate = Candidate::new(OsStr::from_bytes(&entry.path));
            let matching = self.globs.matches_candidate(&candidate);
            groups.extend(matching.into_iter().map(|number| self.glob_groups[number]));
        }
        if groups.is_empty() {
            return None;
        }
        let cover = match self.numbers.get(&groups) {
            Some(&number) => number,
            None => {
                let number = self.covers.len();
                self.covers.push(groups.as_slice().into());
                self.numbers.insert(groups, number);
                number
            }
        };
        Some(Item {
            path: entry.path,
            file,
            cover,
        })
    }
}

/// The directories above a location, the root first.
fn ancestors(location: &[u8]) -> impl Iterator<Item = &[u8]> {
    let root = (!location.is_empty()).then_some(0);
    let ends = root.into_iter().chain(memchr::memchr_iter(b'/', location));
    ends.map(|end| &location[..end])
}
