//! Which of the added files were there before under another name.
//!
//! A rename is a hint for who reads the slice: whatever is found, both paths are told,
//! and both directories are touched.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::hash::BuildHasher as _;

use foldhash::fast::FixedState;

use crate::flow::changes::side::{Content, Side};
use crate::flow::changes::{ChangeStatus, ChangedFile};

/// Lines that are compared at most, of all pairs together. Beyond, only files that stayed
/// as they were are found.
const MAX_WORK: usize = 1 << 26;

/// Similar pairs that are looked at, at most. Beyond, the same.
const MAX_PAIRS: usize = 1 << 20;

/// Empty files have nothing in common.
fn is_empty(side: &Side) -> bool {
    side.text().is_some_and(|text| text.is_empty())
}

/// Turns pairs of a deleted and an added file with the same content, or with half of the
/// larger one in common, into renames.
pub(super) fn pair(files: &mut Vec<ChangedFile>) {
    let mut pairs = same(files);
    let paired: BTreeSet<usize> = pairs.iter().flat_map(|(&to, &from)| [to, from]).collect();
    let free = || {
        let files = files.iter().enumerate();
        files.filter(|(at, _)| !paired.contains(at))
    };
    let deleted: Vec<Lines> = free()
        .filter_map(|(at, it)| Lines::of_deleted(at, it))
        .collect();
    let added: Vec<Lines> = free()
        .filter_map(|(at, it)| Lines::of_added(at, it))
        .collect();
    pairs.extend(similar(&deleted, &added));
    merge(files, &pairs);
}

/// The side of a file that was deleted.
fn deleted(file: &ChangedFile) -> Option<&Side> {
    file.base
        .as_ref()
        .filter(|_| file.status == ChangeStatus::Deleted)
}

/// The side of a file that was added.
fn added(file: &ChangedFile) -> Option<&Side> {
    file.head
        .as_ref()
        .filter(|_| file.status == ChangeStatus::Added)
}

/// The last name of a path.
fn name(file: &ChangedFile) -> &str {
    file.path.rsplit('/').next().unwrap_or_default()
}

/// Pairs of the same content, by the number of the added file: first those that keep
/// their name, then by their paths.
fn same(files: &[ChangedFile]) -> BTreeMap<usize, usize> {
    let mut sources: HashMap<(bool, [u8; 32]), VecDeque<usize>> = HashMap::new();
    let key = |side: &Side| (side.kind.is_file(), side.digest);
    for (at, file) in files.iter().enumerate() {
        let side = deleted(file).filter(|side| can_move(side) && !is_empty(side));
        if let Some(side) = side {
            sources.entry(key(side)).or_default().push_back(at);
        }
    }
    let mut by_name: HashMap<(bool, [u8; 32], &str), VecDeque<usize>> = HashMap::new();
    for (&(is_file, digest), numbers) in &sources {
        for &at in numbers {
            let named = files.get(at).map_or("", name);
            by_name
                .entry((is_file, digest, named))
                .or_default()
                .push_back(at);
        }
    }
    let mut pairs = BTreeMap::new();
    let mut taken = BTreeSet::new();
    for keeps_name in [true, false] {
        for (at, file) in files.iter().enumerate() {
            let Some(side) = added(file).filter(|_| !pairs.contains_key(&at)) else {
                continue;
            };
            let (is_file, digest) = key(side);
            let candidates = match keeps_name {
                true => by_name.get_mut(&(is_file, digest, name(file))),
                false => sources.get_mut(&(is_file, digest)),
            };
            let Some(candidates) = candidates else {
                continue;
            };
            while let Some(from) = candidates.pop_front() {
                if taken.insert(from) {
                    pairs.insert(at, from);
                    break;
                }
            }
        }
    }
    pairs
}

/// Submodules that are gone and that are new have nothing to do with each other.
const fn can_move(side: &Side) -> bool {
    !matches!(side.content, Content::Submodule(_))
}

/// A file as its lines.
struct Lines<'f> {
    at: usize,
    name: &'f str,
    /// In bytes.
    size: usize,
    /// The digests and sizes of its lines, sorted.
    lines: Vec<(u64, usize)>,
}

impl<'f> Lines<'f> {
    fn of_deleted(at: usize, file: &'f ChangedFile) -> Option<Self> {
        Self::new(at, file, deleted(file)?)
    }

    fn of_added(at: usize, file: &'f ChangedFile) -> Option<Self> {
        Self::new(at, file, added(file)?)
    }

    fn new(at: usize, file: &'f ChangedFile, side: &Side) -> Option<Self> {
        let text = side.text().filter(|text| !text.is_empty())?;
        let state = FixedState::default();
        let lines = text.split_inclusive('\n');
        let mut lines: Vec<(u64, usize)> = lines
            .map(|line| (state.hash_one(line), line.len()))
            .collect();
        lines.sort_unstable();
        Some(Self {
            at,
            name: name(file),
            size: text.len(),
            lines,
        })
    }

    /// Bytes of the lines that both have.
    fn in_common(&self, other: &Self) -> usize {
        let mut others = other.lines.iter().peekable();
        let mut bytes = 0;
        for line in &self.lines {
            while others.next_if(|other| *other < line).is_some() {}
            if others.next_if_eq(&line).is_some() {
                bytes += line.1;
            }
        }
        bytes
    }
}

/// Pairs with at least half of the larger file in common, the most similar first.
fn similar(deleted: &[Lines<'_>], added: &[Lines<'_>]) -> Vec<(usize, usize)> {
    let mut left = MAX_WORK;
    let mut scored = Vec::new();
    for to in added {
        for from in deleted {
            left = left.saturating_sub(1);
            let (least, most) = (from.size.min(to.size), from.size.max(to.size));
            if least < most / 2 {
                continue;
            }
            left = left.saturating_sub(from.lines.len() + to.lines.len());
            if left == 0 || scored.len() == MAX_PAIRS {
                return Vec::new();
            }
            let common = from.in_common(to);
            if common >= most.div_ceil(2) {
                let score = (common as u64).saturating_mul(1000) / most as u64;
                scored.push((Reverse((score, from.name == to.name)), to.at, from.at));
            }
        }
    }
    scored.sort_unstable();
    let (mut sources, mut targets) = (BTreeSet::new(), BTreeSet::new());
    let mut pairs = Vec::new();
    for (_, to, from) in scored {
        if !sources.contains(&from) && !targets.contains(&to) {
            sources.insert(from);
            targets.insert(to);
            pairs.push((to, from));
        }
    }
    pairs
}

/// Makes one file of each pair, under its new path.
fn merge(files: &mut Vec<ChangedFile>, pairs: &BTreeMap<usize, usize>) {
    for (&to, &from) in pairs {
        let Some(source) = files.get_mut(from) else {
            continue;
        };
        let (old_path, base) = (source.path.clone(), source.base.take());
        if let Some(file) = files.get_mut(to) {
            file.renamed_from = Some(old_path);
            file.base = base;
            file.status = ChangeStatus::Renamed;
        }
    }
    // Of a source neither side is left.
    files.retain(|file| file.base.is_some() || file.head.is_some());
}
