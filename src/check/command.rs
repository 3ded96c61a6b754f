//! Commands of `run`, which are split into words and started without a shell.

use crate::diagnostic::Code;
use crate::syntax::quote;

/// Why a command will not do what its text says.
#[derive(Debug)]
pub(super) struct Problem {
    pub(super) code: Code,
    pub(super) message: String,
    pub(super) help: String,
}

/// Looks for quotes that do not close and for syntax that only a shell has.
pub(super) fn problem(command: &str) -> Option<Problem> {
    if is_plain(command) {
        return None;
    }
    let Some(words) = shlex::split(command).filter(|_| !command.contains('\0')) else {
        return Some(Problem {
            code: Code::BadCommand,
            message: "the command cannot be split into words".to_owned(),
            help: "close every quote, let no backslash stand at the end, and use no NUL".to_owned(),
        });
    };
    if let Some(syntax) = shell_syntax(command) {
        return Some(Problem {
            code: Code::ShellSyntax,
            message: format!("{syntax} needs a shell, and `run` starts programs without one"),
            help: shell_help(command),
        });
    }
    words.is_empty().then(|| Problem {
        code: Code::BadCommand,
        message: "the command is empty".to_owned(),
        help: "name a program with its arguments, as in `run(\"cargo test\")`".to_owned(),
    })
}

/// True for commands of ordinary words alone, by far the most of them.
fn is_plain(command: &str) -> bool {
    let mut words = false;
    for byte in command.bytes() {
        match byte {
            b' ' => {}
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => words = true,
            b'-' | b'_' | b'.' | b'/' | b':' | b',' | b'+' | b'@' | b'%' | b'^' => words = true,
            _ => return false,
        }
    }
    words
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Quote {
    None,
    Single,
    Double,
}

/// The first piece of unquoted shell syntax, named.
pub(crate) fn shell_syntax(command: &str) -> Option<&'static str> {
    if assigns(command) {
        return Some("setting a variable with `NAME=value`");
    }
    let mut quote = Quote::None;
    let mut word_start = true;
    let mut chars = command.chars().peekable();
    while let Some(c) = chars.next() {
        let next = chars.peek().copied();
        match (quote, c) {
            (Quote::Single, '\'') | (Quote::Double, '"') => quote = Quote::None,
            (Quote::Single, _) => {}
            (_, '\\') => {
                chars.next();
            }
            (_, '$') if next.is_some_and(|n| n.is_alphanumeric() || "_({?#@*!$".contains(n)) => {
                return Some("`$`");
            }
            (_, '`') => return Some("a command in backticks"),
            (Quote::Double, _) => {}
            (Quote::None, '\'') => quote = Quote::Single,
            (Quote::None, '"') => quote = Quote::Double,
            (Quote::None, _) => {
                if let Some(found) = unquoted(c, next, word_start) {
                    return Some(found);
                }
            }
        }
        word_start = quote == Quote::None && matches!(c, ' ' | '\t');
    }
    None
}

fn unquoted(c: char, next: Option<char>, word_start: bool) -> Option<&'static str> {
    Some(match c {
        '|' if next == Some('|') => "`||`",
        '|' => "a pipe, `|`,",
        '&' if next == Some('&') => "`&&`",
        '&' => "`&`",
        ';' => "`;`",
        '\n' | '\r' => "a line end",
        '<' | '>' => "a redirection",
        '(' | ')' => "a subshell in parentheses",
        '*' | '?' | '[' => "a glob",
        '#' if word_start => "a comment",
        '~' if word_start && next.is_none_or(|n| n == '/' || n == ' ') => "`~`",
        '~' if word_start && next.is_some_and(char::is_alphanumeric) => "`~`",
        _ => return None,
    })
}

/// True for `NAME=value` in front of a command.
fn assigns(command: &str) -> bool {
    let first = command.split_whitespace().next().unwrap_or_default();
    first.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty()
            && !name.starts_with(|c: char| c.is_ascii_digit())
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
    })
}

fn shell_help(command: &str) -> String {
    // A long script is better written by its author.
    let script = if command.len() > 120 {
        "…".to_owned()
    } else {
        command.replace('\'', "'\\''")
    };
    format!(
        "allow `sh` in the policy and write `run({})`, or join two runs with `&&`",
        quote(&format!("sh -c '{script}'"))
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shell_syntax_is_found_where_it_is_not_quoted() {
        for command in [
            "a | b",
            "a > f",
            "a < f",
            "a; b",
            "a && b",
            "a || b",
            "a &",
            "echo $HOME",
            "echo \"$HOME\"",
            "echo $(x)",
            "echo `x`",
            "ls *.rs",
            "ls ?",
            "ls [ab]",
            "ls ~",
            "ls ~/x",
            "a # b",
            "A=1 cargo test",
            "(a)",
            "a\nb",
            "grep x 2>&1",
        ] {
            let found = problem(command).map(|p| p.code);
            assert_eq!(found, Some(Code::ShellSyntax), "{command}");
        }
    }

    #[test]
    fn quoted_and_ordinary_commands_pass() {
        for command in [
            "cargo test -p x",
            "grep '*|;' f",
            "echo 'a > b'",
            "echo \\*",
            "git show HEAD~1",
            "git log --format=%s",
            "echo \"a;b\"",
            "echo 'it'\\''s'",
            "sh -c 'a | b'",
            "a#b",
            "echo \"cost: 5$\"",
            "find . -name '*.rs'",
            "echo é",
        ] {
            assert!(problem(command).is_none(), "{command}");
        }
    }

    #[test]
    fn commands_that_are_none() {
        for command in ["", "  ", "echo 'a", "echo \"a", "a \\", "a\0b"] {
            let found = problem(command).map(|p| p.code);
            assert_eq!(found, Some(Code::BadCommand), "{command:?}");
        }
    }
}
