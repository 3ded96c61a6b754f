//! Which of many regexes may match in a text, from one pass over it.

use regex_syntax::hir::Hir;

use crate::scan::grams::{Grams, Needle, SHORTEST};
use crate::scan::literal::required;
use crate::scan::sample::Sample;

/// Tells the regexes that cannot match in a text from those that may: what all matches
/// of a regex hold is searched for, for all regexes at once.
pub(crate) struct Sieve {
    grams: Grams,
    /// Whether something is known that all matches hold, by the number of the regex.
    is_known: Vec<bool>,
}

impl std::fmt::Debug for Sieve {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sieve")
            .field("regexes", &self.is_known.len())
            .finish_non_exhaustive()
    }
}

/// Which regexes may match in one text.
#[derive(Clone, Debug)]
pub(crate) struct Sieved(Vec<u64>);

impl Sieve {
    /// A sieve for regexes; of `None` nothing is known.
    pub(crate) fn new(regexes: impl IntoIterator<Item = Option<Hir>>) -> Self {
        let mut needles = Vec::new();
        let mut is_known = Vec::new();
        for (number, hir) in regexes.into_iter().enumerate() {
            let required = hir.as_ref().and_then(required);
            let literals = required.map(|required| required.literals);
            let literals =
                literals.filter(|literals| literals.iter().all(|it| it.bytes.len() >= SHORTEST));
            is_known.push(literals.is_some());
            let owner = u32::try_from(number).unwrap_or(u32::MAX);
            let literals = literals.unwrap_or_default();
            needles.extend(literals.iter().map(|literal| Needle::new(owner, literal)));
        }
        Self {
            grams: Grams::new(needles, &Sample::default()),
            is_known,
        }
    }

    /// Goes over a text once.
    pub(crate) fn sift(&self, text: &[u8]) -> Sieved {
        let mut seen = vec![0_u64; self.is_known.len().div_ceil(64)];
        self.grams.scan(text, &mut |needle, _, _| {
            if let Some(word) = seen.get_mut(needle.owner as usize / 64) {
                *word |= 1 << (needle.owner % 64);
            }
        });
        for (number, _) in self
            .is_known
            .iter()
            .enumerate()
            .filter(|(_, known)| !**known)
        {
            seen[number / 64] |= 1 << (number % 64);
        }
        Sieved(seen)
    }
}

impl Sieved {
    /// Whether a regex may match in the text.
    pub(crate) fn may_match(&self, regex: usize) -> bool {
        self.0
            .get(regex / 64)
            .is_none_or(|word| word & 1 << (regex % 64) != 0)
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
        let sieve = Sieve::new(patterns.map(|it| parse_text(it, RegexFlags::NONE).ok()));
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
                    assert!(sieved.may_match(number));
                    continue;
                };
                let may = sieved.may_match(number);
                assert!(may || !regex.is_match(text), "{pattern} in {text:?}");
            }
        }
        assert!(!sieve.sift(b"nothing").may_match(0));
    }
}
