//! How much a remark weighs, and where it is, in the forms that other tools read.

/// How much a remark weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    /// The run does not pass.
    Error,
    /// A person should look.
    Warning,
    /// For information.
    Note,
}

/// The most bytes of a path; systems take no longer one.
pub(super) const LONGEST: usize = 4096;

/// A line of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct At<'a> {
    /// The file.
    pub(super) path: &'a str,
    /// The line, from 1 on; `None` for the file as a whole.
    pub(super) line: Option<u64>,
}

impl<'a> At<'a> {
    pub(super) const fn new(path: &'a str, line: Option<u64>) -> Self {
        Self { path, line }
    }

    /// A place in the workspace, or `None` if the path, which a predicate may have made
    /// up, does not stay below its root.
    pub(super) fn inside(path: &'a str, line: Option<u64>) -> Option<Self> {
        let path = path.strip_prefix("./").unwrap_or(path);
        let stays = path.len() <= LONGEST
            && !path.contains('\0')
            && path.split('/').all(|name| !matches!(name, "" | "." | ".."));
        stays.then_some(Self { path, line })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_is_too_long_is_no_place() {
        assert!(At::inside(&"x".repeat(LONGEST), None).is_some());
        assert!(At::inside(&"x".repeat(LONGEST + 1), None).is_none());
    }

    #[test]
    fn only_paths_below_the_root_are_places() {
        for (path, inside) in [
            ("src/lib.rs", Some("src/lib.rs")),
            ("./a", Some("a")),
            ("..a", Some("..a")),
            ("", None),
            ("/etc/passwd", None),
            ("//host/share", None),
            ("../x", None),
            ("a/../../x", None),
            ("a\0b", None),
        ] {
            let found = At::inside(path, None).map(|at| at.path);
            assert_eq!(found, inside, "{path:?}");
        }
    }
}
