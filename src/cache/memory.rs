//! The memory cache: sharded, bounded, shared by all threads.

use std::hash::{BuildHasherDefault, Hash, Hasher};

use quick_cache::UnitWeighter;
use quick_cache::sync::{Cache, DefaultLifecycle};

use crate::cache::Key;
use crate::code::Program;

/// Programs kept by default. A typical program takes about 1 KiB, so a full cache
/// takes some 64 MiB; the bound counts programs, and one of the largest sources
/// takes a hundred times that.
pub const DEFAULT_CAPACITY: usize = 65_536;

/// A bounded map from digests to programs, for many threads at once.
#[derive(Debug)]
pub struct MemoryCache(Cache<Key, Program, UnitWeighter, BuildHasherDefault<DigestHasher>>);

impl MemoryCache {
    /// A cache of at most `capacity` programs, at least 1.
    #[must_use]
    pub fn new(capacity: usize) -> Self {
        let capacity = capacity.max(1);
        Self(Cache::with(
            capacity,
            u64::try_from(capacity).unwrap_or(u64::MAX),
            UnitWeighter,
            BuildHasherDefault::default(),
            DefaultLifecycle::default(),
        ))
    }

    /// The program of a key, if it is there.
    #[must_use]
    pub fn get(&self, key: &Key) -> Option<Program> {
        self.0.get(key)
    }

    /// Adds a program; the least useful one leaves a full cache.
    pub fn insert(&self, key: Key, program: Program) {
        self.0.insert(key, program);
    }

    /// How many programs are held.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// True if no program is held.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // The digest is uniform already; the rest rarely differs.
        let [a, b, c, d, e, f, g, h, ..] = *self.digest.as_bytes();
        state.write_u64(u64::from_le_bytes([a, b, c, d, e, f, g, h]));
    }
}

/// Passes eight bytes of a digest through: a digest needs no hashing.
#[derive(Clone, Copy, Debug, Default)]
struct DigestHasher(u64);

impl Hasher for DigestHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(byte);
        }
    }

    fn write_u64(&mut self, value: u64) {
        self.0 ^= value;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::Options;
    use crate::digest::Digest;
    use crate::language::Language;
    use crate::lower::compile;

    fn key(source: &str) -> Key {
        Key {
            digest: Digest::of(source.as_bytes()),
            language: Language::ElenchV1,
            options: Options::default(),
        }
    }

    #[test]
    fn a_full_cache_stays_within_its_capacity() {
        let cache = MemoryCache::new(64);
        for number in 0..1000 {
            let source = format!("exists(\"{number}\")");
            let key = key(&source);
            let program = compile(key.language, &source, key.options).unwrap();
            cache.insert(key, program);
        }
        assert!(cache.len() <= 64, "{}", cache.len());
        assert!(!cache.is_empty());
    }

    #[test]
    fn language_and_options_are_part_of_the_key() {
        let cache = MemoryCache::new(64);
        let source = "exists(\"a\")";
        let v1 = key(source);
        cache.insert(v1, compile(v1.language, source, v1.options).unwrap());
        let v2 = Key {
            language: Language::ElenchV2,
            ..v1
        };
        let lax = Key {
            options: Options {
                allow_vacuous: true,
            },
            ..v1
        };
        assert!(cache.get(&v1).is_some());
        assert!(cache.get(&v2).is_none());
        assert!(cache.get(&lax).is_none());
    }
}
