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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::flow::changes::side::{FileKind, digest};

    fn side(text: &str) -> Side {
        Side {
            kind: FileKind::File,
            content: Content::Text(text.into()),
            digest: digest(text.as_bytes()),
        }
    }

    fn file(path: &str, base: Option<Side>, head: Option<Side>) -> ChangedFile {
        let status = match (&base, &head) {
            (_, None) => ChangeStatus::Deleted,
            (None, _) => ChangeStatus::Added,
            _ => ChangeStatus::Modified,
        };
        ChangedFile {
            path: path.into(),
            renamed_from: None,
            status,
            base,
            head,
        }
    }

    /// Pairs deleted and added files; gives `old > new`, and what is left as it is.
    fn paired(deleted: &[(&str, &str)], added: &[(&str, &str)]) -> Vec<String> {
        let deleted = deleted
            .iter()
            .map(|(path, text)| file(path, Some(side(text)), None));
        let added = added
            .iter()
            .map(|(path, text)| file(path, None, Some(side(text))));
        let mut files: Vec<ChangedFile> = deleted.chain(added).collect();
        pair(&mut files);
        let told = |file: ChangedFile| match file.renamed_from {
            Some(old) => {
                assert_eq!(file.status, ChangeStatus::Renamed);
                assert!(file.base.is_some() && file.head.is_some());
                format!("{old} > {}", file.path)
            }
            None => file.path.to_string(),
        };
        files.into_iter().map(told).collect()
    }

    #[test]
    fn the_same_content_is_moved_by_name_first() {
        let deleted = [("a/x", "same\n"), ("b/y", "same\n")];
        let added = [("c/other", "same\n"), ("c/y", "same\n"), ("d", "same\n")];
        assert_eq!(
            paired(&deleted, &added),
            ["a/x > c/other", "b/y > c/y", "d"]
        );
        assert_eq!(paired(&[("a", "")], &[("b", "")]), ["a", "b"]);
    }

    #[test]
    fn half_of_the_larger_one_is_enough() {
        let text = |from: usize, to: usize| -> String {
            (from..to).map(|line| format!("{line:03}\n")).collect()
        };
        let old = text(0, 20);
        for (new, is_renamed) in [
            (text(10, 20), true),
            (text(11, 20), false),
            (text(0, 40), true),
            (text(0, 41), false),
            (text(10, 30), true),
            (text(11, 31), false),
            ("000\n".repeat(20), false),
        ] {
            let found = paired(&[("a", &old)], &[("b", &new)]);
            assert_eq!(found.len() == 1, is_renamed, "{new}");
        }
        // The most similar ones are paired, whatever comes first.
        let (near, far) = (text(1, 20), text(5, 20));
        let added = [("far", &*far), ("near", &*near)];
        assert_eq!(paired(&[("a", &old)], &added), ["far", "a > near"]);
    }

    #[test]
    fn links_are_no_files_and_submodules_do_not_move() {
        let mut files = vec![
            file("a", Some(Side::link(b"x")), None),
            file("b", None, Some(side("x"))),
            file("c", Some(Side::submodule(None)), None),
            file("d", None, Some(Side::submodule(None))),
            file("e", None, Some(Side::link(b"x"))),
        ];
        pair(&mut files);
        let paths: Vec<Arc<str>> = files.iter().map(|file| file.path.clone()).collect();
        assert_eq!(paths, ["b", "c", "d", "e"].map(Arc::from));
        assert_eq!(files[3].renamed_from.as_deref(), Some("a"));
    }

    #[test]
    fn many_similar_files_end_at_a_limit() {
        let texts: Vec<String> = (0..4000)
            .map(|number| format!("{number}\nlong line\n"))
            .collect();
        let names: Vec<String> = (0..4000).map(|number| number.to_string()).collect();
        let files = names.iter().zip(&texts);
        let mut all: Vec<ChangedFile> = files
            .map(|(name, text)| match name.len() % 2 {
                0 => file(name, Some(side(text)), None),
                _ => file(name, None, Some(side(text))),
            })
            .collect();
        let mut many: Vec<ChangedFile> = all.iter().take(500).cloned().collect();
        pair(&mut many);
        assert_eq!(many.len(), 410);
        for (at, file) in all.iter_mut().enumerate() {
            let text = file.base.take().or(file.head.take());
            match at % 2 {
                0 => (file.status, file.base) = (ChangeStatus::Deleted, text),
                _ => (file.status, file.head) = (ChangeStatus::Added, text),
            }
        }
        pair(&mut all);
        assert_eq!(all.len(), 4000);
    }
}
