//! Operators. (harn.md, section 2.)

use crate::harn::fault::{ErrorClass, Fault};
use crate::harn::value::{Heap, List, Str, Value};

/// Texts that are made by repeating others are no longer, in bytes.
const MAX_REPEATED: usize = 16 << 20;

/// The number of a value for mixed arithmetic.
fn float(value: &Value) -> Option<f64> {
    match value {
        Value::Int(value) => Some(*value as f64),
        Value::Float(value) => Some(*value),
        _ => None,
    }
}

fn mismatch(op: &str, left: &Value, right: &Value) -> Fault {
    Fault::ty(format!(
        "`{op}` does not take {} and {}",
        left.type_name(),
        right.type_name()
    ))
}

fn zero() -> Fault {
    Fault::error(ErrorClass::Zero, "division by zero")
}

/// `left + right`. The left one is taken, so that it can be changed in place.
pub(super) fn add(left: Value, right: &Value, heap: &Heap) -> Result<Value, Fault> {
    Ok(match (left, right) {
        (Value::Int(left), Value::Int(right)) => match left.checked_add(*right) {
            Some(sum) => Value::Int(sum),
            None => Value::Float(left as f64 + *right as f64),
        },
        (Value::Str(left), Value::Str(right)) => Value::Str(left.append(right.as_str(), heap)?),
        (Value::List(mut left), Value::List(right)) => {
            left.extend(right.items())?;
            Value::List(left)
        }
        (Value::Dict(mut left), Value::Dict(right)) => {
            left.merge(right)?;
            Value::Dict(left)
        }
        (left, right) => match (float(&left), float(right)) {
            (Some(left), Some(right)) => Value::Float(left + right),
            _ => {
                let mut fault = mismatch("+", &left, right);
                if let Fault::Error(_, message) = &mut fault
                    && (matches!(left, Value::Str(_)) || matches!(right, Value::Str(_)))
                {
                    *message =
                        format!("{message}; `to_string(…)` or `\"${{…}}\"` makes a string").into();
                }
                return Err(fault);
            }
        },
    })
}

pub(super) fn sub(left: &Value, right: &Value) -> Result<Value, Fault> {
    numeric("-", left, right, i64::checked_sub, |left, right| {
        left - right
    })
}

pub(super) fn mul(left: &Value, right: &Value, heap: &Heap) -> Result<Value, Fault> {
    match (left, right) {
        (Value::Str(text), Value::Int(count)) | (Value::Int(count), Value::Str(text)) => {
            Ok(Value::Str(repeat(text, *count, heap)?))
        }
        _ => numeric("*", left, right, i64::checked_mul, |left, right| {
            left * right
        }),
    }
}

/// A text so many times.
pub(super) fn repeat(text: &Str, count: i64, heap: &Heap) -> Result<Str, Fault> {
    let count = usize::try_from(count.max(0)).unwrap_or(usize::MAX);
    let len = text.as_str().len().saturating_mul(count);
    if len > MAX_REPEATED {
        return Err(Fault::Limit(crate::harn::fault::Limit::Memory));
    }
    heap.has_room(len)?;
    let count = if text.as_str().is_empty() { 0 } else { count };
    Str::new(text.as_str().repeat(count), heap)
}

fn numeric(
    op: &str,
    left: &Value,
    right: &Value,
    ints: fn(i64, i64) -> Option<i64>,
    floats: fn(f64, f64) -> f64,
) -> Result<Value, Fault> {
    if let (Value::Int(left), Value::Int(right)) = (left, right)
        && let Some(result) = ints(*left, *right)
    {
        return Ok(Value::Int(result));
    }
    match (float(left), float(right)) {
        (Some(left), Some(right)) => Ok(Value::Float(floats(left, right))),
        _ => Err(mismatch(op, left, right)),
    }
}

pub(super) fn div(left: &Value, right: &Value) -> Result<Value, Fault> {
    if let (Value::Int(_), Value::Int(0)) = (left, right) {
        return Err(zero());
    }
    numeric("/", left, right, i64::checked_div, |left, right| {
        left / right
    })
}

pub(super) fn rem(left: &Value, right: &Value) -> Result<Value, Fault> {
    if float(left).is_some() && float(right) == Some(0.0) {
        return Err(zero());
    }
    let ints = |left: i64, right: i64| Some(left.wrapping_rem(right));
    numeric("%", left, right, ints, |left, right| left % right)
}

pub(super) fn pow(left: &Value, right: &Value) -> Result<Value, Fault> {
    let ints = |base: i64, exponent: i64| base.checked_pow(u32::try_from(exponent).ok()?);
    numeric("**", left, right, ints, f64::powf)
}

pub(super) fn negate(value: &Value) -> Result<Value, Fault> {
    match value {
        Value::Int(value) => Ok(match value.checked_neg() {
            Some(negated) => Value::Int(negated),
            None => Value::Float(-(*value as f64)),
        }),
        Value::Float(value) => Ok(Value::Float(-value)),
        other => Err(Fault::ty(format!(
            "`-` does not take {}",
            other.type_name()
        ))),
    }
}

/// `item in container`, of what is no list.
pub(super) fn is_in(item: &Value, container: &Value, heap: &Heap) -> Result<bool, Fault> {
    Ok(match container {
        Value::Dict(dict) => match item.as_str() {
            Some(key) => dict.get(key).is_some(),
            None => dict.get(&item.whole_text(heap)?).is_some(),
        },
        Value::Str(text) => match item.as_str() {
            Some(part) => memchr::memmem::find(text.as_str().as_bytes(), part.as_bytes()).is_some(),
            None => text.as_str().contains(&item.whole_text(heap)?),
        },
        Value::Range(range) => match item {
            Value::Int(item) => (range.0..range.1).contains(item),
            _ => false,
        },
        _ => false,
    })
}

/// The ints from one up to another, with it or without.
pub(super) fn range(from: &Value, to: &Value, through: bool) -> Result<Value, Fault> {
    let (Value::Int(from), Value::Int(to)) = (from, to) else {
        let op = if through { "..=" } else { ".." };
        return Err(mismatch(op, from, to));
    };
    let end = if through { to.saturating_add(1) } else { *to };
    Ok(Value::Range(std::rc::Rc::new((*from, end.max(*from)))))
}

/// A list of what an iteration over a range gives.
pub(super) fn list_of(items: Vec<Value>, heap: &Heap) -> Result<Value, Fault> {
    Ok(Value::List(List::new(items, heap)?))
}
