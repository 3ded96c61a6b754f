//! How far a search looks. Iterating matches is quadratic if each search looks far
//! past the match it finds; this bounds how far that can be.

use regex_syntax::hir::{Class, Hir, HirKind};

/// Bounds how far a search can look past the start of the match it finds: not
/// past the longest match, and not past a byte that no match holds.
#[derive(Clone, Debug)]
pub(crate) struct Reach {
    longest: usize,
    holds: [bool; 256],
}

impl Reach {
    pub(crate) fn of(hir: &Hir) -> Self {
        let mut holds = [false; 256];
        let mut pending = vec![hir];
        while let Some(hir) = pending.pop() {
            match hir.kind() {
                HirKind::Literal(literal) => {
                    for &byte in &literal.0 {
                        holds[usize::from(byte)] = true;
                    }
                }
                HirKind::Class(Class::Bytes(class)) => {
                    for range in class.ranges() {
                        holds[usize::from(range.start())..=usize::from(range.end())].fill(true);
                    }
                }
                HirKind::Class(Class::Unicode(class)) => {
                    for range in class.ranges() {
                        let byte = |char| usize::try_from(u32::from(char)).unwrap_or(255).min(255);
                        holds[byte(range.start()).min(128)..=byte(range.end()).min(127)].fill(true);
                        if !range.end().is_ascii() {
                            holds[128..].fill(true);
                        }
                    }
                }
                other => pending.extend(other.subs()),
            }
        }
        Self {
            longest: hir.properties().maximum_len().unwrap_or(usize::MAX),
            holds,
        }
    }

    /// Where a search that finds a match at `start..end` stops looking. `dead` is
    /// the last byte found that no match holds, kept from call to call.
    pub(crate) fn stop(&self, text: &[u8], start: usize, end: usize, dead: &mut usize) -> usize {
        let longest = start.saturating_add(self.longest);
        if longest <= end {
            return end;
        }
        if *dead < end {
            *dead = text[end..]
                .iter()
                .position(|&byte| !self.holds[usize::from(byte)])
                .map_or(text.len(), |offset| end + offset);
        }
        longest.min(*dead)
    }
}
