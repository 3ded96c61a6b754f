//! The constant pool: what an instruction cannot hold itself.

use std::fmt;
use std::sync::{Arc, OnceLock};

use memchr::memmem::Finder;
use regex_automata::meta::Regex;
use regex_automata::nfa::thompson::WhichCaptures;
use regex_automata::util::syntax;
use regex_syntax::hir::LookSet;

use crate::facts::{Pattern, RegexFlags};
use crate::reason::{Reason, ReasonCode};

/// Most bytes a compiled regex may take; over it the pattern is refused as
/// `pattern_too_large`.
pub const MAX_REGEX_BYTES: usize = 2 << 20;

/// A constant. Cloning shares what is behind it.
#[derive(Clone, Debug)]
pub enum Const {
    /// An int too wide for an immediate.
    Int(i64),
    /// A string, prepared for searching.
    Str(Arc<Needle>),
    /// A regex for a whole string, built on first use.
    Regex(Arc<TextRegex>),
}

/// A string constant with its search tables.
pub struct Needle {
    finder: Finder<'static>,
}

impl Needle {
    /// Prepares the search.
    #[must_use]
    pub fn new(text: &str) -> Self {
        Self {
            finder: Finder::new(text.as_bytes()).into_owned(),
        }
    }

    /// The bytes of the constant.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        self.finder.needle()
    }

    /// True if the haystack contains the constant.
    #[must_use]
    pub fn is_in(&self, haystack: &[u8]) -> bool {
        self.finder.find(haystack).is_some()
    }
}

impl fmt::Debug for Needle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", String::from_utf8_lossy(self.bytes()))
    }
}

/// A regex that searches a whole string, not lines: `^` and `$` are the
/// string's ends unless flags say otherwise.
pub struct TextRegex {
    pattern: Pattern,
    built: OnceLock<Result<Built, Reason>>,
}

struct Built {
    regex: Regex,
    /// A match in a prefix is a match in the whole text.
    prefix_safe: bool,
}

impl TextRegex {
    /// Keeps the pattern; nothing is built yet.
    #[must_use]
    pub fn new(pattern: Pattern) -> Self {
        Self {
            pattern,
            built: OnceLock::new(),
        }
    }

    /// The pattern and its flags.
    #[must_use]
    pub fn pattern(&self) -> &Pattern {
        &self.pattern
    }

    /// Whether the regex matches somewhere in the text. `None` if the text was
    /// cut short and what was cut could change the answer.
    ///
    /// # Errors
    /// [`ReasonCode::PatternTooLarge`] if the regex cannot be built within
    /// [`MAX_REGEX_BYTES`].
    pub fn is_match(&self, text: &[u8], truncated: bool) -> Result<Option<bool>, &Reason> {
        let built = self.built.get_or_init(|| build(&self.pattern)).as_ref()?;
        let found = built.regex.is_match(text);
        if truncated && !(found && built.prefix_safe) {
            return Ok(None);
        }
        Ok(Some(found))
    }

    /// Why the regex cannot be built; `None` before the first use, too.
    #[must_use]
    pub fn failure(&self) -> Option<&Reason> {
        self.built.get().and_then(|built| built.as_ref().err())
    }
}

impl fmt::Debug for TextRegex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "/{}/{}", self.pattern.text, self.pattern.flags)
    }
}

fn build(pattern: &Pattern) -> Result<Built, Reason> {
    let flags = pattern.flags;
    let config = syntax::Config::new()
        .utf8(false)
        .case_insensitive(flags.contains(RegexFlags::IGNORE_CASE))
        .multi_line(flags.contains(RegexFlags::MULTI_LINE))
        .dot_matches_new_line(flags.contains(RegexFlags::DOT_ALL));
    let refuse = |error: &dyn fmt::Display| {
        Reason::new(
            ReasonCode::PatternTooLarge,
            format!("cannot build the regex /{}/: {error}", pattern.text),
        )
    };
    let hir = syntax::parse_with(&pattern.text, &config).map_err(|error| refuse(&error))?;
    let looks = hir.properties().look_set();
    let only_start = LookSet::singleton(regex_syntax::hir::Look::Start);
    let regex = Regex::builder()
        .configure(
            Regex::config()
                .which_captures(WhichCaptures::None)
                .nfa_size_limit(Some(MAX_REGEX_BYTES))
                .onepass(false)
                .utf8_empty(false),
        )
        .build_from_hir(&hir)
        .map_err(|error| refuse(&error))?;
    Ok(Built {
        regex,
        prefix_safe: looks.is_empty() || looks == only_start,
    })
}
