//! What bytes mean to the targets that take predicates.

use probity::Language;

/// A predicate with a language and a number to draw facts from.
#[derive(Clone, Copy)]
pub(super) struct Input<'a> {
    pub(super) language: Language,
    pub(super) v2: bool,
    pub(super) seed: u8,
    pub(super) source: &'a str,
}

/// The first byte chooses, so that a seed can be written as `1 exists("a")` for
/// v1 or `2 …` for v2; the rest is the source. `None` if it is no text.
pub(super) fn predicate(data: &[u8]) -> Option<Input<'_>> {
    let (&seed, source) = data.split_first()?;
    let v2 = seed % 2 == 0;
    Some(Input {
        language: if v2 {
            Language::ElenchV2
        } else {
            Language::ElenchV1
        },
        v2,
        seed,
        source: std::str::from_utf8(source).ok()?,
    })
}
