//! What the `.gitignore` files of a workspace exclude, read anew for every
//! path that is asked about.

use std::fs;
use std::path::Path;

use super::glob;

/// Whether the rules exclude the path or a directory above it. The path is
/// relative to the root.
pub(super) fn is_ignored(root: &Path, relative: &str, is_dir: bool) -> bool {
    let parts: Vec<&str> = relative.split('/').collect();
    (1..=parts.len()).any(|end| {
        let is_dir = is_dir || end < parts.len();
        decision(root, &parts[..end], is_dir) == Some(true)
    })
}

/// The nearest `.gitignore` file that says anything about the path decides.
fn decision(root: &Path, parts: &[&str], is_dir: bool) -> Option<bool> {
    (0..parts.len()).rev().find_map(|depth| {
        let file = root.join(parts[..depth].join("/")).join(".gitignore");
        let rules = fs::read(file).ok()?;
        last_rule(&String::from_utf8_lossy(&rules), &parts[depth..], is_dir)
    })
}

/// The last rule of a file that matches decides for it.
fn last_rule(rules: &str, parts: &[&str], is_dir: bool) -> Option<bool> {
    let rules = rules.strip_prefix('\u{feff}').unwrap_or(rules);
    rules
        .split('\n')
        .rev()
        .find_map(|line| rule(line, parts, is_dir))
}

fn rule(line: &str, parts: &[&str], is_dir: bool) -> Option<bool> {
    let line = without_trailing_spaces(line.strip_suffix('\r').unwrap_or(line));
    if line.is_empty() || line.starts_with('#') {
        return None;
    }
    let (line, excluded) = match line.strip_prefix('!') {
        Some(line) => (line, false),
        None => (line, true),
    };
    let (line, only_dirs) = match line.strip_suffix('/') {
        Some(line) => (line, true),
        None => (line, false),
    };
    let anchored = line.contains('/');
    let name = if anchored {
        parts.join("/")
    } else {
        parts.last()?.to_string()
    };
    let matched =
        glob::compile_rule(line.strip_prefix('/').unwrap_or(line))?.is_match(name.as_bytes());
    (matched && (is_dir || !only_dirs)).then_some(excluded)
}

/// Trailing spaces do not count unless a backslash stands before them.
fn without_trailing_spaces(line: &str) -> &str {
    let mut line = line;
    while line.ends_with(' ') && !line.ends_with("\\ ") {
        line = &line[..line.len() - 1];
    }
    line
}
