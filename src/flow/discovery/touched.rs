//! The directories that a slice touches. (flow.md, sections 0 and 5.)

use std::collections::BTreeSet;

use serde_json::Value as Json;

use crate::flow::discovery::path;
use crate::flow::slice::{Slice, SliceFile};

/// A path of a slice that names no file below the root.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the slice has the path {path:?}, which {problem}; paths are relative to the root")]
pub struct TouchedError {
    /// The path.
    pub path: Box<str>,
    /// What is wrong with it.
    pub problem: &'static str,
}

/// The parent directories of the paths of a slice, each once, sorted by their text, `.`
/// for the root. A renamed file touches the directory that it left, too. A slice without files touches the root: its rules are for every slice.
///
/// # Errors
/// [`TouchedError`] for a path that is absolute, leaves the root or names no file: no
/// directory would be right, and one fewer could let something through.
///
/// ```
/// use probity::flow::{Slice, SliceFile, touched_directories};
///
/// let paths = ["a/b/c.rs", "README.md", "a/b/./d.rs"];
/// let slice = Slice::new(paths.map(|path| SliceFile::new(path, "")).into());
/// assert_eq!(touched_directories(&slice)?, [".".into(), "a/b".into()]);
/// # Ok::<(), probity::flow::TouchedError>(())
/// ```
pub fn touched_directories(slice: &Slice) -> Result<Vec<Box<str>>, TouchedError> {
    let mut directories = BTreeSet::new();
    let moved = |file| SliceFile::get(file, "renamed_from").and_then(Json::as_str);
    let paths = slice.files().iter();
    for file in paths
        .flat_map(|file| [Some(&*file.path), moved(file)])
        .flatten()
    {
        let wrong = |problem| TouchedError {
            path: file.into(),
            problem,
        };
        if file.contains('\0') {
            return Err(wrong("holds a NUL"));
        }
        let names = path::names(file).ok_or_else(|| wrong("is outside of the root"))?;
        let is_directory = file.ends_with('/');
        let Some((_, parents)) = names.split_last().filter(|_| !is_directory) else {
            return Err(wrong("names no file"));
        };
        directories.insert(path::directory(parents));
    }
    if directories.is_empty() {
        directories.insert(".".into());
    }
    Ok(directories.into_iter().collect())
}
