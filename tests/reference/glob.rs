//! Globs, turned into regexes piece by piece. The same pieces serve the paths
//! of v2 and the rules of `.gitignore` files.

use regex::Regex;

/// True if a path of v2 is a glob.
pub(super) fn is_glob(text: &str) -> bool {
    text.contains(['*', '?', '[', '{'])
}

/// The regex of whole paths for a glob of v2, which may hold `{a,b}`.
pub(super) fn compile(glob: &str) -> Option<Regex> {
    translate(glob, true)
}

/// The regex of whole paths for a rule of a `.gitignore` file.
pub(super) fn compile_rule(glob: &str) -> Option<Regex> {
    translate(glob, false)
}

fn translate(glob: &str, braces: bool) -> Option<Regex> {
    let mut regex = String::from(r"(?s)\A");
    let mut depth = 0usize;
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
            '{' if braces => {
                regex.push_str("(?:");
                depth += 1;
            }
            ',' if depth > 0 => regex.push('|'),
            '}' if braces => {
                regex.push(')');
                depth = depth.checked_sub(1)?;
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
    if depth > 0 {
        None
    } else {
        Regex::new(&regex).ok()
    }
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
