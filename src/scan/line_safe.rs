//! From a regex for one line to a regex for many lines.
//!
//! A line never holds `\n`, so on a single line a regex that can match `\n` and
//! the same regex without that ability give one answer. Without it no match
//! crosses a line, and with the anchors of the text replaced by those of lines
//! the regex finds in a text of many lines exactly what it finds in each of them.

use regex_syntax::hir::{
    Capture, Class, ClassBytes, ClassBytesRange, ClassUnicode, ClassUnicodeRange, Hir, HirKind,
    Look, LookSet, Repetition,
};

/// Rewrites a regex so that it cannot match across lines. The depth of a parsed
/// regex is bounded by its parser, so recursion is too.
pub(super) fn line_safe(hir: &Hir) -> Hir {
    match hir.kind() {
        HirKind::Empty => Hir::empty(),
        HirKind::Literal(literal) if literal.0.contains(&b'\n') => Hir::fail(),
        HirKind::Literal(literal) => Hir::literal(literal.0.clone()),
        HirKind::Class(class) => Hir::class(without_newline(class)),
        HirKind::Look(look) => Hir::look(of_line(*look)),
        HirKind::Repetition(repetition) => Hir::repetition(Repetition {
            min: repetition.min,
            max: repetition.max,
            greedy: repetition.greedy,
            sub: Box::new(line_safe(&repetition.sub)),
        }),
        HirKind::Capture(capture) => Hir::capture(Capture {
            index: capture.index,
            name: capture.name.clone(),
            sub: Box::new(line_safe(&capture.sub)),
        }),
        HirKind::Concat(subs) => Hir::concat(subs.iter().map(line_safe).collect()),
        HirKind::Alternation(subs) => Hir::alternation(subs.iter().map(line_safe).collect()),
    }
}

/// True if a line-safe regex sees no difference between a line alone and a line
/// among others.
///
/// The anchors of CRLF mode take `\r` for the end of a line. The negated and the
/// half start boundary of words refuse to stand after invalid UTF-8, which they
/// look for up to four bytes back: past the start of the line.
pub(super) fn sees_only_its_line(hir: &Hir) -> bool {
    let strangers = [
        Look::StartCRLF,
        Look::EndCRLF,
        Look::WordUnicodeNegate,
        Look::WordStartHalfUnicode,
    ];
    let looks: LookSet = hir.properties().look_set();
    !strangers.into_iter().any(|look| looks.contains(look))
}

fn without_newline(class: &Class) -> Class {
    match class {
        Class::Unicode(class) => {
            let mut class = class.clone();
            class.difference(&ClassUnicode::new([ClassUnicodeRange::new('\n', '\n')]));
            Class::Unicode(class)
        }
        Class::Bytes(class) => {
            let mut class = class.clone();
            class.difference(&ClassBytes::new([ClassBytesRange::new(b'\n', b'\n')]));
            Class::Bytes(class)
        }
    }
}

const fn of_line(look: Look) -> Look {
    match look {
        Look::Start => Look::StartLF,
        Look::End => Look::EndLF,
        same => same,
    }
}
