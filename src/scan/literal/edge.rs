//! What has to stand beside a literal.

use regex_syntax::hir::Look;

/// A condition on one side of a literal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::scan) enum Edge {
    /// None.
    Any,
    /// The line ends there.
    Line,
    /// The neighbour is a word character, or it is none: then the line may end
    /// there, too.
    Neighbour {
        /// Which of the two.
        word: bool,
        /// True if other than ASCII characters may be word characters.
        unicode: bool,
    },
}

/// Whether a condition holds at a place of a text of many lines: the start of a
/// literal if `is_start`, its end if not. `None` if the neighbour is no ASCII
/// character and would have to be decoded.
pub(in crate::scan) fn edge_holds(
    edge: Edge,
    text: &[u8],
    at: usize,
    is_start: bool,
) -> Option<bool> {
    let neighbour = || {
        let at = if is_start { at.checked_sub(1)? } else { at };
        text.get(at).copied().filter(|&byte| byte != b'\n')
    };
    match edge {
        Edge::Any => Some(true),
        Edge::Line => Some(neighbour().is_none()),
        Edge::Neighbour { word, unicode } => match neighbour() {
            Some(byte) if !byte.is_ascii() && unicode => None,
            Some(byte) => Some(is_word(byte) == word),
            None => Some(!word),
        },
    }
}

/// The condition that a look-around at the side of a literal comes to. `inner` is
/// the byte of the literal at that side. `None` if it cannot be told from the
/// neighbour, or never holds.
pub(super) fn edge_of(look: Look, inner: u8, is_start: bool) -> Option<Edge> {
    let (kind, unicode) = match look {
        Look::StartLF => return is_start.then_some(Edge::Line),
        Look::EndLF => return (!is_start).then_some(Edge::Line),
        Look::Start | Look::End | Look::StartCRLF | Look::EndCRLF => return None,
        Look::WordAscii => (Kind::Boundary, false),
        Look::WordUnicode => (Kind::Boundary, true),
        Look::WordAsciiNegate => (Kind::Inside, false),
        Look::WordUnicodeNegate => (Kind::Inside, true),
        Look::WordStartAscii => (Kind::Start, false),
        Look::WordStartUnicode => (Kind::Start, true),
        Look::WordEndAscii => (Kind::End, false),
        Look::WordEndUnicode => (Kind::End, true),
        Look::WordStartHalfAscii => (Kind::HalfStart, false),
        Look::WordStartHalfUnicode => (Kind::HalfStart, true),
        Look::WordEndHalfAscii => (Kind::HalfEnd, false),
        Look::WordEndHalfUnicode => (Kind::HalfEnd, true),
    };
    if unicode && !inner.is_ascii() {
        return None;
    }
    let inner = is_word(inner);
    // A word starts at a place if what is before is no word character and what is
    // after is one.
    let word = match (kind, is_start) {
        (Kind::Boundary, _) => !inner,
        (Kind::Inside, _) => inner,
        (Kind::Start, true) | (Kind::End, false) => inner.then_some(false)?,
        (Kind::Start, false) | (Kind::End, true) => (!inner).then_some(true)?,
        (Kind::HalfStart, true) | (Kind::HalfEnd, false) => false,
        (Kind::HalfStart, false) | (Kind::HalfEnd, true) => {
            return (!inner).then_some(Edge::Any);
        }
    };
    Some(Edge::Neighbour { word, unicode })
}

enum Kind {
    Boundary,
    Inside,
    Start,
    End,
    HalfStart,
    HalfEnd,
}

const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}
