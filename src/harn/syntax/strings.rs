//! String literals: their ends, their escapes and their holes.

use bumpalo::collections::String as BumpString;

use crate::diagnostic::Span;
use crate::harn::problem::{HarnCode, Problem};

use super::lexer::{Tokens, lex};
use super::token::Token;

/// Strings in holes of strings are nested no deeper.
const MAX_HOLES: usize = 8;

/// Reads a literal of which the quote was read. `rest` is what follows it, `start` the
/// offset of the quote. Returns how much of the rest it took.
pub(super) fn read<'a>(
    quote: &'a str,
    rest: &'a str,
    start: usize,
    holes: usize,
    to: &mut Tokens<'a, '_>,
) -> usize {
    if quote.starts_with('r') {
        raw(quote, rest, start, to)
    } else {
        let reader = Reader {
            quote,
            rest,
            base: start + quote.len(),
            start,
            holes,
        };
        reader.read(to)
    }
}

fn unterminated(start: usize, end: usize) -> Problem {
    let span = Span::new(start, end);
    Problem::error(HarnCode::Unterminated, span, "the string has no end")
        .help("close it on the same line, or use `\"\"\"` for several lines")
}

fn raw<'a>(quote: &'a str, rest: &'a str, start: usize, to: &mut Tokens<'a, '_>) -> usize {
    let hashes = quote.len() - 2;
    let line_end = rest.find('\n').unwrap_or(rest.len());
    let line = &rest[..line_end];
    let close: String = std::iter::once('"')
        .chain(std::iter::repeat_n('#', hashes))
        .collect();
    let base = start + quote.len();
    match line.find(&close) {
        Some(len) => {
            to.push(Token::Raw(&line[..len]), start, base + len + close.len());
            len + close.len()
        }
        None => {
            to.flaw(unterminated(start, base + line_end));
            line_end
        }
    }
}

/// A piece of a string.
enum Piece<'a> {
    Text(&'a str),
    /// The text of a hole and its offset in the rest.
    Hole(&'a str, usize),
}

struct Reader<'a> {
    quote: &'a str,
    rest: &'a str,
    /// The offset of the rest.
    base: usize,
    start: usize,
    holes: usize,
}

impl<'a> Reader<'a> {
    fn is_long(&self) -> bool {
        self.quote.len() == 3
    }

    fn read(&self, to: &mut Tokens<'a, '_>) -> usize {
        let (pieces, len) = match self.pieces(to) {
            Ok(found) => found,
            Err((problem, len)) => {
                to.flaw(problem);
                return len;
            }
        };
        let end = self.base + len;
        match &pieces[..] {
            [] => to.push(Token::Str(""), self.start, end),
            [Piece::Text(text)] => to.push(Token::Str(text), self.start, end),
            _ if self.holes >= MAX_HOLES => {
                let span = Span::new(self.start, end);
                to.flaw(Problem::error(
                    HarnCode::NestedTooDeep,
                    span,
                    format!("strings are nested over {MAX_HOLES} deep"),
                ));
            }
            pieces => {
                to.push(Token::StrOpen, self.start, self.base);
                for piece in pieces {
                    match piece {
                        Piece::Text(text) => to.push(Token::Str(text), self.start, end),
                        Piece::Hole(text, at) => {
                            let at = self.base + at;
                            to.push(Token::HoleOpen, at, at);
                            lex(text, at, self.holes + 1, to);
                            to.push(Token::HoleClose, at + text.len(), at + text.len());
                        }
                    }
                }
                to.push(Token::StrClose, end - self.quote.len().min(len), end);
            }
        }
        len
    }

    /// Takes the string apart. Returns how much of the rest it takes with its end.
    fn pieces(&self, to: &Tokens<'a, '_>) -> Result<(Vec<Piece<'a>>, usize), (Problem, usize)> {
        let mut pieces = Vec::new();
        let mut text = BumpString::new_in(to.arena);
        let mut at = 0;
        let line_end = || self.rest.find('\n').unwrap_or(self.rest.len());
        let bad = |code, from: usize, until: usize, message: &str| {
            let span = Span::new(self.base + from, self.base + until);
            (Problem::error(code, span, message), line_end())
        };
        loop {
            let Some(next) = self.rest[at..].chars().next() else {
                let len = self.rest.len();
                return Err((unterminated(self.start, self.base + len), len));
            };
            let after = &self.rest[at + next.len_utf8()..];
            match next {
                '"' if !self.is_long() => {
                    at += 1;
                    break;
                }
                '"' if after.starts_with("\"\"") => {
                    at += 3;
                    break;
                }
                '\n' if !self.is_long() => {
                    return Err((unterminated(self.start, self.base + at), at));
                }
                '\\' if self.is_long() && after.starts_with("${") => {
                    text.push_str("${");
                    at += 3;
                }
                '\\' if !self.is_long() => {
                    let escaped = after.chars().next();
                    let decoded = match escaped {
                        Some('n') => Some('\n'),
                        Some('r') => Some('\r'),
                        Some('t') => Some('\t'),
                        Some('0') => Some('\0'),
                        Some(kept @ ('\\' | '"' | '$')) => Some(kept),
                        _ => None,
                    };
                    match (decoded, escaped) {
                        (Some(decoded), _) => {
                            text.push(decoded);
                            at += 2;
                        }
                        // Another one stays with its backslash.
                        (None, Some(other)) => {
                            text.push('\\');
                            text.push(other);
                            at += 1 + other.len_utf8();
                        }
                        (None, None) => {
                            text.push('\\');
                            at += 1;
                        }
                    }
                }
                '$' if after.starts_with('{') => {
                    let from = at + 2;
                    let Some(len) = hole(&self.rest[from..]) else {
                        let message = "the hole has no end";
                        return Err(bad(HarnCode::BadHole, at, from, message));
                    };
                    let inner = &self.rest[from..from + len];
                    if inner.trim().is_empty() {
                        let message = "the hole is empty";
                        return Err(bad(HarnCode::BadHole, at, from + len + 1, message));
                    }
                    if let Some(slash) = outside_strings(inner, '\\') {
                        let slash = from + slash;
                        let message = "a hole has no backslashes outside of strings";
                        return Err(bad(HarnCode::BadHole, slash, slash + 1, message));
                    }
                    if !text.is_empty() {
                        let done = std::mem::replace(&mut text, BumpString::new_in(to.arena));
                        pieces.push(Piece::Text(done.into_bump_str()));
                    }
                    pieces.push(Piece::Hole(inner, from));
                    at = from + len + 1;
                }
                other => {
                    text.push(other);
                    at += other.len_utf8();
                }
            }
        }
        if !text.is_empty() || pieces.is_empty() {
            pieces.push(Piece::Text(text.into_bump_str()));
        }
        if self.is_long() {
            dedent(&mut pieces, to.arena);
        }
        Ok((pieces, at))
    }
}

/// The length of a hole, up to its brace. Braces in strings do not count.
fn hole(rest: &str) -> Option<usize> {
    let mut depth = 0_usize;
    let mut chars = rest.char_indices();
    while let Some((at, next)) = chars.next() {
        match next {
            '"' => skip_string(&mut chars)?,
            '{' => depth += 1,
            '}' if depth == 0 => return Some(at),
            '}' => depth -= 1,
            '\n' => return None,
            _ => {}
        }
    }
    None
}

fn skip_string(chars: &mut std::str::CharIndices<'_>) -> Option<()> {
    loop {
        match chars.next()?.1 {
            '"' => return Some(()),
            '\\' => {
                chars.next()?;
            }
            '\n' => return None,
            _ => {}
        }
    }
}

fn outside_strings(text: &str, wanted: char) -> Option<usize> {
    let mut chars = text.char_indices();
    while let Some((at, next)) = chars.next() {
        if next == wanted {
            return Some(at);
        }
        if next == '"' {
            skip_string(&mut chars)?;
        }
    }
    None
}

/// Drops the line end after the opening quotes, the common indent, and the last line
/// end.
fn dedent<'a>(pieces: &mut [Piece<'a>], arena: &'a bumpalo::Bump) {
    if let Some(Piece::Text(first)) = pieces.first_mut() {
        let rest = first.strip_prefix("\r\n").or(first.strip_prefix('\n'));
        *first = rest.unwrap_or(first);
    }
    let is_blank = |line: &str| line.bytes().all(|byte| byte == b' ' || byte == b'\t');
    let indent_of = |line: &str| line.len() - line.trim_start_matches([' ', '\t']).len();
    let count = pieces.len();
    let mut common = usize::MAX;
    for (number, piece) in pieces.iter().enumerate() {
        let Piece::Text(text) = piece else { continue };
        let mut lines = text.split('\n').enumerate().peekable();
        while let Some((line_number, line)) = lines.next() {
            let starts_line = number == 0 || line_number > 0;
            let goes_on = lines.peek().is_none() && number + 1 < count;
            if starts_line && (goes_on || !is_blank(line)) {
                common = common.min(indent_of(line));
            }
        }
    }
    let common = if common == usize::MAX { 0 } else { common };
    for (number, piece) in pieces.iter_mut().enumerate() {
        let Piece::Text(text) = piece else { continue };
        let mut kept = BumpString::new_in(arena);
        for (line_number, line) in text.split('\n').enumerate() {
            if line_number > 0 {
                kept.push('\n');
            }
            let starts_line = number == 0 || line_number > 0;
            let cut = if starts_line {
                common.min(indent_of(line))
            } else {
                0
            };
            kept.push_str(&line[cut..]);
        }
        if number + 1 == count {
            // The closing quotes may stand on a line of their own.
            let last = kept.rfind('\n').filter(|&at| is_blank(&kept[at + 1..]));
            if let Some(at) = last {
                kept.truncate(at);
            }
        }
        *text = kept.into_bump_str();
    }
}
