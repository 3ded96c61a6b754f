//! What a scan has to do: each pattern once, each path once.

use std::collections::BTreeMap;

use foldhash::{HashMap, HashMapExt};

use crate::facts::Pattern;
use crate::scan::compile::Haystack;
use crate::scan::engine::{Counting, Request};

/// A pattern and what is counted of it. What it finds in a file is one number,
/// however many requests want it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Slot<'a> {
    pub(super) pattern: &'a Pattern,
    pub(super) counting: Counting,
    pub(super) haystack: Haystack,
    /// Matches are counted for each request by itself: where counting stops shows in
    /// the places and in what had to be looked at again.
    pub(super) apart: Option<usize>,
}

/// The distinct slots and targets of a scan. Requests and slots are named by their
/// index.
#[derive(Debug, Default)]
pub(super) struct Plan<'a> {
    pub(super) slots: Vec<Slot<'a>>,
    /// For each slot how many requests share it.
    pub(super) users: Vec<u64>,
    /// For each request its slot.
    pub(super) slot_of: Vec<usize>,
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
            let slot = request.slot(index);
            let number = *numbers.entry(slot).or_insert_with(|| {
                plan.slots.push(slot);
                plan.users.push(0);
                plan.slots.len() - 1
            });
            plan.users[number] += 1;
            plan.slot_of.push(number);
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

impl<'a> Request<'a> {
    fn slot(&self, index: usize) -> Slot<'a> {
        // Whole-file matching belongs to `count` alone (ADR-0004).
        let is_whole = self.counting == Counting::Matches && self.pattern.flags.is_whole_file();
        Slot {
            pattern: self.pattern,
            counting: self.counting,
            haystack: if is_whole {
                Haystack::Text
            } else {
                Haystack::Lines
            },
            apart: (self.counting == Counting::Matches).then_some(index),
        }
    }
}
