//! Compiled patterns, built when first needed, and what threads need to run them.
//! Both are bounded in memory, however many patterns there are.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rayon::prelude::*;
use regex_automata::{hybrid, meta};

use crate::reason::Reason;
use crate::scan::ascii::Alphabet;
use crate::scan::combined::Combined;
use crate::scan::compile::Matcher;
use crate::scan::line_matcher::{LONGEST_LINE, LineMatcher};
use crate::scan::line_safe::line_safe;
use crate::scan::pattern::{PatternError, parse_pattern};
use crate::scan::plan::Slot;

/// Compiled patterns that are kept, in bytes; over it all are dropped and built
/// again when they are needed.
const KEPT_MATCHER_BYTES: usize = 24 << 20;

/// Search caches that one thread keeps, in bytes; over it they are all dropped.
const KEPT_CACHE_BYTES: usize = 8 << 20;

/// The compiled patterns of one scan, by the number of their slot.
#[derive(Debug)]
pub(super) struct Pool<'a> {
    slots: &'a [Slot<'a>],
    built: Vec<Mutex<Built>>,
    kept: AtomicUsize,
    kept_max: usize,
    /// Goes up when everything is dropped.
    generation: AtomicUsize,
}

type Ready<M> = Result<Arc<M>, Reason>;

#[derive(Debug, Default)]
struct Built {
    /// By alphabet.
    line: [Option<Ready<LineMatcher>>; 2],
    full: Option<Ready<Matcher>>,
}

impl<'a> Pool<'a> {
    /// A pool in which nothing is built yet.
    pub(super) fn new(slots: &'a [Slot<'a>]) -> Self {
        Self {
            slots,
            built: slots.iter().map(|_| Mutex::default()).collect(),
            kept: AtomicUsize::new(0),
            kept_max: KEPT_MATCHER_BYTES,
            generation: AtomicUsize::new(0),
        }
    }

    /// The regex that searches whole texts, or why there is none.
    pub(super) fn full(&self, number: usize) -> Ready<Matcher> {
        let slot = &self.slots[number];
        let mut built = lock(&self.built[number]);
        if let Some(full) = &built.full {
            return full.clone();
        }
        let full = Matcher::new(slot.pattern, slot.haystack).map(Arc::new);
        let bytes = full.as_ref().map_or(0, |full| full.regex.memory_usage());
        built.full = Some(full.clone());
        drop(built);
        self.keep(bytes);
        full
    }

    /// The regex that is tried on single lines.
    fn line(&self, number: usize, alphabet: Alphabet) -> Ready<LineMatcher> {
        let slot = &self.slots[number];
        let mut built = lock(&self.built[number]);
        if let Some(line) = &built.line[alphabet as usize] {
            return line.clone();
        }
        let line = parse_pattern(slot.pattern)
            .and_then(|hir| LineMatcher::new(&line_safe(&hir), alphabet))
            .map(Arc::new)
            .map_err(|error: PatternError| error.reason(slot.pattern));
        let bytes = line.as_ref().map_or(0, |line| line.memory_usage());
        built.line[alphabet as usize] = Some(line.clone());
        drop(built);
        self.keep(bytes);
        line
    }

    /// Lets go of everything, on all threads: it is much.
    pub(super) fn dismantle(self) {
        self.built.into_par_iter().with_min_len(64).for_each(drop);
    }

    /// Accounts for what is kept, and drops it all if it is too much.
    fn keep(&self, bytes: usize) {
        if self.kept.fetch_add(bytes, Ordering::Relaxed) + bytes <= self.kept_max {
            return;
        }
        self.generation.fetch_add(1, Ordering::Relaxed);
        self.kept.store(0, Ordering::Relaxed);
        for built in &self.built {
            *lock(built) = Built::default();
        }
    }
}

fn lock(built: &Mutex<Built>) -> MutexGuard<'_, Built> {
    built.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A regex in hand with its search cache.
type Held<M, C> = Option<Box<(Arc<M>, C)>>;

/// The regexes that a thread has in hand, each with a search cache of its own:
/// sharing one among threads contends.
#[derive(Debug, Default)]
pub(super) struct Caches {
    generation: usize,
    bytes: usize,
    /// By alphabet and slot.
    lines: [Vec<Held<LineMatcher, hybrid::dfa::Cache>>; 2],
    full: Vec<Held<Matcher, meta::Cache>>,
    /// By alphabet.
    together: [Together; 2],
}

/// The caches of the automata that serve many patterns.
#[derive(Debug, Default)]
pub(super) struct Together {
    combined: Arc<Vec<Combined>>,
    caches: Vec<Option<hybrid::dfa::Cache>>,
    /// Those that need more states than there is room for.
    gave_up: Vec<bool>,
}

impl Caches {
    /// Lends a regex that searches whole texts.
    ///
    /// # Errors
    ///
    /// If the pattern cannot be compiled.
    pub(super) fn full<R>(
        &mut self,
        pool: &Pool<'_>,
        number: usize,
        search: impl FnOnce(&Matcher, &mut meta::Cache) -> R,
    ) -> Result<R, Reason> {
        self.refresh(pool);
        let slot = at(&mut self.full, number);
        let mut before = 0;
        let (matcher, cache) = match slot {
            Some(held) => {
                before = held.1.memory_usage();
                &mut **held
            }
            empty => {
                let matcher = pool.full(number)?;
                let cache = matcher.regex.create_cache();
                &mut **empty.insert(Box::new((matcher, cache)))
            }
        };
        let result = search(matcher, cache);
        let after = cache.memory_usage();
        self.account(before, after);
        Ok(result)
    }

    /// True if the pattern of a slot for lines matches a line.
    ///
    /// # Errors
    ///
    /// If the pattern cannot be compiled.
    pub(super) fn is_match(
        &mut self,
        pool: &Pool<'_>,
        number: usize,
        line: &[u8],
    ) -> Result<bool, Reason> {
        if line.len() <= LONGEST_LINE
            && let Some(is_match) = self.try_line(pool, number, line)?
        {
            return Ok(is_match);
        }
        self.full(pool, number, |matcher, cache| {
            let input = regex_automata::Input::new(line).earliest(true);
            matcher.regex.search_half_with(cache, &input).is_some()
        })
    }

    fn try_line(
        &mut self,
        pool: &Pool<'_>,
        number: usize,
        line: &[u8],
    ) -> Result<Option<bool>, Reason> {
        self.refresh(pool);
        let alphabet = Alphabet::of(line);
        let slot = at(&mut self.lines[alphabet as usize], number);
        let mut before = 0;
        let (matcher, cache) = match slot {
            Some(held) => {
                before = held.1.memory_usage();
                &mut **held
            }
            empty => {
                let matcher = pool.line(number, alphabet)?;
                let cache = matcher.create_cache();
                &mut **empty.insert(Box::new((matcher, cache)))
            }
        };
        let result = matcher.is_match(cache, line);
        let after = cache.memory_usage();
        self.account(before, after);
        Ok(result)
    }

    /// The caches of automata for texts of an alphabet.
    pub(super) fn together(
        &mut self,
        alphabet: Alphabet,
        combined: &Arc<Vec<Combined>>,
    ) -> &mut Together {
        let together = &mut self.together[alphabet as usize];
        together.turn_to(combined);
        together
    }

    /// Lets go of what the pool dropped.
    fn refresh(&mut self, pool: &Pool<'_>) {
        let generation = pool.generation.load(Ordering::Relaxed);
        if self.generation != generation {
            self.generation = generation;
            self.clear();
        }
    }

    /// Caches grow as they are used.
    fn account(&mut self, before: usize, after: usize) {
        self.bytes = (self.bytes + after).saturating_sub(before);
        if self.bytes > KEPT_CACHE_BYTES {
            self.clear();
        }
    }

    fn clear(&mut self) {
        self.lines = Default::default();
        self.full.clear();
        self.bytes = 0;
    }
}

impl Together {
    /// Lends the cache of one of the automata.
    pub(super) fn lend<R>(
        &mut self,
        number: usize,
        search: impl FnOnce(&mut hybrid::dfa::Cache) -> R,
    ) -> R {
        let combined = &self.combined[number];
        search(self.caches[number].get_or_insert_with(|| combined.create_cache()))
    }

    /// True if an automaton is not to be used any more.
    pub(super) fn gave_up(&self, number: usize) -> bool {
        self.gave_up[number]
    }

    /// Notes that an automaton needs too many states.
    pub(super) fn give_up(&mut self, number: usize) {
        self.gave_up[number] = true;
        self.caches[number] = None;
    }

    /// Makes room for other automata.
    fn turn_to(&mut self, combined: &Arc<Vec<Combined>>) {
        if !Arc::ptr_eq(&self.combined, combined) {
            self.combined = Arc::clone(combined);
            self.caches.clear();
            self.caches.resize_with(combined.len(), || None);
            self.gave_up.clear();
            self.gave_up.resize(combined.len(), false);
        }
    }
}

fn at<T>(slots: &mut Vec<Option<T>>, number: usize) -> &mut Option<T> {
    if slots.len() <= number {
        slots.resize_with(number + 1, || None);
    }
    &mut slots[number]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::{Pattern, RegexFlags};
    use crate::scan::compile::Haystack;
    use crate::scan::engine::Counting;

    #[test]
    fn what_is_kept_is_bounded_and_what_was_dropped_is_built_again() {
        let patterns: Vec<Pattern> = (0..200)
            .map(|number| Pattern {
                text: format!(r"\w+ {number}\b").into(),
                flags: RegexFlags::NONE,
            })
            .collect();
        let slots: Vec<Slot<'_>> = patterns
            .iter()
            .map(|pattern| Slot {
                pattern,
                haystack: Haystack::Lines,
                counting: Counting::Lines,
                apart: None,
            })
            .collect();
        let mut pool = Pool::new(&slots);
        pool.kept_max = 100_000;
        let mut caches = Caches::default();
        for round in 0..3 {
            for number in 0..patterns.len() {
                let line = format!("\u{e9}t\u{e9} {number} {round}");
                for (line, expected) in [(line.as_str(), true), ("none", false)] {
                    let found = caches.is_match(&pool, number, line.as_bytes());
                    assert_eq!(found.unwrap(), expected, "{line}");
                }
                assert!(pool.kept.load(Ordering::Relaxed) <= pool.kept_max);
                assert!(caches.bytes <= KEPT_CACHE_BYTES);
            }
        }
        assert!(pool.generation.load(Ordering::Relaxed) > 2);
    }
}
