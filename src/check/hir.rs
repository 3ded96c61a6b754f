//! Questions about patterns, answered from their parsed form.

use regex_syntax::hir::{Class, Hir, HirKind, Look};

/// Characters of a class that are still as good as a literal: the cases of a
/// letter.
const FEW: usize = 4;

/// True if a pattern matches in every haystack, the empty one included.
pub(super) fn matches_everything(hir: &Hir) -> bool {
    match hir.kind() {
        HirKind::Capture(capture) => matches_everything(&capture.sub),
        HirKind::Alternation(branches) => branches.iter().any(matches_everything),
        HirKind::Concat(parts) => {
            let parts = parts.as_slice();
            let (anchored, parts) = match parts {
                [first, rest @ ..] if is_look(first, Look::Start) => (true, rest),
                parts => (false, parts),
            };
            match parts {
                [rest @ .., last] if is_look(last, Look::End) => {
                    // Between both ends all of the haystack has to match.
                    rest.iter().all(matches_empty)
                        && (!anchored || rest.iter().any(matches_any_run))
                }
                parts => parts.iter().all(matches_empty),
            }
        }
        HirKind::Look(look) => matches!(look, Look::Start | Look::End),
        _ => matches_empty(hir),
    }
}

fn is_look(hir: &Hir, wanted: Look) -> bool {
    matches!(hir.kind(), HirKind::Look(look) if *look == wanted)
}

/// True if a pattern matches the empty text anywhere.
fn matches_empty(hir: &Hir) -> bool {
    let properties = hir.properties();
    properties.minimum_len() == Some(0) && properties.look_set().is_empty()
}

/// True for `.*`.
fn matches_any_run(hir: &Hir) -> bool {
    match hir.kind() {
        HirKind::Capture(capture) => matches_any_run(&capture.sub),
        HirKind::Repetition(repetition) => {
            repetition.min == 0 && repetition.max.is_none() && is_dot(&repetition.sub)
        }
        _ => false,
    }
}

fn is_dot(hir: &Hir) -> bool {
    [
        Hir::dot(regex_syntax::hir::Dot::AnyCharExceptLF),
        Hir::dot(regex_syntax::hir::Dot::AnyChar),
    ]
    .contains(hir)
}

/// True if no haystack without a line feed holds a match.
pub(super) fn matches_no_line(hir: &Hir) -> bool {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => false,
        HirKind::Literal(literal) => literal.0.contains(&b'\n'),
        HirKind::Class(Class::Unicode(class)) => class
            .iter()
            .all(|range| (range.start(), range.end()) == ('\n', '\n')),
        HirKind::Class(Class::Bytes(class)) => class
            .iter()
            .all(|range| (range.start(), range.end()) == (b'\n', b'\n')),
        HirKind::Repetition(repetition) => repetition.min > 0 && matches_no_line(&repetition.sub),
        HirKind::Capture(capture) => matches_no_line(&capture.sub),
        HirKind::Concat(parts) => parts.iter().any(matches_no_line),
        HirKind::Alternation(branches) => branches.iter().all(matches_no_line),
    }
}

/// True if no haystack at all holds a match.
pub(super) fn matches_nothing(hir: &Hir) -> bool {
    hir.properties().minimum_len().is_none()
}

/// True if a line can hold more than one match.
pub(super) fn can_match_twice(hir: &Hir) -> bool {
    let properties = hir.properties();
    !properties.look_set_prefix().contains(Look::Start)
        && !properties.look_set_suffix().contains(Look::End)
}

/// True if every match holds one of a few literals that a search can look for.
pub(super) fn has_literal(hir: &Hir) -> bool {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => false,
        HirKind::Literal(_) => true,
        HirKind::Class(class) => match class {
            Class::Unicode(class) => class.iter().map(|range| range.len()).sum::<usize>() <= FEW,
            Class::Bytes(class) => class.iter().map(|range| range.len()).sum::<usize>() <= FEW,
        },
        HirKind::Repetition(repetition) => repetition.min > 0 && has_literal(&repetition.sub),
        HirKind::Capture(capture) => has_literal(&capture.sub),
        HirKind::Concat(parts) => parts.iter().any(has_literal),
        HirKind::Alternation(branches) => branches.iter().all(has_literal),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::RegexFlags;
    use crate::scan::parse_text;

    fn all(question: fn(&Hir) -> bool, table: &[(&str, bool)]) {
        for (text, answer) in table {
            let hir = parse_text(text, RegexFlags::NONE).unwrap();
            assert_eq!(question(&hir), *answer, "{text}");
        }
    }

    #[test]
    fn everything() {
        all(
            matches_everything,
            &[
                ("", true),
                ("a*", true),
                ("^", true),
                ("$", true),
                ("^.*", true),
                ("^.*$", true),
                ("^(.*)$", true),
                ("x|", true),
                ("a?b?", true),
                ("^a*$", false),
                ("^$", false),
                (".", false),
                (r"\b", false),
                ("a", false),
            ],
        );
    }

    #[test]
    fn nothing() {
        all(
            matches_no_line,
            &[
                (r"a\nb", true),
                (r"\n+", true),
                (r"a(\n|\r\n)", true),
                (r"a\n?", false),
                (r"[\n\t]", false),
                (r"\s", false),
                (r"a\r", false),
            ],
        );
        all(matches_nothing, &[(r"[a&&b]", true), ("a", false)]);
    }

    #[test]
    fn literals() {
        all(
            has_literal,
            &[
                ("(?i)ab", true),
                (r"\d+ passed", true),
                (r"\d+", false),
                ("a|b", true),
                (r"abc|\w", false),
                (".*", false),
                ("(foo)+", true),
            ],
        );
        all(
            can_match_twice,
            &[("a", true), ("^a", false), ("a$", false), ("^a|b", true)],
        );
    }
}
