//! Counts are those of the naive algorithm: cut out every line, try it alone.

use std::path::Path;

use proptest::prelude::*;

use crate::facts::{CancelToken, FactValue, PathSpec, Pattern, RegexFlags};
use crate::files::{Limits, Root};
use crate::scan::compile::{Haystack, Matcher};
use crate::scan::{Counting, Request, ScanOptions, Tier, scan};

/// The lines of a file, by the definition.
pub(super) fn naive_lines(bytes: &[u8]) -> Vec<&[u8]> {
    let mut lines: Vec<_> = bytes.split(|&byte| byte == b'\n').collect();
    let last = lines.pop();
    for line in &mut lines {
        *line = line.strip_suffix(b"\r").unwrap_or(line);
    }
    lines.extend(last.filter(|last| !last.is_empty()));
    lines
}

pub(super) fn naive_regex(pattern: &str) -> Option<regex::bytes::Regex> {
    regex::bytes::RegexBuilder::new(pattern)
        .size_limit(1 << 20)
        .build()
        .ok()
}

fn pattern(text: &str) -> Pattern {
    Pattern {
        text: text.into(),
        flags: RegexFlags::NONE,
    }
}

/// Every way to be searched.
pub(super) const TIERS: [Option<Tier>; 5] = [
    None,
    Some(Tier::Literal),
    Some(Tier::Literals),
    Some(Tier::Combined),
    Some(Tier::Regex),
];

/// The count of a pattern in a file: as the file, and as one of its directory.
fn count(directory: &Path, text: &str, counting: Counting) -> FactValue {
    let root = Root::open(directory).unwrap();
    let pattern = pattern(text);
    let paths = ["file", "."].map(|text| PathSpec {
        text: text.into(),
        glob: false,
    });
    let mut found: Option<FactValue> = None;
    for tier in TIERS {
        let requests = paths.each_ref().map(|path| Request {
            pattern: &pattern,
            path,
            counting,
            limit: None,
            places: 0,
            fuel: None,
        });
        let answers = scan(
            &root,
            &Limits::default(),
            &requests,
            &[],
            ScanOptions { tier, counts: None },
            &CancelToken::new(),
        );
        let [file, tree] = <[_; 2]>::try_from(answers.counts).unwrap();
        // In a tree, files with NULs are left out.
        if !std::fs::read(directory.join("file")).unwrap().contains(&0) {
            assert_eq!(file.value, tree.value, "{tier:?} {text:?}");
        }
        if let Some(found) = &found {
            assert_eq!(*found, file.value, "{tier:?} {text:?}");
        }
        found = Some(file.value);
    }
    found.unwrap()
}

fn check(text: &str, bytes: &[u8]) {
    let Some(regex) = naive_regex(text) else {
        return;
    };
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("file"), bytes).unwrap();
    let lines = naive_lines(bytes);
    let exact = |count: usize| FactValue::Count {
        count: count as u64,
        exact: true,
    };
    let matching = lines.iter().filter(|line| regex.is_match(line)).count();
    assert_eq!(
        count(directory.path(), text, Counting::Lines),
        exact(matching),
        "lines of {:?} in {:?}",
        text,
        bytes.escape_ascii().to_string()
    );
    let matches = lines.iter().map(|line| regex.find_iter(line).count()).sum();
    assert_eq!(
        count(directory.path(), text, Counting::Matches),
        exact(matches),
        "matches of {:?} in {:?}",
        text,
        bytes.escape_ascii().to_string()
    );
}

const ATOMS: &[&str] = &[
    "a",
    "b",
    "é",
    "\\n",
    "\\r",
    "\\s",
    "\\S",
    "\\w",
    "\\W",
    ".",
    "(?s:.)",
    "(?-u:.)",
    "(?-u:\\xC3)",
    "(?s-u:.)",
    "[^a]",
    "(?-u:[^a])",
    "[\\n\\ra]",
    "^",
    "$",
    "(?m:^)",
    "(?m:$)",
    "\\A",
    "\\z",
    "(?mR:^)",
    "(?mR:$)",
    "\\b",
    "\\B",
    "(?-u:\\b)",
    "(?-u:\\B)",
    "\\b{start}",
    "\\b{end}",
    "\\b{start-half}",
    "\\b{end-half}",
    "(?-u:\\b{start-half})",
    "",
    "\\x00",
    "(?i:É)",
];

/// Pieces of patterns that are near line ends in one way or another.
pub(super) fn piece() -> impl Strategy<Value = String> {
    let leaf = proptest::sample::select(ATOMS).prop_map(str::to_owned);
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 1..4).prop_map(|parts| parts.concat()),
            proptest::collection::vec(inner.clone(), 2..4)
                .prop_map(|parts| format!("(?:{})", parts.join("|"))),
            (
                inner,
                proptest::sample::select(&["*", "+", "?", "*?", "{2}", "{0,2}"][..])
            )
                .prop_map(|(part, times)| format!("(?:{part}){times}")),
        ]
    })
}

const PARTS: &[&[u8]] = &[
    b"a",
    b"b",
    b" ",
    b"\n",
    b"\n",
    b"\r\n",
    b"\r\n",
    b"\r",
    "é".as_bytes(),
    b"\xC3",
    b"\xA9",
    b"\xE2\x82",
    b"\xFF",
    b"\x00",
    b"aa",
    b"_",
];

pub(super) fn text() -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec(proptest::sample::select(PARTS), 0..24)
        .prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn counts_are_those_of_the_naive_algorithm(pattern in piece(), bytes in text()) {
        check(&pattern, &bytes);
    }
}

#[test]
fn lines_are_cut_as_documented() {
    for bytes in [
        &b""[..],
        b"\n",
        b"\r\n",
        b"a",
        b"a\n",
        b"a\r\n",
        b"a\r",
        b"\n\n",
        b"a\n\nb",
        b"a\r\r\nb",
        b"\r",
        b"\n\r",
        b"a\nb\r\nc",
        b"\xff\n\xfe",
    ] {
        for pattern in [
            "", "^", "$", "^$", "a", "a$", "^b", "\\r", "\\r$", "\\n", "\\s", "[^x]", "\\z", "\\A",
            "(?s).", "(?m)^$", "(?mR)$", "(?mR)^$", "\\B", "x*", "a|",
        ] {
            check(pattern, bytes);
        }
    }
}

#[test]
fn files_of_many_blocks_count_alike() {
    let mut bytes = Vec::new();
    let mut number = 0_u64;
    while bytes.len() < 5 << 19 {
        number += 1;
        let end: &[u8] = if number.is_multiple_of(7) {
            b"\r\n"
        } else {
            b"\n"
        };
        bytes.extend_from_slice(format!("line {number} of é").as_bytes());
        if number.is_multiple_of(5000) {
            bytes.extend(std::iter::repeat_n(b'x', 700_000));
        }
        bytes.extend_from_slice(end);
    }
    bytes.extend_from_slice(b"the last line 7");
    for pattern in [
        "7", "^line 1", "é$", "\\b99\\b", "x{3}", "\\B9", "(?mR)7$", "nowhere", "",
    ] {
        check(pattern, &bytes);
    }
}

/// Shapes that blow up other engines, or ours if it were not bounded.
#[test]
fn hostile_patterns_are_refused_or_cheap() {
    let many_classes = "(?i)\\pL".repeat(500);
    let alternation = format!("(?i){}", vec!["sesame"; 500].join("|"));
    let nested = format!("{}a{}", "(".repeat(2000), ")".repeat(2000));
    let deep = format!("{}a{}", "(?:".repeat(240), "b?)*".repeat(240));
    let mut bytes = "a".repeat(2000).into_bytes();
    bytes.extend_from_slice(b"!\nxxxxxxxxxxxxxxxxxxxxxxxx\n\xff\xc3\n");
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("file"), &bytes).unwrap();
    for hostile in [
        "(a+)+$",
        "(a*)*b",
        "(a|aa)+$",
        "(x{1,50}){1,50}",
        "\\w{1000}",
        "(?i)\\pL{200}",
        ".*.*.*=.*",
        "((((a{100}){100}){100}){100})",
        "(){1000000}",
        "(?:a?){500}a{500}",
        "[^\\n]*\\B",
        "\\pL+\\b!",
        "(?i)[\\w--\\d]{100}",
        ".{65535}",
        "a{0,4294967295}",
        &many_classes,
        &alternation,
        &nested,
        &deep,
        &"a".repeat(4097),
    ] {
        let counted = naive_regex(hostile).map(|regex| {
            naive_lines(&bytes)
                .iter()
                .filter(|line| regex.is_match(line))
                .count()
        });
        match count(directory.path(), hostile, Counting::Lines) {
            FactValue::Count { count, exact } => {
                assert!(exact);
                assert_eq!(Some(count as usize), counted, "{hostile}");
            }
            FactValue::Unknown(reason) => assert!(
                ["pattern_too_large", "pattern_invalid"].contains(&reason.code.name()),
                "{hostile}: {reason}"
            ),
            other => panic!("{hostile}: {other:?}"),
        }
    }
}

#[test]
fn the_usual_patterns_run_over_many_lines_at_once() {
    for (text, across) in [
        ("fn main", true),
        ("^use .*;$", true),
        ("\\bword\\b", true),
        ("(?mR)x$", false),
        ("\\B", false),
    ] {
        let matcher = Matcher::new(&pattern(text), Haystack::Lines).unwrap();
        assert_eq!(matcher.across_lines, across, "{text}");
    }
}
