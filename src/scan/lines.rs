//! Counting matching lines: `grep`.

use memchr::{memchr, memmem};
use regex_automata::Input;
use regex_automata::meta::Cache;

use crate::files::Flow;
use crate::scan::compile::Matcher;
use crate::scan::finding::Tracker;

/// Lines as patterns see them (ADR-0004): joined by `\n` and without the final
/// terminator, so that every `\n` stands between two lines and a `\r` before it
/// belongs to the line. `None` if there is no line.
pub(super) fn join_lines<'a>(bytes: &'a [u8], joined: &'a mut Vec<u8>) -> Option<&'a [u8]> {
    if bytes.is_empty() {
        return None;
    }
    joined.clear();
    let mut from = 0;
    for carriage_return in memmem::find_iter(bytes, b"\r\n") {
        joined.extend_from_slice(&bytes[from..carriage_return]);
        from = carriage_return + 1;
    }
    let text = if from == 0 {
        bytes
    } else {
        joined.extend_from_slice(&bytes[from..]);
        joined
    };
    Some(text.strip_suffix(b"\n").unwrap_or(text))
}

/// The lines of a text that [`join_lines`] gave, with where each starts.
pub(super) fn lines(text: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let mut next = Some(0);
    std::iter::from_fn(move || {
        let start = next?;
        let end = line_end(text, start);
        next = (end < text.len()).then_some(end + 1);
        Some((start, &text[start..end]))
    })
}

/// Adds the matching lines of a text that [`join_lines`] gave.
pub(super) fn count_lines(
    matcher: &Matcher,
    cache: &mut Cache,
    text: &[u8],
    tracker: &mut Tracker<'_>,
) -> Flow {
    if matcher.across_lines {
        return count_across(matcher, cache, text, tracker);
    }
    for (start, line) in lines(text) {
        let is_match = matcher
            .regex
            .search_half_with(cache, &Input::new(line).earliest(true))
            .is_some();
        if is_match && tracker.add(text, start) == Flow::Enough {
            return Flow::Enough;
        }
    }
    Flow::More
}

/// One search finds the next matching line, however many lines that skips.
fn count_across(
    matcher: &Matcher,
    cache: &mut Cache,
    text: &[u8],
    tracker: &mut Tracker<'_>,
) -> Flow {
    let mut from = 0;
    loop {
        let input = Input::new(text).span(from..text.len()).earliest(true);
        // No match crosses a line, so the end of a match, wherever the engine
        // chooses to see it, is in the first line that matches.
        let Some(half) = matcher.regex.search_half_with(cache, &input) else {
            return Flow::More;
        };
        if tracker.add(text, half.offset()) == Flow::Enough {
            return Flow::Enough;
        }
        let end = line_end(text, half.offset());
        if end == text.len() {
            return Flow::More;
        }
        from = end + 1;
    }
}

fn line_end(text: &[u8], from: usize) -> usize {
    memchr(b'\n', &text[from..]).map_or(text.len(), |offset| from + offset)
}
