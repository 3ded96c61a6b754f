//! Collecting what was changed.

use rayon::prelude::*;
use sha2::{Digest as _, Sha256};

use crate::flow::changes::renames::pair;
use crate::flow::changes::side::{FileKind, Loader, Side};
use crate::flow::changes::{
    ChangeLimits, ChangeStatus, ChangedFile, Changes, ChangesError, Head, HeadId, Raw, work_tree,
};
use crate::git::{Oid, Repository, TreeChange};

/// Paths that one thread reads in a row.
const CHUNK: usize = 128;

impl Changes {
    /// What was changed from a base, by default what is checked out, to a head. Only what
    /// lies in the workspace that the repository was opened for is told.
    ///
    /// The base is the merge base of the revision with the head, or, for the index and
    /// the files on disk, with what is checked out; the revision itself, if nothing was
    /// ever committed to the branch that is checked out.
    ///
    /// # Errors
    /// [`ChangesError`]: whatever keeps a changed file from being told.
    pub fn read(
        repository: &Repository,
        base: Option<&str>,
        head: Head<'_>,
        limits: &ChangeLimits,
    ) -> Result<Self, ChangesError> {
        let tip = match head {
            Head::Commit(revision) => Some(repository.resolve(revision)?),
            Head::Index | Head::WorkTree => repository.head()?,
        };
        let named = match base {
            Some(revision) => Some(repository.resolve(revision)?),
            None => repository.head()?,
        };
        let base = match (named, &tip) {
            (Some(named), Some(tip)) => Some(repository.merge_base(&named, tip)?),
            (named, _) => named,
        };
        let loader = Loader::new(repository, limits);
        let judged = tip.filter(|_| matches!(head, Head::Commit(_)));
        let raw = match (&judged, head) {
            (Some(tip), _) => load(&loader, repository.diff_commits(base.as_ref(), tip)?)?,
            (None, Head::WorkTree) => work_tree::differences(&loader, base.as_ref())?,
            (None, _) => load(&loader, repository.diff_index(base.as_ref())?)?,
        };
        if raw.len() > limits.max_files {
            return Err(ChangesError::TooMany(raw.len(), limits.max_files));
        }
        let base = base.map(|commit| commit.id);
        let head = match judged {
            Some(tip) => HeadId::Commit(tip.id),
            None => HeadId::Content(digest(base, &raw)),
        };
        let files: Result<Vec<ChangedFile>, ChangesError> = raw
            .into_iter()
            .map(|raw| changed(repository, raw))
            .collect();
        let mut files = files?;
        pair(&mut files);
        Ok(Self { base, head, files })
    }
}

/// Reads both sides of what differs in the workspace.
fn load(loader: &Loader<'_>, changes: Vec<TreeChange>) -> Result<Vec<Raw>, ChangesError> {
    let mut changes = changes;
    changes.retain(|change| loader.repository.in_workspace(&change.path).is_some());
    if changes.len() > loader.limits.max_files {
        return Err(ChangesError::TooMany(
            changes.len(),
            loader.limits.max_files,
        ));
    }
    let chunks = changes.par_chunks(CHUNK).map(|chunk| {
        for change in chunk {
            loader.announce(change.old);
            loader.announce(change.new);
        }
        let read = |change: &TreeChange| {
            let side = |item: Option<_>| item.map(|item| loader.item(item)).transpose();
            Ok(Raw {
                path: change.path.clone(),
                old: side(change.old)?,
                new: side(change.new)?,
            })
        };
        chunk.iter().map(read).collect()
    });
    // The first error in their order, whatever thread meets one first.
    let chunks: Vec<Result<Vec<Raw>, ChangesError>> = chunks.collect();
    let mut found = Vec::new();
    for chunk in chunks {
        found.extend(chunk?);
    }
    Ok(found)
}

/// A changed path as a slice names it.
fn changed(repository: &Repository, raw: Raw) -> Result<ChangedFile, ChangesError> {
    let path = repository.in_workspace(&raw.path).unwrap_or(&raw.path);
    let path = std::str::from_utf8(path)
        .map_err(|_| ChangesError::NotUtf8(path.escape_ascii().to_string().into()))?;
    let class = |side: &Side| match side.kind {
        FileKind::Executable => FileKind::File,
        kind => kind,
    };
    let status = match (&raw.old, &raw.new) {
        (_, None) => ChangeStatus::Deleted,
        (None, Some(_)) => ChangeStatus::Added,
        (Some(old), Some(new)) if class(old) != class(new) => ChangeStatus::TypeChanged,
        _ => ChangeStatus::Modified,
    };
    Ok(ChangedFile {
        path: path.into(),
        renamed_from: None,
        status,
        base: raw.old,
        head: raw.new,
    })
}

/// Tells what is on disk or in the index from anything else with the same base.
fn digest(base: Option<Oid>, raw: &[Raw]) -> [u8; 32] {
    let mut hash = Sha256::new();
    hash.update(b"probity.flow.changes.v1\0");
    let base = base.as_ref().map_or(&[][..], Oid::as_bytes);
    hash.update((base.len() as u64).to_le_bytes());
    hash.update(base);
    for change in raw {
        hash.update((change.path.len() as u64).to_le_bytes());
        hash.update(&change.path);
        // No kind has a name that another starts with.
        hash.update(change.new.as_ref().map_or("deleted", |new| new.kind.name()));
        hash.update(change.new.as_ref().map_or([0; 32], |new| new.digest));
    }
    hash.finalize().into()
}
