//! How each fact is kept up to date.

use foldhash::HashMap;
use globset::{Candidate, Glob, GlobSet, GlobSetBuilder};

use crate::facts::{FactKey, PathSpec, Pattern};
use crate::history::table::Wanted;
use crate::history::targets::Targets;
use crate::scan::{Counting, glob};

/// A path that facts name.
#[derive(Debug)]
pub(super) struct NamedPath {
    pub(super) text: Box<str>,
    /// Facts that count in it, and those that ask whether it is there.
    pub(super) counting: Vec<u32>,
    pub(super) asking: Vec<u32>,
    /// The directory that it is, if it is one.
    pub(super) target: u32,
    /// True if it may lead elsewhere than its names say.
    pub(super) is_loose: bool,
    /// True if it was a directory when it was last looked at.
    pub(super) is_directory: bool,
}

/// A glob of which it is asked whether it matches anything.
#[derive(Debug)]
pub(super) struct AskedGlob {
    pub(super) facts: Vec<u32>,
    /// How many entries match by now.
    pub(super) entries: u64,
}

/// All facts, sorted by how they are kept.
#[derive(Debug, Default)]
pub(super) struct Facts {
    pub(super) wanted: Vec<Wanted>,
    /// What is counted: each pattern once.
    pub(super) patterns: Vec<(Pattern, Counting)>,
    pub(super) targets: Targets,
    pub(super) paths: Vec<NamedPath>,
    /// Paths by where they lead without links, and by every directory above.
    pub(super) by_place: HashMap<Vec<u8>, Vec<u32>>,
    /// Facts of globs with their targets.
    pub(super) globs: Vec<(u32, u32)>,
    pub(super) asked: Vec<AskedGlob>,
    asked_set: GlobSet,
    /// Facts that are looked up at every commit that changes anything.
    pub(super) others: Vec<u32>,
}

impl Facts {
    /// Sorts facts. Patterns that `is_sound` refuses are looked up each time, which
    /// says what is wrong with them.
    ///
    /// # Errors
    ///
    /// If the globs cannot be compiled together.
    pub(super) fn new(
        wanted: Vec<Wanted>,
        is_sound: &dyn Fn(&Pattern, Counting) -> bool,
    ) -> Result<Self, globset::Error> {
        let mut sorter = Sorter::default();
        for (fact, (key, _)) in (0..).zip(&wanted) {
            match key {
                FactKey::Exists(path) => sorter.exists(fact, path),
                FactKey::Grep(pattern, path) if is_sound(pattern, Counting::Lines) => {
                    sorter.count(fact, (pattern, Counting::Lines), path);
                }
                FactKey::Count(pattern, path) if is_sound(pattern, Counting::Matches) => {
                    sorter.count(fact, (pattern, Counting::Matches), path);
                }
                _ => sorter.facts.others.push(fact),
            }
        }
        let mut facts = sorter.facts;
        let mut builder = GlobSetBuilder::new();
        for glob in sorter.asked {
            builder.add(glob);
        }
        facts.asked_set = builder.build()?;
        facts.targets.build()?;
        facts.wanted = wanted;
        Ok(facts)
    }

    /// The globs that match an entry of a walk and of which it is asked.
    pub(super) fn asked_globs(&self, path: &[u8]) -> Vec<usize> {
        use std::os::unix::ffi::OsStrExt as _;
        if self.asked.is_empty() {
            return Vec::new();
        }
        let candidate = Candidate::new(std::ffi::OsStr::from_bytes(path));
        self.asked_set.matches_candidate(&candidate)
    }

    /// The facts that walks count for.
    pub(super) fn walked(&self) -> Vec<u32> {
        let directories = self.paths.iter().filter(|path| path.is_directory);
        let of_paths = directories.flat_map(|path| path.counting.iter().copied());
        of_paths
            .chain(self.globs.iter().map(|glob| glob.0))
            .collect()
    }
}

#[derive(Default)]
struct Sorter {
    facts: Facts,
    patterns: HashMap<(Pattern, bool), u32>,
    paths: HashMap<Box<str>, usize>,
    asked: Vec<Glob>,
}

impl Sorter {
    fn exists(&mut self, fact: u32, path: &PathSpec) {
        if !path.glob {
            let path = self.path(&path.text);
            self.facts.paths[path].asking.push(fact);
            return;
        }
        match glob(&path.text) {
            Ok(glob) => {
                self.asked.push(glob);
                self.facts.asked.push(AskedGlob {
                    facts: vec![fact],
                    entries: 0,
                });
            }
            Err(_) => self.facts.others.push(fact),
        }
    }

    fn count(&mut self, fact: u32, (pattern, counting): (&Pattern, Counting), path: &PathSpec) {
        let target = if path.glob {
            match glob(&path.text) {
                Ok(glob) => {
                    let target = self.facts.targets.glob(glob);
                    self.facts.globs.push((fact, target));
                    target
                }
                Err(_) => {
                    self.facts.others.push(fact);
                    return;
                }
            }
        } else {
            let path = self.path(&path.text);
            self.facts.paths[path].counting.push(fact);
            self.facts.paths[path].target
        };
        let next = u32::try_from(self.facts.patterns.len()).unwrap_or(u32::MAX);
        let key = (pattern.clone(), counting == Counting::Lines);
        let number = *self.patterns.entry(key).or_insert(next);
        if number == next {
            self.facts.patterns.push((pattern.clone(), counting));
        }
        self.facts.targets.count(target, number, fact);
    }

    /// The number of a path.
    fn path(&mut self, text: &str) -> usize {
        if let Some(known) = self.paths.get(text) {
            return *known;
        }
        let number = self.facts.paths.len();
        let names = text.split('/').filter(|name| !matches!(*name, "" | "."));
        let names: Vec<&str> = names.collect();
        let place = names.join("/").into_bytes();
        let is_loose = names.contains(&"..");
        let target = self.facts.targets.directory(&place);
        let ends = memchr::memchr_iter(b'/', &place).chain([place.len()]);
        for end in ends {
            let places = self.facts.by_place.entry(place[..end].to_vec());
            places
                .or_default()
                .push(u32::try_from(number).unwrap_or(u32::MAX));
        }
        self.facts.paths.push(NamedPath {
            text: text.into(),
            counting: Vec::new(),
            asking: Vec::new(),
            target,
            is_loose,
            is_directory: false,
        });
        self.paths.insert(text.into(), number);
        number
    }
}
