//! Applying ops to a text. (flow.md, section 1.2.)

use crate::flow::model::op::{OpKind, TextOp};

/// The most bytes that a piece of a text holds, so that a change in the middle of a long
/// text moves few of them.
const PIECE: usize = 16 * 1024;

/// An op that does not fit the text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ApplyError {
    /// Its offset is past the end.
    #[error("op {op}: offset {offset} is past the end of a text of {length} bytes")]
    PastEnd {
        /// Which op, from 0 on.
        op: usize,
        /// Its offset.
        offset: u64,
        /// The length of the text at that op.
        length: usize,
    },
    /// What it wants to take out is not there.
    #[error("op {op}: the text at offset {offset} is not the one to delete")]
    Mismatch {
        /// Which op, from 0 on.
        op: usize,
        /// Its offset.
        offset: u64,
    },
}

/// Applies ops one after the other.
///
/// # Errors
/// [`ApplyError`] with the first op that does not fit.
pub(super) fn apply(ops: &[TextOp], text: &[u8]) -> Result<Vec<u8>, ApplyError> {
    let mut pieces = Pieces::new(text);
    for (op, change) in ops.iter().enumerate() {
        let offset = change.offset;
        let place = usize::try_from(offset)
            .ok()
            .filter(|place| *place <= pieces.length);
        let Some(place) = place else {
            return Err(ApplyError::PastEnd {
                op,
                offset,
                length: pieces.length,
            });
        };
        let content = change.content.as_bytes();
        match change.kind {
            OpKind::Insert => pieces.insert(place, content),
            OpKind::Delete if pieces.holds(place, content) => {
                pieces.remove(place, content.len());
            }
            OpKind::Delete => return Err(ApplyError::Mismatch { op, offset }),
        }
    }
    Ok(pieces.pieces.concat())
}

/// A text in pieces, of which none is empty and none is longer than [`PIECE`].
struct Pieces {
    pieces: Vec<Vec<u8>>,
    length: usize,
}

impl Pieces {
    fn new(text: &[u8]) -> Self {
        Self {
            pieces: text.chunks(PIECE).map(<[u8]>::to_vec).collect(),
            length: text.len(),
        }
    }

    /// The piece that an offset is in, and where in it. The end of a piece belongs to it,
    /// so that what is written at the end of a text grows its last piece.
    fn find(&self, mut offset: usize) -> (usize, usize) {
        for (at, piece) in self.pieces.iter().enumerate() {
            if offset <= piece.len() {
                return (at, offset);
            }
            offset -= piece.len();
        }
        (self.pieces.len(), 0)
    }

    fn insert(&mut self, offset: usize, content: &[u8]) {
        self.length += content.len();
        let (at, within) = self.find(offset);
        let Some(piece) = self.pieces.get_mut(at) else {
            self.pieces
                .extend(content.chunks(PIECE).map(<[u8]>::to_vec));
            return;
        };
        if piece.len() + content.len() <= PIECE {
            piece.splice(within..within, content.iter().copied());
            return;
        }
        let mut whole = piece.split_off(within);
        let mut text = std::mem::take(piece);
        text.extend_from_slice(content);
        text.append(&mut whole);
        // Half full, so that the next changes at this place find room.
        let halves = text.chunks(PIECE / 2).map(<[u8]>::to_vec);
        self.pieces.splice(at..=at, halves);
    }

    /// Whether a text is at an offset.
    fn holds(&self, offset: usize, mut content: &[u8]) -> bool {
        let (at, mut within) = self.find(offset);
        for piece in self.pieces.iter().skip(at) {
            let here = &piece[within..];
            within = 0;
            let shared = here.len().min(content.len());
            if here[..shared] != content[..shared] {
                return false;
            }
            content = &content[shared..];
            if content.is_empty() {
                return true;
            }
        }
        content.is_empty()
    }

    /// Takes bytes out that [`Self::holds`] has found.
    fn remove(&mut self, offset: usize, mut count: usize) {
        self.length -= count;
        let (mut at, mut within) = self.find(offset);
        let first = at;
        while count > 0
            && let Some(piece) = self.pieces.get_mut(at)
        {
            let taken = count.min(piece.len() - within);
            piece.drain(within..within + taken);
            count -= taken;
            within = 0;
            at += 1;
        }
        self.join(first, at);
    }

    /// Joins pieces from `first` up to and including `last` with what is next to them
    /// where they have become small.
    fn join(&mut self, first: usize, last: usize) {
        let last = self.pieces.len().min(last + 1);
        let first = first.saturating_sub(1).min(last);
        let mut joined: Vec<Vec<u8>> = Vec::new();
        for piece in &mut self.pieces[first..last] {
            match joined.last_mut() {
                Some(before) if before.len() + piece.len() <= PIECE / 2 => before.append(piece),
                _ if piece.is_empty() => {}
                _ => joined.push(std::mem::take(piece)),
            }
        }
        self.pieces.splice(first..last, joined);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{ApplyError, apply};
    use crate::flow::model::op::{OpKind, TextOp};

    /// The same, byte by byte.
    fn plainly(ops: &[TextOp], text: &[u8]) -> Result<Vec<u8>, ApplyError> {
        let mut text = text.to_vec();
        for (op, change) in ops.iter().enumerate() {
            let (offset, length) = (change.offset, text.len());
            let place = usize::try_from(offset).unwrap_or(usize::MAX);
            if place > length {
                return Err(ApplyError::PastEnd { op, offset, length });
            }
            let content = change.content.as_bytes();
            match change.kind {
                OpKind::Insert => drop(text.splice(place..place, content.iter().copied())),
                OpKind::Delete if text[place..].starts_with(content) => {
                    text.drain(place..place + content.len());
                }
                OpKind::Delete => return Err(ApplyError::Mismatch { op, offset }),
            }
        }
        Ok(text)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Long texts are in many pieces; deletions take out what is there.
        #[test]
        fn pieces_come_to_the_same_as_a_plain_text(
            length in 0_usize..60_000,
            seeds in prop::collection::vec((any::<bool>(), any::<u32>(), 0_usize..40_000), 1..24),
        ) {
            let start: Vec<u8> = (0..length).map(|at| b'a' + (at % 23) as u8).collect();
            let (mut text, mut ops) = (start.clone(), Vec::new());
            for (inserts, at, size) in seeds {
                let at = at as usize % (text.len() + 1);
                let op = if inserts {
                    TextOp::insert(at as u64, "é".repeat(size / 2))
                } else {
                    let end = text.len().min(at + size);
                    let there = String::from_utf8(text[at..end].to_vec());
                    let Ok(there) = there else { continue };
                    TextOp::delete(at as u64, there)
                };
                text = plainly(std::slice::from_ref(&op), &text).expect("it was made to fit");
                ops.push(op);
            }
            prop_assert_eq!(apply(&ops, &start), Ok(text.clone()));
            let back: Vec<TextOp> = ops.iter().rev().map(TextOp::inverse).collect();
            prop_assert_eq!(apply(&back, &text), Ok(start));
        }

        #[test]
        fn errors_are_the_same_too(
            text in "[ab]{0,8}",
            ops in prop::collection::vec((any::<bool>(), 0_u64..10, "[ab]{0,2}"), 0..6),
        ) {
            let ops: Vec<TextOp> = ops
                .into_iter()
                .map(|(inserts, offset, content)| match inserts {
                    true => TextOp::insert(offset, content),
                    false => TextOp::delete(offset, content),
                })
                .collect();
            prop_assert_eq!(apply(&ops, text.as_bytes()), plainly(&ops, text.as_bytes()));
        }
    }

    #[test]
    fn a_long_text_takes_many_ops_at_both_ends() {
        let text = "x".repeat(4 << 20);
        let ops: Vec<TextOp> = (0..100_000_u64)
            .map(|at| TextOp::insert(if at % 2 == 0 { 0 } else { (4 << 20) + at }, "y"))
            .collect();
        let long = apply(&ops, text.as_bytes()).expect("all fit");
        assert_eq!(long.len(), (4 << 20) + 100_000);
        let back: Vec<TextOp> = ops.iter().rev().map(TextOp::inverse).collect();
        assert_eq!(apply(&back, &long), Ok(text.into_bytes()));
    }
}
