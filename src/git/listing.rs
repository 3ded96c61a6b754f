//! What a commit and the index hold, and what in the work tree is in neither.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::process::Command;

use crate::git::differ::{ambiguous, check_path, parse_item};
use crate::git::discover::discover;
use crate::git::records::records;
use crate::git::{Commit, GitError, Item, Oid, Repository};

/// A path of a commit, and what stands there.
pub type Listed = (Box<[u8]>, Item);

/// A path of the index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexEntry {
    /// In the repository, `/`-separated.
    pub path: Box<[u8]>,
    /// What was added; one of several in the middle of a merge.
    pub item: Item,
    /// Whether it need not be in the work tree (a sparse checkout).
    pub is_skipped: bool,
}

/// What the work tree holds and the index does not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Untracked {
    /// In the repository, `/`-separated, without a `/` at its end.
    pub path: Box<[u8]>,
    /// Whether it is a repository of its own.
    pub is_repository: bool,
}

impl Repository {
    /// All paths of a commit, none without one.
    ///
    /// # Errors
    ///
    /// [`GitError`] if git cannot tell.
    pub fn list_commit(&self, commit: Option<&Commit>) -> Result<Vec<Listed>, GitError> {
        let Some(commit) = commit else {
            return Ok(Vec::new());
        };
        let mut command = self.git.command();
        command.args(["ls-tree", "-r", "-z", "--full-tree", "--no-abbrev"]);
        command.arg(commit.tree.to_string());
        let mut found = Vec::new();
        self.list(command, &mut |record| {
            // `100644 blob <id>\t<path>`
            let (head, path) = split(record)?;
            let words: Vec<&str> = head.split(' ').collect();
            let item = match &*words {
                &[mode, _, id] => parse_item(mode, id).flatten(),
                _ => None,
            };
            let item = item.ok_or_else(|| ambiguous(record))?;
            found.push((check_path(path)?.into(), item));
            Ok(())
        })?;
        Ok(found)
    }

    /// All paths of the index.
    ///
    /// # Errors
    ///
    /// [`GitError`] if git cannot tell.
    pub fn list_index(&self) -> Result<Vec<IndexEntry>, GitError> {
        let mut command = self.listing_command()?;
        command.args(["--stage", "-t"]);
        let mut found = Vec::new();
        self.list(command, &mut |record| {
            // `H 100644 <id> 0\t<path>`
            let (head, path) = split(record)?;
            let words: Vec<&str> = head.split(' ').collect();
            let item = match &*words {
                &[_, mode, id, _] => parse_item(mode, id).flatten(),
                _ => None,
            };
            found.push(IndexEntry {
                path: check_path(path)?.into(),
                item: item.ok_or_else(|| ambiguous(record))?,
                is_skipped: words.first() == Some(&"S"),
            });
            Ok(())
        })?;
        Ok(found)
    }

    /// What is in the work tree, not in the index, and not ignored by a `.gitignore` file
    /// or by the repository's own settings. Those of a user play no part.
    ///
    /// # Errors
    ///
    /// [`GitError`] if git cannot tell.
    pub fn list_untracked(&self) -> Result<Vec<Untracked>, GitError> {
        let mut command = self.listing_command()?;
        command.args(["--others", "--exclude-standard"]);
        let mut found = Vec::new();
        self.list(command, &mut |record| {
            let repository = record.strip_suffix(b"/");
            found.push(Untracked {
                path: check_path(repository.unwrap_or(record))?.into(),
                is_repository: repository.is_some(),
            });
            Ok(())
        })?;
        Ok(found)
    }

    /// The commit that is checked out in a directory of the work tree that is a
    /// repository of its own: `None` if it has none, or cannot say.
    #[must_use]
    pub fn nested_head(&self, path: &[u8]) -> Option<Oid> {
        let top = self.top().ok()?;
        let place = discover(&top.join(OsStr::from_bytes(path))).ok()?;
        // Without a repository of its own, it belongs to one above it.
        if place.top.strip_prefix(top).ok()?.as_os_str().as_bytes() != path {
            return None;
        }
        let args = ["rev-parse", "--verify", "--quiet", "HEAD^{commit}"];
        let answer = self.git.at(&place).ask(&args).ok()?.ok()?;
        std::str::from_utf8(&answer).ok().and_then(Oid::parse)
    }

    /// Whether it matters in the work tree who may execute a file: there are file systems
    /// on which everybody may execute everything.
    ///
    /// # Errors
    ///
    /// [`GitError`] if git cannot be run.
    pub fn trusts_file_modes(&self) -> Result<bool, GitError> {
        let answer = self
            .git
            .ask(&["config", "--type=bool", "--get", "core.fileMode"])?;
        Ok(answer.ok().as_deref() != Some(b"false"))
    }

    /// `ls-files`, which reads names in the work tree and no file but `.gitignore`.
    fn listing_command(&self) -> Result<Command, GitError> {
        let mut work_tree = OsString::from("--work-tree=");
        work_tree.push(self.top()?);
        let mut command = self.git.index_command();
        command
            .arg(work_tree)
            .args(["-c", "core.untrackedCache=false"])
            .args(["-c", "submodule.recurse=false"])
            .args(["ls-files", "-z", "--full-name"]);
        Ok(command)
    }

    fn list(
        &self,
        command: Command,
        visit: &mut dyn FnMut(&[u8]) -> Result<(), GitError>,
    ) -> Result<(), GitError> {
        records(command, visit)?.map_err(|said| self.unusable(said))
    }
}

/// What stands before a tab, and the path behind it.
fn split(record: &[u8]) -> Result<(&str, &[u8]), GitError> {
    let tab = memchr::memchr(b'\t', record).ok_or_else(|| ambiguous(record))?;
    let (head, path) = record.split_at(tab);
    let head = std::str::from_utf8(head).map_err(|_| ambiguous(record))?;
    Ok((head, path.get(1..).unwrap_or_default()))
}
