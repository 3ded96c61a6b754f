//! Small workspaces, and something to look for in them.

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use proptest::sample::select;

use crate::case::Entry;

/// A pattern and a path over a workspace.
#[derive(Clone, Debug)]
pub(crate) struct Sought {
    pub(crate) entries: Vec<Entry>,
    /// Between the slashes; holds no slash itself.
    pub(crate) pattern: String,
    pub(crate) path: &'static str,
}

const FILES: &[&str] = &[
    "a", "b.log", "d/a", "d/b.log", "d/e/a", "d/e/c.rs", "d/out/a", "out/b", ".h/a", "f g/é",
];
const RULES_AT: &[&str] = &[".gitignore", "d/.gitignore", "d/e/.gitignore"];
const RULES: &[&str] = &[
    "a", "*.log", "/a", "d/", "/d/*", "!a", "!*.log", "**/e", "d/**", "d/**/a", "e/*", "out/",
    "!out/", ".h", "?", "[a-c]", "b.*", "*", "!*/", "# a", "", "a ", "\\a", "f g",
];
const PATHS: &[&str] = &[
    ".", "./", "d", "d/", "d/e", "d/../d", "out", "a", "d/a", "none", "d/e/x",
];
const PIECES: &[&str] = &[
    "a", "A", "b", "ab", "é", "É", " ", "_", "1", "aa", "\t", "ß", "-",
];
const LINE_ENDS: &[&str] = &["\n", "\n", "\n", "\r\n", "\r", "\r\r\n", "\n\n"];
const ATOMS: &[&str] = &[
    "a",
    "b",
    "ab",
    "é",
    "[ab]",
    "[^a]",
    r"\w",
    r"\d",
    r"\s",
    ".",
    "[[:upper:]]",
    r"\x61",
    r"\r",
    "(?i:é)",
    "(?i:ab)",
    r"(?-u:[\x80-\xff])",
];
const ANCHORS: &[&str] = &[
    "^",
    "$",
    r"\b",
    r"\B",
    r"\A",
    r"\z",
    "(?m:^)",
    "(?m:$)",
    r"\b{start}",
];
const REPEATS: &[&str] = &["", "", "", "?", "*", "+", "+?", "{2}", "{0,2}"];

/// A workspace with a question about it.
pub(crate) fn sought() -> BoxedStrategy<Sought> {
    let files = btree_map(select(FILES), content(), 1..FILES.len());
    let rules = btree_map(select(RULES_AT), vec(select(RULES), 0..5), 0..3);
    (files, rules, pattern(), select(PATHS))
        .prop_map(|(files, rules, pattern, path)| {
            let rules = rules
                .into_iter()
                .map(|(path, rules)| (path, rules.join("\n")));
            let entries = files.into_iter().chain(rules).map(|(path, text)| Entry {
                path: path.to_owned(),
                text,
                ..Entry::default()
            });
            Sought {
                entries: entries.collect(),
                pattern,
                path,
            }
        })
        .boxed()
}

/// Lines of few different characters, with line ends of all kinds; now and
/// then a NUL.
fn content() -> BoxedStrategy<String> {
    let line = vec(select(PIECES), 0..4).prop_map(|pieces| pieces.concat());
    let lines = vec((line.clone(), select(LINE_ENDS)), 0..6);
    (lines, line, proptest::bool::weighted(0.05))
        .prop_map(|(lines, last, binary)| {
            let mut text = String::new();
            for (line, end) in lines {
                text += &line;
                text += end;
            }
            text += &last;
            if binary { text + "\0" } else { text }
        })
        .boxed()
}

/// Alternatives of anchored, repeated and grouped atoms.
fn pattern() -> BoxedStrategy<String> {
    let atom = select(ATOMS).prop_map(str::to_owned);
    let anchor = select(ANCHORS).prop_map(str::to_owned);
    let inner = prop_oneof![4 => repeated(atom.boxed()), 1 => anchor.boxed()].boxed();
    let sequence =
        |inner: BoxedStrategy<String>| vec(inner, 1..4).prop_map(|parts| parts.concat()).boxed();
    let alternatives =
        |inner: BoxedStrategy<String>| vec(inner, 1..3).prop_map(|parts| parts.join("|")).boxed();
    let group = alternatives(sequence(inner.clone())).prop_map(|text| format!("({text})"));
    let outer = prop_oneof![4 => inner, 1 => repeated(group.boxed())].boxed();
    let flags = select(&["", "", "", "(?i)", "(?s)", "(?x)"][..]);
    (flags, alternatives(sequence(outer)))
        .prop_map(|(flags, pattern)| format!("{flags}{pattern}"))
        .boxed()
}

fn repeated(inner: BoxedStrategy<String>) -> BoxedStrategy<String> {
    (inner, select(REPEATS))
        .prop_map(|(inner, repeat)| match repeat {
            "" => inner,
            repeat => format!("(?:{inner}){repeat}"),
        })
        .boxed()
}
