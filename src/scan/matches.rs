//! Counting matches that do not overlap: `count` of `elench-predicate-v2`.

use regex_automata::Input;
use regex_automata::meta::Cache;

use crate::facts::CancelToken;
use crate::files::Flow;
use crate::scan::compile::Matcher;
use crate::scan::finding::{Stop, Tracker};
use crate::scan::lines::lines;

/// Matches between two looks at the cancel token.
const CANCEL_EVERY: usize = 1024;

/// Adds the matches in every line of a text that
/// [`crate::scan::lines::join_lines`] gave.
///
/// # Errors
///
/// As [`count_matches`].
pub(super) fn count_in_lines(
    matcher: &Matcher,
    cache: &mut Cache,
    text: &[u8],
    tracker: &mut Tracker<'_>,
    cancel: &CancelToken,
) -> Result<Flow, Stop> {
    if matcher.across_lines {
        // A match never crosses a line, so iterating over all lines at once finds
        // what iterating over each finds.
        return count_matches(matcher, cache, text, (text, 0), tracker, cancel);
    }
    for (start, line) in lines(text) {
        if count_matches(matcher, cache, line, (text, start), tracker, cancel)? == Flow::Enough {
            return Ok(Flow::Enough);
        }
    }
    Ok(Flow::More)
}

/// Adds the matches in a haystack, which starts at an offset of a text whose
/// lines are numbered.
///
/// # Errors
///
/// [`Stop::Work`] if too many bytes were looked at again and again, and
/// [`Stop::Batch`].
pub(super) fn count_matches(
    matcher: &Matcher,
    cache: &mut Cache,
    haystack: &[u8],
    (text, offset): (&[u8], usize),
    tracker: &mut Tracker<'_>,
    cancel: &CancelToken,
) -> Result<Flow, Stop> {
    let mut from = 0;
    let mut last_end = None;
    let mut dead = 0;
    let mut until_check = CANCEL_EVERY;
    while from <= haystack.len() {
        let input = Input::new(haystack).span(from..haystack.len());
        let Some(found) = matcher.regex.search_with(cache, &input) else {
            break;
        };
        // An empty match right after a match is part of it.
        if found.is_empty() && last_end == Some(found.end()) {
            from = found.end() + 1;
            continue;
        }
        let stop = matcher
            .reach
            .stop(haystack, found.start(), found.end(), &mut dead);
        tracker.look_again((stop - found.end()) as u64)?;
        if tracker.add(text, offset + found.start()) == Flow::Enough {
            return Ok(Flow::Enough);
        }
        from = found.end();
        last_end = Some(found.end());
        until_check -= 1;
        if until_check == 0 {
            if let Some(cause) = cancel.stop() {
                return Err(Stop::Batch(cause));
            }
            until_check = CANCEL_EVERY;
        }
    }
    Ok(Flow::More)
}
