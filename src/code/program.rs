//! A compiled predicate and the word layout the machine runs.

use std::sync::Arc;

use crate::code::{Const, Insn};
use crate::diagnostic::{Diagnostic, Span};
use crate::digest::Digest;
use crate::facts::FactKey;
use crate::language::Language;

/// Most facts of one program; the language allows 256 primitives.
pub const MAX_FACTS: usize = 256;

/// Words before the fact numbers.
pub(crate) const HEADER_WORDS: usize = 2;

/// A compiled predicate: cheap to clone, immutable, shared between threads.
///
/// What the machine runs is one run of 32-bit words, so that the programs of a
/// batch can lie side by side in one arena:
///
/// ```text
/// word 0   number of facts (bits 0-15), number of registers (bits 16-31)
/// word 1   first constant in the pool
/// words    number in the fact table, one for each fact of the program
/// words    instructions
/// ```
#[derive(Clone, Debug)]
pub struct Program(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    language: Language,
    digest: Digest,
    source: Arc<str>,
    // Vectors, not boxed slices: shrinking each would cost a fifth of a compile.
    words: Vec<u32>,
    facts: Vec<FactSpec>,
    consts: Vec<Const>,
    spans: Vec<Span>,
    warnings: Vec<Diagnostic>,
    fuel: u64,
}

/// One fact of a program.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FactSpec {
    /// The primitive call.
    pub key: FactKey,
    /// For counts: this many decide every comparison that the program makes on
    /// the fact. `None` needs the exact number.
    pub limit: Option<u64>,
    /// Where the source first names it.
    pub span: Span,
}

/// What a program is made of; [`crate::code::verify()`] makes a program of it.
#[derive(Clone, Debug)]
pub struct Parts {
    /// The language of the source.
    pub language: Language,
    /// The exact source.
    pub source: Arc<str>,
    /// How many registers the instructions name, at most 256.
    pub registers: u16,
    /// The instructions.
    pub insns: Vec<Insn>,
    /// The facts that they index.
    pub facts: Vec<FactSpec>,
    /// The constants that they index.
    pub consts: Vec<Const>,
    /// For each instruction the part of the source that it came from.
    pub spans: Vec<Span>,
    /// What the checker remarked.
    pub warnings: Vec<Diagnostic>,
}

impl Program {
    /// Lays out parts that are known to be sound: fresh from the compiler, or
    /// past the verifier.
    pub(crate) fn assemble(parts: Parts, digest: Digest) -> Self {
        let facts = u32::try_from(parts.facts.len()).unwrap_or(u32::MAX);
        let costs = parts.insns.iter().filter_map(|insn| insn.op());
        let fuel = costs.map(|op| u64::from(op.info().cost)).sum();
        let mut words = Vec::with_capacity(HEADER_WORDS + parts.facts.len() + parts.insns.len());
        words.push(facts | u32::from(parts.registers) << 16);
        words.push(0);
        words.extend(0..facts);
        words.extend(parts.insns.iter().map(|insn| insn.0));
        Self(Arc::new(Inner {
            language: parts.language,
            digest,
            source: parts.source,
            words,
            facts: parts.facts,
            consts: parts.consts,
            spans: parts.spans,
            warnings: parts.warnings,
            fuel,
        }))
    }

    /// The language of the source.
    #[must_use]
    pub fn language(&self) -> Language {
        self.0.language
    }

    /// The SHA-256 of the source.
    #[must_use]
    pub fn digest(&self) -> Digest {
        self.0.digest
    }

    /// The exact source.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.0.source
    }

    /// The exact source, shared.
    #[must_use]
    pub fn shared_source(&self) -> Arc<str> {
        Arc::clone(&self.0.source)
    }

    /// The facts, numbered as [`crate::facts::FactTable`] of this program
    /// numbers them.
    #[must_use]
    pub fn facts(&self) -> &[FactSpec] {
        &self.0.facts
    }

    /// The constants.
    #[must_use]
    pub fn consts(&self) -> &[Const] {
        &self.0.consts
    }

    /// The part of the source that each instruction came from.
    #[must_use]
    pub fn spans(&self) -> &[Span] {
        &self.0.spans
    }

    /// What the checker remarked on a source that is valid all the same.
    #[must_use]
    pub fn warnings(&self) -> &[Diagnostic] {
        &self.0.warnings
    }

    /// How many registers it uses.
    #[must_use]
    pub fn registers(&self) -> u16 {
        u16::try_from(self.0.words[0] >> 16).unwrap_or(u16::MAX)
    }

    /// The instructions.
    pub fn insns(&self) -> impl ExactSizeIterator<Item = Insn> + '_ {
        self.code_words().iter().map(|&word| Insn(word))
    }

    /// What one evaluation is charged: the costs of all instructions added up,
    /// whichever of them a run skips. Equal for equal sources, on any machine.
    #[must_use]
    pub fn fuel(&self) -> u64 {
        self.0.fuel
    }

    /// Bytes that the machine reads: header, fact numbers and instructions.
    #[must_use]
    pub fn code_bytes(&self) -> usize {
        size_of_val(&*self.0.words)
    }

    /// The words of the machine.
    pub(crate) fn words(&self) -> &[u32] {
        &self.0.words
    }

    fn code_words(&self) -> &[u32] {
        &self.0.words[HEADER_WORDS + self.0.facts.len()..]
    }
}
