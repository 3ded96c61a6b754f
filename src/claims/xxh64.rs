//! XXH64 with seed 0, the content checksum of zstd frames.

const P1: u64 = 0x9e37_79b1_85eb_ca87;
const P2: u64 = 0xc2b2_ae3d_27d4_eb4f;
const P3: u64 = 0x1656_67b1_9e37_79f9;
const P4: u64 = 0x85eb_ca77_c2b2_ae63;
const P5: u64 = 0x27d4_eb2f_1656_67c5;

/// Bytes of a stripe: one word for each lane.
const STRIPE: usize = 32;

/// A hash over bytes that come in pieces.
pub(super) struct Xxh64 {
    lanes: [u64; 4],
    pending: Vec<u8>,
    len: u64,
}

impl Xxh64 {
    pub(super) fn new() -> Self {
        Self {
            lanes: [P1.wrapping_add(P2), P2, 0, P1.wrapping_neg()],
            pending: Vec::with_capacity(STRIPE),
            len: 0,
        }
    }

    pub(super) fn update(&mut self, mut bytes: &[u8]) {
        self.len += bytes.len() as u64;
        if !self.pending.is_empty() {
            let missing = (STRIPE - self.pending.len()).min(bytes.len());
            self.pending.extend_from_slice(&bytes[..missing]);
            bytes = &bytes[missing..];
            if self.pending.len() < STRIPE {
                return;
            }
            absorb(&mut self.lanes, &self.pending);
            self.pending.clear();
        }
        let stripes = bytes.chunks_exact(STRIPE);
        self.pending.extend_from_slice(stripes.remainder());
        for stripe in stripes {
            absorb(&mut self.lanes, stripe);
        }
    }

    pub(super) fn finish(&self) -> u64 {
        let [a, b, c, d] = self.lanes;
        let mut hash = if self.len < STRIPE as u64 {
            P5
        } else {
            let sum = a
                .rotate_left(1)
                .wrapping_add(b.rotate_left(7))
                .wrapping_add(c.rotate_left(12))
                .wrapping_add(d.rotate_left(18));
            self.lanes.iter().fold(sum, |hash, lane| {
                (hash ^ round(0, *lane)).wrapping_mul(P1).wrapping_add(P4)
            })
        };
        hash = hash.wrapping_add(self.len);
        let mut words = self.pending.chunks_exact(8);
        for word in &mut words {
            let mixed = hash ^ round(0, little_endian(word));
            hash = mixed.rotate_left(27).wrapping_mul(P1).wrapping_add(P4);
        }
        let mut halves = words.remainder().chunks_exact(4);
        for half in &mut halves {
            let mixed = hash ^ little_endian(half).wrapping_mul(P1);
            hash = mixed.rotate_left(23).wrapping_mul(P2).wrapping_add(P3);
        }
        for byte in halves.remainder() {
            let mixed = hash ^ u64::from(*byte).wrapping_mul(P5);
            hash = mixed.rotate_left(11).wrapping_mul(P1);
        }
        hash = (hash ^ (hash >> 33)).wrapping_mul(P2);
        hash = (hash ^ (hash >> 29)).wrapping_mul(P3);
        hash ^ (hash >> 32)
    }
}

fn absorb(lanes: &mut [u64; 4], stripe: &[u8]) {
    for (lane, word) in lanes.iter_mut().zip(stripe.chunks_exact(8)) {
        *lane = round(*lane, little_endian(word));
    }
}

fn round(lane: u64, word: u64) -> u64 {
    lane.wrapping_add(word.wrapping_mul(P2))
        .rotate_left(31)
        .wrapping_mul(P1)
}

fn little_endian(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .rev()
        .fold(0, |word, byte| word << 8 | u64::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(bytes: &[u8]) -> u64 {
        let mut hash = Xxh64::new();
        hash.update(bytes);
        hash.finish()
    }

    #[test]
    fn published_vectors() {
        assert_eq!(hash(b""), 0xef46_db37_51d8_e999);
        assert_eq!(hash(b"a"), 0xd24e_c4f1_a98c_6e5b);
        assert_eq!(hash(b"abc"), 0x44bc_2cf5_ad77_0999);
        assert_eq!(
            hash(b"The quick brown fox jumps over the lazy dog"),
            0x0b24_2d36_1fda_71bc
        );
    }

    #[test]
    fn pieces_do_not_matter() {
        let bytes: Vec<u8> = (0..=255).collect();
        for cut in 0..bytes.len() {
            let mut pieces = Xxh64::new();
            pieces.update(&bytes[..cut]);
            pieces.update(&bytes[cut..]);
            assert_eq!(pieces.finish(), hash(&bytes), "{cut}");
        }
    }
}
