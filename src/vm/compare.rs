//! Comparisons of registers, which may hold lower bounds or unknowns.

use crate::compare::CompareOp;
use crate::vm::value::{Value, View, Why};

/// Compares two registers; of two unknowns the left one stays.
#[inline]
pub(crate) const fn compare(op: CompareOp, left: Value, right: Value) -> Value {
    match (left.view(), right.view()) {
        (View::Int(left), View::Int(right)) => Value::bool(op.holds(left, right)),
        (View::Unknown(_), _) => left,
        (_, View::Unknown(_)) => right,
        (View::AtLeast(bound, fact), View::Int(right)) => {
            decided(op.holds_from(bound, right), fact)
        }
        (View::Int(left), View::AtLeast(bound, fact)) => {
            decided(op.mirrored().holds_from(bound, left), fact)
        }
        (View::AtLeast(_, fact), View::AtLeast(..)) => decided(None, fact),
        _ => Value::UNSOUND,
    }
}

/// A bound's answer, or that the source stopped counting too early.
#[inline]
pub(crate) const fn decided(answer: Option<bool>, fact: u32) -> Value {
    match answer {
        Some(answer) => Value::bool(answer),
        None => Value::unknown(fact, Why::Inexact),
    }
}
