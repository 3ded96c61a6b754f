//! How large a compiled regex can get, told from its parsed form alone.
//!
//! Regexes are built when they are first needed, which may be never. Whether one is
//! within its size limit must not depend on that, so those that could be over it are
//! built ahead.

use regex_syntax::hir::{Class, Hir, HirKind};

use crate::scan::pattern::MAX_COMPILED_BYTES;

/// At least what one state of an automaton takes, without its transitions.
const STATE: u64 = 64;

/// At least what a further transition takes.
const TRANSITION: u64 = 16;

/// False only if the regex, forwards and backwards, is within
/// [`MAX_COMPILED_BYTES`].
pub(crate) fn may_be_too_large(hir: &Hir) -> bool {
    most_bytes(hir) > MAX_COMPILED_BYTES as u64
}

/// At least what the automaton of a regex takes. The depth of a parsed regex is
/// bounded by its parser.
pub(crate) fn most_bytes(hir: &Hir) -> u64 {
    // The start, the end and the loop that searches.
    (8 * STATE).saturating_add(part(hir))
}

fn part(hir: &Hir) -> u64 {
    let inside = match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => 0,
        HirKind::Literal(literal) => STATE.saturating_mul(literal.0.len() as u64),
        HirKind::Class(Class::Bytes(class)) => TRANSITION * class.ranges().len() as u64,
        HirKind::Class(Class::Unicode(class)) => {
            let ranges = class.ranges().iter();
            let sequences = ranges.map(|range| sequences(range.start(), range.end()));
            sequences.sum::<u64>() * (4 * STATE + TRANSITION)
        }
        HirKind::Repetition(repetition) => {
            let times = repetition.max.unwrap_or(repetition.min).max(1);
            let each = part(&repetition.sub).saturating_add(2 * STATE);
            each.saturating_mul(u64::from(times))
        }
        HirKind::Capture(capture) => part(&capture.sub),
        HirKind::Concat(subs) | HirKind::Alternation(subs) => {
            let each = subs.iter().map(|sub| part(sub).saturating_add(TRANSITION));
            each.fold(0, u64::saturating_add)
        }
    };
    inside.saturating_add(2 * STATE)
}

/// At most how many sequences of byte ranges the UTF-8 of a range of characters
/// takes.
fn sequences(start: char, end: char) -> u64 {
    // Encodings of one length, without the surrogates.
    const SPANS: [(u32, u32); 5] = [
        (0, 0x7f),
        (0x80, 0x7ff),
        (0x800, 0xd7ff),
        (0xe000, 0xffff),
        (0x1_0000, 0x10_ffff),
    ];
    let (start, end) = (u32::from(start), u32::from(end));
    let spans = SPANS.iter().map(|&(first, last)| {
        let (from, to) = (start.max(first), end.min(last));
        if from > to {
            return 0;
        }
        // The lower bytes are cut off at either end, level by level.
        match from ^ to {
            0..=0x3f => 1,
            0x40..=0xfff => 3,
            0x1000..=0x3_ffff => 5,
            _ => 7,
        }
    });
    spans.sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use regex_automata::nfa::thompson::{self, WhichCaptures};
    use regex_syntax::ParserBuilder;
    use regex_syntax::utf8::Utf8Sequences;

    use super::*;

    fn parse(text: &str) -> Hir {
        ParserBuilder::new()
            .utf8(false)
            .build()
            .parse(text)
            .unwrap()
    }

    fn fits(hir: &Hir, bytes: u64, reverse: bool) -> bool {
        let limit = usize::try_from(bytes).ok();
        let config = thompson::Config::new()
            .utf8(false)
            .reverse(reverse)
            .which_captures(if reverse {
                WhichCaptures::None
            } else {
                WhichCaptures::Implicit
            })
            .nfa_size_limit(limit);
        thompson::Compiler::new()
            .configure(config)
            .build_from_hir(hir)
            .is_ok()
    }

    fn regex() -> impl Strategy<Value = String> {
        let atom = prop_oneof![
            "[a-c]{1,6}",
            proptest::sample::select(vec![
                "",
                "\\w",
                "\\pL",
                ".",
                "[^a]",
                "(?i:k)",
                "\\b",
                "^",
                "$",
                "[à-ÿ]",
                "\\s",
                "\\PN",
                "[0-9a-fx]",
                "(?-u:\\xff)",
                "(?-u:[^a])",
                "(?s-u:.)",
                "[\u{800}-\u{10ffff}]"
            ])
            .prop_map(str::to_owned),
        ];
        atom.prop_recursive(4, 24, 4, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..4)
                    .prop_map(|subs| format!("(?:{})", subs.join("|"))),
                proptest::collection::vec(inner.clone(), 1..4).prop_map(|subs| subs.concat()),
                (inner.clone(), 0_u32..12, 0_u32..12)
                    .prop_map(|(sub, min, more)| format!("(?:{sub}){{{min},{}}}", min + more)),
                (inner.clone(), 0_u32..12).prop_map(|(sub, min)| format!("(?:{sub}){{{min},}}")),
                inner.prop_map(|sub| format!("({sub})*?")),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(512))]
        #[test]
        fn every_regex_fits_its_bound(text in regex()) {
            let hir = parse(&text);
            let bound = most_bytes(&hir).min(16 << 20);
            if bound < 16 << 20 {
                prop_assert!(fits(&hir, bound, false), "{text} {bound}");
                prop_assert!(fits(&hir, bound, true), "{text} {bound} reversed");
            }
        }

        #[test]
        fn no_range_takes_more_sequences(one: char, other: char) {
            let (start, end) = (one.min(other), one.max(other));
            let exact = Utf8Sequences::new(start, end).count() as u64;
            prop_assert!(exact <= sequences(start, end));
        }
    }

    #[test]
    fn usual_patterns_are_not_built_ahead_and_huge_ones_are() {
        for usual in [
            r"\bfn\s+\w+\(",
            r"(?i)todo|fixme|xxx",
            r"[A-Z]\w{2,3}::",
            r"x{1000}",
            r"^\s*(pub )?struct \w+",
        ] {
            assert!(!may_be_too_large(&parse(usual)), "{usual}");
        }
        for huge in [r"\w{1000}", r"(?:a{500}){500}"] {
            assert!(may_be_too_large(&parse(huge)), "{huge}");
        }
    }
}
