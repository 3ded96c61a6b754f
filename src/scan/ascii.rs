//! From a regex to one that gives the same answer on ASCII texts.
//!
//! On a text without other bytes a class matches what it holds of ASCII, and Unicode
//! and ASCII agree on what a word is.

use regex_syntax::hir::{
    Capture, Class, ClassBytes, ClassBytesRange, ClassUnicode, ClassUnicodeRange, Hir, HirKind,
    Look, Repetition,
};

/// What the bytes of a text are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Alphabet {
    /// All below 128.
    Ascii,
    /// Any.
    Any,
}

impl Alphabet {
    /// The smallest that holds a text.
    pub(super) const fn of(text: &[u8]) -> Self {
        if text.is_ascii() {
            Self::Ascii
        } else {
            Self::Any
        }
    }
}

/// Rewrites a regex for texts of ASCII alone. The depth of a parsed regex is bounded
/// by its parser, so recursion is too.
pub(super) fn for_ascii(hir: &Hir) -> Hir {
    match hir.kind() {
        HirKind::Empty => Hir::empty(),
        HirKind::Literal(literal) if !literal.0.is_ascii() => Hir::fail(),
        HirKind::Literal(literal) => Hir::literal(literal.0.clone()),
        HirKind::Class(class) => Hir::class(ascii_of(class)),
        HirKind::Look(look) => Hir::look(narrowed(*look)),
        HirKind::Repetition(repetition) => Hir::repetition(Repetition {
            min: repetition.min,
            max: repetition.max,
            greedy: repetition.greedy,
            sub: Box::new(for_ascii(&repetition.sub)),
        }),
        HirKind::Capture(capture) => Hir::capture(Capture {
            index: capture.index,
            name: capture.name.clone(),
            sub: Box::new(for_ascii(&capture.sub)),
        }),
        HirKind::Concat(subs) => Hir::concat(subs.iter().map(for_ascii).collect()),
        HirKind::Alternation(subs) => Hir::alternation(subs.iter().map(for_ascii).collect()),
    }
}

fn ascii_of(class: &Class) -> Class {
    match class {
        Class::Unicode(class) => {
            let ascii = class
                .ranges()
                .iter()
                .filter(|range| range.start().is_ascii());
            let ascii =
                ascii.map(|range| ClassUnicodeRange::new(range.start(), range.end().min('\x7f')));
            Class::Unicode(ClassUnicode::new(ascii))
        }
        Class::Bytes(class) => {
            let ascii = class
                .ranges()
                .iter()
                .filter(|range| range.start().is_ascii());
            let ascii =
                ascii.map(|range| ClassBytesRange::new(range.start(), range.end().min(0x7f)));
            Class::Bytes(ClassBytes::new(ascii))
        }
    }
}

const fn narrowed(look: Look) -> Look {
    match look {
        Look::WordUnicode => Look::WordAscii,
        Look::WordUnicodeNegate => Look::WordAsciiNegate,
        Look::WordStartUnicode => Look::WordStartAscii,
        Look::WordEndUnicode => Look::WordEndAscii,
        Look::WordStartHalfUnicode => Look::WordStartHalfAscii,
        Look::WordEndHalfUnicode => Look::WordEndHalfAscii,
        same => same,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use regex_automata::meta::Regex;
    use regex_syntax::ParserBuilder;

    use super::*;

    fn part() -> impl Strategy<Value = String> {
        prop::sample::select(vec![
            r"\b",
            r"\B",
            r"\b{start}",
            r"\b{end}",
            r"\b{start-half}",
            r"\b{end-half}",
            r"\w",
            r"\W",
            r"\s",
            r"\S",
            r"\d",
            r"\D",
            ".",
            "^",
            "$",
            "k",
            "(?i:k)",
            "(?i:s)",
            "\u{e9}",
            "[^a]",
            r"\pL",
            r"\PL",
            "(?-u:[\\x00-\\xff])",
            "(?s:.)",
            "a",
            "-",
            "(?-u:\\b)",
            "(?-u:\\w)",
            " ",
            "[\u{e9}a-c]",
            "(a|\u{e9}|)",
            "\u{212a}",
            r"\w*",
            "(-k){0,2}",
        ])
        .prop_map(str::to_owned)
    }

    proptest! {
        #[test]
        fn both_match_the_same_ascii_texts(
            parts in prop::collection::vec(part(), 1..6),
            text in "[ak sS9_\n\r-]{0,6}",
        ) {
            let pattern = parts.concat();
            let mut parser = ParserBuilder::new().utf8(false).build();
            let hir = parser.parse(&pattern).unwrap();
            let config = Regex::config().utf8_empty(false);
            let regex = |hir: &Hir| {
                Regex::builder().configure(config.clone()).build_from_hir(hir).unwrap()
            };
            let (whole, narrowed) = (regex(&hir), regex(&for_ascii(&hir)));
            prop_assert_eq!(whole.find(&text), narrowed.find(&text), "{}", pattern);
        }
    }
}
