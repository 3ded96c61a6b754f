//! The facts of a workspace on disk.

use std::path::Path;

use crate::facts::{
    CancelToken, Demand, FactKey, FactSource, FetchStats, Fetched, exists, grep, refused,
};
use crate::files::{Limits, OpenError, Root};
use crate::scan::{ScanOptions, scan};

/// Answers `exists`, `grep` and `count` from a directory and refuses `run` and
/// `test`. Nothing outside the directory is ever read.
#[derive(Debug)]
pub struct WorkspaceSource {
    root: Root,
    limits: Limits,
}

impl WorkspaceSource {
    /// Opens a workspace. It stays the same directory whatever is renamed later.
    ///
    /// # Errors
    ///
    /// If the root is no directory or may not be read.
    pub fn open(root: &Path, limits: Limits) -> Result<Self, OpenError> {
        Ok(Self {
            root: Root::open(root)?,
            limits,
        })
    }
}

impl FactSource for WorkspaceSource {
    fn fetch(&self, demands: &[Demand<'_>], cancel: &CancelToken) -> (Vec<Fetched>, FetchStats) {
        let mut paths = Vec::new();
        let mut globs = Vec::new();
        let mut requests = Vec::new();
        for demand in demands {
            match demand.key {
                FactKey::Exists(path) if path.glob => globs.push(path),
                FactKey::Exists(path) => paths.push(&*path.text),
                _ => requests.extend(grep::request(demand)),
            }
        }
        let mut found = exists::exist(&self.root, &paths, cancel).into_iter();
        let scanned = scan(
            &self.root,
            &self.limits,
            &requests,
            &globs,
            ScanOptions::default(),
            cancel,
        );
        let mut counts = scanned.counts.into_iter();
        let mut existing = scanned.existing.into_iter();
        let answers = demands.iter().map(|demand| {
            let answer = match demand.key {
                FactKey::Exists(path) if path.glob => existing.next(),
                FactKey::Exists(_) => found.next(),
                FactKey::Grep(..) | FactKey::Count(..) => counts.next(),
                FactKey::Test(_) | FactKey::Run(_) => None,
            };
            answer.unwrap_or_else(|| refused::refuse(demand.key))
        });
        (answers.collect(), scanned.stats)
    }
}
