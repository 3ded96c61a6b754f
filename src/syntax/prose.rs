//! Sources that are no predicate at all: sentences, shell commands, bare paths.

use crate::diagnostic::{Code, Diagnostic, Span};

use super::near::WordOperator;
use super::quoting::quote;
use super::token::{Flaw, Spanned, Token};

/// Programs that begin a line someone meant for a shell.
const PROGRAMS: &[&str] = &[
    "bash", "bun", "cargo", "cat", "cd", "cmake", "curl", "deno", "diff", "docker", "echo", "find",
    "gh", "git", "go", "gradle", "grep", "head", "jq", "just", "ls", "make", "mvn", "node", "npm",
    "npx", "pip", "pnpm", "pytest", "python", "python3", "rg", "ruff", "rustc", "rustup", "sed",
    "sh", "tail", "test", "tox", "uv", "wc", "yarn",
];

/// The one diagnostic for a source that is no predicate as a whole.
pub(super) fn judge(source: &str, tokens: &[Spanned<'_>]) -> Option<Diagnostic> {
    let calls = tokens
        .windows(2)
        .any(|pair| matches!(pair[0].token, Token::Primitive(_)) && pair[1].token == Token::Open);
    if calls {
        return None;
    }
    let text = source.trim();
    let start = source.len() - source.trim_start().len();
    let span = Span::new(start, start + text.len());
    if !text.contains(char::is_whitespace) {
        return is_path(text).then(|| bare_path(text, span));
    }
    if !has_sentence(source, tokens) {
        return None;
    }
    Some(if is_command(text) {
        command(text, span)
    } else {
        prose(span)
    })
}

/// True if two words stand side by side, one of them unknown: no expression
/// has that.
fn has_sentence(source: &str, tokens: &[Spanned<'_>]) -> bool {
    let is_unknown = |spanned: &Spanned<'_>| {
        spanned.token == Token::Flaw(Flaw::Word)
            && WordOperator::of(&source[spanned.span.range()]).is_none()
    };
    let is_word = |spanned: &Spanned<'_>| spanned.token.is_word() || is_unknown(spanned);
    // The dash of an option, which is a flaw of its own.
    let is_option = |spanned: &Spanned<'_>| {
        matches!(
            spanned.token,
            Token::Flaw(Flaw::Character | Flaw::Number) | Token::Int(_)
        ) && source[spanned.span.range()].starts_with('-')
    };
    let side_by_side = tokens.windows(2).any(|pair| {
        let parted = pair[0].span.end < pair[1].span.start;
        parted
            && is_word(&pair[0])
            && (is_word(&pair[1]) || is_option(&pair[1]))
            && (is_unknown(&pair[0]) || is_unknown(&pair[1]) || is_option(&pair[1]))
    });
    if side_by_side {
        return true;
    }
    // An apostrophe or slash may have swallowed the rest of the sentence.
    let [before @ .., last] = tokens else {
        return false;
    };
    matches!(last.token, Token::Flaw(Flaw::OpenRegex))
        && before.iter().any(is_word)
        && source[last.span.range()]
            .split_whitespace()
            .filter(|chunk| is_wordy(chunk))
            .count()
            >= 2
}

fn is_wordy(chunk: &str) -> bool {
    let bare = chunk.trim_matches(|c: char| c.is_ascii_punctuation());
    !bare.is_empty()
        && bare
            .chars()
            .all(|c| c.is_alphanumeric() || "-_'".contains(c))
}

/// True for one word that can only be a path: `src/main.rs`, `./run.sh`.
fn is_path(text: &str) -> bool {
    text.contains('/')
        && !text.starts_with('/')
        && text
            .chars()
            .all(|c| c.is_alphanumeric() || "/._-+@".contains(c))
}

fn is_command(text: &str) -> bool {
    let mut chunks = text.split_whitespace();
    let program = chunks.next().unwrap_or_default();
    if PROGRAMS.contains(&program) || (is_path(program) && !program.ends_with('/')) {
        return true;
    }
    let named = program
        .chars()
        .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_".contains(c));
    named
        && chunks.any(|chunk| {
            let letters = chunk.trim_start_matches('-');
            matches!(chunk.len() - letters.len(), 1 | 2)
                && letters.starts_with(|c: char| c.is_ascii_alphanumeric())
        })
}

fn command(text: &str, span: Span) -> Diagnostic {
    let text = text.lines().map(str::trim).collect::<Vec<_>>().join(" ");
    let suggestion = if text.contains(['|', '>', '<', ';', '$', '`', '*'])
        || text.replace("&&", "").contains('&')
    {
        let script = format!("sh -c '{}'", text.replace('\'', "'\\''"));
        format!(
            "allow `sh` in the policy and write `run({}).exit == 0`",
            quote(&script)
        )
    } else {
        let runs: Vec<String> = text
            .split("&&")
            .map(|part| format!("run({}).exit == 0", quote(part.trim())))
            .collect();
        format!("write `{}`", runs.join(" && "))
    };
    Diagnostic::error(
        Code::ShellCommand,
        span,
        "this is a shell command, not a predicate",
    )
    .help(suggestion)
}

fn prose(span: Span) -> Diagnostic {
    Diagnostic::error(
        Code::Prose,
        span,
        "this reads as prose, and a predicate is wanted",
    )
    .help(
        "say what to check, such as `grep(/fn main/, \"src/main.rs\") >= 1`, \
         `test(\"name\").passed` or `exists(\"path\")`; a claim that stays prose belongs in \
         `form: \"annotation\"`",
    )
}

fn bare_path(text: &str, span: Span) -> Diagnostic {
    Diagnostic::error(
        Code::UnknownWord,
        span,
        format!("`{text}` is a path, not a predicate"),
    )
    .help(format!(
        "to claim that it exists, write `exists({})`",
        quote(text)
    ))
}
