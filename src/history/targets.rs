//! Which facts the files of walks count for.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;

use foldhash::HashMap;
use globset::{Candidate, Glob, GlobSet, GlobSetBuilder};

/// The facts that count in the same files.
#[derive(Debug, Default)]
struct Target {
    /// By pattern.
    facts: HashMap<u32, Vec<u32>>,
    /// How many files belong to it by now.
    files: u64,
}

/// All directories and globs in which patterns are counted.
#[derive(Debug, Default)]
pub(super) struct Targets {
    targets: Vec<Target>,
    directories: HashMap<Vec<u8>, u32>,
    globs: Vec<(Glob, u32)>,
    set: GlobSet,
}

impl Targets {
    /// The target of a directory.
    pub(super) fn directory(&mut self, location: &[u8]) -> u32 {
        if let Some(target) = self.directories.get(location) {
            return *target;
        }
        let target = self.add();
        self.directories.insert(location.to_vec(), target);
        target
    }

    /// The target of a glob.
    pub(super) fn glob(&mut self, glob: Glob) -> u32 {
        let known = self.globs.iter().find(|(known, _)| *known == glob);
        if let Some((_, target)) = known {
            return *target;
        }
        let target = self.add();
        self.globs.push((glob, target));
        target
    }

    fn add(&mut self) -> u32 {
        self.targets.push(Target::default());
        u32::try_from(self.targets.len() - 1).unwrap_or(u32::MAX)
    }

    /// Counts a pattern in a target for a fact.
    pub(super) fn count(&mut self, target: u32, pattern: u32, fact: u32) {
        if let Some(target) = self.targets.get_mut(target as usize) {
            target.facts.entry(pattern).or_default().push(fact);
        }
    }

    /// Makes ready to look files up; targets in which nothing is counted go.
    ///
    /// # Errors
    ///
    /// If the globs cannot be compiled together.
    pub(super) fn build(&mut self) -> Result<(), globset::Error> {
        let targets = &self.targets;
        let counts = |target: &u32| {
            let target = targets.get(*target as usize);
            target.is_some_and(|target| !target.facts.is_empty())
        };
        self.directories.retain(|_, target| counts(target));
        let mut builder = GlobSetBuilder::new();
        for (glob, _) in &self.globs {
            builder.add(glob.clone());
        }
        self.set = builder.build()?;
        Ok(())
    }

    /// The targets that a file belongs to.
    pub(super) fn of(&self, path: &[u8]) -> Vec<u32> {
        let mut found = Vec::new();
        if !self.directories.is_empty() {
            let ends = memchr::memchr_iter(b'/', path);
            let above = std::iter::once(0).chain(ends);
            let above = above.filter_map(|end| self.directories.get(path.get(..end)?));
            found.extend(above);
        }
        if !self.globs.is_empty() {
            let candidate = Candidate::new(OsStr::from_bytes(path));
            let globs = self.set.matches_candidate(&candidate);
            found.extend(
                globs
                    .into_iter()
                    .filter_map(|glob| Some(self.globs.get(glob)?.1)),
            );
        }
        found
    }

    /// The facts that count a pattern in a target.
    pub(super) fn facts(&self, target: u32, pattern: u32) -> &[u32] {
        let target = self.targets.get(target as usize);
        target
            .and_then(|target| target.facts.get(&pattern))
            .map_or(&[], Vec::as_slice)
    }

    /// All facts of a target.
    pub(super) fn all_facts(&self, target: u32) -> impl Iterator<Item = u32> + '_ {
        let target = self.targets.get(target as usize);
        target
            .into_iter()
            .flat_map(|target| target.facts.values().flatten().copied())
    }

    /// How many files belong to a target by now.
    pub(super) fn files(&mut self, target: u32) -> Option<&mut u64> {
        Some(&mut self.targets.get_mut(target as usize)?.files)
    }

    /// Forgets all files.
    pub(super) fn clear(&mut self) {
        for target in &mut self.targets {
            target.files = 0;
        }
    }
}
