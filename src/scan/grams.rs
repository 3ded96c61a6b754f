//! All the literals of many patterns in one pass over a text.
//!
//! Every literal is entered under one of its grams: four bytes in a row, or two for
//! literals shorter than that. A pass looks up the gram at every position of the
//! text in a bit map that fits the cache, and only what is in it is compared with
//! the literals themselves. Grams are folded so that ASCII letters are equal in
//! either case; which gram of a literal is taken is up to a sample of the text, the
//! rarest being the best. The work grows with the bytes and with what is found, and
//! hardly with the number of literals.

use crate::scan::literal::{Literal, Proof};
use crate::scan::sample::{Sample, gram};

/// Positions looked at before what was found is followed up.
const BLOCK: usize = 4096;

/// Makes ASCII letters equal in either case, and some other bytes too.
const FOLD: u64 = 0x2020_2020_2020_2020;

/// The shortest literal that can be entered.
pub(super) const SHORTEST: usize = 2;

/// A literal as it is kept for comparison.
#[derive(Clone, Debug)]
pub(super) struct Needle {
    bytes: Box<[u8]>,
    ignore_case: bool,
    /// Whose literal it is, by the number its owner gave.
    pub(super) owner: u32,
    pub(super) proof: Proof,
}

impl Needle {
    pub(super) fn new(owner: u32, literal: &Literal) -> Self {
        Self {
            bytes: literal.bytes.clone(),
            ignore_case: literal.ignore_case,
            owner,
            proof: literal.proof,
        }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// True if the literal is what was found, which is of its length.
    fn is(&self, found: &[u8]) -> bool {
        if self.ignore_case {
            found.eq_ignore_ascii_case(&self.bytes)
        } else {
            found == &*self.bytes
        }
    }
}

/// A gram of a needle.
#[derive(Clone, Copy, Debug)]
struct Entry {
    gram: u32,
    needle: u32,
    /// Where the gram is in the needle.
    offset: u32,
    /// The length of the needle.
    len: u32,
    /// The first and the last bytes of the needle, up to eight, folded if either case
    /// will do: most comparisons end here, and those of short needles altogether.
    head: u64,
    tail: u64,
    /// [`FOLD`], or nothing where the case counts.
    fold: u64,
}

impl Entry {
    /// Whether the needle stands at a place of the text. `None` if it has to be
    /// compared as a whole.
    fn is_at(&self, text: &[u8], start: usize) -> Option<bool> {
        let len = self.len as usize;
        let eight = |at: usize| {
            let bytes = text.get(at..at + 8)?.first_chunk()?;
            Some(u64::from_le_bytes(*bytes) | self.fold)
        };
        let is_alike = if len < 8 {
            // `None` at the end of the text.
            let unused = 64 - 8 * len;
            (eight(start)? ^ self.head) << unused == 0
        } else {
            let end = start + len;
            end <= text.len() && eight(start)? == self.head && eight(end - 8)? == self.tail
        };
        // Folding makes some bytes equal that are no letters.
        let is_whole = len <= 16 && self.fold == 0;
        (is_whole || !is_alike).then_some(is_alike)
    }
}

/// The grams of one length.
#[derive(Debug, Default)]
struct Tier {
    bits: Vec<u64>,
    /// For each hash, cut to its upper bits, where its entries start.
    starts: Vec<u32>,
    entries: Vec<Entry>,
}

/// Literals to be searched together.
#[derive(Debug)]
pub(super) struct Grams {
    needles: Vec<Needle>,
    quads: Tier,
    triples: Tier,
    pairs: Tier,
}

/// How many bits of a hash say where its entries start.
const START_BITS: u32 = 15;

/// Words of the small bit map, which stays in the first cache, and of the large one.
const SMALL: usize = 1 << 10;
const LARGE: usize = 1 << 14;

/// Entries up to which the small map is sparse enough.
const SMALL_ENTRIES: usize = 1500;

/// Up to so many needles it is quicker to find some more grams that are none of
/// theirs than to look for three and four bytes in two passes.
const ONE_PASS: usize = 2500;

impl Grams {
    /// Enters needles. Those of one owner all go by the shortest of
    /// them: see [`Grams::scan`]. Needles below [`SHORTEST`] are not
    /// found.
    pub(super) fn new(needles: Vec<Needle>, sample: &Sample) -> Self {
        let mut shortest = std::collections::HashMap::<u32, usize>::new();
        for needle in &needles {
            let len = shortest.entry(needle.owner).or_insert(usize::MAX);
            *len = (*len).min(needle.bytes.len());
        }
        let has_triples = shortest.values().any(|&len| len == 3);
        let one_pass = has_triples && needles.len() <= ONE_PASS;
        let mut quads = Vec::new();
        let mut triples = Vec::new();
        let mut pairs = Vec::new();
        for (number, needle) in needles.iter().enumerate() {
            let number = u32::try_from(number).unwrap_or(u32::MAX);
            match shortest.get(&needle.owner) {
                Some(0..=2) => pairs.extend(entry::<2>(needle, number, sample)),
                Some(len) if *len == 3 || one_pass => {
                    triples.extend(entry::<3>(needle, number, sample));
                }
                _ => quads.extend(entry::<4>(needle, number, sample)),
            }
        }
        Self {
            needles,
            quads: Tier::new(quads),
            triples: Tier::new(triples),
            pairs: Tier::new(pairs),
        }
    }

    /// Calls back for every place where a needle stands, with the place of its gram
    /// and that of its start. The needles of one owner come in an order in which
    /// their lines ascend: a gram is on the line of its needle, and all grams of an
    /// owner are found by one pass.
    pub(super) fn scan(&self, text: &[u8], found: &mut impl FnMut(&Needle, usize, usize)) {
        self.quads.scan::<4>(text, &self.needles, found);
        self.triples.scan::<3>(text, &self.needles, found);
        self.pairs.scan::<2>(text, &self.needles, found);
    }
}

/// The entry of a needle under its rarest gram.
fn entry<const WIDTH: usize>(needle: &Needle, number: u32, sample: &Sample) -> Option<Entry> {
    let bytes = &needle.bytes;
    let (offset, window) = bytes
        .windows(WIDTH)
        .enumerate()
        .min_by_key(|(_, window)| sample.frequency(window))?;
    let fold = if needle.ignore_case { FOLD } else { 0 };
    let eight = bytes.len().min(8);
    Some(Entry {
        gram: gram::<WIDTH>(window),
        needle: number,
        offset: u32::try_from(offset).ok()?,
        len: u32::try_from(bytes.len()).ok()?,
        head: number_of(bytes.get(..eight)?) | fold,
        tail: number_of(bytes.get(bytes.len() - eight..)?) | fold,
        fold,
    })
}

/// Up to eight bytes as a number.
fn number_of(bytes: &[u8]) -> u64 {
    let mut eight = [0; 8];
    for (to, from) in eight.iter_mut().zip(bytes) {
        *to = *from;
    }
    u64::from_le_bytes(eight)
}

const fn hash(gram: u32) -> u32 {
    gram.wrapping_mul(0x9E37_79B1)
}

impl Tier {
    fn new(mut entries: Vec<Entry>) -> Self {
        if entries.is_empty() {
            return Self::default();
        }
        entries.sort_by_key(|entry| hash(entry.gram));
        let words = if entries.len() <= SMALL_ENTRIES {
            SMALL
        } else {
            LARGE
        };
        let mut bits = vec![0; words];
        let mut starts = vec![0; (1 << START_BITS) + 1];
        for entry in &entries {
            let hash = hash(entry.gram);
            let bit = hash >> (26 - words.ilog2());
            bits[(bit >> 6) as usize] |= 1 << (bit & 63);
            starts[(hash >> (32 - START_BITS)) as usize + 1] += 1;
        }
        let mut sum = 0;
        for start in &mut starts {
            sum += *start;
            *start = sum;
        }
        Self {
            bits,
            starts,
            entries,
        }
    }

    fn scan<const WIDTH: usize>(
        &self,
        text: &[u8],
        needles: &[Needle],
        found: &mut impl FnMut(&Needle, usize, usize),
    ) {
        if let Ok(bits) = <&[u64; SMALL]>::try_from(&*self.bits) {
            self.scan_with::<WIDTH, SMALL>(bits, text, needles, found);
        } else if let Ok(bits) = <&[u64; LARGE]>::try_from(&*self.bits) {
            self.scan_with::<WIDTH, LARGE>(bits, text, needles, found);
        }
    }

    /// The length of the bit map is known to the compiler, so that no look-up needs
    /// a check of its bounds.
    fn scan_with<const WIDTH: usize, const WORDS: usize>(
        &self,
        bits: &[u64; WORDS],
        text: &[u8],
        needles: &[Needle],
        found: &mut impl FnMut(&Needle, usize, usize),
    ) {
        let mut candidates = [0_u32; BLOCK];
        let mut from = 0;
        while from + WIDTH <= text.len() {
            let block = &text[from..text.len().min(from + BLOCK + WIDTH - 1)];
            let mut count = 0;
            for (position, window) in (0_u32..).zip(block.windows(WIDTH)) {
                let bit = hash(gram::<WIDTH>(window)) >> (26 - WORDS.ilog2());
                // Written without a branch, which would be mispredicted too often.
                candidates[count & (BLOCK - 1)] = position;
                count += (bits[(bit >> 6) as usize & (WORDS - 1)] >> (bit & 63) & 1) as usize;
            }
            for &candidate in &candidates[..count.min(BLOCK)] {
                let at = from + candidate as usize;
                self.follow::<WIDTH>(at, text, needles, found);
            }
            from += BLOCK;
        }
    }

    /// Compares the needles of the gram at a position.
    #[inline]
    fn follow<const WIDTH: usize>(
        &self,
        at: usize,
        text: &[u8],
        needles: &[Needle],
        found: &mut impl FnMut(&Needle, usize, usize),
    ) {
        let gram = gram::<WIDTH>(&text[at..at + WIDTH]);
        let bucket = (hash(gram) >> (32 - START_BITS)) as usize;
        let (from, to) = (
            self.starts[bucket] as usize,
            self.starts[bucket + 1] as usize,
        );
        for entry in &self.entries[from..to] {
            if entry.gram != gram {
                continue;
            }
            let Some(start) = at.checked_sub(entry.offset as usize) else {
                continue;
            };
            let needle = &needles[entry.needle as usize];
            let compare = || {
                let found = text.get(start..start + needle.bytes.len());
                found.is_some_and(|found| needle.is(found))
            };
            if entry.is_at(text, start).unwrap_or_else(compare) {
                found(needle, at, start);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn needle(owner: u32, text: &[u8], ignore_case: bool) -> Needle {
        Needle {
            bytes: text.into(),
            ignore_case,
            owner,
            proof: Proof::Candidate,
        }
    }

    proptest! {
        #[test]
        fn every_place_is_found_and_no_other(
            texts in prop::collection::vec("[abAB_\u{e9}]{2,9}", 1..60),
            ignore in any::<u64>(),
            text in "[abAB_\u{e9}\n]{0,300}",
            repeat in 1..40_usize,
        ) {
            let text = text.repeat(repeat);
            let text = text.as_bytes();
            let needles: Vec<_> = texts
                .iter()
                .zip(0..)
                .map(|(text, owner)| {
                    let ignore = ignore >> (owner % 64) & 1 == 1;
                    let text = if ignore { text.to_ascii_lowercase() } else { text.clone() };
                    needle(owner, text.as_bytes(), ignore)
                })
                .collect();
            let mut expected = Vec::new();
            for needle in &needles {
                for start in 0..text.len() {
                    let place = text.get(start..start + needle.bytes.len());
                    if place.is_some_and(|place| needle.is(place)) {
                        expected.push((needle.owner, start));
                    }
                }
            }
            let mut sample = Sample::default();
            sample.add(text);
            let grams = Grams::new(needles, &sample);
            let mut found = Vec::new();
            grams.scan(text, &mut |needle, at, start| {
                assert!(start <= at && at < start + needle.bytes.len());
                found.push((needle.owner, start));
            });
            found.sort_unstable();
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn thousands_of_needles_are_told_apart() {
        let needles: Vec<_> = (0..5000)
            .map(|number| needle(number, format!("n{number:05}x").as_bytes(), false))
            .collect();
        let grams = Grams::new(needles, &Sample::default());
        let text: String = (0..5000).map(|number| format!("n{number:05}x ")).collect();
        let mut found = Vec::new();
        grams.scan(text.as_bytes(), &mut |needle, _, _| {
            found.push(needle.owner)
        });
        assert_eq!(found, (0..5000).collect::<Vec<_>>());
    }
}
