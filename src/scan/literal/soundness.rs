//! No match is ever lost, and nothing proves a match that is none.

use proptest::prelude::*;
use regex_syntax::hir::Hir;

use crate::facts::{Pattern, RegexFlags};
use crate::scan::line_safe::line_safe;
use crate::scan::literal::{Literal, Proof, Required, edge_holds, plain, required};
use crate::scan::pattern::parse_pattern;

fn pattern(text: &str) -> Pattern {
    Pattern {
        text: text.into(),
        flags: RegexFlags::NONE,
    }
}

fn parse(text: &str) -> Option<Hir> {
    parse_pattern(&pattern(text))
        .ok()
        .map(|hir| line_safe(&hir))
}

fn is_at(literal: &Literal, line: &[u8], start: usize) -> bool {
    line.get(start..start + literal.bytes.len())
        .is_some_and(|found| {
            if literal.ignore_case {
                found.eq_ignore_ascii_case(&literal.bytes)
            } else {
                found == &*literal.bytes
            }
        })
}

/// What the literals say of a line: `None` if the regex has to look.
fn verdict(required: &Required, line: &[u8]) -> Option<bool> {
    let mut undecided = false;
    for literal in &required.literals {
        for start in (0..line.len()).filter(|&start| is_at(literal, line, start)) {
            let holds = match literal.proof {
                Proof::Candidate => None,
                Proof::Match { start: before, end } => {
                    let after = start + literal.bytes.len();
                    match (
                        edge_holds(before, line, start, true),
                        edge_holds(end, line, after, false),
                    ) {
                        (Some(false), _) | (_, Some(false)) => Some(false),
                        (Some(true), Some(true)) => Some(true),
                        _ => None,
                    }
                }
            };
            match holds {
                Some(true) => return Some(true),
                Some(false) => {}
                None => undecided = true,
            }
        }
    }
    if undecided { None } else { Some(false) }
}

fn check(text: &str, line: &[u8]) {
    let Ok(regex) = regex::bytes::RegexBuilder::new(text)
        .size_limit(1 << 20)
        .build()
    else {
        return;
    };
    let Some(hir) = parse(text) else { return };
    let found = required(&hir);
    if let Some(fast) = plain(&pattern(text)) {
        assert_eq!(Some(&fast), found.as_ref(), "{text:?}");
    }
    if let Some(required) = found
        && let Some(verdict) = verdict(&required, line)
    {
        assert_eq!(
            verdict,
            regex.is_match(line),
            "{text:?} {required:?} on {:?}",
            line.escape_ascii().to_string()
        );
    }
}

const ATOMS: &[&str] = &[
    "a",
    "b",
    "K",
    "s",
    "ab",
    "ba",
    "é",
    "ſ",
    "\u{212a}",
    "_",
    "-",
    " ",
    ".",
    "\\.",
    "\\d",
    "\\w",
    "\\s",
    "\\S",
    "[ab]",
    "[aA]",
    "[kK]",
    "[a-c]",
    "[^a]",
    "[ab1_]",
    "(?-u:\\xC3)",
    "(?-u:[\\xC3a])",
    "(?i)",
    "(?-i)",
    "(?i:a)",
    "(?i:ks)",
    "(?i:é)",
    "(?i:ab1)",
    "^",
    "$",
    "\\b",
    "\\B",
    "(?-u:\\b)",
    "(?-u:\\B)",
    "\\b{start}",
    "\\b{end}",
    "\\b{start-half}",
    "\\b{end-half}",
    "(?-u:\\b{start})",
    "(?-u:\\b{end-half})",
    "\\A",
    "\\z",
    "(?mR:^)",
    "",
    "1",
];

fn piece() -> impl Strategy<Value = String> {
    let leaf = proptest::sample::select(ATOMS).prop_map(str::to_owned);
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            4 => proptest::collection::vec(inner.clone(), 1..5).prop_map(|parts| parts.concat()),
            2 => proptest::collection::vec(inner.clone(), 2..4)
                .prop_map(|parts| format!("(?:{})", parts.join("|"))),
            1 => (
                inner,
                proptest::sample::select(
                    &["*", "+", "?", "*?", "{2}", "{0,2}", "{1,3}", "{3,}", "{0}"][..]
                )
            )
                .prop_map(|(part, times)| format!("(?:{part}){times}")),
        ]
    })
}

const PARTS: &[&[u8]] = &[
    b"a",
    b"b",
    b"A",
    b"B",
    b"k",
    b"K",
    b"s",
    b"S",
    b"1",
    b"_",
    b"-",
    b" ",
    b".",
    b"ab",
    b"ba",
    "é".as_bytes(),
    "É".as_bytes(),
    "ſ".as_bytes(),
    "\u{212a}".as_bytes(),
    b"\xC3",
    b"\xA9",
    b"\xFF",
    b"\r",
    b"ks",
    b"KS",
];

fn line() -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec(proptest::sample::select(PARTS), 0..10)
        .prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    #[test]
    fn literals_agree_with_the_regex(text in piece(), lines in prop::collection::vec(line(), 4)) {
        for line in lines {
            check(&text, &line);
        }
    }

    #[test]
    fn plain_text_is_read_as_the_parser_reads_it(
        text in r"(\\b)?([a-z_:/<>=!@%`' -]|\\[-.+*?()|{}^$#&~/\\\[\]]|\\b|é){1,6}(\\b)?",
        line in line(),
    ) {
        check(&text, &line);
    }
}

/// The literals of a pattern as text: `~` ignores case, `!` proves by itself.
fn shown(text: &str) -> Vec<String> {
    let Some(required) = parse(text).and_then(|hir| required(&hir)) else {
        return Vec::new();
    };
    let show = |literal: &Literal| {
        let mark = |on: bool, mark: &str| if on { mark.to_owned() } else { String::new() };
        mark(literal.ignore_case, "~")
            + &String::from_utf8_lossy(&literal.bytes)
            + &mark(literal.proof != Proof::Candidate, "!")
    };
    required.literals.iter().map(show).collect()
}

#[test]
fn typical_patterns_give_typical_literals() {
    for (text, expected) in [
        ("fn main", &["fn main!"][..]),
        (r"\bword\b", &["word!"]),
        ("^use .*;$", &["use "]),
        ("foo|bar", &["foo!", "bar!"]),
        (r"\b(foo|bar)\b", &["foo!", "bar!"]),
        ("(?i)later|fixme", &["~later!", "~fixme!"]),
        (
            "(?i)task",
            &[
                "~task!",
                "~ta\u{17f}k!",
                "~tas\u{212a}!",
                "~ta\u{17f}\u{212a}!",
            ],
        ),
        (r"fn\s+set_model", &["set_model"]),
        (r"fn\s+\w+\(", &["fn"]),
        ("colou?r", &["colour!", "color!"]),
        (r"\d{4}-\d{2}", &["-"]),
        (r"[A-Z]{3,}\d", &[]),
        ("x*", &[]),
        ("", &[]),
        ("(ab){2,}", &["abab"]),
        ("(?:foo)+", &["foo"]),
        ("gr[ae]y", &["gray!", "grey!"]),
        (r"unwrap\(\)", &["unwrap()!"]),
        ("(foo|b.r)baz", &["baz"]),
        ("(foo|)", &[]),
    ] {
        let mut found = shown(text);
        let mut expected: Vec<String> = expected.iter().map(|&text| text.into()).collect();
        found.sort();
        expected.sort();
        assert_eq!(found, expected, "{text}");
    }
}

#[test]
fn large_patterns_are_read_quickly() {
    for text in [
        "(a|b|c|d){1000}".to_owned(),
        "[a-p]".repeat(800),
        format!("({})", vec!["sesame"; 600].join("|")),
        "(a{100}){100}".to_owned(),
        "(?:(?:(?:ab|cd){2}|ef){2}|gh){2}".repeat(100),
    ] {
        if let Some(hir) = parse(&text) {
            let _ = required(&hir);
        }
    }
}
