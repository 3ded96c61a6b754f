//! Where the repository of a workspace is.
//!
//! `git` is always told, with `--git-dir`, and never looks for itself, since what it
//! would find can be made by whoever is judged: a directory with the names `HEAD`,
//! `objects` and `refs` in it is a repository to git, and a commit can hold such a
//! directory. It cannot hold a `.git`. Told where the repository is, git also does not
//! ask who owns it, for which it has a setting that not every version takes from
//! the command line (`safe.directory`).

use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use crate::git::GitError;

/// A repository, not opened yet.
#[derive(Debug)]
pub(super) struct Place {
    /// What leads to it: a directory, or the file in its place that a linked work
    /// tree or a submodule has.
    pub(super) git_dir: PathBuf,
    /// The work tree, without links.
    pub(super) top: PathBuf,
    /// The workspace in the work tree, `/`-separated; empty if it is all of it.
    pub(super) prefix: Vec<u8>,
}

/// Finds the repository whose work tree holds a directory, or that is one without a
/// work tree itself.
///
/// # Errors
///
/// [`GitError::NoRepository`], [`GitError::Embedded`].
pub(super) fn discover(root: &Path) -> Result<Place, GitError> {
    let real = root.canonicalize()?;
    for top in real.ancestors() {
        let git_dir = top.join(".git");
        if !is_git(&git_dir) {
            continue;
        }
        // The one without `.git` that git would take instead.
        if top != real && is_bare(&real) {
            return Err(GitError::Embedded(root.into()));
        }
        let prefix = real.strip_prefix(top).unwrap_or(Path::new(""));
        return Ok(Place {
            git_dir,
            top: top.into(),
            prefix: prefix.as_os_str().as_bytes().to_vec(),
        });
    }
    if !is_bare(&real) {
        return Err(GitError::NoRepository(root.into()));
    }
    Ok(Place {
        git_dir: real.clone(),
        top: real,
        prefix: Vec::new(),
    })
}

/// True for a `.git` that stands for a repository; git passes by others, too.
fn is_git(path: &Path) -> bool {
    match path.metadata() {
        Ok(metadata) if metadata.is_dir() => path.join("HEAD").symlink_metadata().is_ok(),
        Ok(metadata) => metadata.is_file(),
        Err(_) => false,
    }
}

fn is_bare(path: &Path) -> bool {
    ["HEAD", "objects", "refs"]
        .iter()
        .all(|name| path.join(name).symlink_metadata().is_ok())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_nearest_work_tree_is_taken() {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().canonicalize().unwrap();
        let inner = top.join("a/inner");
        fs::create_dir_all(top.join("a/plain/x")).unwrap();
        fs::create_dir_all(inner.join("below")).unwrap();
        fs::create_dir(top.join(".git")).unwrap();
        fs::write(top.join(".git/HEAD"), "").unwrap();
        // Neither a directory without `HEAD` is one.
        fs::create_dir(top.join("a/plain/.git")).unwrap();
        fs::write(inner.join(".git"), "gitdir: elsewhere").unwrap();
        for (root, expected, prefix) in [
            (top.clone(), &top, ""),
            (top.join("a"), &top, "a"),
            (top.join("a/plain/x"), &top, "a/plain/x"),
            (inner.clone(), &inner, ""),
            (inner.join("below"), &inner, "below"),
        ] {
            let place = discover(&root).unwrap();
            assert_eq!(&place.top, expected);
            assert_eq!(place.git_dir, expected.join(".git"));
            assert_eq!(place.prefix, prefix.as_bytes());
        }
    }
}
