//! Paths that can name nothing inside a workspace.

use crate::diagnostic::{Code, Diagnostic, Span};
use crate::syntax::Sink;

/// Warns about a path that every workspace answers the same way. The predicate
/// stays valid: at run time its facts are unknown.
pub(super) fn check(text: &str, span: Span, sink: &mut Sink) {
    let (message, help) = match text.as_bytes() {
        [] => ("the path is empty", "the whole workspace is `\".\"`"),
        [b'/', ..] => (
            "the path is absolute",
            "paths are relative to the root of the workspace",
        ),
        bytes if bytes.contains(&0) => ("the path holds a NUL", "remove it"),
        bytes if bytes.contains(&b'\\') => (
            "the path holds a backslash",
            "paths are separated with `/` on every system",
        ),
        [drive, b':', ..] if drive.is_ascii_alphabetic() => (
            "the path names a drive",
            "paths are relative to the root of the workspace",
        ),
        _ if climbs_out(text) => (
            "the path leaves the workspace",
            "paths are relative to the root of the workspace and stay inside",
        ),
        _ => return,
    };
    sink.push(Diagnostic::warning(Code::SuspiciousPath, span, message).help(help));
}

fn climbs_out(text: &str) -> bool {
    if !text.contains("..") {
        return false;
    }
    let mut depth = 0_usize;
    for part in text.split('/') {
        match part {
            "" | "." => {}
            ".." if depth == 0 => return true,
            ".." => depth -= 1,
            _ => depth += 1,
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::climbs_out;

    #[test]
    fn climbing() {
        for (path, out) in [
            ("../a", true),
            ("a/../../b", true),
            ("a/../b", false),
            ("a..b", false),
            ("./../a", true),
            ("..", true),
            ("a/..", false),
        ] {
            assert_eq!(climbs_out(path), out, "{path}");
        }
    }
}
