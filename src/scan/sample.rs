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
            let count = &mut self.grams[slot(gram::<4>(window))];
            *count = count.saturating_add(1);
        }
        for window in text.windows(2) {
            let count = &mut self.pairs[gram::<2>(window) as usize % SLOTS];
            *count = count.saturating_add(1);
        }
    }

    /// About how often a gram was seen, to compare it with others of its length.
    pub(super) fn frequency(&self, bytes: &[u8]) -> u16 {
        if bytes.len() == 4 {
            return self.grams[slot(gram::<4>(bytes))];
        }
        let pairs = bytes.windows(2);
        let counts = pairs.map(|pair| self.pairs[gram::<2>(pair) as usize % SLOTS]);
        counts.min().unwrap_or(0)
    }
}

fn slot(gram: u32) -> usize {
    (gram.wrapping_mul(0x85EB_CA6B) >> 16) as usize % SLOTS
}

/// So many bytes as a number; ASCII letters are equal in either case. 0 for any other
/// number of bytes.
#[inline]
pub(super) fn gram<const WIDTH: usize>(window: &[u8]) -> u32 {
    match (WIDTH, window) {
        (4, &[a, b, c, d]) => u32::from_le_bytes([a, b, c, d]) | 0x2020_2020,
        (3, &[a, b, c]) => u32::from_le_bytes([a, b, c, 0]) | 0x0020_2020,
        (2, &[a, b]) => u32::from_le_bytes([a, b, 0, 0]) | 0x2020,
        _ => 0,
    }
}
