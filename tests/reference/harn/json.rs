//! JSON.

use std::collections::BTreeMap;

use super::failure::Failure;
use super::text::quote;
use super::value::Value;

/// Compact, in the order of keys.
pub(super) fn write(value: &Value) -> Result<String, Failure> {
    Ok(match value {
        Value::Nil => "null".into(),
        Value::Float(value) if !value.is_finite() => "null".into(),
        Value::Float(value) => format!("{value:?}"),
        Value::Bool(value) => value.to_string(),
        Value::Int(value) => value.to_string(),
        Value::Str(text) => quote(text),
        Value::List(items) => {
            let items: Result<Vec<_>, _> = items.iter().map(write).collect();
            format!("[{}]", items?.join(","))
        }
        Value::Dict(entries) => {
            let mut all = Vec::new();
            for (key, value) in entries.iter() {
                all.push(format!("{}:{}", quote(key), write(value)?));
            }
            format!("{{{}}}", all.join(","))
        }
        other => return Err(Failure::ty(format!("{} is no JSON", other.type_name()))),
    })
}

pub(super) fn parse(source: &str) -> Result<Value, Failure> {
    let chars: Vec<char> = source.chars().collect();
    let mut reader = Reader {
        chars: &chars,
        at: 0,
    };
    let value = reader.value(0);
    reader.space();
    match value {
        Ok(value) if reader.at == chars.len() => Ok(value),
        Err(Flaw::Deep(failure)) => Err(failure),
        _ => {
            let message = Value::text("invalid JSON");
            Err(Failure::thrown(Value::record([("message", message)])?))
        }
    }
}

/// The deepest that is read.
const MAX_DEPTH: usize = 127;

enum Flaw {
    Bad,
    Deep(Failure),
}

impl From<Failure> for Flaw {
    fn from(failure: Failure) -> Self {
        Self::Deep(failure)
    }
}

struct Reader<'c> {
    chars: &'c [char],
    at: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(' ' | '\t' | '\r' | '\n')) {
            self.at += 1;
        }
    }

    fn take(&mut self, word: &str) -> bool {
        let fits = word
            .chars()
            .enumerate()
            .all(|(offset, c)| self.chars.get(self.at + offset) == Some(&c));
        if fits {
            self.at += word.chars().count();
        }
        fits
    }

    fn value(&mut self, depth: usize) -> Result<Value, Flaw> {
        self.space();
        match self.peek() {
            _ if depth > MAX_DEPTH => Err(Flaw::Bad),
            Some('n') if self.take("null") => Ok(Value::Nil),
            Some('t') if self.take("true") => Ok(Value::Bool(true)),
            Some('f') if self.take("false") => Ok(Value::Bool(false)),
            Some('"') => Ok(Value::text(self.string()?)),
            Some('[') => {
                let mut items = Vec::new();
                self.sequence(']', |reader| {
                    items.push(reader.value(depth + 1)?);
                    Ok(())
                })?;
                Ok(Value::list(items)?)
            }
            Some('{') => {
                let mut entries = BTreeMap::new();
                self.sequence('}', |reader| {
                    reader.space();
                    let key = reader.string()?;
                    reader.space();
                    if !reader.take(":") {
                        return Err(Flaw::Bad);
                    }
                    entries.insert(key, reader.value(depth + 1)?);
                    Ok(())
                })?;
                Ok(Value::dict(entries)?)
            }
            _ => self.number(),
        }
    }

    /// What stands between brackets, with commas between.
    fn sequence(
        &mut self,
        close: char,
        mut next: impl FnMut(&mut Self) -> Result<(), Flaw>,
    ) -> Result<(), Flaw> {
        self.at += 1;
        self.space();
        if self.peek() == Some(close) {
            self.at += 1;
            return Ok(());
        }
        loop {
            next(self)?;
            self.space();
            let found = self.peek();
            self.at += 1;
            match found {
                Some(',') => {}
                Some(found) if found == close => return Ok(()),
                _ => return Err(Flaw::Bad),
            }
        }
    }

    fn number(&mut self) -> Result<Value, Flaw> {
        let from = self.at;
        while matches!(self.peek(), Some('0'..='9' | '-' | '+' | '.' | 'e' | 'E')) {
            self.at += 1;
        }
        let text: String = self.chars[from..self.at].iter().collect();
        let shape = regex::Regex::new(r"^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$");
        if !shape.expect("the shape of a number").is_match(&text) {
            return Err(Flaw::Bad);
        }
        if let Ok(value) = text.parse()
            && text != "-0"
        {
            return Ok(Value::Int(value));
        }
        match text.parse() {
            Ok(value) if f64::is_finite(value) => Ok(Value::Float(value)),
            _ => Err(Flaw::Bad),
        }
    }

    fn string(&mut self) -> Result<String, Flaw> {
        if !self.take("\"") {
            return Err(Flaw::Bad);
        }
        let mut text = Vec::new();
        loop {
            let c = self.peek().ok_or(Flaw::Bad)?;
            self.at += 1;
            match c {
                '"' => return String::from_utf16(&text).map_err(|_| Flaw::Bad),
                '\\' => text.push(self.escape()?),
                c if c < ' ' => return Err(Flaw::Bad),
                c => text.extend(c.encode_utf16(&mut [0; 2]).iter()),
            }
        }
    }

    fn escape(&mut self) -> Result<u16, Flaw> {
        let c = self.peek().ok_or(Flaw::Bad)?;
        self.at += 1;
        Ok(match c {
            '"' | '\\' | '/' => c as u16,
            'b' => 8,
            'f' => 12,
            'n' => 10,
            'r' => 13,
            't' => 9,
            'u' => {
                let digits = self.chars.get(self.at..self.at + 4).ok_or(Flaw::Bad)?;
                self.at += 4;
                let mut digits = digits.iter().map(|c| c.to_digit(16));
                digits
                    .try_fold(0, |sum, digit| Some(sum * 16 + digit? as u16))
                    .ok_or(Flaw::Bad)?
            }
            _ => return Err(Flaw::Bad),
        })
    }
}
