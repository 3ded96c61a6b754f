//! The constant pool: what an instruction cannot hold itself.

use std::fmt;
use std::sync::{Arc, OnceLock};

use memchr::memmem::Finder;
use regex_automata::meta::Regex;
use regex_automata::nfa::thompson::WhichCaptures;
use regex_syntax::hir::{Look, LookSet};

use crate::facts::Pattern;
use crate::reason::Reason;
use crate::scan::{MAX_COMPILED_BYTES, PatternError, parse_pattern};

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
    /// `pattern_too_large` if the regex cannot be built within
    /// [`MAX_COMPILED_BYTES`].
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
    let hir = parse_pattern(pattern).map_err(|error| error.reason(pattern))?;
    let looks = hir.properties().look_set();
    let only_start = LookSet::singleton(Look::Start);
    let regex = Regex::builder()
        .configure(
            Regex::config()
                .which_captures(WhichCaptures::Implicit)
                .nfa_size_limit(Some(MAX_COMPILED_BYTES))
                .onepass(false)
                .utf8_empty(false),
        )
        .build_from_hir(&hir)
        .map_err(|_| PatternError::TooLarge.reason(pattern))?;
    Ok(Built {
        regex,
        prefix_safe: looks.is_empty() || looks == only_start,
    })
}
