//! Sets of literals as they are put together from the parts of a regex.

use regex_syntax::hir::Look;

/// Most literals of a set.
const MOST: usize = 64;

/// Most bytes of all literals of a set.
const MOST_BYTES: usize = 8 << 10;

/// A literal in the making.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) bytes: Vec<u8>,
    /// True if ASCII letters match in either case.
    pub(super) folded: bool,
    /// What is looked around for before and after it.
    pub(super) before: Option<Look>,
    pub(super) after: Option<Look>,
    /// False if there is more to a match than these bytes and looks.
    pub(super) is_all: bool,
}

impl Piece {
    pub(super) fn new(bytes: &[u8]) -> Self {
        Self {
            bytes: bytes.to_vec(),
            folded: false,
            before: None,
            after: None,
            is_all: true,
        }
    }

    pub(super) fn folded(letter: u8) -> Self {
        Self {
            folded: true,
            ..Self::new(&[letter.to_ascii_lowercase()])
        }
    }

    pub(super) fn look(look: Look) -> Self {
        Self {
            before: Some(look),
            ..Self::new(b"")
        }
    }

    /// This one followed by another. `None` if the letters of one match in either
    /// case and those of the other do not.
    fn then(&self, next: &Self) -> Option<Self> {
        let has_letters = |piece: &Self| piece.bytes.iter().any(u8::is_ascii_alphabetic);
        if self.folded != next.folded && has_letters(self) && has_letters(next) {
            return None;
        }
        let mut joined = Self {
            bytes: [&*self.bytes, &*next.bytes].concat(),
            folded: self.folded && has_letters(self) || next.folded && has_letters(next),
            before: self.before,
            after: next.after,
            is_all: self.is_all && next.is_all,
        };
        // Looks that are not at the very sides, or two at one place.
        match (self.bytes.is_empty(), next.bytes.is_empty()) {
            (false, false) => {
                joined.is_all &= self.after.is_none() && next.before.is_none();
            }
            (true, _) => {
                let looks = [self.before, self.after, next.before];
                joined.before = one_of(looks, &mut joined.is_all);
            }
            (false, true) => {
                let looks = [self.after, next.before, next.after];
                joined.after = one_of(looks, &mut joined.is_all);
            }
        }
        Some(joined)
    }
}

/// The only look among some.
fn one_of(looks: [Option<Look>; 3], is_all: &mut bool) -> Option<Look> {
    let mut looks = looks.into_iter().flatten();
    let first = looks.next();
    if looks.any(|look| Some(look) != first) {
        *is_all = false;
    }
    first
}

/// Some literals, one of which a match holds.
pub(super) type Set = Vec<Piece>;

/// Every literal of one set followed by every one of another, if that is not too
/// much.
pub(super) fn product(first: &Set, second: &Set) -> Option<Set> {
    if first.len().saturating_mul(second.len()) > MOST {
        return None;
    }
    let mut joined = Vec::with_capacity(first.len() * second.len());
    let mut bytes = 0;
    for one in first {
        for other in second {
            let both = one.then(other)?;
            bytes += both.bytes.len();
            if bytes > MOST_BYTES {
                return None;
            }
            joined.push(both);
        }
    }
    Some(joined)
}

/// The literals of both sets, if those are not too many.
pub(super) fn union(mut first: Set, second: Set) -> Option<Set> {
    for piece in second {
        if !first.contains(&piece) {
            first.push(piece);
        }
    }
    let bytes: usize = first.iter().map(|piece| piece.bytes.len()).sum();
    (first.len() <= MOST && bytes <= MOST_BYTES).then_some(first)
}

/// The same set as a part of something larger. `None` if it is of no use.
pub(super) fn weaken(set: Set) -> Option<Set> {
    if set.is_empty() || set.iter().any(|piece| piece.bytes.is_empty()) {
        return None;
    }
    let weak = set.into_iter().map(|piece| Piece {
        before: None,
        after: None,
        is_all: false,
        ..piece
    });
    Some(weak.collect())
}

/// How much a set is worth: rare literals are, and long ones, and few.
pub(super) fn score(set: &Set) -> i64 {
    let worst = set.iter().map(|piece| rarity(&piece.bytes)).min();
    let count = i64::from(set.len().max(1).ilog2());
    worst.unwrap_or(0) - 3 * count
}

/// About how rare a literal is in source code: the sum over its rarest eight bytes
/// in a row, so that more bytes do not matter.
fn rarity(bytes: &[u8]) -> i64 {
    let of = |window: &[u8]| window.iter().map(|&byte| byte_rarity(byte)).sum();
    bytes.windows(8).map(of).max().unwrap_or_else(|| of(bytes))
}

const fn byte_rarity(byte: u8) -> i64 {
    match byte {
        b' ' => 3,
        b'a' | b'e' | b'i' | b'n' | b'o' | b'r' | b's' | b't' => 5,
        b'c' | b'd' | b'f' | b'l' | b'm' | b'p' | b'u' => 6,
        b'.' | b',' | b';' | b':' | b'(' | b')' | b'_' | b'/' => 6,
        b'a'..=b'z' | b'0'..=b'9' => 7,
        _ => 8,
    }
}
