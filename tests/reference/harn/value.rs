//! Values, and what is equal, less and true.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;

use super::failure::{Class, Failure};
use super::scope::Scope;

/// Lists and dicts are nested no deeper.
const MAX_DEPTH: u32 = 128;

/// Lists and dicts hold no more values, each counted as often as it is reached.
const MAX_WEIGHT: u64 = 1 << 24;

#[derive(Clone, Debug)]
pub(crate) enum Value {
    Nil,
    Bool(bool),
    Int(i64),
    Float(f64),
    Str(Rc<str>),
    List(Rc<Nest<Vec<Value>>>),
    Dict(Rc<Nest<BTreeMap<String, Value>>>),
    /// From the first up to the second, without it.
    Range(i64, i64),
    Closure(Rc<Closure>),
    Builtin(&'static str),
}

/// A container with how deep it is and how much it holds.
#[derive(Debug)]
pub(crate) struct Nest<T> {
    pub(super) inner: T,
    depth: u32,
    weight: u64,
}

impl<T> std::ops::Deref for Nest<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.inner
    }
}

/// A function with the names around it.
pub(crate) struct Closure {
    /// Which of the machine's functions.
    pub(super) function: usize,
    pub(super) scope: Rc<Scope>,
    /// For messages; empty without one.
    pub(super) name: String,
}

impl fmt::Debug for Closure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<fn {}>", self.name)
    }
}

impl Value {
    pub(crate) fn text(text: impl AsRef<str>) -> Self {
        Self::Str(text.as_ref().into())
    }

    pub(crate) fn list(items: Vec<Self>) -> Result<Self, Failure> {
        let measure = measure(items.iter());
        Ok(Self::List(nest(items, measure)?))
    }

    pub(crate) fn dict(entries: BTreeMap<String, Self>) -> Result<Self, Failure> {
        let measure = measure(entries.values());
        Ok(Self::Dict(nest(entries, measure)?))
    }

    /// A dict of a few entries.
    pub(crate) fn record<const N: usize>(entries: [(&str, Self); N]) -> Result<Self, Failure> {
        let entries = entries.map(|(key, value)| (key.to_owned(), value));
        Self::dict(BTreeMap::from(entries))
    }

    pub(super) fn int(count: usize) -> Self {
        Self::Int(i64::try_from(count).unwrap_or(i64::MAX))
    }

    pub(super) const fn type_name(&self) -> &'static str {
        match self {
            Self::Nil => "nil",
            Self::Bool(_) => "bool",
            Self::Int(_) => "int",
            Self::Float(_) => "float",
            Self::Str(_) => "string",
            Self::List(_) => "list",
            Self::Dict(_) => "dict",
            Self::Range(..) => "range",
            Self::Closure(_) => "closure",
            Self::Builtin(_) => "builtin",
        }
    }

    pub(super) const fn is_nil(&self) -> bool {
        matches!(self, Self::Nil)
    }

    pub(super) const fn is_callable(&self) -> bool {
        matches!(self, Self::Closure(_) | Self::Builtin(_))
    }

    pub(super) fn is_truthy(&self) -> bool {
        match self {
            Self::Nil => false,
            Self::Bool(value) => *value,
            Self::Int(value) => *value != 0,
            Self::Float(value) => *value != 0.0,
            Self::Str(text) => !text.is_empty(),
            Self::List(items) => !items.is_empty(),
            Self::Dict(entries) => !entries.is_empty(),
            Self::Range(..) | Self::Closure(_) | Self::Builtin(_) => true,
        }
    }
}

/// Adds up what children there are.
fn nest<T>(inner: T, (depth, weight): (u32, u64)) -> Result<Rc<Nest<T>>, Failure> {
    if depth > MAX_DEPTH || weight > MAX_WEIGHT {
        let message = "values are nested too deep or hold too much";
        return Err(Failure::new(Class::Limit, message));
    }
    Ok(Rc::new(Nest {
        inner,
        depth,
        weight,
    }))
}

fn measure<'v>(children: impl Iterator<Item = &'v Value>) -> (u32, u64) {
    children.fold((1, 1), |(depth, weight), child| {
        let (below, more) = match child {
            Value::List(items) => (items.depth, items.weight),
            Value::Dict(entries) => (entries.depth, entries.weight),
            _ => (0, 1),
        };
        (depth.max(below + 1), weight.saturating_add(more))
    })
}

/// `a == b`.
pub(super) fn equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Nil, Value::Nil) => true,
        (Value::Bool(a), Value::Bool(b)) => a == b,
        (Value::Int(a), Value::Int(b)) => a == b,
        (Value::Float(a), Value::Float(b)) => a == b,
        (Value::Int(a), Value::Float(b)) | (Value::Float(b), Value::Int(a)) => *a as f64 == *b,
        (Value::Str(a), Value::Str(b)) => a == b,
        (Value::List(a), Value::List(b)) => {
            a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| equal(a, b))
        }
        (Value::Dict(a), Value::Dict(b)) => {
            let same = |((k, a), (l, b))| k == l && equal(a, b);
            a.len() == b.len() && a.iter().zip(b.iter()).all(same)
        }
        (Value::Range(a, b), Value::Range(c, d)) => (a, b) == (c, d),
        _ => false,
    }
}

/// How the operators order: `None` if NaN is involved.
pub(super) fn order(a: &Value, b: &Value) -> Result<Option<Ordering>, Failure> {
    Ok(match (a, b) {
        (Value::Int(a), Value::Int(b)) => Some(a.cmp(b)),
        (Value::Float(a), Value::Float(b)) => a.partial_cmp(b),
        (Value::Int(a), Value::Float(b)) => (*a as f64).partial_cmp(b),
        (Value::Float(a), Value::Int(b)) => a.partial_cmp(&(*b as f64)),
        (Value::Str(a), Value::Str(b)) => Some(a.cmp(b)),
        (Value::List(a), Value::List(b)) => {
            for (a, b) in a.iter().zip(b.iter()) {
                if equal(a, b) {
                    continue;
                }
                match order(a, b)? {
                    Some(Ordering::Equal) => {}
                    decided => return Ok(decided),
                }
            }
            Some(a.len().cmp(&b.len()))
        }
        _ => {
            let (a, b) = (a.type_name(), b.type_name());
            return Err(Failure::ty(format!("{a} and {b} have no order")));
        }
    })
}

/// How sorting orders: everything, and what it cannot tell apart as equal. Numbers, NaN,
/// then the rest by the names of the types.
pub(super) fn total_order(a: &Value, b: &Value) -> Ordering {
    let group = |value: &Value| match value {
        Value::Float(value) if value.is_nan() => (1, ""),
        Value::Int(_) | Value::Float(_) => (0, ""),
        other => (2, other.type_name()),
    };
    group(a).cmp(&group(b)).then_with(|| match (a, b) {
        (Value::Bool(a), Value::Bool(b)) => a.cmp(b),
        (Value::List(a), Value::List(b)) => {
            let pairs = a.iter().zip(b.iter());
            pairs
                .map(|(a, b)| total_order(a, b))
                .find(|order| order.is_ne())
                .unwrap_or_else(|| a.len().cmp(&b.len()))
        }
        _ => order(a, b).ok().flatten().unwrap_or(Ordering::Equal),
    })
}
