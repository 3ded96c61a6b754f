//! How an evaluation ends that comes to no value.

use std::fmt;

use crate::harn::value::Value;
use crate::reason::Reason;

/// Why an evaluation, or a part of it, failed.
#[derive(Clone, Debug)]
pub enum Fault {
    /// A value that was thrown. It can be caught.
    Thrown(Value),
    /// Something that cannot be done. It can be caught, as its message.
    Error(ErrorClass, Box<str>),
    /// A fact that is not known. It cannot be caught: what is not known must not be
    /// taken for something else. (engine.md, "Three-valued evaluation".)
    Unknown(Reason),
    /// A limit. It cannot be caught.
    Limit(Limit),
}

/// What kind of thing cannot be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorClass {
    /// Values of other types are wanted.
    Type,
    /// A division by zero.
    Zero,
    /// An index that is out of range.
    Bounds,
    /// Too few or too many arguments.
    Arity,
}

/// What an evaluation ran out of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Limit {
    /// Fuel, the account that is the same on every machine.
    Fuel,
    /// CPU time.
    Cpu,
    /// Memory of values.
    Memory,
    /// The size of what is returned.
    Result,
    /// Calls in calls.
    Frames,
    /// Values in values.
    Depth,
    /// Somebody stopped it.
    Cancelled,
}

impl Limit {
    /// What to say of it.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::Fuel => "the fuel is used up",
            Self::Cpu => "the CPU time is used up",
            Self::Memory => "the values take too much memory",
            Self::Result => "the result is too large; return fewer findings",
            Self::Frames => "calls are nested too deep",
            Self::Depth => "values are nested too deep",
            Self::Cancelled => "the evaluation was stopped",
        }
    }
}

impl Fault {
    pub(crate) fn error(class: ErrorClass, message: impl Into<Box<str>>) -> Self {
        Self::Error(class, message.into())
    }

    pub(crate) fn ty(message: impl Into<Box<str>>) -> Self {
        Self::Error(ErrorClass::Type, message.into())
    }

    pub(crate) fn arity(message: impl Into<Box<str>>) -> Self {
        Self::Error(ErrorClass::Arity, message.into())
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Thrown(value) => write!(f, "thrown: {}", value.to_text()),
            Self::Error(_, message) => f.write_str(message),
            Self::Unknown(reason) => reason.fmt(f),
            Self::Limit(limit) => f.write_str(limit.text()),
        }
    }
}
