//! Equality and order. (harn.md, section 2.) Values are nested at most
//! `MAX_VALUE_DEPTH` deep, so that this may recurse.

use std::cmp::Ordering;

use crate::harn::fault::Fault;
use crate::harn::value::Value;

/// Structural equality. Functions equal nothing, not even themselves.
pub(crate) fn equal(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Nil, Value::Nil) => true,
        (Value::Bool(left), Value::Bool(right)) => left == right,
        (Value::Int(left), Value::Int(right)) => left == right,
        (Value::Float(left), Value::Float(right)) => left == right,
        (Value::Int(left), Value::Float(right)) => *left as f64 == *right,
        (Value::Float(left), Value::Int(right)) => *left == *right as f64,
        (Value::Str(left), Value::Str(right)) => left == right,
        (Value::Range(left), Value::Range(right)) => left == right,
        (Value::List(left), Value::List(right)) => {
            let (left, right) = (left.items(), right.items());
            left.len() == right.len()
                && left
                    .iter()
                    .zip(right)
                    .all(|(left, right)| equal(left, right))
        }
        (Value::Dict(left), Value::Dict(right)) => {
            left.len() == right.len()
                && left.entries().iter().zip(right.entries()).all(
                    |((key, value), (other_key, other))| key == other_key && equal(value, other),
                )
        }
        _ => false,
    }
}

/// The order of two numbers, strings or lists; `None` where a NaN is involved.
pub(crate) fn order(left: &Value, right: &Value) -> Result<Option<Ordering>, Fault> {
    Ok(match (left, right) {
        (Value::Int(left), Value::Int(right)) => Some(left.cmp(right)),
        (Value::Float(left), Value::Float(right)) => left.partial_cmp(right),
        (Value::Int(left), Value::Float(right)) => (*left as f64).partial_cmp(right),
        (Value::Float(left), Value::Int(right)) => left.partial_cmp(&(*right as f64)),
        (Value::Str(left), Value::Str(right)) => Some(left.cmp(right)),
        (Value::List(left), Value::List(right)) => {
            for (left, right) in left.items().iter().zip(right.items()) {
                match order(left, right)? {
                    Some(Ordering::Equal) => {}
                    other => return Ok(other),
                }
            }
            Some(left.items().len().cmp(&right.items().len()))
        }
        _ => {
            return Err(Fault::ty(format!(
                "{} and {} have no order",
                left.type_name(),
                right.type_name()
            )));
        }
    })
}

/// An order of all values, for sorting: numbers, then NaN, then the other types by
/// name.
pub(crate) fn total_order(left: &Value, right: &Value) -> Ordering {
    let rank = |value: &Value| match value {
        Value::Int(_) => (0, ""),
        Value::Float(value) if !value.is_nan() => (0, ""),
        Value::Float(_) => (1, ""),
        other => (2, other.type_name()),
    };
    rank(left)
        .cmp(&rank(right))
        .then_with(|| match (left, right) {
            (Value::List(left), Value::List(right)) => {
                let pairs = left.items().iter().zip(right.items());
                let mut orders = pairs.map(|(left, right)| total_order(left, right));
                orders
                    .find(|order| order.is_ne())
                    .unwrap_or_else(|| left.items().len().cmp(&right.items().len()))
            }
            (Value::Bool(left), Value::Bool(right)) => left.cmp(right),
            _ => order(left, right).ok().flatten().unwrap_or(Ordering::Equal),
        })
}
