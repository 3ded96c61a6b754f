//! Predicate files by what they hold, so that nothing is compiled twice.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::digest::Digest;
use crate::flow::discovery::content::Content;
use crate::harn::{Import, inspect};

/// The most bytes of source that are kept; then all is forgotten.
const MOST_BYTES: usize = 64 << 20;

/// Files with the same text that import files with different ones.
const MOST_VARIANTS: usize = 8;

/// Compiled predicate files by the digest of their source and of what they import. Meant
/// to be shared by discoveries, also those of other trees and on other threads. It keeps
/// up to 64 MiB of source.
#[derive(Debug, Default)]
pub struct Modules {
    known: Mutex<Known>,
    compiled: AtomicU64,
}

#[derive(Debug, Default)]
struct Known {
    by_source: HashMap<Digest, Vec<Variant>>,
    bytes: usize,
}

/// A file together with what it imports.
#[derive(Clone, Debug)]
struct Variant {
    /// What was asked for, and what came of it.
    imports: Arc<[(String, Imported)]>,
    content: Arc<Content>,
}

/// The digest of an imported file, or why it cannot be imported.
type Imported = Result<Digest, String>;

/// The text of an imported file with its digest, or why it cannot be imported.
type Read = Result<(String, Digest), String>;

impl Modules {
    /// Knows nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// How many files were compiled so far.
    pub fn compiled(&self) -> u64 {
        self.compiled.load(Ordering::Relaxed)
    }

    /// What a source holds. `import` reads what it imports, each file once.
    pub(super) fn content(&self, source: &str, import: &Import<'_>) -> Arc<Content> {
        let imports = Imports {
            import,
            read: RefCell::default(),
        };
        let digest = Digest::of(source.as_bytes());
        let variants = self.known().by_source.get(&digest).cloned();
        let is_same = |variant: &&Variant| {
            let mut wanted = variant.imports.iter();
            wanted.all(|(path, imported)| imports.digest(path) == *imported)
        };
        if let Some(variant) = variants.unwrap_or_default().iter().find(is_same) {
            return variant.content.clone();
        }
        self.compiled.fetch_add(1, Ordering::Relaxed);
        let asked = RefCell::new(Vec::new());
        let inspection = inspect(source, &|path| {
            asked
                .borrow_mut()
                .push((path.to_owned(), imports.digest(path)));
            imports.text(path)
        });
        let variant = Variant {
            imports: asked.into_inner().into(),
            content: Arc::new(Content::new(inspection)),
        };
        let content = variant.content.clone();
        self.keep(digest, variant, source.len());
        content
    }

    fn keep(&self, digest: Digest, variant: Variant, bytes: usize) {
        let mut known = self.known();
        if known.bytes.saturating_add(bytes) > MOST_BYTES {
            *known = Known::default();
        }
        known.bytes += bytes;
        let variants = known.by_source.entry(digest).or_default();
        if variants.len() >= MOST_VARIANTS {
            variants.remove(0);
        }
        variants.push(variant);
    }

    /// What is known stays sound whoever panicked: entries are put in whole.
    fn known(&self) -> std::sync::MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The files that one file imports, each read once.
struct Imports<'i> {
    import: &'i Import<'i>,
    read: RefCell<HashMap<String, Read>>,
}

impl Imports<'_> {
    fn read<T>(&self, path: &str, take: impl Fn(&(String, Digest)) -> T) -> Result<T, String> {
        let mut read = self.read.borrow_mut();
        let found = read.entry(path.to_owned()).or_insert_with(|| {
            let text = (self.import)(path)?;
            let digest = Digest::of(text.as_bytes());
            Ok((text, digest))
        });
        found.as_ref().map(take).map_err(Clone::clone)
    }

    fn digest(&self, path: &str) -> Imported {
        self.read(path, |(_, digest)| *digest)
    }

    fn text(&self, path: &str) -> Result<String, String> {
        self.read(path, |(text, _)| text.clone())
    }
}
