//! From the text of a pattern to a matcher, within bounds.

use regex_automata::meta;
use regex_automata::nfa::thompson::WhichCaptures;
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, Hir, HirKind};

use crate::facts::{Pattern, RegexFlags};
use crate::reason::{Reason, ReasonCode};
use crate::scan::line_safe::{line_safe, sees_only_its_line};

/// The longest pattern text, in bytes (ADR-0004). It bounds the time of parsing.
const MAX_TEXT_BYTES: usize = 4 << 10;

/// The largest compiled pattern, in bytes.
const MAX_COMPILED_BYTES: usize = 2 << 20;

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
        if pattern.text.len() > MAX_TEXT_BYTES {
            return Err(too_large(pattern, "its text", MAX_TEXT_BYTES));
        }
        let has = |flag| pattern.flags.contains(flag);
        let hir = ParserBuilder::new()
            .utf8(false)
            .case_insensitive(has(RegexFlags::IGNORE_CASE))
            .multi_line(has(RegexFlags::MULTI_LINE))
            .dot_matches_new_line(has(RegexFlags::DOT_ALL))
            .build()
            .parse(&pattern.text)
            .map_err(|error| invalid(pattern, &error))?;
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
            .map_err(|error| {
                if error.size_limit().is_some() {
                    too_large(pattern, "compiled, it", MAX_COMPILED_BYTES)
                } else {
                    invalid(pattern, &error)
                }
            })?;
        Ok(Self {
            regex,
            across_lines,
            reach: Reach::of(&hir),
        })
    }
}

fn too_large(pattern: &Pattern, what: &str, cap: usize) -> Reason {
    let shown: String = pattern.text.chars().take(40).collect();
    Reason::new(
        ReasonCode::PatternTooLarge,
        format!(
            "the pattern /{shown}…/ is too large: {what} is over {cap} bytes; shorten it or lower its repetitions"
        ),
    )
}

fn invalid(pattern: &Pattern, error: &dyn std::fmt::Display) -> Reason {
    Reason::new(
        ReasonCode::PatternInvalid,
        format!("the pattern /{}/ is no regex: {error}", pattern.text),
    )
}

/// Bounds how far a search can look past the start of the match it finds: not
/// past the longest match, and not past a byte that no match holds.
#[derive(Clone, Debug)]
pub(super) struct Reach {
    longest: usize,
    holds: [bool; 256],
}

impl Reach {
    fn of(hir: &Hir) -> Self {
        let mut holds = [false; 256];
        let mut pending = vec![hir];
        while let Some(hir) = pending.pop() {
            match hir.kind() {
                HirKind::Literal(literal) => {
                    for &byte in &literal.0 {
                        holds[usize::from(byte)] = true;
                    }
                }
                HirKind::Class(Class::Bytes(class)) => {
                    for range in class.ranges() {
                        holds[usize::from(range.start())..=usize::from(range.end())].fill(true);
                    }
                }
                HirKind::Class(Class::Unicode(class)) => {
                    for range in class.ranges() {
                        let byte = |char| usize::try_from(u32::from(char)).unwrap_or(255).min(255);
                        holds[byte(range.start()).min(128)..=byte(range.end()).min(127)].fill(true);
                        if !range.end().is_ascii() {
                            holds[128..].fill(true);
                        }
                    }
                }
                other => pending.extend(other.subs()),
            }
        }
        Self {
            longest: hir.properties().maximum_len().unwrap_or(usize::MAX),
            holds,
        }
    }

    /// Where a search that finds a match at `start..end` stops looking. `dead` is
    /// the last byte found that no match holds, kept from call to call.
    pub(super) fn stop(&self, text: &[u8], start: usize, end: usize, dead: &mut usize) -> usize {
        let longest = start.saturating_add(self.longest);
        if longest <= end {
            return end;
        }
        if *dead < end {
            *dead = text[end..]
                .iter()
                .position(|&byte| !self.holds[usize::from(byte)])
                .map_or(text.len(), |offset| end + offset);
        }
        longest.min(*dead)
    }
}
