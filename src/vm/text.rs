//! String operations. A string that was cut at the capture limit answers only
//! what the cut part cannot change.

use crate::code::{Const, Needle, TextRegex};
use crate::facts::{Cell, FactTable};
use crate::vm::value::{Text, Value, View, Why};

/// What the machine resolves strings against.
#[derive(Clone, Copy)]
pub(crate) struct Strings<'a> {
    pub(crate) table: &'a FactTable,
    pub(crate) consts: &'a [Const],
}

/// A string and whether it was cut.
struct Resolved<'a> {
    bytes: &'a [u8],
    truncated: bool,
    fact: u32,
}

impl Resolved<'_> {
    /// What stands unless the answer needs the part that was cut.
    fn answer(&self, answer: Option<bool>) -> Value {
        match answer {
            Some(answer) => Value::bool(answer),
            None => Value::unknown(self.fact, Why::Truncated),
        }
    }
}

impl<'a> Strings<'a> {
    fn resolve(self, value: Value) -> Result<Resolved<'a>, Value> {
        match value.view() {
            View::Str(number, Text::Const) => match self.consts.get(number as usize) {
                Some(Const::Str(needle)) => Ok(Resolved {
                    bytes: needle.bytes(),
                    truncated: false,
                    fact: 0,
                }),
                _ => Err(Value::UNSOUND),
            },
            View::Str(fact, stream) => {
                let Cell::Run(number) = self.table.cell(fact) else {
                    return Err(Value::UNSOUND);
                };
                let output = self.table.run(number).ok_or(Value::UNSOUND)?;
                let (bytes, truncated) = match stream {
                    Text::Stderr => (&output.stderr, output.stderr_truncated),
                    Text::Stdout | Text::Const => (&output.stdout, output.stdout_truncated),
                };
                Ok(Resolved {
                    bytes,
                    truncated,
                    fact,
                })
            }
            View::Unknown(_) => Err(value),
            _ => Err(Value::UNSOUND),
        }
    }

    fn needle(self, number: u32) -> Result<&'a Needle, Value> {
        match self.consts.get(number as usize) {
            Some(Const::Str(needle)) => Ok(needle),
            _ => Err(Value::UNSOUND),
        }
    }

    fn regex(self, number: u32) -> Result<&'a TextRegex, Value> {
        match self.consts.get(number as usize) {
            Some(Const::Regex(regex)) => Ok(regex),
            _ => Err(Value::UNSOUND),
        }
    }

    pub(crate) fn contains(self, text: Value, needle: u32) -> Value {
        self.on(text, needle, |text, needle| {
            let found = needle.is_in(text.bytes);
            (found || !text.truncated).then_some(found)
        })
    }

    pub(crate) fn starts_with(self, text: Value, needle: u32) -> Value {
        self.on(text, needle, |text, needle| {
            let needle = needle.bytes();
            let kept = text.bytes.len().min(needle.len());
            if text.bytes[..kept] != needle[..kept] {
                return Some(false);
            }
            (kept == needle.len() || !text.truncated).then_some(kept == needle.len())
        })
    }

    pub(crate) fn ends_with(self, text: Value, needle: u32) -> Value {
        self.on(text, needle, |text, needle| {
            (!text.truncated || needle.bytes().is_empty())
                .then(|| text.bytes.ends_with(needle.bytes()))
        })
    }

    fn on(
        self,
        text: Value,
        needle: u32,
        test: impl FnOnce(&Resolved<'_>, &Needle) -> Option<bool>,
    ) -> Value {
        let (text, needle) = match (self.resolve(text), self.needle(needle)) {
            (Ok(text), Ok(needle)) => (text, needle),
            (Err(value), _) | (_, Err(value)) => return value,
        };
        text.answer(test(&text, needle))
    }

    pub(crate) fn matches(self, text: Value, regex: u32) -> Value {
        let (text, regex) = match (self.resolve(text), self.regex(regex)) {
            (Ok(text), Ok(regex)) => (text, regex),
            (Err(value), _) | (_, Err(value)) => return value,
        };
        match regex.is_match(text.bytes, text.truncated) {
            Ok(answer) => text.answer(answer),
            Err(_) => Value::unknown(text.fact, Why::Regex),
        }
    }

    pub(crate) fn equal(self, left: Value, right: Value, negated: bool) -> Value {
        let (left, right) = match (self.resolve(left), self.resolve(right)) {
            (Ok(left), Ok(right)) => (left, right),
            (Err(value), _) | (_, Err(value)) => return value,
        };
        let kept = left.bytes.len().min(right.bytes.len());
        // A cut string may go on: it differs for sure only where what was kept
        // differs, or where it is already longer than the other can be.
        let answer = if left.bytes[..kept] != right.bytes[..kept]
            || (left.bytes.len() > kept && !right.truncated)
            || (right.bytes.len() > kept && !left.truncated)
        {
            Some(false)
        } else {
            (!left.truncated && !right.truncated).then_some(true)
        };
        let cut = if left.truncated { &left } else { &right };
        cut.answer(answer.map(|equal| equal != negated))
    }

    /// Lines as `grep` counts them: a last line need not be terminated.
    pub(crate) fn lines(self, text: Value) -> Value {
        match self.resolve(text) {
            Err(value) => value,
            Ok(text) if text.truncated => text.answer(None),
            Ok(text) => {
                let ends = memchr::memchr_iter(b'\n', text.bytes).count();
                let open = !text.bytes.is_empty() && !text.bytes.ends_with(b"\n");
                let lines = ends + usize::from(open);
                Value::int(i64::try_from(lines).unwrap_or(i64::MAX))
            }
        }
    }
}
