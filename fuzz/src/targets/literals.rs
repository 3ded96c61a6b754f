//! The literals of a pattern: no line that matches goes unseen, and none is taken
//! for a match that is none.
//!
//! The first line is a pattern, the rest is a text.

use super::scans::{Files, TIERS, Wish, agree, answers};

pub(crate) fn run(data: &[u8]) {
    let mut parts = data.splitn(2, |&byte| byte == b'\n');
    let (pattern, text) = (parts.next(), parts.next());
    let pattern = pattern.and_then(|pattern| std::str::from_utf8(pattern).ok());
    let Some(wish) = pattern.and_then(Wish::everywhere) else {
        return;
    };
    let files: Files = [("f3", text.unwrap_or_default().to_vec())].into();
    for tier in TIERS {
        let wishes = std::slice::from_ref(&wish);
        let found = answers(&files, wishes, tier, None);
        agree(&files, wishes, &found, &format!("{tier:?}"));
    }
}
