//! Compiling through the caches.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::cache::{DiskCache, Key, MemoryCache};
use crate::check::Options;
use crate::code::Program;
use crate::digest::Digest;
use crate::language::Language;
use crate::lower::{CompileError, compile_digested};

/// How the programs of a compiler came about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheCounts {
    /// Found in memory.
    pub memory_hits: u64,
    /// Loaded from disk.
    pub disk_hits: u64,
    /// Compiled.
    pub compiled: u64,
}

/// A compiler that remembers what it compiled. Shared by all threads.
#[derive(Debug)]
pub struct Compiler {
    options: Options,
    memory: MemoryCache,
    disk: Option<DiskCache>,
    memory_hits: AtomicU64,
    disk_hits: AtomicU64,
    compiled: AtomicU64,
}

impl Compiler {
    /// A compiler with a memory cache of `capacity` programs and, if given, a
    /// disk cache behind it.
    #[must_use]
    pub fn new(options: Options, capacity: usize, disk: Option<DiskCache>) -> Self {
        Self {
            options,
            memory: MemoryCache::new(capacity),
            disk,
            memory_hits: AtomicU64::new(0),
            disk_hits: AtomicU64::new(0),
            compiled: AtomicU64::new(0),
        }
    }

    /// The program of a source: from memory, from disk, or compiled.
    ///
    /// # Errors
    /// [`CompileError`] if the source is invalid. Errors are not cached.
    pub fn compile(&self, language: Language, source: &str) -> Result<Program, CompileError> {
        self.compile_digested(language, source, Digest::of(source.as_bytes()))
    }

    /// The same for a source whose digest is known. The digest is trusted.
    pub(crate) fn compile_digested(
        &self,
        language: Language,
        source: &str,
        digest: Digest,
    ) -> Result<Program, CompileError> {
        let key = Key {
            digest,
            language,
            options: self.options,
        };
        if let Some(program) = self.memory.get(&key) {
            self.memory_hits.fetch_add(1, Ordering::Relaxed);
            return Ok(program);
        }
        if let Some(program) = self.disk.as_ref().and_then(|disk| disk.load(&key)) {
            self.disk_hits.fetch_add(1, Ordering::Relaxed);
            self.memory.insert(key, program.clone());
            return Ok(program);
        }
        let program = compile_digested(language, source, digest, self.options)?;
        self.compiled.fetch_add(1, Ordering::Relaxed);
        if let Some(disk) = &self.disk {
            disk.store(&key, &program);
        }
        self.memory.insert(key, program.clone());
        Ok(program)
    }

    /// Writes what was compiled to the disk cache, as far as there is one.
    pub fn save(&self) {
        if let Some(disk) = &self.disk {
            disk.save();
        }
    }

    /// How the programs so far came about.
    #[must_use]
    pub fn counts(&self) -> CacheCounts {
        CacheCounts {
            memory_hits: self.memory_hits.load(Ordering::Relaxed),
            disk_hits: self.disk_hits.load(Ordering::Relaxed),
            compiled: self.compiled.load(Ordering::Relaxed),
        }
    }
}
