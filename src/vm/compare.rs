//! Comparisons of registers, which may hold lower bounds or unknowns.

use crate::compare::CompareOp;
use crate::vm::value::{Cause, Value, Why};

/// Compares two registers; of two unknowns the left one stays.
pub(crate) const fn compare(op: CompareOp, left: Value, right: Value) -> Value {
    match (left, right) {
        (Value::Int(left), Value::Int(right)) => Value::Bool(op.holds(left, right)),
        (Value::Unknown(cause), _) | (_, Value::Unknown(cause)) => Value::Unknown(cause),
        (Value::AtLeast(bound, fact), Value::Int(right)) => {
            decided(op.holds_from(bound, right), fact.get())
        }
        (Value::Int(left), Value::AtLeast(bound, fact)) => {
            decided(op.mirrored().holds_from(bound, left), fact.get())
        }
        (Value::AtLeast(_, fact), Value::AtLeast(..)) => decided(None, fact.get()),
        _ => Value::Unknown(Cause {
            fact: 0,
            why: Why::Program,
        }),
    }
}

/// A bound's answer, or that the source stopped counting too early.
pub(crate) const fn decided(answer: Option<bool>, fact: u32) -> Value {
    match answer {
        Some(answer) => Value::Bool(answer),
        None => Value::Unknown(Cause {
            fact,
            why: Why::Inexact,
        }),
    }
}
