//! Where two histories meet.

use std::process::Stdio;

use crate::git::{Commit, GitError, Oid, Repository};

impl Repository {
    /// The best common ancestor of two commits, that which `git merge-base` names.
    ///
    /// Where history is cut off, a nearer one may be beyond. Only if one commit leads to
    /// the other can nothing be nearer, and it is taken although there is more beyond.
    ///
    /// # Errors
    ///
    /// [`GitError::NoMergeBase`], or what keeps git from telling.
    pub fn merge_base(&self, one: &Commit, other: &Commit) -> Result<Commit, GitError> {
        if one.id == other.id {
            return Ok(one.clone());
        }
        let none = || GitError::NoMergeBase(one.id, other.id);
        match self.ask_merge_base(one.id, other.id, false)? {
            (Some(id), _) => self.commit(id),
            // It found the ends of both histories.
            (None, Some(1)) => Err(none()),
            (None, _) => {
                let (found, _) = self.ask_merge_base(one.id, other.id, true)?;
                match found {
                    Some(id) if id == one.id => Ok(one.clone()),
                    Some(id) if id == other.id => Ok(other.clone()),
                    _ => Err(none()),
                }
            }
        }
    }

    /// What git finds, and its exit status.
    fn ask_merge_base(
        &self,
        one: Oid,
        other: Oid,
        is_shallow: bool,
    ) -> Result<(Option<Oid>, Option<i32>), GitError> {
        let mut command = self.git.command();
        if is_shallow {
            command.env_remove("GIT_SHALLOW_FILE");
        }
        // The objects themselves are asked, not what somebody wrote down of them.
        command.args(["-c", "core.commitGraph=false", "merge-base"]);
        command.args([one.to_string(), other.to_string()]);
        let output = command.stderr(Stdio::null()).output()?;
        let printed = String::from_utf8_lossy(&output.stdout);
        let found = Oid::parse(printed.trim_end()).filter(|_| output.status.success());
        Ok((found, output.status.code()))
    }

    /// The commit that is checked out; `None` if the branch has none yet.
    ///
    /// # Errors
    ///
    /// [`GitError`] if it cannot be read.
    pub fn head(&self) -> Result<Option<Commit>, GitError> {
        let unknown = match self.resolve("HEAD") {
            Err(error @ GitError::NoCommit(_)) => error,
            found => return found.map(Some),
        };
        let is_set = |args: &[&str]| self.git.ask(args).map(|answer| answer.is_ok());
        let is_unborn = !is_set(&["rev-parse", "--verify", "--quiet", "HEAD"])?
            && is_set(&["symbolic-ref", "--quiet", "HEAD"])?;
        match is_unborn {
            true => Ok(None),
            false => Err(unknown),
        }
    }
}
