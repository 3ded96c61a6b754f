//! What differs between two commits, or between a commit and the index.

use std::process::Command;

use crate::git::records::records;
use crate::git::{Commit, GitError, Oid, Repository};

/// What kind of file a path stands for, as git has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GitMode {
    /// A file.
    File,
    /// A file that may be executed.
    Executable,
    /// A symbolic link; its blob is where it leads.
    Link,
    /// A commit of another repository.
    Submodule,
}

impl GitMode {
    /// The kind that a mode of six octal digits stands for.
    pub(super) fn parse(mode: &str) -> Option<Self> {
        match mode {
            "160000" => Some(Self::Submodule),
            "120000" => Some(Self::Link),
            // Some old trees have modes like 100664.
            mode if mode.len() == 6 && mode.starts_with("100") => {
                let bits = u16::from_str_radix(mode, 8).ok()?;
                Some(match bits & 0o100 {
                    0 => Self::File,
                    _ => Self::Executable,
                })
            }
            _ => None,
        }
    }
}

/// What stands at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item {
    /// What kind it is.
    pub mode: GitMode,
    /// Its blob, or the commit of a submodule.
    pub id: Oid,
}

/// A path at which two trees differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeChange {
    /// In the repository, `/`-separated.
    pub path: Box<[u8]>,
    /// What was there before.
    pub old: Option<Item>,
    /// What is there now.
    pub new: Option<Item>,
}

/// Nothing but names: no patch, no rename, no look at a file.
const RAW: &[&str] = &[
    "-z",
    "--raw",
    "--no-renames",
    "--no-abbrev",
    "--no-ext-diff",
    "--no-textconv",
    "--no-relative",
    // A `.gitmodules` could say that changes of a module do not count.
    "--ignore-submodules=none",
];

impl Repository {
    /// The paths at which two commits differ, sorted by their bytes. Without a first
    /// one, all that the second holds.
    ///
    /// # Errors
    ///
    /// [`GitError`] if git cannot tell.
    pub fn diff_commits(
        &self,
        old: Option<&Commit>,
        new: &Commit,
    ) -> Result<Vec<TreeChange>, GitError> {
        let mut command = self.git.command();
        command.args(["diff-tree", "-r"]).args(RAW);
        command.args([self.tree_of(old)?.to_string(), new.tree.to_string()]);
        self.raw(command)
    }

    /// The paths at which the index differs from a commit, sorted by their bytes.
    /// Without a commit, all that the index holds.
    ///
    /// # Errors
    ///
    /// [`GitError::Unmerged`], or what keeps git from telling.
    pub fn diff_index(&self, old: Option<&Commit>) -> Result<Vec<TreeChange>, GitError> {
        self.top()?;
        let mut command = self.git.index_command();
        // What is only intended to be added is not committed.
        command.args(["diff-index", "--cached", "--ita-invisible-in-index"]);
        command.args(RAW);
        command.arg(self.tree_of(old)?.to_string()).arg("--");
        self.raw(command)
    }

    /// The tree of a commit; the empty one without any.
    pub(super) fn tree_of(&self, commit: Option<&Commit>) -> Result<Oid, GitError> {
        if let Some(commit) = commit {
            return Ok(commit.tree);
        }
        // Its name depends on the digest that the repository uses.
        let args = ["hash-object", "-t", "tree", "--stdin"];
        let printed = self.git.ask(&args)?.map_err(|said| self.unusable(said))?;
        let name = String::from_utf8_lossy(&printed).into_owned();
        Oid::parse(&name).ok_or(GitError::Answer(name))
    }

    fn raw(&self, command: Command) -> Result<Vec<TreeChange>, GitError> {
        let mut found = Vec::new();
        let mut sides = None;
        let ended = records(command, &mut |record| {
            match sides.take() {
                None => sides = Some(parse_sides(record)?),
                Some(None) => {
                    return Err(GitError::Unmerged(String::from_utf8_lossy(record).into()));
                }
                Some(Some((old, new))) => found.push(TreeChange {
                    path: check_path(record)?.into(),
                    old,
                    new,
                }),
            }
            Ok(())
        });
        ended?.map_err(|said| self.unusable(said))?;
        if sides.is_some() {
            return Err(GitError::Answer("a change without a path".into()));
        }
        found.sort_unstable_by(|one, other| one.path.cmp(&other.path));
        let twice = found
            .windows(2)
            .find(|pair| pair.first().map(|it| &it.path) == pair.last().map(|it| &it.path));
        match twice.and_then(<[_]>::first) {
            Some(change) => Err(ambiguous(&change.path)),
            None => Ok(found),
        }
    }
}

/// What stands before and after; `None` if the path is unmerged.
type Sides = Option<(Option<Item>, Option<Item>)>;

/// Reads `:100644 100755 <id> <id> M`.
fn parse_sides(record: &[u8]) -> Result<Sides, GitError> {
    let text = String::from_utf8_lossy(record);
    let unheard = || GitError::Answer(text.clone().into_owned());
    let words: Vec<&str> = text
        .strip_prefix(':')
        .ok_or_else(unheard)?
        .split(' ')
        .collect();
    let &[old_mode, new_mode, old_id, new_id, status] = &*words else {
        return Err(unheard());
    };
    if status == "U" {
        return Ok(None);
    }
    let old = parse_item(old_mode, old_id).ok_or_else(unheard)?;
    let new = parse_item(new_mode, new_id).ok_or_else(unheard)?;
    Ok(Some((old, new)))
}

/// `Some(None)` if nothing is there.
pub(super) fn parse_item(mode: &str, id: &str) -> Option<Option<Item>> {
    if mode == "000000" {
        return Some(None);
    }
    let (mode, id) = (GitMode::parse(mode)?, Oid::parse(id)?);
    Some(Some(Item { mode, id }))
}

/// Refuses paths of damaged trees that lead elsewhere.
pub(super) fn check_path(path: &[u8]) -> Result<&[u8], GitError> {
    let is_sound = path
        .split(|&byte| byte == b'/')
        .all(|name| !matches!(name, b"" | b"." | b".."));
    match is_sound {
        true => Ok(path),
        false => Err(ambiguous(path)),
    }
}

/// The error of a path that no sound tree or index has.
pub(super) fn ambiguous(path: &[u8]) -> GitError {
    GitError::Answer(String::from_utf8_lossy(path).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_say_what_a_path_is() {
        for (mode, kind) in [
            ("100644", Some(GitMode::File)),
            ("100664", Some(GitMode::File)),
            ("100755", Some(GitMode::Executable)),
            ("120000", Some(GitMode::Link)),
            ("160000", Some(GitMode::Submodule)),
            ("040000", None),
            ("100", None),
            ("1006449", None),
            ("100x44", None),
        ] {
            assert_eq!(GitMode::parse(mode), kind, "{mode}");
        }
    }

    #[test]
    fn paths_lead_nowhere_else() {
        for path in ["a", "-a/b", "a\n\"b", "...", ".git"] {
            assert!(check_path(path.as_bytes()).is_ok(), "{path}");
        }
        for path in ["", "/a", "a/", "a//b", "../a", "a/..", "./a"] {
            assert!(check_path(path.as_bytes()).is_err(), "{path}");
        }
    }
}
