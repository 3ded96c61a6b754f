//! Literals: where they end and what their escapes mean.

use std::ops::Range;

use bumpalo::Bump;
use bumpalo::collections::String as BumpString;

use crate::diagnostic::Span;
use crate::facts::RegexFlags;

/// A literal as the scan for its end found it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Extent {
    /// Bytes between the delimiters.
    pub(super) content: usize,
    /// False if the line or the source ended first.
    pub(super) closed: bool,
    /// True if a backslash is in it.
    pub(super) escaped: bool,
}

/// Scans from behind the opening delimiter to the closing one on the same line.
pub(super) fn extent(rest: &[u8], delimiter: u8) -> Extent {
    let mut escaped = false;
    let mut at = 0;
    while let Some(&byte) = rest.get(at) {
        if byte == delimiter {
            return Extent {
                content: at,
                closed: true,
                escaped,
            };
        }
        match byte {
            b'\n' | b'\r' => break,
            b'\\' => {
                escaped = true;
                // A line end is never escaped.
                at += match rest.get(at + 1) {
                    Some(b'\n' | b'\r') | None => 1,
                    Some(_) => 2,
                };
            }
            _ => at += 1,
        }
    }
    Extent {
        content: at.min(rest.len()),
        closed: false,
        escaped,
    }
}

/// The value of a string's content, or `None` if an escape is unknown.
pub(super) fn unescape<'a>(content: &str, arena: &'a Bump) -> Option<&'a str> {
    let mut value = BumpString::with_capacity_in(content.len(), arena);
    let mut sound = true;
    walk_escapes(content, |_, part| match part {
        Some(c) => value.push(c),
        None => sound = false,
    });
    sound.then(|| value.into_bump_str())
}

/// The escapes of a string's content that strings do not have.
pub(super) fn unknown_escapes(content: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    walk_escapes(content, |range, part| {
        if part.is_none() {
            found.push(range);
        }
    });
    found
}

/// Gives each character of the value with the bytes it comes from, and `None`
/// for an escape that strings do not have.
fn walk_escapes(content: &str, mut each: impl FnMut(Range<usize>, Option<char>)) {
    let mut chars = content.char_indices();
    while let Some((start, c)) = chars.next() {
        let value = if c == '\\' {
            match chars.next().map(|(_, c)| c) {
                Some('"') => Some('"'),
                Some('\\') => Some('\\'),
                Some('n') => Some('\n'),
                Some('t') => Some('\t'),
                Some('r') => Some('\r'),
                Some('0') => Some('\0'),
                Some('u') => braced_hex(chars.as_str()).map(|(length, value)| {
                    // The braces and digits are ASCII: a character a byte.
                    chars.by_ref().take(length).for_each(drop);
                    value
                }),
                _ => None,
            }
        } else {
            Some(c)
        };
        let end = content.len() - chars.as_str().len();
        each(start..end, value);
    }
}

/// `{hex}` at the start, with its length.
fn braced_hex(text: &str) -> Option<(usize, char)> {
    let digits = text.strip_prefix('{')?.split_once('}')?.0;
    if digits.is_empty() || digits.len() > 6 || !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
        return None;
    }
    let value = u32::from_str_radix(digits, 16).ok()?;
    Some((digits.len() + 2, char::from_u32(value)?))
}

/// A regex literal's content with `\/` turned into `/` and every other
/// backslash sequence kept.
pub(super) fn unslash<'a>(content: &'a str, arena: &'a Bump) -> &'a str {
    if !has_escaped_slash(content) {
        return content;
    }
    let mut text = BumpString::with_capacity_in(content.len(), arena);
    let mut chars = content.chars();
    while let Some(c) = chars.next() {
        match (c, chars.as_str().chars().next()) {
            ('\\', Some('/')) => {}
            ('\\', Some(next)) => {
                text.push(c);
                text.push(next);
                chars.next();
            }
            _ => text.push(c),
        }
    }
    text.into_bump_str()
}

fn has_escaped_slash(content: &str) -> bool {
    content.as_bytes().windows(2).any(|pair| pair == b"\\/")
}

/// Where a regex literal that was closed too early by a bare `/` really ends:
/// the bytes from there to behind the next `/` that an argument list goes on
/// after. `None` if the line has no such place.
pub(super) fn goes_on(rest: &str) -> Option<usize> {
    let blanks: &[char] = &[' ', '\t'];
    if rest.trim_start_matches(blanks).starts_with('"') {
        // A missing comma is likelier than a quote in the pattern.
        return None;
    }
    let mut at = 0;
    loop {
        let next = extent(rest.as_bytes().get(at..)?, b'/');
        if !next.closed {
            return None;
        }
        at += next.content + 1;
        let behind = rest[at..].trim_start_matches(blanks);
        let ends = behind.starts_with(')')
            || behind
                .strip_prefix(',')
                .is_some_and(|next| next.trim_start_matches(blanks).starts_with('"'));
        if ends {
            return Some(at);
        }
    }
}

/// The flags after a regex literal; `None` if a letter is unknown or repeated.
pub(super) fn flags(letters: &str) -> Option<RegexFlags> {
    letters.chars().try_fold(RegexFlags::NONE, |flags, letter| {
        let flag = match letter {
            'i' => RegexFlags::IGNORE_CASE,
            'm' => RegexFlags::MULTI_LINE,
            's' => RegexFlags::DOT_ALL,
            _ => return None,
        };
        (!flags.contains(flag)).then(|| flags.union(flag))
    })
}

/// The byte of the source that byte `offset` of a pattern comes from, if the
/// literal at `span` says so plainly: a regex literal, or a string without
/// escapes.
#[must_use]
pub fn pattern_offset(source: &str, span: Span, offset: usize) -> Option<usize> {
    let literal = source.get(span.range())?;
    let content = literal.get(1..)?;
    if literal.starts_with('"') {
        return (!content.contains('\\')).then_some(span.start as usize + 1 + offset);
    }
    let bytes = content.as_bytes();
    let mut kept = 0;
    let mut after_backslash = false;
    for (at, &byte) in bytes.iter().enumerate() {
        let backslash = byte == b'\\' && !after_backslash;
        let dropped = backslash && bytes.get(at + 1) == Some(&b'/');
        after_backslash = backslash && !dropped;
        if !dropped {
            if kept == offset {
                return Some(span.start as usize + 1 + at);
            }
            kept += 1;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::quoting::slash;
    use super::*;

    #[test]
    fn escapes() {
        let arena = Bump::new();
        assert_eq!(
            unescape(r#"a\"\\\n\t\r\0\u{e9}\u{1F600}é"#, &arena),
            Some("a\"\\\n\t\r\0\u{e9}\u{1F600}é")
        );
        for bad in [
            r"\d",
            r"\u",
            r"\u{}",
            r"\u{d800}",
            r"\u{110000}",
            r"\u{0000041}",
            r"\é",
            r"\u{+1}",
        ] {
            assert_eq!(unescape(bad, &arena), None, "{bad}");
        }
        assert_eq!(unknown_escapes(r"a\d\n\q"), [1..3, 5..7]);
    }

    #[test]
    fn slashes() {
        let arena = Bump::new();
        for (raw, text) in [
            (r"a\/b", "a/b"),
            (r"a\\\/b", r"a\\/b"),
            (r"\d\/", r"\d/"),
            (r"\é\/", r"\é/"),
        ] {
            assert_eq!(unslash(raw, &arena), text);
            assert_eq!(slash(text), raw);
        }
    }

    #[test]
    fn offsets_point_into_the_literal() {
        let source = r#"grep(/a\/\d\/(/, "f")"#;
        let span = Span::new(5, 15);
        // The text is `a/\d/(`; its `(` stands at 5.
        assert_eq!(pattern_offset(source, span, 5), Some(13));
        assert_eq!(pattern_offset(source, span, 0), Some(6));
        assert_eq!(pattern_offset(source, span, 2), Some(9));
    }

    #[test]
    fn extents() {
        let found = extent(br#"a\"b" rest"#, b'"');
        assert_eq!(
            (found.content, found.closed, found.escaped),
            (4, true, true)
        );
        assert!(!extent(b"a\nb\"", b'"').closed);
        assert!(!extent(b"a\\", b'"').closed);
        assert_eq!(extent(b"a\\\n\"", b'"').content, 2);
    }

    #[test]
    fn slashes_that_close_too_early() {
        assert_eq!(goes_on("main.rs/, \"f\")"), Some(8));
        assert_eq!(goes_on("b/c/ ) == 0"), Some(4));
        assert_eq!(goes_on("\"f\") && grep(/b/, \"g\")"), None);
        assert_eq!(goes_on(" \n/, \"f\""), None);
        assert_eq!(goes_on("bin, \"f\")"), None);
    }

    #[test]
    fn flags_are_a_set() {
        assert_eq!(flags("ims").map(RegexFlags::bits), Some(7));
        assert_eq!(flags("ii"), None);
        assert_eq!(flags("g"), None);
    }
}
