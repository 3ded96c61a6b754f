//! One block of memory for all programs of a batch.

use crate::code::{Const, HEADER_WORDS, Program};

/// The programs of a batch, side by side, with their facts renumbered to the
/// fact table of the batch. Evaluating from here touches one or two cache lines
/// for a flat predicate, where separate allocations would touch four.
#[derive(Debug, Default)]
pub struct Arena {
    words: Vec<u32>,
    consts: Vec<Const>,
}

/// Where a program lies in its [`Arena`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProgramRef(u32);

impl Arena {
    /// An empty arena.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends a program. `number` gives, for each of its facts in order, the
    /// number in the fact table of the batch.
    ///
    /// Returns `None` once the arena holds 2^32 words, 16 GiB.
    pub fn link(
        &mut self,
        program: &Program,
        mut number: impl FnMut(usize) -> u32,
    ) -> Option<ProgramRef> {
        let at = u32::try_from(self.words.len()).ok()?;
        let first_const = u32::try_from(self.consts.len()).ok()?;
        let words = program.words();
        let code = HEADER_WORDS + program.facts().len();
        self.words.push(words[0]);
        self.words.push(first_const);
        self.words
            .extend((0..program.facts().len()).map(&mut number));
        self.words.extend_from_slice(&words[code..]);
        self.consts.extend_from_slice(program.consts());
        Some(ProgramRef(at))
    }

    /// Bytes of code held.
    #[must_use]
    pub fn code_bytes(&self) -> usize {
        size_of_val(&*self.words)
    }

    /// Empties the arena and keeps its memory.
    pub fn clear(&mut self) {
        self.words.clear();
        self.consts.clear();
    }

    pub(crate) fn view(&self, program: ProgramRef) -> (&[u32], &[Const]) {
        (
            self.words.get(program.0 as usize..).unwrap_or_default(),
            &self.consts,
        )
    }
}
