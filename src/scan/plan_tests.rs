//! Many requests at once get what each would get alone from the naive algorithm,
//! whatever tier serves them.

use std::collections::BTreeMap;
use std::path::Path;

use proptest::prelude::*;

use crate::facts::{CancelToken, FactValue, Fetched, PathSpec, Pattern, Place, RegexFlags};
use crate::files::{Limits, Root, Tree};
use crate::scan::equivalence::{TIERS, naive_lines, naive_regex, piece, text};
use crate::scan::{Answers, Counting, Request, ScanOptions, Tier, scan};

/// A request of a test.
#[derive(Clone, Debug)]
pub(super) struct Wish {
    pub(super) pattern: String,
    pub(super) path: &'static str,
    pub(super) is_glob: bool,
    pub(super) counting: Counting,
    pub(super) limit: Option<u64>,
    pub(super) places: usize,
}

const PATHS: &[(&str, bool)] = &[
    (".", false),
    ("./", false),
    ("d", false),
    ("d/e", false),
    ("d/e/f2", false),
    ("f1", false),
    ("**/f*", true),
    ("d/*", true),
    ("**/*3", true),
];

/// Patterns with literals and without.
fn pattern() -> impl Strategy<Value = String> {
    const WORDS: &[&str] = &["aa", "baa", "a_b", "éa", "b b", "AAA", "aab", "_a"];
    let word = proptest::sample::select(WORDS);
    prop_oneof![
        3 => word.clone().prop_map(str::to_owned),
        1 => word.clone().prop_map(|word| format!("\\b{word}\\b")),
        1 => word.clone().prop_map(|word| format!("(?i){word}")),
        1 => word.clone().prop_map(|word| format!("^{word}")),
        1 => word.clone().prop_map(|word| format!("{word}$")),
        1 => word.clone().prop_map(|word| format!("{word}.?a")),
        1 => (word.clone(), word).prop_map(|(one, other)| format!("{one}|{other}")),
        3 => piece(),
    ]
}

pub(super) fn wish() -> impl Strategy<Value = Wish> {
    (
        pattern(),
        proptest::sample::select(PATHS),
        proptest::bool::weighted(0.15),
        prop_oneof![Just(None), (1..4_u64).prop_map(Some)],
        0..3_usize,
    )
        .prop_map(|(pattern, (path, is_glob), matches, limit, places)| Wish {
            pattern,
            path,
            is_glob,
            counting: if matches {
                Counting::Matches
            } else {
                Counting::Lines
            },
            limit,
            places,
        })
}

fn is_wanted(wish: &Wish, path: &str) -> bool {
    match wish.path {
        "." | "./" => true,
        "**/f*" => path.rsplit('/').next().unwrap().starts_with('f'),
        "d/*" => path
            .strip_prefix("d/")
            .is_some_and(|rest| !rest.contains('/')),
        "**/*3" => path.ends_with('3'),
        other => path == other || path.starts_with(&format!("{other}/")),
    }
}

/// What a wish gets of a tree by the definition.
fn naive(wish: &Wish, files: &BTreeMap<&'static str, Vec<u8>>) -> Option<(FactValue, Vec<Place>)> {
    let regex = naive_regex(&wish.pattern)?;
    let mut count = 0;
    let mut places: Vec<Place> = Vec::new();
    for (path, bytes) in files.iter().filter(|(path, _)| is_wanted(wish, path)) {
        // Named directly, a file is searched whatever it holds.
        if *path != wish.path && bytes.contains(&0) {
            continue;
        }
        for (line, number) in naive_lines(bytes).into_iter().zip(1..) {
            let found = match wish.counting {
                Counting::Lines => u64::from(regex.is_match(line)),
                Counting::Matches => regex.find_iter(line).count() as u64,
            };
            let missing = wish
                .limit
                .map_or(u64::MAX, |limit| limit.saturating_sub(count));
            count += found;
            if found > 0 && missing > 0 && places.len() < wish.places {
                places.push(Place {
                    path: (*path).into(),
                    line: number,
                });
            }
        }
    }
    let value = match wish.limit {
        Some(limit) if count >= limit => FactValue::Count {
            count: limit,
            exact: false,
        },
        _ => FactValue::Count { count, exact: true },
    };
    Some((value, places))
}

fn scan_all(root: &Path, wishes: &[Wish], tier: Option<Tier>) -> Vec<Fetched> {
    let options = ScanOptions { tier, counts: None };
    scan_tree(&Root::open(root).unwrap(), wishes, options).counts
}

/// What wishes come to in a tree.
pub(super) fn scan_tree(tree: &dyn Tree, wishes: &[Wish], options: ScanOptions<'_>) -> Answers {
    let specs: Vec<(Pattern, PathSpec)> = wishes
        .iter()
        .map(|wish| {
            let pattern = Pattern {
                text: wish.pattern.as_str().into(),
                flags: RegexFlags::NONE,
            };
            let path = PathSpec {
                text: wish.path.into(),
                glob: wish.is_glob,
            };
            (pattern, path)
        })
        .collect();
    let requests: Vec<Request<'_>> = specs
        .iter()
        .zip(wishes)
        .map(|((pattern, path), wish)| Request {
            pattern,
            path,
            counting: wish.counting,
            limit: wish.limit,
            places: wish.places,
            fuel: None,
        })
        .collect();
    let limits = Limits::default();
    let cancel = CancelToken::new();
    scan(tree, &limits, &requests, &[], options, &cancel)
}

#[test]
fn literals_are_seen_where_they_overlap() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("f1"), "aaa\nxaax aa\naaab\n").unwrap();
    for tier in TIERS {
        let wish = Wish {
            pattern: "aa$".into(),
            path: ".",
            is_glob: false,
            counting: Counting::Lines,
            limit: None,
            places: 0,
        };
        let answers = scan_all(directory.path(), &[wish], tier);
        let expected = FactValue::Count {
            count: 2,
            exact: true,
        };
        assert_eq!(answers[0].value, expected, "{tier:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn every_request_gets_what_it_would_get_alone(
        wishes in prop::collection::vec(wish(), 1..40),
        contents in prop::collection::vec(text(), 5),
    ) {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path();
        std::fs::create_dir_all(root.join("d/e")).unwrap();
        // In walk order.
        let names = ["d/e/f2", "d/e/g3", "d/f3", "f1", "h"];
        let files: BTreeMap<&'static str, Vec<u8>> = names.into_iter().zip(contents).collect();
        for (path, bytes) in &files {
            std::fs::write(root.join(path), bytes).unwrap();
        }
        let mut first: Option<Vec<Fetched>> = None;
        for tier in TIERS {
            let mut answers = scan_all(root, &wishes, tier);
            for (wish, answer) in wishes.iter().zip(&mut answers) {
                answer.cost.cpu_ns = 0;
                if let Some((value, places)) = naive(wish, &files) {
                    prop_assert_eq!(&answer.value, &value, "{:?} {:?}", tier, wish);
                    prop_assert_eq!(&answer.places, &places, "{:?} {:?}", tier, wish);
                }
            }
            // Costs do not depend on the tier, nor on who else asks.
            match &first {
                Some(first) => prop_assert_eq!(first, &answers),
                None => first = Some(answers),
            }
        }
        for (index, wish) in wishes.iter().enumerate() {
            let mut alone = scan_all(root, std::slice::from_ref(wish), None);
            alone[0].cost.cpu_ns = 0;
            prop_assert_eq!(Some(&alone[0]), first.as_ref().map(|all| &all[index]));
        }
    }
}
