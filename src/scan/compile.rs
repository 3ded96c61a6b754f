//! From the text of a pattern to a matcher, within bounds.

use regex_automata::meta;
use regex_automata::nfa::thompson::WhichCaptures;

use crate::facts::Pattern;
use crate::reason::Reason;
use crate::scan::line_safe::{line_safe, sees_only_its_line};
use crate::scan::pattern::{MAX_COMPILED_BYTES, PatternError, parse_pattern};
use crate::scan::reach::Reach;

/// The cache of one lazy DFA. Below the needs of a large pattern the engine
/// falls back to slow simulation; above them nothing is gained.
const LAZY_DFA_BYTES: usize = 2 << 20;

/// What a pattern is matched against.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Haystack {
    /// Each line by itself.
    Lines,
    /// The whole file.
    Text,
}

/// A compiled pattern.
#[derive(Debug)]
pub(super) struct Matcher {
    /// The regex. For [`Haystack::Lines`] no match crosses a line.
    pub(super) regex: meta::Regex,
    /// True if the regex may run over many lines at once; false if every line
    /// has to be cut out first.
    pub(super) across_lines: bool,
    /// How far a search looks past the start of the match it finds.
    pub(super) reach: Reach,
}

impl Matcher {
    /// Compiles a pattern.
    pub(super) fn new(pattern: &Pattern, haystack: Haystack) -> Result<Self, Reason> {
        Self::build(pattern, haystack).map_err(|error| error.reason(pattern))
    }

    fn build(pattern: &Pattern, haystack: Haystack) -> Result<Self, PatternError> {
        let hir = parse_pattern(pattern)?;
        let (hir, across_lines) = match haystack {
            Haystack::Lines => (line_safe(&hir), sees_only_its_line(&hir)),
            Haystack::Text => (hir, true),
        };
        let regex = meta::Builder::new()
            .configure(
                meta::Config::new()
                    .utf8_empty(false)
                    .which_captures(WhichCaptures::Implicit)
                    .nfa_size_limit(Some(MAX_COMPILED_BYTES))
                    .hybrid_cache_capacity(LAZY_DFA_BYTES)
                    .onepass(false)
                    .dfa(false),
            )
            .build_from_hir(&hir)
            .map_err(|error| match error.size_limit() {
                Some(_) => PatternError::TooLarge,
                None => PatternError::Invalid(error.to_string()),
            })?;
        Ok(Self {
            regex,
            across_lines,
            reach: Reach::of(&hir),
        })
    }
}
