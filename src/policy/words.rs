//! Paths and names as a policy may state them.

use std::path::{Component, Path, PathBuf};

use serde::Deserialize;

/// An absolute path; `~/` is written out.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "PathBuf")]
pub(super) struct Absolute(pub(super) PathBuf);

/// A path inside the workspace.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "PathBuf")]
pub(super) struct Inside(pub(super) PathBuf);

/// The name of an environment variable.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "Box<str>")]
pub(super) struct Variable(pub(super) Box<str>);

impl TryFrom<PathBuf> for Absolute {
    type Error = String;

    fn try_from(path: PathBuf) -> Result<Self, String> {
        let path = at_home(path);
        if !path.is_absolute() {
            return Err(format!(
                "`{}` is not absolute: what it names would depend on the workspace",
                path.display()
            ));
        }
        Ok(Self(path))
    }
}

impl TryFrom<PathBuf> for Inside {
    type Error = String;

    fn try_from(path: PathBuf) -> Result<Self, String> {
        let is_plain = |part| matches!(part, Component::Normal(_) | Component::CurDir);
        if path.as_os_str().is_empty() || !path.components().all(is_plain) {
            return Err(format!(
                "`{}` is no path inside the workspace",
                path.display()
            ));
        }
        Ok(Self(path))
    }
}

impl TryFrom<Box<str>> for Variable {
    type Error = String;

    fn try_from(name: Box<str>) -> Result<Self, String> {
        if name.is_empty() || name.contains(['=', '\0']) {
            return Err(format!("`{name}` is no name of a variable"));
        }
        Ok(Self(name))
    }
}

/// A path with `~/` written out, where it is known who the user is.
fn at_home(path: PathBuf) -> PathBuf {
    match (path.strip_prefix("~"), std::env::var_os("HOME")) {
        (Ok(rest), Some(home)) => Path::new(&home).join(rest),
        _ => path,
    }
}
