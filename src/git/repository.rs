//! A repository and its commits.

use std::fmt;
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use quick_cache::Weighter;
use quick_cache::sync::Cache;
use sha2::{Digest as _, Sha256};

use crate::files::{FileId, Object};
use crate::git::batch::{Batch, Body};
use crate::git::command::{self, Git};
use crate::git::discover::discover;
use crate::git::process::Type;
use crate::git::tree::{TreeId, parse_tree};
use crate::git::{Commit, GitError, Oid};

/// Trees that are kept in memory, in bytes.
const KEPT_TREE_BYTES: u64 = 64 << 20;

/// The largest tree or commit that is read, in bytes.
const MAX_OBJECT_BYTES: u64 = 64 << 20;

/// A directory of a tree object.
pub(super) type Entries = Arc<[Object<TreeId>]>;

/// The repository that a workspace belongs to.
pub struct Repository {
    pub(super) git: Git,
    git_dir: PathBuf,
    /// The work tree, without links.
    top: PathBuf,
    has_work_tree: bool,
    /// The workspace in the repository, `/`-separated; empty if it is all of it.
    prefix: Vec<u8>,
    pub(super) batch: Batch,
    trees: Cache<Oid, Entries, BySize>,
}

impl fmt::Debug for Repository {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Repository")
            .field("git_dir", &self.git_dir)
            .finish_non_exhaustive()
    }
}

#[derive(Clone)]
struct BySize;

impl Weighter<Oid, Entries> for BySize {
    fn weight(&self, _: &Oid, entries: &Entries) -> u64 {
        let names: usize = entries.iter().map(|entry| entry.name.len()).sum();
        (names + (entries.len() + 1) * size_of::<Object<TreeId>>()) as u64
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
        let place = discover(root)?;
        let git = Git::find(&place)?;
        let has_work_tree = place.git_dir != place.top;
        let answer = git.ask(&["rev-parse", "--absolute-git-dir"])?;
        let git_dir = answer.map_err(|said| GitError::Unusable {
            path: place.git_dir,
            said,
        })?;
        Ok(Self {
            batch: Batch::new(git.clone()),
            git,
            git_dir: command::path(&git_dir),
            top: place.top,
            has_work_tree,
            prefix: place.prefix,
            trees: Cache::with_weighter(10_000, KEPT_TREE_BYTES, BySize),
        })
    }

    /// Tells the repository from others, as [`crate::files::Tree::space`].
    #[must_use]
    pub fn space(&self) -> Vec<u8> {
        // Linked work trees share the objects of one repository.
        let common = std::fs::read(self.git_dir.join("commondir")).unwrap_or_default();
        let common = command::path(common.trim_ascii_end());
        let id = std::fs::File::open(self.git_dir.join(common))
            .ok()
            .and_then(|directory| FileId::at(directory.as_fd()).ok());
        [
            b"repository".as_slice(),
            &id.map(FileId::bytes).unwrap_or_default(),
        ]
        .concat()
    }

    /// The work tree, without links.
    ///
    /// # Errors
    ///
    /// [`GitError::NoWorkTree`] for a bare repository.
    pub fn top(&self) -> Result<&Path, GitError> {
        match self.has_work_tree {
            true => Ok(&self.top),
            false => Err(GitError::NoWorkTree(self.top.clone())),
        }
    }

    /// The path in the workspace of a path of the repository; `None` if it lies outside.
    #[must_use]
    pub fn in_workspace<'p>(&self, path: &'p [u8]) -> Option<&'p [u8]> {
        match &*self.prefix {
            b"" => Some(path),
            prefix => path.strip_prefix(prefix)?.strip_prefix(b"/"),
        }
    }

    /// The workspace in the repository, `/`-separated; empty if it is all of it.
    pub(super) fn workspace(&self) -> &[u8] {
        &self.prefix
    }

    /// What keeps git from answering.
    pub(super) fn unusable(&self, said: String) -> GitError {
        GitError::Unusable {
            path: self.git_dir.clone(),
            said,
        }
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
        let answer = self.git.ask(&args)?.map_err(|_| unknown())?;
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
        let tip_id = tip.id.to_string();
        let but = base.as_ref().map(|base| format!("^{}", base.id));
        let mut args = vec!["rev-list", "--first-parent", "--reverse", &tip_id];
        args.extend(but.as_deref());
        args.push("--");
        let names = match self.git.ask(&args)? {
            Ok(names) => String::from_utf8_lossy(&names).into_owned(),
            Err(said) => return Err(self.why_broken(tip, said)),
        };
        let ids = names.lines().map(|name| {
            let id = Oid::parse(name).ok_or_else(|| GitError::Answer(name.into()))?;
            self.batch.announce(id);
            Ok(id)
        });
        let ids: Vec<Oid> = ids.collect::<Result<_, GitError>>()?;
        let commits = ids.into_iter().map(|id| self.commit(id));
        let commits: Vec<Commit> = commits.collect::<Result<_, _>>()?;
        self.check_whole(base.as_ref(), &commits)?;
        Ok((base, commits))
    }

    /// Checks by the commits themselves that each is the first parent of the next and
    /// that none is missing before the first: a verdict must not seem to be older or
    /// newer than it is.
    fn check_whole(&self, base: Option<&Commit>, commits: &[Commit]) -> Result<(), GitError> {
        let mut pairs = commits.iter().zip(commits.iter().skip(1));
        if let Some((_, next)) = pairs.find(|(one, next)| next.parent != Some(one.id)) {
            return Err(GitError::Cut(next.id));
        }
        let Some(first) = commits.first() else {
            return Ok(());
        };
        match first.parent {
            Some(parent) if base.is_none() || self.commit(parent).is_err() => {
                Err(GitError::Cut(first.id))
            }
            _ => Ok(()),
        }
    }

    /// Finds the commit where first parents end too early.
    fn why_broken(&self, tip: Commit, said: String) -> GitError {
        let mut commit = tip;
        // No parent comes twice: a commit would have to hold its own digest.
        while let Some(parent) = commit.parent {
            commit = match self.commit(parent) {
                Ok(parent) => parent,
                Err(GitError::Missing { .. }) => return GitError::Cut(commit.id),
                Err(error) => return error,
            };
        }
        self.unusable(said)
    }

    /// Lends a blob of at most `cap` bytes.
    ///
    /// # Errors
    ///
    /// [`GitError::TooLarge`] over the cap; [`GitError`] if it is not there or no blob.
    pub fn blob<R>(
        &self,
        id: Oid,
        cap: u64,
        consume: impl FnOnce(&[u8]) -> R,
    ) -> Result<R, GitError> {
        self.batch.read(id, Type::Blob, cap, consume)
    }

    /// The SHA-256 of what a blob holds, whatever its size; `None` if it has another size
    /// than that, in bytes.
    ///
    /// # Errors
    ///
    /// [`GitError`] if it is not there or no blob.
    pub fn digest(&self, id: Oid, size: u64) -> Result<Option<[u8; 32]>, GitError> {
        self.batch.lend(id, u64::MAX, |body| {
            let mut hash = Sha256::new();
            match body {
                Body::Whole(bytes) if bytes.len() as u64 == size => hash.update(bytes),
                Body::Stream(source, found) if found == size => {
                    let mut buffer = vec![0; 64 << 10];
                    loop {
                        let read = source.read(&mut buffer)?;
                        let Some(bytes) = buffer.get(..read).filter(|it| !it.is_empty()) else {
                            break;
                        };
                        hash.update(bytes);
                    }
                }
                _ => return Ok(None),
            }
            Ok(Some(hash.finalize().into()))
        })
    }

    /// Says that an object will be read soon, behind those said before.
    pub fn announce(&self, id: Oid) {
        self.batch.announce(id);
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
