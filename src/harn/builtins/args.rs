//! What builtins ask of their arguments. nil where something optional is wanted is
//! the same as nothing.

use std::borrow::Cow;

use crate::harn::builtins::Calls;
use crate::harn::fault::Fault;
use crate::harn::value::{Dict, List, Str, Value};

/// The arguments of a call, with the name of what is called.
#[derive(Clone, Copy)]
pub(super) struct Args<'a> {
    name: &'static str,
    values: &'a [Value],
}

/// A whole number or not.
#[derive(Clone, Copy)]
pub(super) enum Number {
    Int(i64),
    Float(f64),
}

impl Number {
    pub(super) const fn as_f64(self) -> f64 {
        match self {
            Self::Int(value) => value as f64,
            Self::Float(value) => value,
        }
    }
}

impl<'a> Args<'a> {
    pub(super) const fn of(name: &'static str, values: &'a [Value]) -> Self {
        Self { name, values }
    }

    /// The arguments from one on.
    pub(super) fn from(self, at: usize) -> &'a [Value] {
        self.values.get(at..).unwrap_or_default()
    }

    /// An argument that is there and not nil.
    pub(super) fn given(self, at: usize) -> Option<&'a Value> {
        let value = self.values.get(at)?;
        (!matches!(value, Value::Nil)).then_some(value)
    }

    /// An argument of any type.
    pub(super) fn any(self, at: usize) -> Value {
        self.values.get(at).cloned().unwrap_or_default()
    }

    /// The fault for something else than what is wanted. The role is empty for what
    /// the whole call is about.
    pub(super) fn wrong(self, at: usize, wanted: &str, role: &str) -> Fault {
        let role: Cow<'_, str> = match role {
            "" => "".into(),
            role => format!(" as its {role}").into(),
        };
        let got = self.values.get(at).map_or("nothing", Value::type_name);
        self.fault(format!("wants {wanted}{role} and got {got}"))
    }

    /// A fault that begins with the name.
    pub(super) fn fault(self, message: impl std::fmt::Display) -> Fault {
        Fault::ty(format!("`{}` {message}", self.name))
    }

    pub(super) fn str(self, at: usize, role: &str) -> Result<&'a Str, Fault> {
        match self.values.get(at) {
            Some(Value::Str(text)) => Ok(text),
            _ => Err(self.wrong(at, "a string", role)),
        }
    }

    pub(super) fn opt_str(self, at: usize, role: &str) -> Result<Option<&'a Str>, Fault> {
        self.given(at).map(|_| self.str(at, role)).transpose()
    }

    pub(super) fn int(self, at: usize, role: &str) -> Result<i64, Fault> {
        match self.values.get(at) {
            Some(Value::Int(value)) => Ok(*value),
            _ => Err(self.wrong(at, "an int", role)),
        }
    }

    pub(super) fn opt_int(self, at: usize, role: &str) -> Result<Option<i64>, Fault> {
        self.given(at).map(|_| self.int(at, role)).transpose()
    }

    /// A number of things: none instead of fewer than none.
    pub(super) fn count(self, at: usize, role: &str) -> Result<usize, Fault> {
        let count = self.int(at, role)?.max(0);
        Ok(usize::try_from(count).unwrap_or(usize::MAX))
    }

    /// A number of things that is one at least.
    pub(super) fn positive(self, at: usize, role: &str) -> Result<usize, Fault> {
        match self.count(at, role)? {
            0 => Err(self.fault(format!("wants an int above 0 as its {role}"))),
            count => Ok(count),
        }
    }

    pub(super) fn number(self, at: usize, role: &str) -> Result<Number, Fault> {
        match self.values.get(at) {
            Some(Value::Int(value)) => Ok(Number::Int(*value)),
            Some(Value::Float(value)) => Ok(Number::Float(*value)),
            _ => Err(self.wrong(at, "a number", role)),
        }
    }

    pub(super) fn list(self, at: usize, role: &str) -> Result<&'a List, Fault> {
        match self.values.get(at) {
            Some(Value::List(list)) => Ok(list),
            _ => Err(self.wrong(at, "a list", role)),
        }
    }

    pub(super) fn dict(self, at: usize, role: &str) -> Result<&'a Dict, Fault> {
        match self.values.get(at) {
            Some(Value::Dict(dict)) => Ok(dict),
            _ => Err(self.wrong(at, "a dict", role)),
        }
    }

    pub(super) fn function(self, at: usize) -> Result<&'a Value, Fault> {
        match self.values.get(at) {
            Some(value) if value.is_callable() => Ok(value),
            _ => Err(self.wrong(at, "a function", "")),
        }
    }
}

/// A thrown text, which can be caught.
pub(super) fn thrown(calls: &dyn Calls, message: impl Into<String>) -> Fault {
    match Value::text(message, calls.heap()) {
        Ok(text) => Fault::Thrown(text),
        Err(fault) => fault,
    }
}

/// A number of things as a value.
pub(super) fn int(count: usize) -> Value {
    Value::Int(i64::try_from(count).unwrap_or(i64::MAX))
}

/// The place of a thing as a value, -1 for nowhere.
pub(super) fn place(at: Option<usize>) -> Value {
    at.map_or(Value::Int(-1), int)
}

pub(super) fn list(items: Vec<Value>, calls: &dyn Calls) -> Result<Value, Fault> {
    Ok(Value::List(List::new(items, calls.heap())?))
}

/// Where a slice of so many things begins and ends: negative bounds count from the
/// end, both are clamped.
pub(super) fn bounds(len: usize, from: i64, to: Option<i64>) -> (usize, usize) {
    let clamp = |bound: i64| match usize::try_from(bound) {
        Ok(bound) => bound.min(len),
        Err(_) => len.saturating_sub(usize::try_from(bound.unsigned_abs()).unwrap_or(usize::MAX)),
    };
    let (from, to) = (clamp(from), to.map_or(len, clamp));
    (from, to.max(from))
}
