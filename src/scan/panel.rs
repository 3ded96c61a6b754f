//! The slots that are searched together, and the way each of them is searched.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use memchr::memmem::Finder;
use regex_syntax::hir::Hir;

use crate::facts::ScanStats;
use crate::scan::ascii::for_ascii;
use crate::scan::combined::Combined;
use crate::scan::compile::Haystack;
use crate::scan::engine::{Counting, Tier};
use crate::scan::grams::{Grams, Needle, SHORTEST};
use crate::scan::line_safe::{line_safe, sees_only_its_line};
use crate::scan::literal::Required;
use crate::scan::pattern::parse_pattern;
use crate::scan::plan::Slot;
use crate::scan::sample::Sample;

/// Up to so many slots with literals, a search for each is quicker than one for
/// all.
const FEW: usize = 8;

/// A slot of a panel. Its index in the panel is its member number.
#[derive(Clone, Debug)]
pub(super) struct Member<'a> {
    /// The number of the slot.
    pub(super) number: usize,
    pub(super) slot: Slot<'a>,
    /// What a line with a match must hold, if that is of use.
    pub(super) required: Option<Arc<Required>>,
}

impl Member<'_> {
    /// True if lines are counted, so that each line can be decided by itself.
    pub(super) fn is_by_line(&self) -> bool {
        self.slot.counting == Counting::Lines && self.slot.haystack == Haystack::Lines
    }

    /// The only literal, if one search of plain text finds it.
    fn single(&self) -> Option<Needle> {
        match &*self.required.as_ref()?.literals {
            [only] if !only.ignore_case => Some(Needle::new(0, only)),
            _ => None,
        }
    }

    /// The pattern as it can be run with others, and whether it asks where words
    /// begin and end; `None` if it cannot.
    fn to_combine(&self) -> Option<(bool, Hir)> {
        if !self.is_by_line() {
            return None;
        }
        let hir = line_safe(&parse_pattern(self.slot.pattern).ok()?);
        let asks = hir.properties().look_set().contains_word_unicode();
        sees_only_its_line(&hir).then_some((asks, hir))
    }
}

/// Slots that are searched together in each of many files.
#[derive(Debug)]
pub(super) struct Panel<'a> {
    pub(super) members: Vec<Member<'a>>,
    /// True if some member is matched against whole files.
    pub(super) has_text: bool,
    forced: Option<Tier>,
}

/// What serves many members at once, and maybe others that nobody wants any more.
#[derive(Clone, Debug, Default)]
pub(super) struct Engines {
    grams: Option<Arc<Grams>>,
    /// By alphabet.
    combined: [Arc<Vec<Combined>>; 2],
    /// For each member the places of its automata in `combined`.
    automata: Vec<[Option<u32>; 2]>,
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
    /// Members whose automata are run together, with the automaton for each alphabet.
    pub(super) together: Vec<(u32, [u32; 2])>,
    /// By alphabet.
    pub(super) combined: [Arc<Vec<Combined>>; 2],
    /// Members whose regexes are run over the whole file.
    pub(super) alone: Vec<u32>,
}

static NEXT_ID: AtomicU64 = AtomicU64::new(1);

impl<'a> Panel<'a> {
    /// A panel of slots. `forced` puts every slot that can be served by the tier
    /// into it.
    pub(super) fn new(members: Vec<Member<'a>>, forced: Option<Tier>) -> Self {
        let is_text = |member: &Member<'_>| member.slot.haystack == Haystack::Text;
        Self {
            has_text: members.iter().any(is_text),
            members,
            forced,
        }
    }

    /// Builds what serves many members at once, where that pays.
    pub(super) fn engines(
        &self,
        members: &[u32],
        sample: impl FnOnce() -> Sample + Send,
    ) -> Engines {
        let member = |number: u32| &self.members[number as usize];
        let (literals, others): (Vec<u32>, Vec<u32>) = members
            .iter()
            .partition(|&&number| member(number).required.is_some());
        let to_combine = match self.forced {
            Some(Tier::Combined) => members,
            None => &others,
            _ => &[],
        };
        let grams = || {
            let mut needles = Vec::new();
            for &number in &literals {
                let required = member(number).required.iter();
                let literals = required.flat_map(|required| &required.literals);
                needles.extend(literals.map(|literal| Needle::new(number, literal)));
            }
            Arc::new(Grams::new(needles, &sample()))
        };
        let are_many = literals.len() > FEW || self.forced == Some(Tier::Literals);
        let (grams, mut engines) = rayon::join(
            || are_many.then(grams),
            || Engines::combining(self, to_combine),
        );
        engines.grams = grams;
        engines
    }

    /// Counts the tiers that serve some members where all of them are wanted.
    pub(super) fn count_tiers(&self, members: &[u32], stats: &mut ScanStats) {
        let members = members.iter().map(|&number| &self.members[number as usize]);
        let (literals, others): (Vec<_>, Vec<_>) =
            members.partition(|member| member.required.is_some());
        let (mut literal, mut many, mut regex) = (0, 0, 0);
        for member in &literals {
            match (literals.len() > FEW, member.single()) {
                (true, _) => many += 1,
                (false, Some(_)) => literal += 1,
                (false, None) => regex += 1,
            }
        }
        let to_combine = others.iter().filter(|member| member.is_by_line()).count();
        let combined = if to_combine > 1 { to_combine } else { 0 };
        stats.literal += literal;
        stats.literals += many;
        stats.combined += combined as u64;
        stats.regex += regex + (others.len() - combined) as u64;
    }

    /// How some members are searched, of those that the engines were built for.
    pub(super) fn wanted(&self, members: &[u32], engines: &Engines) -> Wanted {
        let has_literals = |number: u32| self.members[number as usize].required.is_some();
        let literals = members.iter().filter(|&&number| has_literals(number));
        let are_many = literals.count() > FEW;
        let mut wanted = Wanted {
            id: NEXT_ID.fetch_add(1, Ordering::Relaxed),
            many: Vec::new(),
            grams: engines.grams.clone(),
            singly: Vec::new(),
            together: Vec::new(),
            combined: engines.combined.clone(),
            alone: Vec::new(),
        };
        for &number in members {
            let single = self.members[number as usize].single();
            let automata = engines.automata(number);
            let (many, singly, together) = match self.forced {
                None => (
                    are_many && has_literals(number),
                    single,
                    automata.filter(|_| !has_literals(number)),
                ),
                Some(Tier::Literals) => (has_literals(number), None, None),
                Some(Tier::Literal) => (false, single, None),
                Some(Tier::Combined) => (false, None, automata),
                Some(Tier::Regex) => (false, None, None),
            };
            if many && wanted.grams.is_some() {
                wanted.many.push(number);
            } else if let Some(needle) = singly {
                let finder = Finder::new(needle.bytes()).into_owned();
                wanted.singly.push((number, needle, finder));
            } else if let Some(automata) = together {
                wanted.together.push((number, automata));
            } else {
                wanted.alone.push(number);
            }
        }
        if wanted.many.is_empty() {
            wanted.grams = None;
        }
        wanted
    }
}

impl Engines {
    /// The automata of several members.
    fn combining(panel: &Panel<'_>, members: &[u32]) -> Self {
        let mut engines = Self::default();
        if members.len() < 2 {
            return engines;
        }
        let mut all = Vec::new();
        let mut asking = Vec::new();
        let mut others = Vec::new();
        for &number in members {
            let Some((asks, hir)) = panel.members[number as usize].to_combine() else {
                continue;
            };
            all.push((number, for_ascii(&hir)));
            // A word boundary makes an automaton stop at what is no ASCII.
            if asks {
                asking.push((number, hir));
            } else {
                others.push((number, hir));
            }
        }
        let mut any = Combined::build(&asking);
        any.extend(Combined::build(&others));
        engines.automata = vec![[None; 2]; panel.members.len()];
        for (alphabet, automata) in [Combined::build(&all), any].into_iter().enumerate() {
            for (number, automaton) in (0..).zip(&automata) {
                for &member in &automaton.members {
                    engines.automata[member as usize][alphabet] = Some(number);
                }
            }
            engines.combined[alphabet] = Arc::new(automata);
        }
        engines
    }

    fn automata(&self, member: u32) -> Option<[u32; 2]> {
        match self.automata.get(member as usize)? {
            [Some(ascii), Some(any)] => Some([*ascii, *any]),
            _ => None,
        }
    }
}

impl Wanted {
    /// How many members each tier serves, in the order of [`Tier`].
    pub(super) fn tiers(&self) -> [usize; 4] {
        [
            self.singly.len(),
            self.many.len(),
            self.together.len(),
            self.alone.len(),
        ]
    }

    /// True if nothing is searched.
    pub(super) fn is_empty(&self) -> bool {
        self.tiers() == [0; 4]
    }

    /// All members.
    pub(super) fn members(&self) -> impl Iterator<Item = u32> {
        let singly = self.singly.iter().map(|(member, ..)| *member);
        let together = self.together.iter().map(|&(member, _)| member);
        let others = self.alone.iter().chain(&self.many).copied();
        others.chain(singly).chain(together)
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
