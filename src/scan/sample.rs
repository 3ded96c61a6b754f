//! How often grams occur, from a sample of the text.

/// Bytes of one file that a sample takes at most.
const FILE_BYTES: usize = 32 << 10;

/// Counters of hashed grams.
const SLOTS: usize = 1 << 16;

/// Frequencies of grams. What a text has more of than of another is a guess only:
/// results never depend on it.
#[derive(Clone, Debug)]
pub(super) struct Sample {
    grams: Vec<u16>,
    pairs: Vec<u16>,
}

impl Default for Sample {
    fn default() -> Self {
        Self {
            grams: vec![0; SLOTS],
            pairs: vec![0; SLOTS],
        }
    }
}

impl Sample {
    /// Adds the start of a text.
    pub(super) fn add(&mut self, text: &[u8]) {
        let text = &text[..text.len().min(FILE_BYTES)];
        for window in text.windows(4) {
            let count = &mut self.grams[slot(gram(window))];
            *count = count.saturating_add(1);
        }
        for window in text.windows(2) {
            let count = &mut self.pairs[pair(window) as usize % SLOTS];
            *count = count.saturating_add(1);
        }
    }

    /// How often a gram of four bytes was seen.
    pub(super) fn gram(&self, gram: u32) -> u32 {
        self.grams[slot(gram)].into()
    }

    /// How often a pair was seen.
    pub(super) fn pair(&self, pair: u32) -> u32 {
        self.pairs[pair as usize % SLOTS].into()
    }
}

fn slot(gram: u32) -> usize {
    (gram.wrapping_mul(0x85EB_CA6B) >> 16) as usize % SLOTS
}

/// Four bytes as a number; ASCII letters are equal in either case. 0 for any other
/// number of bytes.
#[inline]
pub(super) fn gram(window: &[u8]) -> u32 {
    match <[u8; 4]>::try_from(window) {
        Ok(bytes) => u32::from_le_bytes(bytes) | 0x2020_2020,
        Err(_) => 0,
    }
}

/// The same for two bytes.
#[inline]
pub(super) fn pair(window: &[u8]) -> u32 {
    match <[u8; 2]>::try_from(window) {
        Ok(bytes) => u32::from(u16::from_le_bytes(bytes) | 0x2020),
        Err(_) => 0,
    }
}
