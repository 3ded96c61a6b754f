//! The programs that a policy allows.

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
    /// that says nothing of them.
    ///
    /// # Errors
    /// What is neither a name nor an absolute path.
    pub fn allowing<'a>(programs: impl IntoIterator<Item = &'a str>) -> Result<Self, String> {
        let allow = |name: &str| Allowed::try_from(RawAllowed::Name(name.into()));
        Ok(Self {
            allow: programs.into_iter().map(allow).collect::<Result<_, _>>()?,
            ..Self::parse("")?
        })
    }
}

impl Bounds {
    /// Bounds that were not read from a file, if one could state them.
    pub(crate) fn checked(self) -> Result<Self, String> {
        for path in self.path.iter().chain(&self.read) {
            Absolute::try_from(path.clone())?;
        }
        for path in &self.write {
            Inside::try_from(path.clone())?;
        }
        for name in &self.env {
            Variable::try_from(name.clone())?;
        }
        Ok(self)
    }
}
