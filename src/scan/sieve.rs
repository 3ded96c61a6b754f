//! Which of many regexes may match in a text, from one pass over it.

use regex_syntax::hir::Hir;

use crate::scan::grams::{Grams, Needle, SHORTEST};
use crate::scan::literal::required;
use crate::scan::sample::Sample;

/// Of a regex that has none nothing is told.
const NO_SLOT: u32 = u32::MAX;

/// Tells the regexes that cannot match in a text from those that may: what all matches
/// of a regex hold is searched for, for all regexes at once.
pub(crate) struct Sieve {
    grams: Grams,
    /// By the number of the regex, its bit in [`Sieved`].
    slots: Vec<u32>,
    /// How many have a bit.
    known: usize,
}

impl std::fmt::Debug for Sieve {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sieve")
            .field("regexes", &self.slots.len())
            .field("known", &self.known)
            .finish_non_exhaustive()
    }
}

/// A regex to be told about.
#[derive(Debug)]
pub(crate) struct Sought {
    pub(crate) hir: Hir,
    /// Literals below so many bytes are not worth it.
    pub(crate) shortest: usize,
}

/// What was seen in one text, a bit for each regex with a slot.
#[derive(Clone, Debug)]
pub(crate) struct Sieved(Vec<u64>);

impl Sieve {
    /// A sieve for regexes; of `None` nothing is told.
    pub(crate) fn new(regexes: impl IntoIterator<Item = Option<Sought>>) -> Self {
        let mut needles = Vec::new();
        let mut slots = Vec::new();
        let mut known = 0;
        for sought in regexes {
            let required = sought.as_ref().and_then(|sought| {
                let required = required(&sought.hir)?.literals;
                let shortest = sought.shortest.max(SHORTEST);
                let are_long = required.iter().all(|it| it.bytes.len() >= shortest);
                are_long.then_some(required)
            });
            slots.push(match (required, u32::try_from(known)) {
                (Some(literals), Ok(slot)) if slot != NO_SLOT => {
                    needles.extend(literals.iter().map(|literal| Needle::new(slot, literal)));
                    known += 1;
                    slot
                }
                _ => NO_SLOT,
            });
        }
        Self {
            grams: Grams::new(needles, &Sample::default()),
            slots,
            known,
        }
    }

    /// Goes over a text once.
    pub(crate) fn sift(&self, text: &[u8]) -> Sieved {
        let mut seen = vec![0_u64; self.known.div_ceil(64)];
        self.grams.scan(text, &mut |needle, _, _| {
            if let Some(word) = seen.get_mut(needle.owner as usize / 64) {
                *word |= 1 << (needle.owner % 64);
            }
        });
        Sieved(seen)
    }

    /// Whether a regex has no match in a text that was gone over.
    pub(crate) fn rules_out(&self, regex: usize, text: &Sieved) -> bool {
        let slot = self.slots.get(regex).copied().unwrap_or(NO_SLOT);
        let word = text.0.get(slot as usize / 64);
        slot != NO_SLOT && word.is_some_and(|word| word & 1 << (slot % 64) == 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::RegexFlags;
    use crate::scan::parse_text;

    #[test]
    fn what_matches_is_never_sieved_out() {
        let patterns = [
            "unwrap\\(\\)",
            "(?i)HACK|leftover",
            "a+b",
            "^\\s*print\\(",
            "\\d+",
            "(?s)begin.*end",
            "x",
            "[",
            "straße",
            "(?i)k",
            "",
        ];
        let sought = patterns.map(|it| {
            let hir = parse_text(it, RegexFlags::NONE).ok()?;
            Some(Sought { hir, shortest: 0 })
        });
        let sieve = Sieve::new(sought);
        for text in [
            "",
            "x.unwrap()",
            "hack: LeftOver",
            "aab",
            "  print(1)",
            "begin\n\nend",
            "straße 12",
            "\u{212a}elvin",
        ] {
            let sieved = sieve.sift(text.as_bytes());
            for (number, pattern) in patterns.iter().enumerate() {
                let Ok(regex) = regex::Regex::new(pattern) else {
                    assert!(!sieve.rules_out(number, &sieved));
                    continue;
                };
                let may = !sieve.rules_out(number, &sieved);
                assert!(may || !regex.is_match(text), "{pattern} in {text:?}");
            }
        }
        assert!(sieve.rules_out(0, &sieve.sift(b"nothing")));
    }
}
