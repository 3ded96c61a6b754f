//! Patterns: whether they are regexes, and why not.

use regex_automata::nfa::thompson::pikevm::PikeVM;
use regex_automata::nfa::thompson::{self, WhichCaptures};
use regex_syntax::Error;
use regex_syntax::ast::ErrorKind as Syntax;

use crate::diagnostic::{Code, Diagnostic, Span};
use crate::facts::RegexFlags;
use crate::scan::{MAX_PATTERN_BYTES, SyntaxError, parse_text};
use crate::syntax::pattern_offset;

/// Depth of groups on the fast path; each is a few levels of the tree.
const PLAIN_GROUPS: u32 = 8;

/// Checks that a pattern is one of the `regex` crate: Unicode on, haystacks of
/// any bytes.
///
/// # Errors
///
/// One diagnostic with the place inside the literal where it can be told.
pub(super) fn validate(
    text: &str,
    flags: RegexFlags,
    span: Span,
    source: &str,
) -> Result<(), Diagnostic> {
    if text.len() > MAX_PATTERN_BYTES {
        return Err(Diagnostic::error(
            Code::PatternTooLarge,
            span,
            format!("the pattern has {} bytes, the limit is 4 KiB", text.len()),
        )
        .help("split it into several checks joined with `||`"));
    }
    if is_plainly_valid(text) {
        return Ok(());
    }
    match parse_text(text, flags) {
        Ok(_) => Ok(()),
        Err(SyntaxError::Regex(error)) => Err(explain(&error, text, span, source)),
        Err(SyntaxError::TooMuchFolding) => Err(Diagnostic::error(
            Code::PatternTooLarge,
            span,
            "the pattern ignores case in too many large classes",
        )
        .help("put `(?-i:…)` around classes without letters")),
    }
}

/// Whether a pattern matches in a text; `None` if finding out would take too
/// large an automaton.
pub(super) fn matches(text: &str, flags: RegexFlags, haystack: &str) -> Option<bool> {
    // Far below the limit of patterns: this runs while a source is checked.
    const SIZE_LIMIT: usize = 64 * 1024;
    let hir = parse_text(text, flags).ok()?;
    let config = thompson::Config::new()
        .utf8(false)
        .which_captures(WhichCaptures::None)
        .nfa_size_limit(Some(SIZE_LIMIT));
    let nfa = thompson::Compiler::new()
        .configure(config)
        .build_from_hir(&hir)
        .ok()?;
    let engine = PikeVM::new_from_nfa(nfa).ok()?;
    Some(engine.is_match(&mut engine.create_cache(), haystack))
}

/// True only for texts that one scan proves to be regexes: literals, escaped
/// punctuation, the plain Perl classes, simple ASCII brackets, groups without
/// options, alternation, anchors and single repetitions. A false answer says
/// nothing. It saves the parse, which costs more than the rest of a compile.
#[must_use]
pub fn is_plainly_valid(text: &str) -> bool {
    let bytes = text.as_bytes();
    let mut groups = 0_u32;
    // Whether the last piece can be repeated, and whether it was, so that a
    // lazy `?` may follow.
    let mut repeatable = false;
    let mut repeated = false;
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let lazy = repeated && byte == b'?';
        let repeats = matches!(byte, b'*' | b'+' | b'?') && !lazy;
        match byte {
            _ if lazy => repeatable = false,
            b'*' | b'+' | b'?' if !repeatable => return false,
            b'*' | b'+' | b'?' | b'|' | b'^' | b'$' => repeatable = false,
            b'(' => {
                groups += 1;
                if bytes.get(at + 1) == Some(&b'?') || groups > PLAIN_GROUPS {
                    return false;
                }
                repeatable = false;
            }
            b')' if groups == 0 => return false,
            b')' => {
                groups -= 1;
                repeatable = true;
            }
            b'{' => return false,
            b'[' => match plain_class(&bytes[at + 1..]) {
                None => return false,
                Some(length) => {
                    at += length;
                    repeatable = true;
                }
            },
            b'\\' => {
                at += 1;
                match bytes.get(at) {
                    Some(b'd' | b'D' | b'w' | b'W' | b's' | b'S' | b'n' | b't' | b'r') => {
                        repeatable = true;
                    }
                    Some(b'b' | b'B') => repeatable = false,
                    Some(&escaped) if is_plain_punctuation(escaped) => repeatable = true,
                    _ => return false,
                }
            }
            _ => repeatable = true,
        }
        repeated = repeats;
        at += 1;
    }
    groups == 0
}

/// Punctuation whose escape is the character itself.
const fn is_plain_punctuation(byte: u8) -> bool {
    byte.is_ascii_punctuation() && !matches!(byte, b'<' | b'>')
}

/// The length of a bracketed class behind its `[`, if it is a simple one.
fn plain_class(bytes: &[u8]) -> Option<usize> {
    let mut at = usize::from(bytes.first() == Some(&b'^'));
    let begin = at;
    loop {
        match *bytes.get(at)? {
            b']' if at > begin => return Some(at + 1),
            b'\\' => match *bytes.get(at + 1)? {
                b'd' | b'w' | b's' | b'n' | b't' | b'r' => at += 2,
                escaped if is_plain_punctuation(escaped) => at += 2,
                _ => return None,
            },
            low if low.is_ascii_alphanumeric() => {
                at += 1;
                if bytes.get(at) == Some(&b'-') && bytes.get(at + 1) != Some(&b']') {
                    let high = *bytes.get(at + 1)?;
                    if !high.is_ascii_alphanumeric() || high < low {
                        return None;
                    }
                    at += 2;
                }
            }
            // `[ & - ~ ^ ]` have meanings of their own in some places.
            b' ' | b'_' | b'.' | b',' | b':' | b';' | b'/' | b'!' | b'@' | b'#' | b'%' | b'\''
            | b'"' | b'+' | b'*' | b'?' | b'(' | b')' | b'{' | b'}' | b'|' | b'=' | b'<' | b'>'
            | b'$' => at += 1,
            _ => return None,
        }
    }
}

fn explain(error: &Error, text: &str, span: Span, source: &str) -> Diagnostic {
    let (code, message, help, place) = match error {
        Error::Parse(error) => {
            let (code, message, help) = in_words(error.kind());
            (code, message, help, *error.span())
        }
        Error::Translate(error) => (
            Code::InvalidRegex,
            format!("no regex: {}", lower(&error.kind().to_string())),
            "see the syntax of the Rust `regex` crate",
            *error.span(),
        ),
        _ => {
            return Diagnostic::error(Code::InvalidRegex, span, "no regex")
                .help("see the syntax of the Rust `regex` crate");
        }
    };
    // An error at the end concerns the pattern as a whole.
    let inside = text
        .get(place.start.offset..)
        .and_then(|rest| rest.chars().next())
        .and_then(|first| {
            let last = place.end.offset.max(place.start.offset + first.len_utf8());
            let start = pattern_offset(source, span, place.start.offset)?;
            let end = pattern_offset(source, span, last)?;
            (end <= span.range().end).then(|| Span::new(start, end))
        });
    Diagnostic::error(code, inside.unwrap_or(span), message).help(help)
}

/// What is wrong, and what to do about it.
fn in_words(kind: &Syntax) -> (Code, String, &'static str) {
    let (code, message, help) = match kind {
        Syntax::UnsupportedLookAround => (
            Code::UnsupportedRegex,
            "regexes here have no look-around",
            "say it with two checks joined by `&&`, or with `\\b`, `^` or `$`",
        ),
        Syntax::UnsupportedBackreference => (
            Code::UnsupportedRegex,
            "regexes here have no back-references",
            "write out the alternatives: `aa|bb` for `(a|b)\\1`",
        ),
        Syntax::RepetitionMissing => (
            Code::InvalidRegex,
            "there is nothing here to repeat",
            "for the character itself put a `\\` before it",
        ),
        Syntax::RepetitionCountInvalid => (
            Code::InvalidRegex,
            "the counts of a repetition are the wrong way round",
            "write the smaller one first: `{1,2}`",
        ),
        Syntax::RepetitionCountUnclosed
        | Syntax::RepetitionCountDecimalEmpty
        | Syntax::SpecialWordOrRepetitionUnexpectedEof => (
            Code::InvalidRegex,
            "a `{` begins a count, and here is none",
            "for the brace itself write `\\{`",
        ),
        Syntax::GroupUnclosed => (
            Code::InvalidRegex,
            "a `(` is never closed",
            "for the parenthesis itself write `\\(`",
        ),
        Syntax::GroupUnopened => (
            Code::InvalidRegex,
            "a `)` closes nothing",
            "for the parenthesis itself write `\\)`",
        ),
        Syntax::ClassUnclosed => (
            Code::InvalidRegex,
            "a `[` is never closed",
            "for the bracket itself write `\\[`",
        ),
        Syntax::ClassRangeInvalid | Syntax::ClassRangeLiteral => (
            Code::InvalidRegex,
            "the ends of a range in `[…]` do not fit",
            "for the dash itself write `\\-`",
        ),
        Syntax::EscapeUnrecognized | Syntax::ClassEscapeInvalid => (
            Code::InvalidRegex,
            "regexes have no such escape",
            "a `\\` stands before punctuation, or in classes such as `\\d`, `\\w` and `\\s`",
        ),
        Syntax::NestLimitExceeded(_) => (
            Code::InvalidRegex,
            "the pattern is nested too deep",
            "groups and classes nest some 60 deep",
        ),
        other => {
            return (
                Code::InvalidRegex,
                format!("no regex: {}", lower(&other.to_string())),
                "see the syntax of the Rust `regex` crate",
            );
        }
    };
    (code, message.to_owned(), help)
}

fn lower(reason: &str) -> String {
    let mut chars = reason.chars();
    chars
        .next()
        .map(|first| first.to_lowercase().chain(chars).collect())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ordinary_patterns_take_the_fast_path() {
        for text in [
            "fn main",
            "IBM Storage Scale|WEKA|DAOS|BeeGFS",
            r"error\[E0308\]",
            r"\d+.*tokens?/s",
            r"evolve(-local)?\.sh",
            "KISEKI_.*= 1024",
            "^ring$",
            r"[A-Za-z_]+\s*\(",
            "a.*?b",
            "héllo",
        ] {
            assert!(is_plainly_valid(text), "{text}");
        }
    }

    #[test]
    fn reasons_and_places() {
        for (source, code, place) in [
            (r"/a{2,1}/", Code::InvalidRegex, "{2,1}"),
            (r"/(a)\1/", Code::UnsupportedRegex, r"\1"),
            (r"/a(?=b)/", Code::UnsupportedRegex, "(?="),
            (r"/\/x(a/", Code::InvalidRegex, "("),
            (r"/fn main() {/", Code::InvalidRegex, "{"),
            (r"/*a/", Code::InvalidRegex, "*"),
            (r"/[b-a]/", Code::InvalidRegex, "b-a"),
            (r"/\p{Foo}/", Code::InvalidRegex, r"\p{Foo}"),
        ] {
            let text = source[1..source.len() - 1].replace("\\/", "/");
            let span = Span::new(0, source.len());
            let error = validate(&text, RegexFlags::NONE, span, source).unwrap_err();
            assert_eq!(error.code, code, "{source}");
            assert_eq!(&source[error.span.range()], place, "{source}: {error:?}");
            assert!(error.help.is_some());
        }
    }

    #[test]
    fn size() {
        let text = "a".repeat(MAX_PATTERN_BYTES + 1);
        let error = validate(&text, RegexFlags::NONE, Span::default(), "").unwrap_err();
        assert_eq!(error.code, Code::PatternTooLarge);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4096))]

        #[test]
        fn the_fast_path_takes_only_regexes(
            text in r"(\[\^?|[-ab0zA\[\](){}|*+?.^$\\/&~<>dwsbnBéx ,:]|\\.){0,12}"
        ) {
            if is_plainly_valid(&text) {
                for flags in [RegexFlags::NONE, RegexFlags::IGNORE_CASE] {
                    prop_assert!(parse_text(&text, flags).is_ok(), "{}", text);
                }
            }
        }
    }
}
