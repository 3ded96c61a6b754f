//! Values as text. (harn.md, section 4.)

use crate::harn::fault::{Fault, Limit};
use crate::harn::value::{Heap, MAX_SHOWN, Value};

/// A text that grows up to a limit.
struct Bounded {
    text: String,
    most: usize,
}

/// The limit was reached.
struct Full;

impl Bounded {
    fn push(&mut self, text: &str) -> Result<(), Full> {
        if self.text.len() + text.len() > self.most {
            return Err(Full);
        }
        self.text.push_str(text);
        Ok(())
    }
}

impl Value {
    /// The text of a value, as interpolation and `to_string` give it: strings as they
    /// are, also in lists and dicts. What is too long is cut.
    #[must_use]
    pub fn to_text(&self) -> String {
        self.shown(false)
    }

    /// The value as it would be written in a program: strings and keys in quotes. What
    /// is too long is cut.
    #[must_use]
    pub fn to_source(&self) -> String {
        self.shown(true)
    }

    fn shown(&self, quoted: bool) -> String {
        let mut out = Bounded {
            text: String::new(),
            most: MAX_SHOWN,
        };
        if self.write(&mut out, quoted).is_err() {
            out.text.push('…');
        }
        out.text
    }

    /// The whole text of a value.
    pub(crate) fn whole_text(&self, heap: &Heap) -> Result<String, Fault> {
        let mut out = Bounded {
            text: String::new(),
            most: heap.room(),
        };
        match self.write(&mut out, false) {
            Ok(()) => Ok(out.text),
            Err(Full) => Err(Fault::Limit(Limit::Memory)),
        }
    }

    fn write(&self, out: &mut Bounded, quoted: bool) -> Result<(), Full> {
        let string = |out: &mut Bounded, text: &str| match quoted {
            true if text.len() > out.most => Err(Full),
            true => out.push(&serde_json::Value::from(text).to_string()),
            false => out.push(text),
        };
        match self {
            Self::Nil => out.push("nil"),
            Self::Bool(value) => out.push(if *value { "true" } else { "false" }),
            Self::Int(value) => out.push(&value.to_string()),
            Self::Float(value) => out.push(&float_text(*value)),
            Self::Str(text) => string(out, text.as_str()),
            Self::List(list) => {
                out.push("[")?;
                for (at, item) in list.items().iter().enumerate() {
                    if at > 0 {
                        out.push(", ")?;
                    }
                    item.write(out, quoted)?;
                }
                out.push("]")
            }
            Self::Dict(dict) => {
                out.push("{")?;
                for (at, (key, value)) in dict.entries().iter().enumerate() {
                    if at > 0 {
                        out.push(", ")?;
                    }
                    string(out, key.as_str())?;
                    out.push(": ")?;
                    value.write(out, quoted)?;
                }
                out.push("}")
            }
            Self::Range(range) => out.push(&format!("{}..{}", range.0, range.1)),
            Self::Function(_) | Self::Closure(_) => out.push("<fn>"),
            Self::Builtin(builtin) => out.push(&format!("<builtin {}>", builtin.name())),
            Self::Host(_) => out.push("<builtin>"),
            Self::Harness => out.push("<harness>"),
            Self::Cell(_) | Self::Items(_) | Self::Failure(_) => out.push("<internal>"),
        }
    }
}

/// The text of a float: whole values below 1e15 with `.0`, no exponents.
pub(crate) fn float_text(value: f64) -> String {
    if value.is_finite() && value.fract() == 0.0 && value.abs() < 1e15 {
        format!("{value:.1}")
    } else if value.is_nan() {
        "NaN".into()
    } else {
        format!("{value}")
    }
}
