//! Running `git` so that it reads and nothing else.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::git::GitError;

/// Which `git` is run, and in which environment.
#[derive(Clone, Debug)]
pub(super) struct Git {
    program: PathBuf,
    path: std::ffi::OsString,
}

impl Git {
    /// Looks for `git` in the absolute directories of `PATH` that are not in the
    /// workspace: what is to be judged must not choose its judge.
    pub(super) fn find(workspace: &Path) -> Result<Self, GitError> {
        let workspace = workspace.canonicalize()?;
        let path = std::env::var_os("PATH").unwrap_or_default();
        let outside = |directory: &PathBuf| {
            let real = directory.canonicalize();
            directory.is_absolute() && real.is_ok_and(|real| !real.starts_with(&workspace))
        };
        let directories: Vec<PathBuf> = std::env::split_paths(&path).filter(outside).collect();
        let programs = directories.iter().map(|directory| directory.join("git"));
        let program = programs
            .into_iter()
            .find(|program| is_program(program, &workspace));
        Ok(Self {
            program: program.ok_or(GitError::NoGit)?,
            path: std::env::join_paths(directories).unwrap_or_default(),
        })
    }

    /// A `git` command that neither reads the user's configuration nor asks, fetches,
    /// pages, or replaces one object by another.
    ///
    /// Who owns the repository does not matter: that check is there for commands that
    /// run what a repository names, and these do not.
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
            .env("GIT_NO_LAZY_FETCH", "1")
            .env("GIT_ALLOW_PROTOCOL", "")
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("GIT_OPTIONAL_LOCKS", "0")
            .args(["-c", "safe.directory=*", "-c", "core.fsmonitor=false"])
            .stdin(Stdio::null())
            .stderr(Stdio::null());
        command
    }

    /// What a command in a directory prints, without the final line end. `None` if it
    /// fails.
    pub(super) fn ask(
        &self,
        directory: &Path,
        args: &[&OsStr],
    ) -> Result<Option<Vec<u8>>, GitError> {
        let output = self
            .command()
            .arg("-C")
            .arg(directory)
            .args(args)
            .output()?;
        if !output.status.success() {
            return Ok(None);
        }
        let mut printed = output.stdout;
        if printed.last() == Some(&b'\n') {
            printed.pop();
        }
        Ok(Some(printed))
    }
}

/// True for a file that may be executed and does not lie in the workspace.
fn is_program(path: &Path, workspace: &Path) -> bool {
    let is_executable = path
        .metadata()
        .is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0);
    is_executable
        && path
            .canonicalize()
            .is_ok_and(|real| !real.starts_with(workspace))
}

/// A path that `git` printed.
pub(super) fn path(printed: &[u8]) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(printed))
}
