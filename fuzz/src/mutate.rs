//! Pseudo-random changes to inputs, the same for the same seed.

use crate::dictionary::Dictionary;

/// A small generator (SplitMix64): good enough to shake bytes, and the same on
/// every machine.
#[derive(Clone, Debug)]
pub struct Rng(u64);

impl Rng {
    /// A generator whose numbers follow from the seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound`; 0 if `bound` is 0.
    pub fn below(&mut self, bound: usize) -> usize {
        let bound = bound.max(1) as u64;
        usize::try_from(self.next() % bound).unwrap_or(0)
    }

    /// One of the items; `None` if there are none.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        items.get(self.below(items.len()))
    }
}

/// Inputs grow no longer than this; what longer ones can show, the tests of the
/// limits do.
const MAX_LEN: usize = 4096;

/// Makes new inputs from old ones.
#[derive(Debug)]
pub struct Mutator<'a> {
    corpus: &'a [Vec<u8>],
    dictionary: &'a Dictionary,
    rng: Rng,
}

impl<'a> Mutator<'a> {
    /// A mutator over inputs to begin with and tokens to put in.
    pub fn new(corpus: &'a [Vec<u8>], dictionary: &'a Dictionary, seed: u64) -> Self {
        Self {
            corpus,
            dictionary,
            rng: Rng::new(seed),
        }
    }

    /// The next input: one of the corpus with one to eight changes.
    pub fn next_input(&mut self) -> Vec<u8> {
        let mut input = self.rng.pick(self.corpus).cloned().unwrap_or_default();
        for _ in 0..=self.rng.below(8) {
            self.change(&mut input);
        }
        input.truncate(MAX_LEN);
        input
    }

    fn change(&mut self, input: &mut Vec<u8>) {
        let at = self.rng.below(input.len() + 1);
        match self.rng.below(10) {
            0 => {
                if let Some(byte) = input.get_mut(at) {
                    *byte ^= 1 << self.rng.below(8);
                }
            }
            1 => {
                if let Some(byte) = input.get_mut(at) {
                    *byte = self.byte();
                }
            }
            2 => input.insert(at, self.byte()),
            3 => drop(input.drain(self.range(input.len(), 16))),
            4 => {
                let copy = input[self.range(input.len(), 64)].to_vec();
                self.insert(input, at, &copy);
            }
            5 => {
                let count = 1 + self.rng.below(32);
                let run = vec![input.get(at).copied().unwrap_or(b'!'); count];
                self.insert(input, at, &run);
            }
            6 => {
                // The head of this input and the tail of another.
                if let Some(other) = self.rng.pick(self.corpus) {
                    let from = self.rng.below(other.len() + 1);
                    input.truncate(at);
                    input.extend_from_slice(&other[from..]);
                }
            }
            _ => {
                if let Some(token) = self.rng.pick(self.dictionary.tokens()) {
                    if self.rng.below(2) == 0 {
                        let end = input.len().min(at + token.len());
                        input.drain(at..end);
                    }
                    self.insert(input, at, token);
                }
            }
        }
    }

    /// Mostly printable characters, which get further.
    fn byte(&mut self) -> u8 {
        let byte = self.rng.next().to_le_bytes()[0];
        if self.rng.below(4) == 0 {
            byte
        } else {
            b' ' + byte % 95
        }
    }

    fn range(&mut self, len: usize, longest: usize) -> std::ops::Range<usize> {
        let start = self.rng.below(len + 1);
        start..len.min(start + 1 + self.rng.below(longest))
    }

    fn insert(&self, input: &mut Vec<u8>, at: usize, bytes: &[u8]) {
        input.splice(at..at, bytes.iter().copied());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_inputs() {
        let corpus = [b"exists(\"a\")".to_vec(), b"true".to_vec()];
        let dictionary = Dictionary::parse("\"&&\"\n\"grep(\"").unwrap();
        let inputs = |seed| -> Vec<Vec<u8>> {
            let mut mutator = Mutator::new(&corpus, &dictionary, seed);
            (0..500).map(|_| mutator.next_input()).collect()
        };
        assert_eq!(inputs(7), inputs(7));
        assert_ne!(inputs(7), inputs(8));
    }

    #[test]
    fn nothing_to_begin_with_is_no_trouble() {
        let dictionary = Dictionary::default();
        let mut mutator = Mutator::new(&[], &dictionary, 1);
        for _ in 0..500 {
            mutator.next_input();
        }
    }
}
