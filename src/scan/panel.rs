//! The slots that are searched together, and the way each of them is searched.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use memchr::memmem::Finder;

use crate::scan::compile::Haystack;
use crate::scan::engine::{Counting, Tier};
use crate::scan::grams::{Grams, Needle, SHORTEST};
use crate::scan::literal::Required;
use crate::scan::sample::Sample;

/// Up to so many slots with literals, a search for each is quicker than one for
/// all.
const FEW: usize = 8;

/// A slot of a panel. Its index in the panel is its member number.
#[derive(Clone, Debug)]
pub(super) struct Member {
    /// The number of the slot.
    pub(super) slot: usize,
    pub(super) counting: Counting,
    pub(super) haystack: Haystack,
    /// What a line with a match must hold, if that is of use.
    pub(super) required: Option<Arc<Required>>,
}

impl Member {
    /// True if matches are counted line by line, where a literal is seen.
    pub(super) fn is_by_line(&self) -> bool {
        self.counting == Counting::Lines && self.haystack == Haystack::Lines
    }

    /// The only literal, if one search of plain text finds it.
    fn single(&self) -> Option<Needle> {
        match &*self.required.as_ref()?.literals {
            [only] if !only.ignore_case => Some(Needle::new(0, only)),
            _ => None,
        }
    }
}

/// Slots that are searched together in each of many files.
#[derive(Debug)]
pub(super) struct Panel {
    pub(super) members: Vec<Member>,
    forced: Option<Tier>,
}

/// What is searched in a file: some members of a panel, and how.
#[derive(Debug)]
pub(super) struct Wanted {
    /// Different for every set of members.
    pub(super) id: u64,
    /// Members whose literals are searched all at once.
    pub(super) many: Vec<u32>,
    pub(super) grams: Option<Arc<Grams>>,
    /// Members with one literal, each searched by itself.
    pub(super) singly: Vec<(u32, Needle, Finder<'static>)>,
    /// Members whose regexes are run over the whole file.
    pub(super) alone: Vec<u32>,
}

static NEXT_ID: AtomicU64 = AtomicU64::new(1);

impl Panel {
    /// A panel of slots. `forced` puts every slot that can be served by the tier
    /// into it.
    pub(super) fn new(members: Vec<Member>, forced: Option<Tier>) -> Self {
        Self { members, forced }
    }

    /// The literals of members, for one pass.
    pub(super) fn grams(&self, members: impl IntoIterator<Item = u32>, sample: &Sample) -> Grams {
        let mut needles = Vec::new();
        for number in members {
            let member = &self.members[number as usize];
            for literal in member
                .required
                .iter()
                .flat_map(|required| &required.literals)
            {
                needles.push(Needle::new(number, literal));
            }
        }
        Grams::new(needles, sample)
    }

    /// The tier that serves a member where `many` members with literals are
    /// searched.
    pub(super) fn tier(&self, number: u32, many: usize) -> Tier {
        let member = &self.members[number as usize];
        let has_literals = member.required.is_some();
        match self.forced {
            Some(Tier::Regex) => Tier::Regex,
            Some(Tier::Literals) if has_literals => Tier::Literals,
            Some(Tier::Literal) if member.single().is_some() => Tier::Literal,
            Some(Tier::Literal | Tier::Combined) => Tier::Regex,
            _ if !has_literals => Tier::Regex,
            _ if many > FEW => Tier::Literals,
            _ if member.single().is_some() => Tier::Literal,
            _ => Tier::Regex,
        }
    }

    /// How the members are searched. `grams` gives the literals of all those that
    /// are searched at once, and of any others.
    pub(super) fn wanted(
        &self,
        members: &[u32],
        grams: impl FnOnce(&[u32]) -> Arc<Grams>,
    ) -> Wanted {
        let literals = members
            .iter()
            .filter(|&&number| self.members[number as usize].required.is_some())
            .count();
        let mut wanted = Wanted {
            id: NEXT_ID.fetch_add(1, Ordering::Relaxed),
            many: Vec::new(),
            grams: None,
            singly: Vec::new(),
            alone: Vec::new(),
        };
        for &number in members {
            match self.tier(number, literals) {
                Tier::Literals => wanted.many.push(number),
                Tier::Literal => {
                    if let Some(needle) = self.members[number as usize].single() {
                        let finder = Finder::new(needle.bytes()).into_owned();
                        wanted.singly.push((number, needle, finder));
                    }
                }
                Tier::Regex | Tier::Combined => wanted.alone.push(number),
            }
        }
        if !wanted.many.is_empty() {
            wanted.grams = Some(grams(&wanted.many));
        }
        wanted
    }
}

/// Drops literals that are too short to be of use.
pub(super) fn usable(required: Required) -> Option<Required> {
    let is_usable = |bytes: &[u8]| bytes.len() >= SHORTEST;
    required
        .literals
        .iter()
        .all(|literal| is_usable(&literal.bytes))
        .then_some(required)
}
