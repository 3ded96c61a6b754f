//! Compiled patterns, built when first wanted, and what threads need to run them.
//! What is kept for reuse is bounded in memory.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use regex_automata::meta::{Cache, Regex};

use crate::facts::Pattern;
use crate::files::Reader;
use crate::reason::Reason;
use crate::scan::clock::timed;
use crate::scan::compile::{Haystack, Matcher};

/// Compiled patterns that are kept for others, in bytes. What does not fit is built
/// for each request and lives as long as the request does, so thousands of large
/// patterns in one scan still take their sum.
const KEPT_MATCHER_BYTES: usize = 512 << 20;

/// Search caches that one thread keeps, in bytes; over it they are all dropped.
const KEPT_CACHE_BYTES: usize = 32 << 20;

/// The patterns of one scan, by number.
#[derive(Debug)]
pub(super) struct Pool<'a> {
    slots: Vec<Slot<'a>>,
    kept: AtomicUsize,
    kept_max: usize,
    scratches: Mutex<Vec<Scratch>>,
}

#[derive(Debug)]
struct Slot<'a> {
    pattern: &'a Pattern,
    haystack: Haystack,
    users: u64,
    built: OnceLock<Result<Ready, Reason>>,
}

/// A compiled pattern.
#[derive(Clone, Debug)]
pub(super) struct Ready {
    pub(super) matcher: Arc<Matcher>,
    /// The number that its search caches may be kept under.
    pub(super) cache_key: Option<usize>,
    /// One user's share of the time that building it took.
    pub(super) cpu_ns: u64,
}

impl<'a> Pool<'a> {
    /// A pool for patterns and how many requests share each. Nothing is built yet.
    pub(super) fn new(patterns: impl IntoIterator<Item = (&'a Pattern, Haystack, u64)>) -> Self {
        let slot = |(pattern, haystack, users)| Slot {
            pattern,
            haystack,
            users,
            built: OnceLock::new(),
        };
        Self {
            slots: patterns.into_iter().map(slot).collect(),
            kept: AtomicUsize::new(0),
            kept_max: KEPT_MATCHER_BYTES,
            scratches: Mutex::default(),
        }
    }

    /// The compiled pattern, or why there is none.
    pub(super) fn get(&self, number: usize) -> Result<Ready, Reason> {
        let slot = &self.slots[number];
        if let Some(built) = slot.built.get() {
            return built.clone();
        }
        let (built, cpu_ns) = timed(|| Matcher::new(slot.pattern, slot.haystack));
        let size = built
            .as_ref()
            .map_or(0, |matcher| matcher.regex.memory_usage());
        let fits = self.kept.fetch_add(size, Ordering::Relaxed) + size <= self.kept_max;
        let ready = built.map(|matcher| Ready {
            matcher: Arc::new(matcher),
            cache_key: fits.then_some(number),
            cpu_ns: if fits {
                cpu_ns / slot.users.max(1)
            } else {
                cpu_ns
            },
        });
        // If another thread built it meanwhile, that one is kept: a search cache
        // belongs to one regex.
        if !fits || slot.built.set(ready.clone()).is_err() {
            self.kept.fetch_sub(size, Ordering::Relaxed);
        }
        slot.built.get().cloned().unwrap_or(ready)
    }

    /// Lends a thread its buffers.
    pub(super) fn with_scratch<R>(&self, work: impl FnOnce(&mut Scratch) -> R) -> R {
        let lock = || {
            self.scratches
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
        };
        let mut scratch = lock().pop().unwrap_or_default();
        let result = work(&mut scratch);
        lock().push(scratch);
        result
    }
}

/// What a thread reuses from file to file.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    /// The file at hand.
    pub(super) reader: Reader,
    /// Its lines without carriage returns.
    pub(super) joined: Vec<u8>,
    /// The search state of regexes.
    pub(super) caches: Caches,
}

/// One cache for each pattern and thread: sharing one among threads contends.
#[derive(Debug, Default)]
pub(super) struct Caches {
    slots: Vec<Option<Cache>>,
    bytes: usize,
}

impl Caches {
    /// Lends the cache of a regex.
    pub(super) fn with<R>(
        &mut self,
        key: Option<usize>,
        regex: &Regex,
        search: impl FnOnce(&mut Cache) -> R,
    ) -> R {
        let Some(key) = key else {
            return search(&mut regex.create_cache());
        };
        if self.slots.len() <= key {
            self.slots.resize_with(key + 1, || None);
        }
        let mut before = 0;
        let cache = match &mut self.slots[key] {
            Some(cache) => {
                before = cache.memory_usage();
                cache
            }
            empty => empty.insert(regex.create_cache()),
        };
        let result = search(cache);
        // Caches grow as they are used.
        self.bytes = (self.bytes + cache.memory_usage()).saturating_sub(before);
        if self.bytes > KEPT_CACHE_BYTES {
            self.slots.clear();
            self.bytes = 0;
        }
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::RegexFlags;

    #[test]
    fn what_does_not_fit_is_built_for_each_use() {
        let pattern = Pattern {
            text: r"\w+".into(),
            flags: RegexFlags::NONE,
        };
        let mut pool = Pool::new([(&pattern, Haystack::Lines, 1)]);
        pool.kept_max = 0;
        let ready = pool.get(0).unwrap();
        assert_eq!(ready.cache_key, None);
        assert!(pool.slots[0].built.get().is_none());
        pool.kept_max = KEPT_MATCHER_BYTES;
        let first = pool.get(0).unwrap();
        let second = pool.get(0).unwrap();
        assert!(Arc::ptr_eq(&first.matcher, &second.matcher));
        assert_eq!(second.cache_key, Some(0));
    }
}
