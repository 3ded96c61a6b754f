//! Globs: those of v2 are `globset`'s as its regexes are `regex`'s, and a rule
//! of a `.gitignore` file is turned into a regex piece by piece.

use globset::{GlobBuilder, GlobMatcher};
use regex::bytes::Regex;

/// True if a path of v2 is a glob.
pub(super) fn is_glob(text: &str) -> bool {
    text.contains(['*', '?', '[', '{'])
}

/// The matcher of whole paths for a glob of v2; `*` and `?` stay within a name.
pub(super) fn compile(glob: &str) -> Option<GlobMatcher> {
    let glob = GlobBuilder::new(glob)
        .literal_separator(true)
        .build()
        .ok()?;
    Some(glob.compile_matcher())
}

/// The regex of whole paths for a rule of a `.gitignore` file; like git it takes
/// bytes for characters.
pub(super) fn compile_rule(glob: &str) -> Option<Regex> {
    let mut regex = String::from(r"(?s-u)\A");
    let mut rest = glob;
    let mut component_start = true;
    while let Some(first) = rest.chars().next() {
        let mut used = first.len_utf8();
        match first {
            '*' if component_start && rest.starts_with("**/") => {
                regex.push_str("(?:.*/)?");
                rest = &rest[3..];
                continue;
            }
            '*' if component_start && rest == "**" => {
                regex.push_str(".+");
                used = 2;
            }
            '*' => regex.push_str("[^/]*"),
            '?' => regex.push_str("[^/]"),
            '[' => {
                let (class, end) = class(rest)?;
                regex.push_str(&class);
                used = end;
            }
            '\\' => {
                let escaped = rest[1..].chars().next()?;
                regex.push_str(&regex::escape(&escaped.to_string()));
                used += escaped.len_utf8();
            }
            other => regex.push_str(&regex::escape(&other.to_string())),
        }
        component_start = first == '/';
        rest = &rest[used..];
    }
    regex.push_str(r"\z");
    Regex::new(&regex).ok()
}

/// Reads `[…]`; gives its regex and its length in bytes.
fn class(rest: &str) -> Option<(String, usize)> {
    let negated = rest[1..].starts_with(['!', '^']);
    let start = 1 + usize::from(negated);
    let end = start + 1 + rest.get(start + 1..)?.find(']')?;
    let mut class = String::from(if negated { "[^/" } else { "[" });
    for c in rest[start..end].chars() {
        if !c.is_ascii_alphanumeric() && c != '-' && c.is_ascii() {
            class.push('\\');
        }
        class.push(c);
    }
    class.push(']');
    Some((class, end + 1))
}
