//! The tokens that mutations put in.

use std::fmt;

/// Tokens in the format of libFuzzer: one a line, in double quotes, with the
/// escapes `\\`, `\"` and `\xNN`; `#` begins a comment.
#[derive(Clone, Debug, Default)]
pub struct Dictionary(Vec<Vec<u8>>);

/// A line that holds no token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DictionaryError {
    /// The line, counted from 1.
    pub line: usize,
}

impl fmt::Display for DictionaryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {} holds no token in double quotes", self.line)
    }
}

impl std::error::Error for DictionaryError {}

impl Dictionary {
    /// Reads the text of a dictionary.
    ///
    /// # Errors
    /// [`DictionaryError`] with the first line that is neither a token, a
    /// comment nor blank.
    pub fn parse(text: &str) -> Result<Self, DictionaryError> {
        let mut tokens = Vec::new();
        for (number, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let quoted = line
                .strip_prefix('"')
                .and_then(|rest| rest.strip_suffix('"'));
            let token = quoted.and_then(unescape);
            tokens.push(token.ok_or(DictionaryError { line: number + 1 })?);
        }
        Ok(Self(tokens))
    }

    /// The tokens in the order of the text.
    pub fn tokens(&self) -> &[Vec<u8>] {
        &self.0
    }
}

fn unescape(quoted: &str) -> Option<Vec<u8>> {
    let mut token = Vec::new();
    let mut bytes = quoted.bytes();
    while let Some(byte) = bytes.next() {
        if byte != b'\\' {
            token.push(byte);
            continue;
        }
        match bytes.next()? {
            escaped @ (b'\\' | b'"') => token.push(escaped),
            b'x' => {
                let digits = [bytes.next()?, bytes.next()?];
                let digits = std::str::from_utf8(&digits).ok()?;
                token.push(u8::from_str_radix(digits, 16).ok()?);
            }
            _ => return None,
        }
    }
    Some(token)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes() {
        let text = "# tokens\n\n\"a\\\"\\\\\\x00\"\n\"&&\"\n";
        let dictionary = Dictionary::parse(text).unwrap();
        assert_eq!(dictionary.tokens(), [b"a\"\\\0".to_vec(), b"&&".to_vec()]);
    }

    #[test]
    fn bad_lines() {
        for text in ["x", "\"x", "\"\\q\"", "\"\\x4\""] {
            assert_eq!(
                Dictionary::parse(text).unwrap_err(),
                DictionaryError { line: 1 }
            );
        }
    }
}
