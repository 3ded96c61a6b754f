//! Methods of strings. Positions count characters.

use super::super::builtins::int;
use super::super::expr::bounds;
use super::super::failure::{Class, Failure};
use super::super::machine::Machine;
use super::super::value::Value;
use super::{piece, unfit};

const KNOWN: &[(&str, usize, usize)] = &[
    ("char_at", 1, 1),
    ("chars", 0, 0),
    ("contains", 1, 1),
    ("count", 0, 0),
    ("empty", 0, 0),
    ("ends_with", 1, 1),
    ("index_of", 1, 1),
    ("last_index_of", 1, 1),
    ("len", 0, 0),
    ("lines", 0, 0),
    ("lower", 0, 0),
    ("pad_left", 1, 2),
    ("pad_right", 1, 2),
    ("repeat", 1, 1),
    ("replace", 2, 2),
    ("reversed", 0, 0),
    ("slice", 1, 2),
    ("split", 1, 1),
    ("starts_with", 1, 1),
    ("substring", 1, 2),
    ("to_lower", 0, 0),
    ("to_upper", 0, 0),
    ("trim", 0, 0),
    ("trim_end", 0, 0),
    ("trim_start", 0, 0),
    ("upper", 0, 0),
];

/// The longest text that repetition makes, in bytes.
const MAX_REPEATED: usize = 16 << 20;

impl Machine<'_> {
    pub(in super::super) fn string_method(
        &mut self,
        text: &str,
        name: &str,
        args: &[Value],
    ) -> Result<Value, Failure> {
        self.burn(text.len() / 16)?;
        match (name, args) {
            ("len" | "count", []) => Ok(Value::int(text.chars().count())),
            ("empty", []) => Ok(Value::Bool(text.is_empty())),
            ("lower" | "to_lower", []) => self.text(text.to_lowercase()),
            ("upper" | "to_upper", []) => self.text(text.to_uppercase()),
            ("trim", []) => self.text(text.trim()),
            ("trim_start", []) => self.text(text.trim_start()),
            ("trim_end", []) => self.text(text.trim_end()),
            ("reversed", []) => self.text(text.chars().rev().collect::<String>()),
            ("chars", []) => {
                let chars = text.chars().map(|c| Value::text(c.to_string()));
                self.list(chars.collect())
            }
            ("lines", []) => self.list(text.lines().map(Value::text).collect()),
            ("contains", [part]) => Ok(Value::Bool(text.contains(&piece(part)?))),
            ("starts_with", [part]) => Ok(Value::Bool(text.starts_with(&piece(part)?))),
            ("ends_with", [part]) => Ok(Value::Bool(text.ends_with(&piece(part)?))),
            ("split", [separator]) => {
                self.list(text.split(&piece(separator)?).map(Value::text).collect())
            }
            ("replace", [old, new]) => self.text(text.replace(&piece(old)?, &piece(new)?)),
            ("char_at", [at]) => {
                let at = usize::try_from(int(at)?).ok();
                let found = at.and_then(|at| text.chars().nth(at));
                Ok(found.map_or(Value::Nil, |c| Value::text(c.to_string())))
            }
            ("index_of", [part]) => Ok(place(text, text.find(&piece(part)?))),
            ("last_index_of", [part]) => Ok(place(text, text.rfind(&piece(part)?))),
            // Only the function takes it: where to begin.
            ("index_of", [part, from]) => {
                let from = usize::try_from(int(from)?).unwrap_or(0);
                let skipped = text.chars().take(from).map(char::len_utf8).sum();
                let found = text[skipped..].find(&piece(part)?);
                Ok(place(text, found.map(|at| at + skipped)))
            }
            ("substring" | "slice", [from, rest @ ..]) if rest.len() < 2 => {
                let chars: Vec<char> = text.chars().collect();
                let clamped = |value: &Value| {
                    let at = int(value)?;
                    Ok(Value::Int(if name == "slice" { at } else { at.max(0) }))
                };
                let from = clamped(from)?;
                let to = rest.first().map(clamped).transpose()?;
                let (from, to) = bounds(chars.len(), Some(&from), to.as_ref())?;
                self.text(chars[from..to].iter().collect::<String>())
            }
            ("repeat", [times]) => self.repeat(text, int(times)?),
            ("pad_left" | "pad_right", [width, fill @ ..]) if fill.len() < 2 => {
                let fill = fill.first().map_or_else(|| Ok(" ".into()), piece)?;
                let width = usize::try_from(int(width)?).unwrap_or(0);
                let missing = width.saturating_sub(text.chars().count());
                if missing > MAX_REPEATED {
                    return Err(too_long());
                }
                let padding: String = fill.chars().cycle().take(missing).collect();
                self.text(if name == "pad_left" {
                    padding + text
                } else {
                    text.to_owned() + &padding
                })
            }
            _ => Err(unfit("string", name, KNOWN, args.len())),
        }
    }

    /// The text over and over.
    pub(in super::super) fn repeat(&mut self, text: &str, times: i64) -> Result<Value, Failure> {
        let times = usize::try_from(times).unwrap_or(0);
        if text.len().saturating_mul(times) > MAX_REPEATED {
            return Err(too_long());
        }
        self.text(text.repeat(times))
    }
}

fn too_long() -> Failure {
    Failure::new(Class::Limit, "the text gets too long")
}

/// The character at a byte, or -1.
fn place(text: &str, at: Option<usize>) -> Value {
    at.map_or(Value::Int(-1), |at| Value::int(text[..at].chars().count()))
}
