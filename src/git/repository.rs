//! A repository and its commits.

use std::ffi::OsStr;
use std::fmt;
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use quick_cache::Weighter;
use quick_cache::sync::Cache;

use crate::files::{FileId, Object};
use crate::git::batch::{Batch, Type};
use crate::git::command::{self, Git};
use crate::git::tree::{TreeId, parse_tree};
use crate::git::{Commit, GitError, Oid};

/// Entries of trees that are kept in memory.
const KEPT_ENTRIES: u64 = 1 << 20;

/// The largest tree or commit that is read, in bytes.
const MAX_OBJECT_BYTES: u64 = 64 << 20;

/// A directory of a tree object.
pub(super) type Entries = Arc<[Object<TreeId>]>;

/// The repository that a workspace belongs to.
pub struct Repository {
    git: Git,
    root: PathBuf,
    git_dir: PathBuf,
    /// The workspace in the repository, `/`-separated with a final `/`; empty if it
    /// is all of it.
    prefix: Vec<u8>,
    pub(super) batch: Batch,
    trees: Cache<Oid, Entries, ByEntries>,
}

impl fmt::Debug for Repository {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Repository")
            .field("git_dir", &self.git_dir)
            .finish_non_exhaustive()
    }
}

#[derive(Clone)]
struct ByEntries;

impl Weighter<Oid, Entries> for ByEntries {
    fn weight(&self, _: &Oid, entries: &Entries) -> u64 {
        entries.len() as u64 + 1
    }
}

impl Repository {
    /// Opens the repository that holds a directory. Commits are then those of the
    /// repository, and their trees begin at that directory.
    ///
    /// # Errors
    ///
    /// [`GitError`] if there is no `git` or no repository.
    pub fn open(root: &Path) -> Result<Self, GitError> {
        let git = Git::find(root)?;
        let ask = |question: &str| {
            let args = ["rev-parse", question].map(OsStr::new);
            let answer = git.ask(root, &args)?;
            answer.ok_or_else(|| GitError::NoRepository(root.into()))
        };
        let git_dir = command::path(&ask("--absolute-git-dir")?);
        let prefix = ask("--show-prefix")?;
        Ok(Self {
            root: root.canonicalize()?,
            batch: Batch::new(git.clone(), &git_dir),
            git,
            git_dir,
            prefix,
            trees: Cache::with_weighter(10_000, KEPT_ENTRIES, ByEntries),
        })
    }

    /// Tells the repository from others, as [`crate::files::Tree::space`].
    #[must_use]
    pub fn space(&self) -> Vec<u8> {
        let id = std::fs::File::open(&self.git_dir)
            .ok()
            .and_then(|directory| FileId::at(directory.as_fd()).ok());
        [
            b"repository".as_slice(),
            &id.map(FileId::bytes).unwrap_or_default(),
        ]
        .concat()
    }

    /// The workspace in the repository, name by name.
    pub(super) fn prefix(&self) -> impl Iterator<Item = &[u8]> {
        let names = self.prefix.split(|&byte| byte == b'/');
        names.filter(|name| !name.is_empty())
    }

    /// The commit that a revision names.
    ///
    /// # Errors
    ///
    /// [`GitError::NoCommit`], or what keeps it from being read.
    pub fn resolve(&self, revision: &str) -> Result<Commit, GitError> {
        let unknown = || GitError::NoCommit(revision.into());
        // What starts with a dash is no option behind this, and a revision never
        // holds a control character.
        if revision.is_empty() || revision.chars().any(char::is_control) {
            return Err(unknown());
        }
        let commit = format!("{revision}^{{commit}}");
        let args = [
            "rev-parse",
            "--verify",
            "--quiet",
            "--end-of-options",
            &commit,
        ];
        let answer = self.git.ask(&self.root, &args.map(OsStr::new))?;
        let answer = answer.ok_or_else(unknown)?;
        let id = std::str::from_utf8(&answer).ok().and_then(Oid::parse);
        self.commit(id.ok_or_else(unknown)?)
    }

    /// A commit by its name.
    ///
    /// # Errors
    ///
    /// [`GitError`] if it is not there or no commit.
    pub fn commit(&self, id: Oid) -> Result<Commit, GitError> {
        self.batch
            .read(id, Type::Commit, MAX_OBJECT_BYTES, |object| {
                Commit::parse(id, object)
            })?
    }

    /// The commits of a range `A..B`, the oldest first: `B` and its first parents,
    /// but for what led to `A`; `B` alone stands for all of them, and what is left
    /// out before or after the dots for `HEAD`. With them comes `A`, if it is given.
    ///
    /// # Errors
    ///
    /// [`GitError`] if it is no range or its commits cannot be read.
    pub fn range(&self, range: &str) -> Result<(Option<Commit>, Vec<Commit>), GitError> {
        let not_a_range = || GitError::NotARange(range.into());
        let (base, tip) = match range.split_once("..") {
            Some((_, tip)) if tip.starts_with('.') => return Err(not_a_range()),
            Some(("", "")) => return Err(not_a_range()),
            Some((base, tip)) => (Some(base), tip),
            None if range.is_empty() => return Err(not_a_range()),
            None => (None, range),
        };
        let or_head = |name: &str| self.resolve(if name.is_empty() { "HEAD" } else { name });
        let base = base.map(or_head).transpose()?;
        let tip = or_head(tip)?;
        let mut args = vec![
            "rev-list".to_owned(),
            "--first-parent".into(),
            "--reverse".into(),
            tip.id.to_string(),
        ];
        args.extend(base.iter().map(|base| format!("^{}", base.id)));
        let args: Vec<&OsStr> = args.iter().map(OsStr::new).collect();
        let answer = self.git.ask(&self.root, &args)?.ok_or_else(not_a_range)?;
        let names = String::from_utf8_lossy(&answer).into_owned();
        let commits = names.lines().map(|name| {
            let id = Oid::parse(name).ok_or_else(|| GitError::Answer(name.into()))?;
            self.commit(id)
        });
        Ok((base, commits.collect::<Result<_, _>>()?))
    }

    /// What is in a tree object, sorted by the bytes of the names.
    ///
    /// # Errors
    ///
    /// [`GitError`] if it is not there or no sound tree.
    pub(super) fn tree(&self, oid: Oid) -> Result<Entries, GitError> {
        if let Some(entries) = self.trees.get(&oid) {
            return Ok(entries);
        }
        let entries = self
            .batch
            .read(oid, Type::Tree, MAX_OBJECT_BYTES, |object| {
                parse_tree(oid, object)
            })??;
        self.trees.insert(oid, Arc::clone(&entries));
        Ok(entries)
    }
}
