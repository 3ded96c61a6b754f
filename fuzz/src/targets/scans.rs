//! Requests over a tree in memory, as text that can be written by hand, and what
//! they come to by the definition.

use std::collections::BTreeMap;

use probity::budget::CancelToken;
use probity::counts::Store;
use probity::facts::{FactValue, Fetched, PathSpec, Pattern, Place, RegexFlags};
use probity::files::{Limits, memory_tree};
use probity::scan::{Counting, Request, ScanOptions, Tier, parse_pattern, scan};

use crate::reference::files::lines;
use crate::reference::tree;

/// Every way to be searched.
pub(super) const TIERS: [Option<Tier>; 5] = [
    None,
    Some(Tier::Literal),
    Some(Tier::Literals),
    Some(Tier::Combined),
    Some(Tier::Regex),
];

/// Contents by path. In walk order, as no directory is named like a file.
pub(super) type Files = BTreeMap<&'static str, Vec<u8>>;

/// The files there can be.
pub(super) const NAMES: [&str; 6] = ["a/b/f1", "a/f2", "a/g", "f3", "f4", "z/f5"];

/// The first letters of a request: where it looks.
const PATHS: [(char, &str, bool); 6] = [
    ('.', ".", false),
    ('a', "a", false),
    ('b', "a/b/", false),
    ('f', "a/f2", false),
    ('*', "**/f*", true),
    ('?', "a/?*", true),
];

/// More patterns than this take too long for one input.
const MAX_WISHES: usize = 24;

/// Longer ones are mostly repetition.
const MAX_PATTERN: usize = 200;

/// A request.
#[derive(Clone, Debug)]
pub(super) struct Wish {
    pattern: Pattern,
    regex: regex::bytes::Regex,
    path: PathSpec,
    counting: Counting,
    limit: Option<u64>,
    places: usize,
}

impl Wish {
    /// For all lines of the whole tree. `None` if the pattern is no regex.
    pub(super) fn everywhere(pattern: &str) -> Option<Self> {
        Self::parse(&format!(".0{pattern}"))
    }

    /// A path, a digit and a pattern: `a0fn \w+`. The digit is the limit, 0 for
    /// none; 8 counts matches, 9 reports places.
    fn parse(line: &str) -> Option<Self> {
        let mut chars = line.chars();
        let at = chars.next()?;
        let (_, path, glob) = *PATHS.iter().find(|(letter, ..)| *letter == at)?;
        let digit = chars.next()?.to_digit(10)?;
        let text = chars.as_str();
        if text.len() > MAX_PATTERN {
            return None;
        }
        let regex = tree::Pattern {
            text: text.to_owned(),
            flags: String::new(),
        };
        let pattern = Pattern {
            text: text.into(),
            flags: RegexFlags::NONE,
        };
        // The limits on patterns are the promise of another target.
        parse_pattern(&pattern).ok()?;
        Some(Self {
            pattern,
            regex: regex.compile().ok()?,
            path: PathSpec {
                text: path.into(),
                glob,
            },
            counting: if digit == 8 {
                Counting::Matches
            } else {
                Counting::Lines
            },
            limit: (1..8).contains(&digit).then_some(u64::from(digit)),
            places: if digit == 9 { 3 } else { 0 },
        })
    }

    fn is_wanted(&self, path: &str) -> bool {
        match &*self.path.text {
            "." => true,
            "**/f*" => path.rsplit('/').next().expect("a name").starts_with('f'),
            "a/?*" => {
                let name = path.strip_prefix("a/");
                name.is_some_and(|name| !name.contains('/'))
            }
            directory if directory.ends_with('/') => path.starts_with(directory),
            other => path == other || path.starts_with(&format!("{other}/")),
        }
    }

    /// Every line of every file, one after the other. `None` if there is no file
    /// at all where one has to be.
    fn naive(&self, files: &Files) -> Option<(FactValue, Vec<Place>)> {
        let (mut count, mut places) = (0, Vec::new());
        let is_named = |path: &str| *path == *self.path.text;
        let is_there = |path: &str| is_named(path) || path.starts_with(&*self.path.text);
        if self.path.glob {
            files
                .keys()
                .any(|path| self.is_wanted(path))
                .then_some(())?;
        } else if &*self.path.text != "." {
            files.keys().any(|path| is_there(path)).then_some(())?;
        }
        for (path, bytes) in files.iter().filter(|(path, _)| self.is_wanted(path)) {
            // Files that are not named are left out if they are binary.
            if !is_named(path) && bytes.contains(&0) {
                continue;
            }
            for (line, number) in lines(bytes).into_iter().zip(1..) {
                let found = match self.counting {
                    Counting::Lines => u64::from(self.regex.is_match(line)),
                    Counting::Matches => self.regex.find_iter(line).count() as u64,
                };
                if found > 0 && places.len() < self.places {
                    places.push(Place {
                        path: (*path).into(),
                        line: number,
                    });
                }
                count += found;
            }
        }
        let limit = self.limit.filter(|limit| count >= *limit);
        let value = FactValue::Count {
            count: limit.unwrap_or(count),
            exact: limit.is_none(),
        };
        Some((value, places))
    }
}

/// The requests of all lines that are one.
pub(super) fn wishes(text: &str) -> Vec<Wish> {
    let wishes = text.split('\n').filter_map(Wish::parse);
    wishes.take(MAX_WISHES).collect()
}

/// The answers, without the time they took.
pub(super) fn answers(
    files: &Files,
    wishes: &[Wish],
    tier: Option<Tier>,
    counts: Option<&Store>,
) -> Vec<Fetched> {
    let tree = memory_tree(files.iter().map(|(path, bytes)| (*path, bytes.as_slice())));
    let tree = tree.expect("the paths are sound");
    let requests: Vec<Request<'_>> = wishes
        .iter()
        .map(|wish| Request {
            pattern: &wish.pattern,
            path: &wish.path,
            counting: wish.counting,
            limit: wish.limit,
            places: wish.places,
            fuel: None,
        })
        .collect();
    let (limits, cancel) = (Limits::default(), CancelToken::new());
    let options = ScanOptions { tier, counts };
    let mut answers = scan(&tree, &limits, &requests, &[], options, &cancel).counts;
    for answer in &mut answers {
        answer.cost.cpu_ns = 0;
    }
    answers
}

/// Every answer is what the definition says.
pub(super) fn agree(files: &Files, wishes: &[Wish], answers: &[Fetched], how: &str) {
    assert_eq!(wishes.len(), answers.len(), "{how}: none is lost");
    for (wish, answer) in wishes.iter().zip(answers) {
        match wish.naive(files) {
            Some((value, places)) => {
                assert_eq!(answer.value, value, "{how}: {wish:?}");
                assert_eq!(answer.places, places, "{how}: {wish:?}");
            }
            None => assert!(
                matches!(answer.value, FactValue::Unknown(_)),
                "{how}: {wish:?} counts what is not there: {answer:?}"
            ),
        }
    }
}
