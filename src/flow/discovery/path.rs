//! Paths of a tree, as texts.

/// The names that lead from the root to a path, `.` and `..` resolved by their text.
/// `None` if it is absolute or leaves the root.
pub(super) fn names(path: &str) -> Option<Vec<&str>> {
    if path.starts_with('/') {
        return None;
    }
    let mut names = Vec::new();
    for name in path.split('/') {
        match name {
            "" | "." => {}
            ".." => {
                names.pop()?;
            }
            name => names.push(name),
        }
    }
    Some(names)
}

/// Names as the path of a directory; `.` for the root.
pub(super) fn directory(names: &[&str]) -> Box<str> {
    match names {
        [] => ".".into(),
        names => names.join("/").into(),
    }
}
