//! The patterns of a module: those of calls that name them, and the texts that may be
//! patterns of other calls.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use regex_syntax::hir::Hir;

use crate::diagnostic::Span;
use crate::harn::builtins::{Regex, compile, fits, most_built, parse, weight};

/// Bytes of the regexes that a module keeps, at most. Others are built where they are
/// used, and paid for each time.
const MOST_KEPT: usize = 16 << 20;

/// Bytes of the regexes that are built to see whether they can be, at most.
const MOST_TRIED: usize = 256 << 20;

/// What is known of a pattern that was looked at.
pub(crate) enum Check {
    Sound,
    Invalid(String),
    /// There are too many to try.
    Untried,
}

/// What is known of a regex before it is built, which may be never.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Size {
    /// What text costs to search, as a multiple of the usual.
    pub(crate) weight: usize,
    /// Bytes that it takes at most; 0 if the pattern is none.
    pub(crate) bytes: usize,
}

impl Size {
    /// The size of the regex of a pattern with flags.
    pub(crate) fn of(pattern: &str, flags: &str) -> Self {
        parse(pattern, flags).map_or(
            Self {
                weight: 1,
                bytes: 0,
            },
            |hir| Self::of_parsed(&hir),
        )
    }

    fn of_parsed(hir: &Hir) -> Self {
        Self {
            weight: weight(hir),
            bytes: most_built(hir),
        }
    }
}

/// A pattern that is known when the module is compiled. Its regex is built when it is
/// first wanted, and shared.
#[derive(Debug)]
pub(crate) struct Pattern {
    pub(crate) pattern: Box<str>,
    /// In the order of [`normal_flags`].
    pub(crate) flags: Box<str>,
    /// Where it is used first; `None` if it is a text that may be a pattern.
    pub(crate) span: Option<Span>,
    regex: OnceLock<Result<Arc<Regex>, Box<str>>>,
    size: OnceLock<Size>,
}

impl Pattern {
    /// A pattern of a call.
    pub(crate) const fn new(pattern: Box<str>, flags: Box<str>, span: Span) -> Self {
        Self::with(pattern, flags, Some(span))
    }

    /// A text that may be a pattern.
    pub(crate) const fn guess(pattern: Box<str>, flags: Box<str>) -> Self {
        Self::with(pattern, flags, None)
    }

    const fn with(pattern: Box<str>, flags: Box<str>, span: Option<Span>) -> Self {
        Self {
            pattern,
            flags,
            span,
            regex: OnceLock::new(),
            size: OnceLock::new(),
        }
    }

    pub(crate) fn size(&self) -> Size {
        *self
            .size
            .get_or_init(|| Size::of(&self.pattern, &self.flags))
    }

    /// The regex, which is built once.
    pub(crate) fn build(&self) -> &Result<Arc<Regex>, Box<str>> {
        self.regex.get_or_init(|| {
            let built = compile(&self.pattern, &self.flags);
            built.map(Arc::new).map_err(Into::into)
        })
    }

    /// The pattern parsed, if its regex is sure to be built: a search with one that cannot
    /// be fails, whatever the text, and so must not be left out.
    pub(crate) fn sound(&self) -> Option<Hir> {
        let hir = parse(&self.pattern, &self.flags).ok()?;
        self.size.get_or_init(|| Size::of_parsed(&hir));
        // It is not kept: it may never be wanted, and is large.
        let can_be_built = || compile(&self.pattern, &self.flags).is_ok();
        (fits(&hir) || (self.span.is_some() && can_be_built())).then_some(hir)
    }

    /// Whether its regex can be built, which is tried only where that is not sure, and
    /// for so many bytes. `bytes` counts those of all patterns.
    pub(crate) fn check(&self, bytes: &mut usize) -> Check {
        let hir = match parse(&self.pattern, &self.flags) {
            Ok(hir) if fits(&hir) => return Check::Sound,
            Ok(hir) => hir,
            Err(error) => return Check::Invalid(error),
        };
        *bytes = bytes.saturating_add(most_built(&hir));
        if *bytes > MOST_TRIED {
            return Check::Untried;
        }
        match compile(&self.pattern, &self.flags) {
            Ok(_) => Check::Sound,
            Err(error) => Check::Invalid(error),
        }
    }

    #[cfg(test)]
    pub(crate) fn is_built(&self) -> bool {
        self.regex.get().is_some()
    }
}

/// The patterns of a module by their numbers, those of calls first.
#[derive(Debug)]
pub(crate) struct Patterns {
    all: Vec<Pattern>,
    /// The numbers by the texts, once somebody asks.
    by_text: OnceLock<HashMap<Box<str>, Vec<u32>>>,
    /// How many are kept when they are built, the first ones.
    kept: OnceLock<usize>,
}

impl Patterns {
    pub(crate) const fn new(all: Vec<Pattern>) -> Self {
        Self {
            all,
            by_text: OnceLock::new(),
            kept: OnceLock::new(),
        }
    }

    pub(crate) fn all(&self) -> &[Pattern] {
        &self.all
    }

    /// Those of calls, with where they are used first.
    pub(crate) fn named(&self) -> impl Iterator<Item = (&Pattern, Span)> {
        let all = self.all.iter();
        all.filter_map(|pattern| Some((pattern, pattern.span?)))
    }

    pub(crate) fn get(&self, number: u32) -> Option<&Pattern> {
        self.all.get(number as usize)
    }

    /// Whether the regex of a pattern is kept when it is built, for all evaluations. That
    /// is the same whoever asks first.
    pub(crate) fn keeps(&self, number: u32) -> bool {
        let kept = self.kept.get_or_init(|| {
            let mut bytes = 0_usize;
            let sizes = self.all.iter().map(|pattern| pattern.size().bytes);
            sizes
                .take_while(|size| {
                    bytes = bytes.saturating_add(*size);
                    bytes <= MOST_KEPT
                })
                .count()
        });
        (number as usize) < *kept
    }

    /// The number of a pattern with flags.
    pub(crate) fn find(&self, pattern: &str, flags: &str) -> Option<u32> {
        let by_text = self.by_text.get_or_init(|| {
            let mut by_text = HashMap::<Box<str>, Vec<u32>>::new();
            for (pattern, number) in self.all.iter().zip(0..) {
                let numbers = by_text.entry(pattern.pattern.clone()).or_default();
                numbers.push(number);
            }
            by_text
        });
        let numbers = by_text.get(pattern)?;
        let flags = normal_flags(flags);
        let mut numbers = numbers.iter().copied();
        numbers.find(|number| self.get(*number).is_some_and(|it| *it.flags == *flags))
    }
}

/// Flags in one order, each once.
pub(crate) fn normal_flags(flags: &str) -> String {
    let mut flags: Vec<char> = flags.chars().collect();
    flags.sort_unstable();
    flags.dedup();
    flags.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_found_by_text_and_flags() {
        let patterns = Patterns::new(vec![
            Pattern::new("a+".into(), "".into(), Span::default()),
            Pattern::guess("a+".into(), "im".into()),
            Pattern::guess("b".into(), "i".into()),
        ]);
        assert_eq!(patterns.find("a+", ""), Some(0));
        assert_eq!(patterns.find("a+", "mim"), Some(1));
        assert_eq!(patterns.find("a+", "i"), None);
        assert_eq!(patterns.find("b", "i"), Some(2));
        assert_eq!(patterns.find("c", ""), None);
        assert_eq!(patterns.named().count(), 1);
    }

    #[test]
    fn what_cannot_be_built_is_not_sound() {
        for (pattern, is_sound) in [
            ("todo|fixme", true),
            ("(a)(?P<name>b)+", true),
            ("begin.{0,200}end", true),
            ("(", false),
            ("(?-u:\\xff)", false),
            // Within the limits of the parser, and too large when it is compiled.
            ("todo(\\w{100}){100}", false),
            (&format!("todo{}", "(\\w)".repeat(500)), false),
        ] {
            let sound = Pattern::new(pattern.into(), "".into(), Span::default()).sound();
            assert_eq!(sound.is_some(), is_sound, "{pattern}");
            assert_eq!(compile(pattern, "").is_ok(), is_sound, "{pattern}");
            let guessed = Pattern::guess(pattern.into(), "".into()).sound();
            assert!(is_sound || guessed.is_none(), "{pattern}");
        }
    }
}
