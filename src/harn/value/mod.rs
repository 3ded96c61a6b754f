//! Values: what they are, how they compare, how they look as text, and what memory
//! they take. (harn.md, section 4.)

mod compare;
mod dict;
mod given;
mod heap;
mod json;
mod list;
mod make;
mod string;
mod text;

use std::cell::RefCell;
use std::rc::Rc;

use crate::harn::builtins::Builtin;
use crate::harn::fault::{ErrorClass, Fault};

pub(crate) use compare::{equal, order, total_order};
pub(crate) use dict::Dict;
pub use given::Given;
pub(crate) use heap::Charge;
pub use heap::Heap;
pub(crate) use list::List;
pub(crate) use make::Keys;
pub use make::MAX_JSON;
pub(crate) use string::Str;

/// Lists and dicts are nested no deeper.
pub(crate) const MAX_VALUE_DEPTH: u16 = 128;

/// Lists and dicts hold no more values, each counted as often as it is reached.
pub(crate) const MAX_VALUE_WEIGHT: u32 = 1 << 24;

/// Messages show no more of a value, in bytes.
const MAX_SHOWN: usize = 64 << 10;

/// A value. Copies share what is behind them; changes are made to a copy of their own.
#[derive(Clone, Debug, Default)]
pub enum Value {
    /// Nothing.
    #[default]
    Nil,
    /// True or false.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A number.
    Float(f64),
    /// A text.
    Str(Str),
    /// Values in order.
    List(List),
    /// Values by key.
    Dict(Dict),
    /// Whole numbers from one up to another, without it.
    Range(Rc<(i64, i64)>),
    /// A function of the module.
    Function(u32),
    /// A function with what it captured.
    Closure(Rc<Closure>),
    /// A builtin function.
    Builtin(Builtin),
    /// A function that the host gives.
    Host(Host),
    /// The capability to query syntax trees.
    Harness,
    /// A variable that closures share. No program sees it.
    Cell(Rc<RefCell<Value>>),
    /// What went wrong, while a `finally` runs. No program sees it.
    Failure(Rc<(ErrorClass, Box<str>)>),
    /// Where a loop is. No program sees it.
    Items(Rc<RefCell<Items>>),
}

/// What a `for` loop has left.
#[derive(Debug)]
pub struct Items {
    pub(crate) source: Source,
    pub(crate) at: usize,
    pub(crate) _charge: Charge,
}

#[derive(Debug)]
pub(crate) enum Source {
    List(List),
    Dict(Dict, Vec<Str>),
    Range(i64, i64),
}

/// A function and what it captured.
#[derive(Debug)]
pub struct Closure {
    pub(crate) function: u32,
    pub(crate) captures: Box<[Value]>,
    pub(crate) depth: u16,
    pub(crate) _charge: Charge,
}

/// A function of the host: takes the arguments, gives the result.
type HostFunction = Box<dyn Fn(&[Value], &Heap) -> Result<Value, Fault>>;

/// A function that the host gives to a predicate.
#[derive(Clone)]
pub struct Host(pub(crate) Rc<HostFunction>);

impl std::fmt::Debug for Host {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Host")
    }
}

impl Value {
    /// A function of the host.
    pub fn host(function: impl Fn(&[Self], &Heap) -> Result<Self, Fault> + 'static) -> Self {
        Self::Host(Host(Rc::new(Box::new(function))))
    }

    /// A text.
    ///
    /// # Errors
    /// [`Fault::Limit`] if the heap has no room.
    pub fn text(text: impl Into<String>, heap: &Heap) -> Result<Self, Fault> {
        Ok(Self::Str(Str::new(text.into(), heap)?))
    }

    /// The name of its type, as `type_of` gives it.
    #[must_use]
    pub const fn type_name(&self) -> &'static str {
        match self {
            Self::Nil => "nil",
            Self::Bool(_) => "bool",
            Self::Int(_) => "int",
            Self::Float(_) => "float",
            Self::Str(_) => "string",
            Self::List(_) => "list",
            Self::Dict(_) => "dict",
            Self::Range(_) => "range",
            Self::Function(_) | Self::Closure(_) => "closure",
            Self::Builtin(_) | Self::Host(_) => "builtin",
            Self::Harness => "harness",
            Self::Cell(_) | Self::Items(_) | Self::Failure(_) => "internal",
        }
    }

    /// Whether a condition holds with it. (harn.md, section 2.)
    #[must_use]
    pub fn is_truthy(&self) -> bool {
        match self {
            Self::Nil => false,
            Self::Bool(value) => *value,
            Self::Int(value) => *value != 0,
            Self::Float(value) => *value != 0.0,
            Self::Str(text) => !text.as_str().is_empty(),
            Self::List(list) => !list.items().is_empty(),
            Self::Dict(dict) => !dict.is_empty(),
            _ => true,
        }
    }

    /// Whether it can be called.
    #[must_use]
    pub const fn is_callable(&self) -> bool {
        matches!(
            self,
            Self::Function(_) | Self::Closure(_) | Self::Builtin(_) | Self::Host(_)
        )
    }

    /// How deep lists and dicts are nested in it.
    pub(crate) fn depth(&self) -> u16 {
        match self {
            Self::List(list) => list.shape().depth,
            Self::Dict(dict) => dict.shape().depth,
            Self::Closure(closure) => closure.depth,
            _ => 0,
        }
    }

    /// How many values it is, with those in it.
    pub(crate) fn weight(&self) -> u32 {
        match self {
            Self::List(list) => list.shape().weight,
            Self::Dict(dict) => dict.shape().weight,
            _ => 1,
        }
    }

    /// What it costs to have it for oneself before a change: nothing where nobody else
    /// has it.
    pub(crate) fn copy_cost(&self) -> u64 {
        match self {
            Self::List(list) if list.is_shared() => list.items().len() as u64 / 4,
            Self::Dict(dict) if dict.is_shared() => dict.len() as u64,
            _ => 0,
        }
    }

    /// The string, if it is one.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::Str(text) => Some(text.as_str()),
            _ => None,
        }
    }

    /// The value of a key, if it is a dict that has it.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Self> {
        match self {
            Self::Dict(dict) => dict.get(key),
            _ => None,
        }
    }

    /// The items, if it is a list.
    #[must_use]
    pub fn as_items(&self) -> Option<&[Self]> {
        match self {
            Self::List(list) => Some(list.items()),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_takes_sixteen_bytes() {
        assert_eq!(size_of::<Value>(), 16);
    }
}
