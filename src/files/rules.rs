//! What the workspace's own `.gitignore` files exclude. Global excludes,
//! `.git/info/exclude` and files above the root have no say: the same tree gives
//! the same count everywhere.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::files::FileError;

/// The largest `.gitignore` file that is honoured, in bytes.
pub(crate) const MAX_RULES_BYTES: u64 = 1 << 20;

/// One `.gitignore` file.
#[derive(Debug)]
struct RulesFile {
    /// How much of a path leads to the file's directory, with the final `/`.
    base: usize,
    matcher: Gitignore,
}

/// The `.gitignore` files from the root down to a directory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rules {
    files: Arc<[Arc<RulesFile>]>,
}

impl Rules {
    /// These rules and those of a `.gitignore` file in `directory`. Lines that
    /// are not UTF-8 or no pattern exclude nothing.
    pub(crate) fn with(&self, directory: &[u8], text: &[u8]) -> Result<Self, FileError> {
        let text = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text);
        // Paths are cut to the directory before they are matched.
        let mut builder = GitignoreBuilder::new("");
        for line in text.split(|&byte| byte == b'\n') {
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            if let Ok(line) = std::str::from_utf8(line) {
                // A line that is no pattern excludes nothing, as in git.
                let _ = builder.add_line(None, &without_alternates(line));
            }
        }
        let matcher = builder.build().map_err(|_| FileError::Rules)?;
        if matcher.is_empty() {
            return Ok(self.clone());
        }
        let file = RulesFile {
            base: if directory.is_empty() {
                0
            } else {
                directory.len() + 1
            },
            matcher,
        };
        let files = self.files.iter().cloned().chain([Arc::new(file)]);
        Ok(Self {
            files: files.collect(),
        })
    }

    /// True if the path, relative to the root and below the directory of these
    /// rules, is excluded. The deepest file with an opinion decides; excluded
    /// directories above the path are the caller's business.
    pub(crate) fn exclude(&self, path: &[u8], is_directory: bool) -> bool {
        for file in self.files.iter().rev() {
            let path = Path::new(OsStr::from_bytes(&path[file.base..]));
            match file.matcher.matched(path, is_directory) {
                Match::Ignore(_) => return true,
                Match::Whitelist(_) => return false,
                Match::None => {}
            }
        }
        false
    }
}

/// Escapes braces: to the glob matcher they are alternates, to git they are
/// themselves.
fn without_alternates(line: &str) -> Cow<'_, str> {
    if !line.contains(['{', '}']) {
        return Cow::Borrowed(line);
    }
    let mut escaped = String::with_capacity(line.len() + 8);
    let mut rest = line;
    while let Some(first) = rest.chars().next() {
        let taken = match first {
            '\\' => 1 + rest[1..].chars().next().map_or(0, char::len_utf8),
            '[' => class_len(rest),
            '{' | '}' => {
                escaped.push('\\');
                1
            }
            other => other.len_utf8(),
        };
        escaped.push_str(&rest[..taken]);
        rest = &rest[taken..];
    }
    Cow::Owned(escaped)
}

/// The length of the bracketed class that the text starts with, or 1 if its
/// bracket never closes and so is itself.
fn class_len(text: &str) -> usize {
    let negation = usize::from(text[1..].starts_with(['!', '^']));
    // A `]` right at the start is a member of the class.
    let first = 1 + negation;
    let member = usize::from(text[first..].starts_with(']'));
    text[first + member..]
        .find(']')
        .map_or(1, |end| first + member + end + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(text: &str) -> Rules {
        Rules::default().with(b"", text.as_bytes()).unwrap()
    }

    #[test]
    fn patterns_exclude_as_in_git() {
        for (text, path, is_directory, excluded) in [
            ("target", "target", true, true),
            ("target", "a/target", false, true),
            ("/target", "a/target", true, false),
            ("target/", "target", false, false),
            ("target/", "target", true, true),
            ("*.log\n!keep.log", "a/keep.log", false, false),
            ("*.log\n!keep.log", "a/drop.log", false, true),
            ("!keep.log\n*.log", "keep.log", false, true),
            ("a/*.rs", "a/b.rs", false, true),
            ("a/*.rs", "a/c/b.rs", false, false),
            ("a/**/b", "a/x/y/b", false, true),
            ("# comment\n\n", "# comment", false, false),
            ("\\#file", "#file", false, true),
            ("name \r\n", "name", false, true),
            ("\u{feff}bom", "bom", false, true),
            ("{a,b}", "a", false, false),
            ("{a,b}", "{a,b}", false, true),
            ("[{]x}", "{x}", false, true),
            ("[", "x", false, false),
        ] {
            assert_eq!(
                rules(text).exclude(path.as_bytes(), is_directory),
                excluded,
                "{text:?} {path:?}"
            );
        }
    }

    #[test]
    fn the_deepest_file_with_an_opinion_decides() {
        let rules = rules("*.rs\n*.md").with(b"a", b"!*.rs").unwrap();
        assert!(!rules.exclude(b"a/x.rs", false));
        assert!(rules.exclude(b"a/x.md", false));
    }

    #[test]
    fn lines_that_are_not_utf8_exclude_nothing() {
        let rules = Rules::default().with(b"", b"\xff*\nx").unwrap();
        assert!(rules.exclude(b"x", false));
        assert!(!rules.exclude(b"y", false));
    }
}
