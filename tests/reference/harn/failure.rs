//! How an evaluation fails, and how it leaves a part of the tree.

use super::value::Value;

/// What kind of failure it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// Not in the language.
    Syntax,
    /// Something that a checker finds before anything runs.
    Check,
    /// Values of other types are wanted.
    Type,
    /// A division by zero.
    Zero,
    /// An assignment to an index that is not there.
    Bounds,
    /// Too few or too many arguments.
    Arity,
    /// A value was thrown.
    Thrown,
    /// Something about the workspace that is not known, which nothing catches.
    Unknown,
    /// A limit, which nothing catches.
    Limit,
}

impl Class {
    /// The name in suites.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Syntax => "syntax",
            Self::Check => "check",
            Self::Type => "type",
            Self::Zero => "zero",
            Self::Bounds => "bounds",
            Self::Arity => "arity",
            Self::Thrown => "thrown",
            Self::Unknown => "unknown",
            Self::Limit => "limit",
        }
    }
}

/// Why there is no value.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    pub(crate) class: Class,
    pub(crate) message: String,
    /// What was thrown.
    thrown: Option<Value>,
}

impl Failure {
    pub(crate) fn new(class: Class, message: impl Into<String>) -> Self {
        Self {
            class,
            message: message.into(),
            thrown: None,
        }
    }

    pub(super) fn ty(message: impl Into<String>) -> Self {
        Self::new(Class::Type, message)
    }

    pub(super) fn check(message: impl Into<String>) -> Self {
        Self::new(Class::Check, message)
    }

    pub(super) fn arity(name: &str) -> Self {
        Self::new(
            Class::Arity,
            format!("`{name}` takes other numbers of arguments"),
        )
    }

    pub(super) fn thrown(value: Value) -> Self {
        Self {
            class: Class::Thrown,
            message: super::text::text(&value),
            thrown: Some(value),
        }
    }

    pub(super) fn throw_text(text: impl AsRef<str>) -> Self {
        Self::thrown(Value::text(text.as_ref()))
    }

    /// What `catch` binds, if it may catch this.
    pub(super) fn caught(&self) -> Option<Value> {
        match self.class {
            Class::Syntax | Class::Check | Class::Unknown | Class::Limit => None,
            _ => {
                let message = || Value::text(&self.message);
                Some(self.thrown.clone().unwrap_or_else(message))
            }
        }
    }
}

/// What leaves a statement or an expression before its end.
#[derive(Debug)]
pub(super) enum Exit {
    Return(Value),
    /// `return f(args)`: to be called when the frame is gone.
    Tail(Value, Vec<Value>),
    Break,
    Continue,
    Fail(Failure),
}

impl From<Failure> for Exit {
    fn from(failure: Failure) -> Self {
        Self::Fail(failure)
    }
}
