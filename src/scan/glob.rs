//! Glob paths of `elench-predicate-v2`.

use globset::{Glob, GlobBuilder};

use crate::files::FileError;
use crate::reason::{Reason, ReasonCode};

/// Parses a glob over paths relative to the workspace root. `*` and `?` stay
/// within a path component, `**` does not.
///
/// # Errors
///
/// `path_invalid` for what is no glob, `path_outside_workspace` for one that
/// could only match outside.
pub(crate) fn glob(text: &str) -> Result<Glob, Reason> {
    if text.starts_with('/') || text.split('/').any(|component| component == "..") {
        return Err(FileError::Outside.reason(text));
    }
    let mut relative = text;
    while let Some(rest) = relative.strip_prefix("./") {
        relative = rest.trim_start_matches('/');
    }
    if relative.is_empty() {
        return Err(FileError::Invalid("is empty").reason(text));
    }
    GlobBuilder::new(relative)
        .literal_separator(true)
        .build()
        .map_err(|error| {
            let what = error.kind();
            Reason::new(
                ReasonCode::PathInvalid,
                format!("{text:?} is no glob: {what}"),
            )
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_stay_within_a_component() {
        for (text, path, matches) in [
            ("src/*.rs", "src/a.rs", true),
            ("src/*.rs", "src/a/b.rs", false),
            ("src/**/*.rs", "src/b.rs", true),
            ("src/**/*.rs", "src/a/b.rs", true),
            ("./src/{a,b}.rs", "src/b.rs", true),
            ("src/?.rs", "src/ab.rs", false),
        ] {
            assert_eq!(
                glob(text).unwrap().compile_matcher().is_match(path),
                matches,
                "{text} {path}"
            );
        }
    }

    #[test]
    fn globs_that_cannot_match_inside_are_refused() {
        for (text, code) in [
            ("/etc/*", ReasonCode::PathOutsideWorkspace),
            ("src/../../*", ReasonCode::PathOutsideWorkspace),
            ("", ReasonCode::PathInvalid),
            ("a[", ReasonCode::PathInvalid),
        ] {
            assert_eq!(glob(text).unwrap_err().code, code, "{text}");
        }
    }
}
