//! Which patterns run over which files, each file set and each pattern once. An
//! engine that runs many patterns in one pass starts from here.

use std::collections::BTreeMap;

use foldhash::{HashMap, HashMapExt};

use crate::facts::Pattern;
use crate::scan::compile::Haystack;
use crate::scan::engine::{Counting, Request};

/// The distinct patterns and targets of a scan. Requests are named by their
/// index.
#[derive(Debug, Default)]
pub(super) struct Plan<'a> {
    /// Every pattern once for each kind of haystack, and how many requests share
    /// it.
    pub(super) patterns: Vec<(&'a Pattern, Haystack, u64)>,
    /// For each request its pattern.
    pub(super) pattern_of: Vec<usize>,
    /// The requests for each path as it is written, in order of the paths.
    pub(super) paths: BTreeMap<&'a str, Vec<usize>>,
    /// The requests for each glob as it is written, in order of the globs.
    pub(super) globs: BTreeMap<&'a str, Vec<usize>>,
}

impl<'a> Plan<'a> {
    /// Sorts requests.
    pub(super) fn new(requests: &[Request<'a>]) -> Self {
        let mut plan = Self::default();
        let mut numbers = HashMap::new();
        for (index, request) in requests.iter().enumerate() {
            let key = (request.pattern, request.haystack());
            let number = *numbers.entry(key).or_insert_with(|| {
                plan.patterns.push((key.0, key.1, 0));
                plan.patterns.len() - 1
            });
            plan.patterns[number].2 += 1;
            plan.pattern_of.push(number);
            let targets = if request.path.glob {
                &mut plan.globs
            } else {
                &mut plan.paths
            };
            targets.entry(&request.path.text).or_default().push(index);
        }
        plan
    }
}

impl Request<'_> {
    /// What the pattern is matched against.
    pub(super) fn haystack(&self) -> Haystack {
        // Whole-file matching belongs to `count` alone (ADR-0004).
        if self.counting == Counting::Matches && self.pattern.flags.is_whole_file() {
            Haystack::Text
        } else {
            Haystack::Lines
        }
    }
}
