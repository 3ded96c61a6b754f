//! Many requests at once, in every tier: each gets what it would get alone.
//!
//! Requests, one a line, then `%%` and the contents of the files with `%%` between
//! them.

use super::scans::{Files, NAMES, TIERS, agree, answers, wishes};

pub(crate) fn run(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let mut parts = text.split("%%\n");
    let wishes = wishes(parts.next().unwrap_or_default());
    let files: Files = NAMES.into_iter().zip(parts.map(Into::into)).collect();
    let mut first = None;
    for tier in TIERS {
        let found = answers(&files, &wishes, tier, None);
        agree(&files, &wishes, &found, &format!("{tier:?}"));
        // Fuel, bytes and places are the same in every tier.
        let first = first.get_or_insert_with(|| found.clone());
        assert_eq!(*first, found, "{tier:?}");
    }
}
