//! The part of a source around what is to be underlined.

use std::ops::Range;

use crate::diagnostic::Span;
use crate::report::escape;

/// Most characters of a line that are shown.
const WIDTH: usize = 200;

/// Of a line that is cut, the characters shown before the first underlined one.
const LEAD: usize = 60;

/// Most parts that are underlined.
const MAX_SPANS: usize = 16;

/// An end of a mark that is still to come.
const UNPLACED: usize = usize::MAX;

/// Lines of a source, safe for a terminal and cut to a readable width, with the
/// places in them that are to be underlined.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Excerpt {
    /// The lines, from the first underlined to the last.
    pub(super) text: String,
    /// The number of the first line in the whole source, from 1.
    pub(super) first_line: usize,
    /// Byte ranges of `text`, each within one line.
    pub(super) marks: Vec<Range<usize>>,
    /// True if the source has further lines.
    pub(super) numbered: bool,
}

impl Excerpt {
    /// Cuts the lines that the spans start on out of a source. A span that runs
    /// over the end of its line is underlined up to there; offsets past the end
    /// of the source mean its end.
    pub(super) fn new(source: &str, spans: impl IntoIterator<Item = Span>) -> Self {
        let mut spans: Vec<Range<usize>> = spans
            .into_iter()
            .take(MAX_SPANS)
            .map(|span| span.start as usize..span.end as usize)
            .collect();
        spans.sort_by_key(|span| (span.start, span.end));
        let line_start = |offset: usize| {
            let before = &source.as_bytes()[..offset.min(source.len())];
            memchr::memrchr(b'\n', before).map_or(0, |at| at + 1)
        };
        let first = spans.first().map_or(0, |span| line_start(span.start));
        let last = spans.last().map_or(first, |span| line_start(span.start));
        let mut excerpt = Self {
            text: String::new(),
            first_line: 1 + memchr::memchr_iter(b'\n', &source.as_bytes()[..first]).count(),
            marks: Vec::with_capacity(spans.len()),
            numbered: source.trim_end().contains('\n'),
        };
        let mut spans = spans.into_iter().peekable();
        let mut start = first;
        loop {
            let rest = &source[start..];
            let line = rest.split_once('\n').map_or(rest, |(line, _)| line);
            let end = start + line.len();
            let mut on_line = Vec::new();
            while let Some(span) = spans.next_if(|span| span.start <= end || start == last) {
                let from = span.start.min(end);
                let to = span.end.clamp(from, end);
                on_line.push(from - start..to - start);
            }
            excerpt.push_line(line, &on_line);
            start = end + 1;
            if start > last {
                return excerpt;
            }
            excerpt.text.push('\n');
        }
    }

    /// Adds a line, or the window of it that holds the first mark.
    fn push_line(&mut self, line: &str, marks: &[Range<usize>]) {
        let window = window(line, marks.first().map_or(0, |mark| mark.start));
        let visible: Vec<&Range<usize>> = marks
            .iter()
            .filter(|mark| mark.start <= window.end && mark.end >= window.start)
            .collect();
        let base = self.marks.len();
        self.marks
            .extend(visible.iter().map(|_| UNPLACED..UNPLACED));
        if window.start > 0 {
            self.text.push('…');
        }
        for (offset, char) in line[window.clone()].char_indices() {
            self.place(base, &visible, window.start + offset);
            // White space that is no line end is a column like any other.
            escape::push(&mut self.text, if char == '\t' { ' ' } else { char });
        }
        self.place(base, &visible, line.len());
        if window.end < line.len() {
            self.text.push('…');
        }
    }

    /// Sets the ends of the marks that lie at or before an offset of the line.
    fn place(&mut self, base: usize, marks: &[&Range<usize>], offset: usize) {
        let here = self.text.len();
        for (shown, mark) in self.marks[base..].iter_mut().zip(marks) {
            if shown.start == UNPLACED && mark.start <= offset {
                shown.start = here;
            }
            if shown.end == UNPLACED && mark.end <= offset {
                shown.end = here;
            }
        }
    }
}

/// The bytes of a line to show: all of a short one, else [`WIDTH`] characters
/// from a little before `focus`.
fn window(line: &str, focus: usize) -> Range<usize> {
    if line.len() <= WIDTH || line.char_indices().nth(WIDTH).is_none() {
        return 0..line.len();
    }
    let mut focus = focus.min(line.len());
    while !line.is_char_boundary(focus) {
        focus -= 1;
    }
    let lead = line[..focus].char_indices().nth_back(LEAD);
    let start = lead.map_or(0, |(at, _)| at);
    let rest = line[start..].char_indices().nth(WIDTH);
    start..rest.map_or(line.len(), |(length, _)| start + length)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marked(source: &str, spans: &[(usize, usize)]) -> (String, Vec<String>) {
        let spans = spans.iter().map(|&(start, end)| Span::new(start, end));
        let excerpt = Excerpt::new(source, spans);
        let marks = excerpt.marks.iter();
        let marks = marks.map(|mark| excerpt.text[mark.clone()].to_owned());
        (excerpt.text.clone(), marks.collect())
    }

    #[test]
    fn a_short_line_is_shown_whole() {
        let (text, marks) = marked("exists(\"a\") && exists(\"b\")", &[(0, 11), (15, 26)]);
        assert_eq!(text, "exists(\"a\") && exists(\"b\")");
        assert_eq!(marks, ["exists(\"a\")", "exists(\"b\")"]);
    }

    #[test]
    fn offsets_outside_the_source_or_inside_a_character_do_no_harm() {
        for (start, end) in [(0, 0), (1, 2), (2, 1), (3, 900), (900, 901), (4, 4)] {
            marked("äö\nü", &[(start, end)]);
            marked("", &[(start, end)]);
            marked("\n", &[(start, end)]);
        }
        assert_eq!(marked("ab", &[(2, 2)]).1, [""]);
    }

    #[test]
    fn only_underlined_lines_and_those_between_are_cut_out() {
        let source = "one\ntwo\nthree\nfour\nfive\n";
        let excerpt = Excerpt::new(source, [Span::new(14, 18), Span::new(5, 11)]);
        assert_eq!(excerpt.text, "two\nthree\nfour");
        assert_eq!(excerpt.first_line, 2);
        assert!(excerpt.numbered);
        // The second span runs over its line's end.
        assert_eq!(excerpt.marks, [1..3, 10..14]);
    }

    #[test]
    fn a_long_line_is_cut_around_the_first_mark() {
        let source = format!("{}MARK{}", "ä".repeat(30_000), "b".repeat(30_000));
        let (text, marks) = marked(&source, &[(60_000, 60_004), (80_000, 80_001)]);
        assert_eq!(marks, ["MARK"]);
        assert_eq!(text.chars().count(), WIDTH + 2);
        assert!(text.starts_with("…ä") && text.ends_with("b…"));
        let (text, marks) = marked(&source, &[(0, 120_000)]);
        assert_eq!(text.chars().count(), WIDTH + 1);
        assert_eq!(marks[0].chars().count(), WIDTH);
    }

    #[test]
    fn what_could_steer_a_terminal_is_escaped_and_marks_follow() {
        let (text, marks) = marked("\u{1b}[2J\tgrep", &[(5, 9)]);
        assert_eq!(text, "\\u{1b}[2J grep");
        assert_eq!(marks, ["grep"]);
    }
}
