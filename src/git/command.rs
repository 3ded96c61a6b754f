//! Running `git` so that it reads and nothing else.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::git::GitError;
use crate::git::discover::Place;

/// Which `git` is run, and in which environment.
#[derive(Clone, Debug)]
pub(super) struct Git {
    program: PathBuf,
    path: OsString,
    /// The option that says where the repository is.
    git_dir: OsString,
}

impl Git {
    /// Looks for `git` in the absolute directories of `PATH` that are not in the work
    /// tree: what is to be judged must not choose its judge.
    pub(super) fn find(place: &Place) -> Result<Self, GitError> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let outside = |directory: &PathBuf| {
            let real = directory.canonicalize();
            directory.is_absolute() && real.is_ok_and(|real| !real.starts_with(&place.top))
        };
        let directories: Vec<PathBuf> = std::env::split_paths(&path).filter(outside).collect();
        let programs = directories.iter().map(|directory| directory.join("git"));
        let program = programs
            .into_iter()
            .find(|program| is_program(program, &place.top));
        Ok(Self {
            program: program.ok_or(GitError::NoGit)?,
            path: std::env::join_paths(directories).unwrap_or_default(),
            git_dir: git_dir(place),
        })
    }

    /// The same `git` for a repository in the work tree.
    pub(super) fn at(&self, place: &Place) -> Self {
        Self {
            git_dir: git_dir(place),
            ..self.clone()
        }
    }

    /// A `git` command that neither reads the user's configuration nor asks, fetches,
    /// pages, or takes one object or history for another.
    ///
    /// The repository's own configuration is read, since it says how objects are
    /// stored. The programs that it can name are for commands that fetch, filter,
    /// compare, sign or refresh an index: `cat-file` without `--filters` or
    /// `--textconv`, `rev-parse`, `rev-list` and `merge-base` run none of them, nor do
    /// those that only list: `diff-tree` and `diff-index --cached` without patches or
    /// renames, `ls-tree`, and `ls-files` for what is in the index or in none. An
    /// alias never stands for a command of git's own.
    pub(super) fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command
            .env_clear()
            .env("PATH", &self.path)
            .env("LC_ALL", "C")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_ATTR_NOSYSTEM", "1")
            .env("GIT_NO_REPLACE_OBJECTS", "1")
            // As if the clone were not shallow and no commit given other parents:
            // where history is cut off there has to be an error.
            .env("GIT_SHALLOW_FILE", "")
            .env("GIT_GRAFT_FILE", "/dev/null")
            .env("GIT_NO_LAZY_FETCH", "1")
            // For versions that do not know the line above: no transport will do.
            .env("GIT_ALLOW_PROTOCOL", "")
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("GIT_OPTIONAL_LOCKS", "0")
            .args(["--no-pager", "-c", "core.fsmonitor=false"])
            .args(["-c", "core.hooksPath=/dev/null"])
            // Larger blobs are handed out as they are inflated, where they are no
            // deltas, and not held whole.
            .args(["-c", "core.bigFileThreshold=4m"])
            .arg(&self.git_dir)
            // Names of files there could be taken for revisions.
            .current_dir("/")
            // An interrupt from the terminal is for us alone: we say what was not
            // evaluated for it. The process ends when its input does.
            .process_group(0)
            .stdin(Stdio::null())
            .stderr(Stdio::null());
        command
    }

    /// A [`Git::command`] that knows the index. That which a hook of `git commit` is told
    /// of is not the usual one.
    pub(super) fn index_command(&self) -> Command {
        let mut command = self.command();
        // Of a sparse index every file is told, and not the directories that hold them.
        command.args(["-c", "index.sparse=false"]);
        let told = std::env::var_os("GIT_INDEX_FILE").filter(|path| !path.is_empty());
        if let Some(path) = told.and_then(|path| std::path::absolute(path).ok()) {
            command.env("GIT_INDEX_FILE", path);
        }
        command
    }

    /// What a command prints, without the final line end; if it fails, what it says
    /// of that.
    pub(super) fn ask(&self, args: &[&str]) -> Result<Result<Vec<u8>, String>, GitError> {
        let output = self.command().args(args).stderr(Stdio::piped()).output()?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            let line = said.lines().next().unwrap_or("it failed");
            return Ok(Err(line.trim_start_matches("fatal: ").to_owned()));
        }
        let mut printed = output.stdout;
        if printed.last() == Some(&b'\n') {
            printed.pop();
        }
        Ok(Ok(printed))
    }
}

fn git_dir(place: &Place) -> OsString {
    let mut option = OsString::from("--git-dir=");
    option.push(&place.git_dir);
    option
}

/// True for a file that may be executed and does not lie in the work tree.
fn is_program(path: &Path, top: &Path) -> bool {
    let is_executable = path
        .metadata()
        .is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0);
    is_executable && path.canonicalize().is_ok_and(|real| !real.starts_with(top))
}

/// A path that `git` printed.
pub(super) fn path(printed: &[u8]) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(printed))
}
