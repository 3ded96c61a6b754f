//! Hostile text made safe for a terminal.

use std::borrow::Cow;

/// Text with everything escaped that would move the cursor, change colours or
/// reorder what is read, cut to `limit` characters.
///
/// ```
/// use probity::report::escape;
///
/// assert_eq!(escape("plain", 80), "plain");
/// assert_eq!(escape("\u{1b}[2Jgone", 80), "\\u{1b}[2Jgone");
/// assert_eq!(escape("long text", 4), "long…");
/// ```
#[must_use]
pub fn escape(text: &str, limit: usize) -> Cow<'_, str> {
    let short = text.len() <= limit || text.char_indices().nth(limit).is_none();
    if short && !text.chars().any(is_unsafe) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len().min(limit) + 16);
    for (count, char) in text.chars().enumerate() {
        if count == limit {
            out.push('…');
            break;
        }
        push(&mut out, char);
    }
    Cow::Owned(out)
}

/// The same for text of many lines: line ends and tabs stay.
pub(super) fn escape_lines(text: &str, limit: usize) -> String {
    let mut out = String::with_capacity(text.len().min(limit) + 16);
    for (count, char) in text.chars().enumerate() {
        if count == limit {
            out.push('…');
            break;
        }
        match char {
            '\n' | '\t' => out.push(char),
            _ => push(&mut out, char),
        }
    }
    out
}

/// Adds one character, escaped where it must be.
pub(super) fn push(out: &mut String, char: char) {
    if is_unsafe(char) {
        out.extend(char.escape_default());
    } else {
        out.push(char);
    }
}

/// Control characters, and the invisible ones by which text shows in another
/// order than it has or looks like other text.
fn is_unsafe(char: char) -> bool {
    char.is_control()
        || matches!(char,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{feff}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_steer_a_terminal_is_escaped() {
        let hostile = "\u{7}\u{9b}31m\u{202e}\u{2066}\u{2028}\0\r\n\t\u{7f}";
        let safe = escape(hostile, 100);
        assert_eq!(
            safe,
            "\\u{7}\\u{9b}31m\\u{202e}\\u{2066}\\u{2028}\\u{0}\\r\\n\\t\\u{7f}"
        );
        assert!(!safe.chars().any(is_unsafe));
    }

    #[test]
    fn lines_stay_lines() {
        let safe = escape_lines("a\r\n\tb\u{1b}\0", 100);
        assert_eq!(safe, "a\\r\n\tb\\u{1b}\\u{0}");
        assert_eq!(escape_lines("a\nbc", 3), "a\nb…");
    }

    #[test]
    fn cutting_counts_characters() {
        assert_eq!(escape("äöü", 3), "äöü");
        assert_eq!(escape("äöüx", 3), "äöü…");
        assert_eq!(escape("\u{1b}ab", 2), "\\u{1b}a…");
    }
}
