//! What one commit changed, path by path.

use std::sync::Arc;

use crate::files::{
    FileError, MAX_ENTRIES, MAX_OPEN, MAX_RULES_BYTES, Object, ObjectKind, Objects as _, PATH_MAX,
    Rules,
};
use crate::git::{CommitFiles, Oid, TreeId};

/// What stands at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) kind: ObjectKind,
    pub(super) id: TreeId,
    /// True if a walk of everything comes by.
    pub(super) is_walked: bool,
}

impl Seen {
    /// The content of a file that walks come by.
    pub(super) fn walked_file(&self) -> Option<Oid> {
        let is_file = self.kind == ObjectKind::File && self.is_walked;
        self.id.filter(|_| is_file)
    }
}

/// A path at which two trees differ. Of directories that both have, only the
/// differences inside are told, and whether walks come by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Difference {
    pub(super) path: Vec<u8>,
    pub(super) old: Option<Seen>,
    pub(super) new: Option<Seen>,
}

/// A directory of one of the trees; `None` where it has none.
#[derive(Clone)]
struct Side {
    entries: Arc<[Object<TreeId>]>,
    rules: Rules,
    is_walked: bool,
    /// The `.gitignore` files above, to see whether rules differ.
    rules_of: Vec<Oid>,
}

/// The differences between two trees of a repository; the first may be none at all.
///
/// # Errors
///
/// If a tree or its `.gitignore` files cannot be read, or it is too deep or too large
/// to be walked.
pub(super) fn differences(
    files: &CommitFiles,
    old: Option<TreeId>,
    new: TreeId,
) -> Result<Vec<Difference>, FileError> {
    let mut diff = Diff {
        files,
        found: Vec::new(),
        left: 2 * MAX_ENTRIES,
    };
    let top = |id: TreeId| diff.side(id, b"", None);
    let old_side = old.map(top).transpose()?;
    let new_side = diff.side(new, b"", None)?;
    if old != Some(new) {
        diff.compare(b"", old_side.as_ref(), Some(&new_side), 0)?;
    }
    Ok(diff.found)
}

struct Diff<'a> {
    files: &'a CommitFiles,
    found: Vec<Difference>,
    /// Entries of both trees still to be looked at before it is too many.
    left: usize,
}

impl Diff<'_> {
    /// A directory, with the rules that hold in it.
    fn side(
        &self,
        id: TreeId,
        path: &[u8],
        parent: Option<(&Side, bool)>,
    ) -> Result<Side, FileError> {
        let entries = self.files.list(&id)?;
        let (mut rules, mut rules_of, is_walked) = match parent {
            Some((side, is_walked)) => (side.rules.clone(), side.rules_of.clone(), is_walked),
            None => (Rules::default(), Vec::new(), true),
        };
        let own = entries.binary_search_by(|entry| (*entry.name).cmp(b".gitignore"));
        if let Some(own) = own.ok().and_then(|at| entries.get(at))
            && own.kind == ObjectKind::File
            // Nobody reads the rules of a directory that is left out.
            && is_walked
        {
            let text = self
                .files
                .text(&own.id, MAX_RULES_BYTES, ".gitignore file")?;
            rules = rules.with(path, &text)?;
            rules_of.extend(own.id);
        }
        Ok(Side {
            entries,
            rules,
            is_walked,
            rules_of,
        })
    }

    fn compare(
        &mut self,
        path: &[u8],
        old: Option<&Side>,
        new: Option<&Side>,
        depth: usize,
    ) -> Result<(), FileError> {
        if depth == MAX_OPEN {
            return Err(FileError::TooDeep);
        }
        let count = |side: Option<&Side>| side.map_or(0, |side| side.entries.len() + 1);
        let left = self.left.checked_sub(count(old) + count(new));
        self.left = left.ok_or(FileError::TooMany(MAX_ENTRIES))?;
        // Equal rules give equal entries the same treatment.
        let same_rules = match (old, new) {
            (Some(old), Some(new)) => {
                old.rules_of == new.rules_of && old.is_walked == new.is_walked
            }
            _ => false,
        };
        let entries = |side: Option<&Side>| side.map(|side| Arc::clone(&side.entries));
        let (old_entries, new_entries) = (entries(old), entries(new));
        let mut olds = old_entries
            .iter()
            .flat_map(|entries| entries.iter())
            .peekable();
        let mut news = new_entries
            .iter()
            .flat_map(|entries| entries.iter())
            .peekable();
        loop {
            // Both are sorted by the bytes of the names.
            let (one, other) = match (olds.peek(), news.peek()) {
                (None, None) => return Ok(()),
                (Some(_), None) => (olds.next(), None),
                (None, Some(_)) => (None, news.next()),
                (Some(one), Some(other)) => match one.name.cmp(&other.name) {
                    std::cmp::Ordering::Less => (olds.next(), None),
                    std::cmp::Ordering::Greater => (None, news.next()),
                    std::cmp::Ordering::Equal => (olds.next(), news.next()),
                },
            };
            if let (Some(one), Some(other)) = (one, other)
                && same_rules
                && (one.kind, one.id) == (other.kind, other.id)
            {
                continue;
            }
            self.entry(path, (old, one), (new, other), depth)?;
        }
    }

    fn entry(
        &mut self,
        parent: &[u8],
        (old_side, old): (Option<&Side>, Option<&Object<TreeId>>),
        (new_side, new): (Option<&Side>, Option<&Object<TreeId>>),
        depth: usize,
    ) -> Result<(), FileError> {
        let Some(name) = old.or(new).map(|entry| &*entry.name) else {
            return Ok(());
        };
        let path = match parent {
            b"" => name.to_vec(),
            parent => [parent, name].join(&b'/'),
        };
        let seen_old = seen(old_side, old, &path);
        let seen_new = seen(new_side, new, &path);
        let directory = |seen: Option<Seen>| seen.filter(|it| it.kind == ObjectKind::Directory);
        let (old_directory, new_directory) = (directory(seen_old), directory(seen_new));
        let is_told = match (old_directory, new_directory) {
            (Some(old), Some(new)) => old.is_walked != new.is_walked,
            _ => seen_old != seen_new,
        };
        if is_told {
            self.found.push(Difference {
                path: path.clone(),
                old: seen_old,
                new: seen_new,
            });
        }
        if old_directory.is_none() && new_directory.is_none() {
            return Ok(());
        }
        if path.len() >= PATH_MAX {
            return Err(FileError::TooDeep);
        }
        let old = self.below(old_side, old_directory, &path)?;
        let new = self.below(new_side, new_directory, &path)?;
        self.compare(&path, old.as_ref(), new.as_ref(), depth + 1)
    }

    fn below(
        &self,
        side: Option<&Side>,
        directory: Option<Seen>,
        path: &[u8],
    ) -> Result<Option<Side>, FileError> {
        let (Some(side), Some(directory)) = (side, directory) else {
            return Ok(None);
        };
        let parent = Some((side, directory.is_walked));
        self.side(directory.id, path, parent).map(Some)
    }
}

fn seen(side: Option<&Side>, entry: Option<&Object<TreeId>>, path: &[u8]) -> Option<Seen> {
    let (side, entry) = (side?, entry?);
    let is_directory = entry.kind == ObjectKind::Directory;
    Some(Seen {
        kind: entry.kind,
        id: entry.id,
        is_walked: side.is_walked
            && entry.kind != ObjectKind::Link
            && *entry.name != *b".git"
            && !side.rules.exclude(path, is_directory),
    })
}
