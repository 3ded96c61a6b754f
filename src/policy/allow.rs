//! The programs that a policy allows.

use std::path::PathBuf;

use serde::Deserialize;

use crate::policy::words::{Absolute, Inside, Variable};
use crate::policy::{Bounds, Policy};

/// A program that `run` may start.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "RawAllowed")]
pub struct Allowed {
    /// A name that is looked up, or an absolute path.
    pub program: Box<str>,
    /// The only arguments it may have; any if `None`.
    pub args: Option<Vec<Box<str>>>,
    /// Its results prove nothing: what asks for them is unevaluated.
    pub nondeterministic: bool,
}

#[derive(Debug, Deserialize)]
#[serde(
    untagged,
    expecting = "a program's name, or a table with `program`, `args` and `nondeterministic`"
)]
enum RawAllowed {
    Name(Box<str>),
    Program(RawProgram),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawProgram {
    program: Box<str>,
    args: Option<Vec<Box<str>>>,
    #[serde(default)]
    nondeterministic: bool,
}

impl TryFrom<RawAllowed> for Allowed {
    type Error = String;

    fn try_from(raw: RawAllowed) -> Result<Self, String> {
        let raw = match raw {
            RawAllowed::Program(raw) => raw,
            RawAllowed::Name(program) => RawProgram {
                program,
                args: None,
                nondeterministic: false,
            },
        };
        let program = &raw.program;
        let is_name = !program.contains('/') && !matches!(&**program, "" | "." | "..");
        if program.contains('\0') || !(is_name || program.starts_with('/')) {
            return Err(format!(
                "`{program}` in `allow` is neither a name to be looked up in `path` nor an absolute path"
            ));
        }
        Ok(Self {
            program: raw.program,
            args: raw.args,
            nondeterministic: raw.nondeterministic,
        })
    }
}

impl Policy {
    /// A policy that allows these programs with any arguments, within the bounds of one
    /// that says nothing of them. Its digest does not tell it from others, so nothing that
    /// it executed may be reused; what is neither a name nor an absolute path is an error.
    pub(crate) fn allowing<'a>(
        programs: impl IntoIterator<Item = &'a str>,
    ) -> Result<Self, String> {
        let allow = |name: &str| Allowed::try_from(RawAllowed::Name(name.into()));
        Ok(Self {
            allow: programs.into_iter().map(allow).collect::<Result<_, _>>()?,
            ..Self::parse("")?
        })
    }
}

impl Bounds {
    /// Bounds that were not read from a file, as one that states them would give them.
    pub(crate) fn checked(self) -> Result<Self, String> {
        if self.timeout.is_zero() || self.cpu.is_zero() {
            return Err("a time limit of nothing: no command could run".into());
        }
        let absolute = |paths: Vec<PathBuf>| -> Result<Vec<PathBuf>, String> {
            // What was checked is what is used: `~/` is written out only in that.
            let checked = paths.into_iter().map(Absolute::try_from);
            checked.map(|path| path.map(|path| path.0)).collect()
        };
        for path in &self.write {
            Inside::try_from(path.clone())?;
        }
        for name in &self.env {
            Variable::try_from(name.clone())?;
        }
        Ok(Self {
            path: absolute(self.path)?,
            read: absolute(self.read)?,
            ..self
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_is_not_written_out_is_never_used() {
        let mut bounds = Policy::parse("").unwrap().bounds;
        bounds.path = vec!["~/bin".into()];
        bounds.read = vec!["~/x".into()];
        // Without a home it is an error.
        if let Ok(bounds) = bounds.checked() {
            let mut paths = bounds.path.iter().chain(&bounds.read);
            assert!(paths.all(|path| path.is_absolute()), "{bounds:?}");
        }
    }
}
