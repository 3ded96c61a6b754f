//! From the name of a program to its file.

use std::path::{Path, PathBuf};

use crate::policy::{Allowed, Policy};
use crate::reason::{Reason, ReasonCode};

/// The rule of a policy that allows a command.
pub(super) fn allowed<'p>(policy: &'p Policy, words: &[String]) -> Result<&'p Allowed, Reason> {
    let refused = |why: String| Reason::new(ReasonCode::CommandNotAllowed, why);
    let Some((program, args)) = words.split_first() else {
        return Err(Reason::new(
            ReasonCode::CommandInvalid,
            "the command has no words",
        ));
    };
    let mut named = policy
        .allow
        .iter()
        .filter(|rule| *rule.program == **program)
        .peekable();
    if named.peek().is_none() {
        return Err(refused(format!(
            "the policy does not allow the program `{program}`; to allow it, add it to `allow` in `[run]`"
        )));
    }
    let is_allowed = |rule: &&Allowed| match &rule.args {
        None => true,
        Some(only) => only
            .iter()
            .map(|arg| &**arg)
            .eq(args.iter().map(String::as_str)),
    };
    named.find(is_allowed).ok_or_else(|| {
        refused(format!(
            "the policy allows the program `{program}`, but not with these arguments"
        ))
    })
}

/// The file of a program, on the path of the policy and outside the workspace.
pub(super) fn resolve(program: &str, path: &[PathBuf], root: &Path) -> Result<PathBuf, Reason> {
    let not_found = |why: String| Reason::new(ReasonCode::CommandNotFound, why);
    let candidates: Vec<PathBuf> = if program.starts_with('/') {
        vec![program.into()]
    } else if program.contains('/') {
        return Err(Reason::new(
            ReasonCode::CommandNotAllowed,
            format!(
                "`{program}` is a relative path: programs are looked up by name, or named by an absolute path"
            ),
        ));
    } else {
        path.iter()
            .map(|directory| directory.join(program))
            .collect()
    };
    let Some(found) = candidates.iter().find(|candidate| is_program(candidate)) else {
        let shown: Vec<_> = path.iter().map(|path| path.display().to_string()).collect();
        return Err(not_found(format!(
            "there is no program `{program}` in {}; add its directory to `path` in the policy",
            shown.join(", ")
        )));
    };
    let real = found
        .canonicalize()
        .map_err(|error| not_found(format!("`{}`: {error}", found.display())))?;
    if real.starts_with(root) {
        return Err(Reason::new(
            ReasonCode::CommandNotAllowed,
            format!(
                "`{program}` is `{}`, a file of the workspace that is judged",
                real.display()
            ),
        ));
    }
    // Under its own name: what it is called tells some programs what to do.
    Ok(found.clone())
}

fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;

    path.metadata()
        .is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}
