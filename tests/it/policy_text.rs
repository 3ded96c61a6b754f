//! Any text at all as a policy: it is one, or an error with the line.

use std::ops::Range;

use probity::policy::{MAX_POLICY_BYTES, Policy};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

/// Every key, so that each of them is mutated.
const VALID: &str = r#"
[run]
allow = ["git", { program = "/usr/bin/make", args = ["check"], nondeterministic = true }]
path = ["/usr/bin", "~/bin"]
env = ["HOME"]
read = ["/srv"]
write = ["target", "./out/x"]
timeout = "5s"
cpu = "1500ms"
memory = "64MiB"
output = "2KiB"
processes = 7
network = true
confinement = "best-effort"
jobs = 3

[test]
runner = "custom"
args = ["-q"]
command = ["sh", "t.sh", "{names}"]
junit = "out/j.xml"
timeout = "2m"
cpu = "3m"

[judge]
path = ["/usr/bin"]
env = ["TOKEN"]
read = ["~/judges"]
write = ["out"]
timeout = "4s"
cpu = "2500ms"
memory = "32MiB"
output = "3KiB"
processes = 9
network = true
confinement = "required"
"#;

/// What takes the place of a piece: each is wrong somewhere, and right elsewhere.
const PIECES: &[&str] = &[
    "",
    "[",
    "]",
    "{",
    "}",
    "\"",
    "'",
    "=",
    ",",
    ".",
    "#",
    "\n",
    "\\",
    "\0",
    "\u{202e}",
    "0",
    "-1",
    "256",
    "4294967296",
    "99999999999999999999",
    "1e9",
    "nan",
    "true",
    "\"\"",
    "\"../x\"",
    "\"/x\"",
    "\"./x\"",
    "\"x\"",
    "\"A=B\"",
    "\"0s\"",
    "\"25h\"",
    "\"1GB\"",
    "\"cargo\"",
    "[]",
    "{}",
    "[[run]]",
    "[run]",
    "[test]",
    "[judge]",
    "run.",
    "\"\"\"",
    "1979-05-27",
    "{names}",
    "\u{feff}",
];

/// The piece of text around a place: a character, a word, a value or a line.
fn piece(text: &str, at: usize, kind: u8) -> Range<usize> {
    let at = (0..=at).rfind(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let is_end: fn(char) -> bool = match kind {
        0 => |_| true,
        1 => |char| !char.is_alphanumeric(),
        2 => |char| matches!(char, '=' | ',' | '\n'),
        _ => |char| char == '\n',
    };
    let start = text[..at].rfind(is_end).map_or(0, |end| {
        end + text[end..].chars().next().map_or(0, char::len_utf8)
    });
    let end = text[at..].find(is_end).map_or(text.len(), |end| at + end);
    start..end
}

fn check(text: &str) -> Result<(), TestCaseError> {
    let Err(error) = Policy::parse(text) else {
        return Ok(());
    };
    let line = error.split_once("at line ").map(|(_, rest)| rest);
    let line = line.and_then(|rest| rest.split(',').next()?.parse::<usize>().ok());
    let lines = text.split('\n').count();
    prop_assert!(
        line.is_some_and(|line| (1..=lines).contains(&line)),
        "{error:?} has no line of {text:?}"
    );
    Ok(())
}

proptest! {
    #[test]
    fn arbitrary_text_is_a_policy_or_an_error_with_the_line(text in any::<String>()) {
        check(&text)?;
    }

    #[test]
    fn pieces_of_policies_are_one_or_an_error_with_the_line(
        pieces in vec(prop_oneof![select(PIECES), select(VALID.lines().collect::<Vec<_>>())], 0..20),
        separator in select(&["", " ", "\n"][..]),
    ) {
        check(&pieces.join(separator))?;
    }

    #[test]
    fn a_mutated_policy_is_one_or_an_error_with_the_line(
        changes in vec((any::<Index>(), 0_u8..4, select(PIECES)), 1..4),
    ) {
        let mut text = VALID.to_owned();
        for (at, kind, new) in changes {
            let range = piece(&text, at.index(text.len() + 1), kind);
            text.replace_range(range, new);
        }
        check(&text)?;
    }
}

#[test]
fn what_it_is_mutated_from_is_a_policy() {
    Policy::parse(VALID).unwrap();
}

#[test]
fn deep_nesting_does_not_overflow_the_stack() {
    let longest = usize::try_from(MAX_POLICY_BYTES).unwrap();
    for piece in ["[", "{a=", "a.", "x = [", "[a."] {
        let text = format!("[run]\nallow = {}", piece.repeat(longest / piece.len()));
        check(&text).unwrap();
        check(&piece.repeat(longest / piece.len())).unwrap();
    }
}
