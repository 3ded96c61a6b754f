//! From characters to tokens.

use super::verdict::{Error, Stage};

const MAX_SOURCE: usize = 64 << 10;

const WORDS: [&str; 12] = [
    "grep", "test", "run", "exists", "true", "false", "contains", "matches", "passed", "exit",
    "stdout", "stderr",
];
const WORDS_OF_V2: [&str; 4] = ["count", "lines", "starts_with", "ends_with"];
const SYMBOLS: [&str; 13] = [
    "||", "&&", "==", "!=", "<=", ">=", "<", ">", "!", "(", ")", ",", ".",
];

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    Word(String),
    Int(i64),
    Str(String),
    Regex { text: String, flags: String },
    Symbol(&'static str),
}

/// All tokens of a source.
pub(super) fn lex(v2: bool, source: &str) -> Result<Vec<Token>, Error> {
    if source.len() > MAX_SOURCE {
        return Err(refuse("source too large"));
    }
    let mut rest = source;
    let mut tokens = Vec::new();
    while let Some(first) = rest.chars().next() {
        if " \t\r\n".contains(first) {
            rest = &rest[1..];
        } else if first == '#' && v2 {
            let end = rest.find(['\r', '\n']).unwrap_or(rest.len());
            let comment = &rest[..end];
            if comment.contains(|c: char| c == '\u{feff}' || c.is_control() && c != '\t') {
                return Err(refuse("control character in a comment"));
            }
            rest = &rest[end..];
        } else {
            let (token, used) = match first {
                '"' => string(rest)?,
                '/' => regex(v2, rest)?,
                '0'..='9' => integer(rest)?,
                '-' if v2 => integer(rest)?,
                'a'..='z' | 'A'..='Z' | '_' => word(v2, rest)?,
                _ => symbol(rest)?,
            };
            tokens.push(token);
            rest = &rest[used..];
        }
    }
    Ok(tokens)
}

fn refuse(message: &str) -> Error {
    Error {
        stage: Stage::Parse,
        message: message.to_owned(),
    }
}

fn symbol(rest: &str) -> Result<(Token, usize), Error> {
    SYMBOLS
        .into_iter()
        .find(|symbol| rest.starts_with(symbol))
        .map(|symbol| (Token::Symbol(symbol), symbol.len()))
        .ok_or_else(|| refuse("unexpected character"))
}

fn word(v2: bool, rest: &str) -> Result<(Token, usize), Error> {
    let end = rest
        .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .unwrap_or(rest.len());
    let word = &rest[..end];
    if WORDS.contains(&word) || v2 && WORDS_OF_V2.contains(&word) {
        Ok((Token::Word(word.to_owned()), end))
    } else {
        Err(refuse("unknown word"))
    }
}

fn integer(rest: &str) -> Result<(Token, usize), Error> {
    let sign = usize::from(rest.starts_with('-'));
    let digits = rest[sign..]
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(rest.len() - sign);
    let end = sign + digits;
    match rest[..end].parse() {
        Ok(value) => Ok((Token::Int(value), end)),
        Err(_) => Err(refuse("no integer, or too large")),
    }
}

fn string(rest: &str) -> Result<(Token, usize), Error> {
    let mut value = String::new();
    let mut chars = rest.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Ok((Token::Str(value), at + 1)),
            '\n' | '\r' => break,
            '\\' => {
                let escaped = chars.next().map_or(' ', |(_, c)| c);
                value.push(match escaped {
                    '"' | '\\' => escaped,
                    'n' => '\n',
                    't' => '\t',
                    'r' => '\r',
                    '0' => '\0',
                    'u' => {
                        let (scalar, used) = unicode_escape(&rest[at + 2..])?;
                        for _ in 0..used {
                            chars.next();
                        }
                        scalar
                    }
                    _ => return Err(refuse("unknown escape")),
                });
            }
            other => value.push(other),
        }
    }
    Err(refuse("string without an end"))
}

/// Reads `{hex}`; gives the character and how many characters were read.
fn unicode_escape(rest: &str) -> Result<(char, usize), Error> {
    let digits = rest
        .strip_prefix('{')
        .and_then(|rest| rest.split_once('}'))
        .map(|(digits, _)| digits)
        .filter(|digits| (1..=6).contains(&digits.len()))
        .filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()))
        .ok_or_else(|| refuse("bad unicode escape"))?;
    u32::from_str_radix(digits, 16)
        .ok()
        .and_then(char::from_u32)
        .map(|scalar| (scalar, digits.len() + 2))
        .ok_or_else(|| refuse("no unicode character"))
}

fn regex(v2: bool, rest: &str) -> Result<(Token, usize), Error> {
    let mut text = String::new();
    let mut chars = rest.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        match c {
            '/' if text.is_empty() => return Err(refuse("empty regex")),
            '/' => {
                let after = &rest[at + 1..];
                let flags: String = after
                    .chars()
                    .take_while(char::is_ascii_alphabetic)
                    .collect();
                let known = flags.chars().all(|flag| "ims".contains(flag));
                let doubled = flags.chars().any(|flag| flags.matches(flag).count() > 1);
                if !flags.is_empty() && (!v2 || !known || doubled) {
                    return Err(refuse("flags after a regex"));
                }
                let end = at + 1 + flags.len();
                let flags = "ims".chars().filter(|flag| flags.contains(*flag)).collect();
                return Ok((Token::Regex { text, flags }, end));
            }
            '\n' | '\r' => break,
            '\\' => match chars.next() {
                Some((_, '/')) => text.push('/'),
                Some((_, '\n' | '\r')) | None => break,
                Some((_, escaped)) => text.extend(['\\', escaped]),
            },
            other => text.push(other),
        }
    }
    Err(refuse("regex without an end"))
}
