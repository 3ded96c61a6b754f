//! Counts over real trees, by every way of searching, against the naive algorithm.
//!
//! Over other trees and with patterns of one's own, one a line:
//!
//! ```text
//! PROBITY_TREES=DIR:DIR PROBITY_PATTERNS=FILE \
//!     cargo test --release --test it agreement -- --ignored --nocapture
//! ```

use std::fs;
use std::path::Path;

use probity::budget::CancelToken;
use probity::counts::{DEFAULT_MAX_BYTES, Store};
use probity::facts::{FactValue, PathSpec, Pattern, RegexFlags};
use probity::files::{Limits, Root, Tree as _};
use probity::scan::{Counting, Request, ScanOptions, Tier, scan};
use rayon::prelude::*;

use crate::corpus;
use crate::reference::files;

const TIERS: [Option<Tier>; 5] = [
    None,
    Some(Tier::Literal),
    Some(Tier::Literals),
    Some(Tier::Combined),
    Some(Tier::Regex),
];

/// Of every kind: plain, words, classes, alternations, either case, anchors, what has
/// no literal, what never matches.
const PATTERNS: &[&str] = &[
    "fn ",
    "unwrap",
    "SAFETY:",
    r"\bunsafe\b",
    r"\b[A-Z][a-z]+Error\b",
    r"^use (std|core)::",
    r"^\s*//!",
    r"\.$",
    "^$",
    r"\S+\s+$",
    "(?i)licen[cs]e",
    "(?i)todo|fixme|xxx",
    "pub(lic)?|priv(ate)?",
    r"impl<'[a-z]+>",
    r"fn\s+\w+\s*\(\s*&self",
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}",
    r"0x[0-9a-fA-F]{4,}",
    r"\d+_\d+",
    r"[a-f0-9]{9}\b",
    r"[^\x00-\x7F]",
    "é|—|…",
    r"\p{Lu}\p{Ll}+\p{Lu}",
    r"^.{100,}$",
    r"(a|b|c){3}",
    r"\w+::\w+::\w+",
    r"=> \{",
    r"\[\[?bin\]",
    "let mut .*= .*;",
    r"e\b.*\be",
    r"(?-u:\xff)",
    "never-to-be-found-0",
    r"zq[xjk]{3}\d",
    "",
    ".",
];

fn pattern(text: &str) -> Pattern {
    Pattern {
        text: text.into(),
        flags: RegexFlags::NONE,
    }
}

/// Holds the number of matching lines below a directory against the naive one; gives
/// how many lines matched.
fn agree(dir: &Path, patterns: &[Pattern]) -> u64 {
    let compiled = patterns.iter().map(|pattern| {
        let regex = regex::bytes::RegexBuilder::new(&pattern.text);
        regex.clone().size_limit(2 << 20).build()
    });
    let (patterns, regexes): (Vec<_>, Vec<_>) = patterns
        .iter()
        .zip(compiled)
        .filter_map(|(pattern, regex)| Some((pattern, regex.ok()?)))
        .unzip();
    let texts = files::texts(dir, "").unwrap();
    let lines: Vec<&[u8]> = texts.iter().flat_map(|text| files::lines(text)).collect();
    let naive = regexes.par_iter().map(|regex| {
        let matching = lines.iter().filter(|line| regex.is_match(line));
        matching.count() as u64
    });
    let naive: Vec<u64> = naive.collect();

    let root = Root::open(dir).unwrap();
    let cache = tempfile::tempdir().unwrap();
    let store = || Store::open(cache.path(), &root.space(), DEFAULT_MAX_BYTES).unwrap();
    let path = PathSpec {
        text: ".".into(),
        glob: false,
    };
    let requests = patterns.iter().map(|pattern| Request {
        pattern,
        path: &path,
        counting: Counting::Lines,
        limit: None,
        places: 0,
        fuel: None,
    });
    let requests: Vec<Request<'_>> = requests.collect();
    let check = |way: &str, options: ScanOptions<'_>| {
        let (limits, cancel) = (Limits::default(), CancelToken::new());
        let answers = scan(&root, &limits, &requests, &[], options, &cancel);
        for ((pattern, naive), answer) in patterns.iter().zip(&naive).zip(answers.counts) {
            let exact = FactValue::Count {
                count: *naive,
                exact: true,
            };
            assert_eq!(answer.value, exact, "{way}: /{}/", pattern.text);
        }
    };
    for tier in TIERS {
        check(&format!("{tier:?}"), ScanOptions { tier, counts: None });
    }
    for run in ["cold", "warm"] {
        let store = store();
        let counts = Some(&store);
        check(run, ScanOptions { tier: None, counts });
    }
    let total = naive.iter().sum();
    println!(
        "{}: {} patterns, {} files, {} lines, {total} times a line matched",
        dir.display(),
        patterns.len(),
        texts.len(),
        lines.len(),
    );
    total
}

#[test]
fn every_tier_counts_what_the_reference_counts_over_this_repository() {
    let mut patterns: Vec<Pattern> = PATTERNS.iter().map(|text| pattern(text)).collect();
    patterns.extend(corpus::patterns().unwrap_or_default());
    assert!(agree(Path::new(env!("CARGO_MANIFEST_DIR")), &patterns) > 10_000);
}

#[test]
#[ignore = "over trees and patterns that the environment names"]
fn every_tier_counts_what_the_reference_counts_elsewhere() {
    let variable = |name: &str| std::env::var(name).unwrap_or_else(|_| panic!("no {name}"));
    let text = fs::read_to_string(variable("PROBITY_PATTERNS")).unwrap();
    let mut patterns: Vec<Pattern> = text.lines().map(pattern).collect();
    patterns.extend(corpus::patterns().unwrap_or_default());
    for dir in variable("PROBITY_TREES").split(':') {
        agree(Path::new(dir), &patterns);
    }
}
