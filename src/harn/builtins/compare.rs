//! Equality, order and sorting that are paid for step by step: values share what is
//! in them, so that comparing two of them can take far longer than making them did.

use std::cmp::Ordering;

use crate::harn::builtins::Calls;
use crate::harn::fault::Fault;
use crate::harn::value::{Str, Value, order, total_order};

/// What looking at a text costs.
pub(crate) const fn text_cost(bytes: usize) -> usize {
    bytes / 16 + 1
}

fn pay_pair(calls: &mut dyn Calls, left: &Str, right: &Str) -> Result<(), Fault> {
    calls.pay(text_cost(left.as_str().len().min(right.as_str().len())))
}

/// Structural equality.
pub(crate) fn equal(calls: &mut dyn Calls, left: &Value, right: &Value) -> Result<bool, Fault> {
    match (left, right) {
        (Value::Str(left), Value::Str(right)) => {
            if left.as_str().len() == right.as_str().len() {
                pay_pair(calls, left, right)?;
            }
            Ok(left == right)
        }
        (Value::List(left), Value::List(right)) => {
            let (left, right) = (left.items(), right.items());
            if left.len() != right.len() {
                return Ok(false);
            }
            for (left, right) in left.iter().zip(right) {
                if !equal_in(calls, left, right)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        (Value::Dict(left), Value::Dict(right)) => {
            if left.len() != right.len() {
                return Ok(false);
            }
            for ((key, left), (other, right)) in left.entries().iter().zip(right.entries()) {
                pay_pair(calls, key, other)?;
                if key != other || !equal_in(calls, left, right)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        _ => Ok(crate::harn::value::equal(left, right)),
    }
}

fn equal_in(calls: &mut dyn Calls, left: &Value, right: &Value) -> Result<bool, Fault> {
    calls.pay(1)?;
    equal(calls, left, right)
}

/// Whether a value is among others. Each that is looked at costs a unit at least.
pub(crate) fn position(
    calls: &mut dyn Calls,
    items: &[Value],
    wanted: &Value,
) -> Result<Option<usize>, Fault> {
    for (at, item) in items.iter().enumerate() {
        if equal_in(calls, item, wanted)? {
            return Ok(Some(at));
        }
    }
    Ok(None)
}

/// The order that `<` and the like go by; `None` where a NaN is involved.
pub(crate) fn ordered(
    calls: &mut dyn Calls,
    left: &Value,
    right: &Value,
) -> Result<Option<Ordering>, Fault> {
    match (left, right) {
        (Value::Str(left), Value::Str(right)) => {
            pay_pair(calls, left, right)?;
            Ok(Some(left.cmp(right)))
        }
        (Value::List(left), Value::List(right)) => {
            for (left, right) in left.items().iter().zip(right.items()) {
                calls.pay(1)?;
                match ordered(calls, left, right)? {
                    Some(Ordering::Equal) => {}
                    other => return Ok(other),
                }
            }
            Ok(Some(left.items().len().cmp(&right.items().len())))
        }
        _ => order(left, right),
    }
}

/// The order in which values are sorted: numbers, then NaN, then the other types by
/// name.
pub(super) fn compare(
    calls: &mut dyn Calls,
    left: &Value,
    right: &Value,
) -> Result<Ordering, Fault> {
    match (left, right) {
        (Value::Str(left), Value::Str(right)) => {
            pay_pair(calls, left, right)?;
            Ok(left.cmp(right))
        }
        (Value::List(left), Value::List(right)) => {
            for (left, right) in left.items().iter().zip(right.items()) {
                let order = compare(calls, left, right)?;
                if order.is_ne() {
                    return Ok(order);
                }
            }
            Ok(left.items().len().cmp(&right.items().len()))
        }
        _ => {
            calls.pay(1)?;
            Ok(total_order(left, right))
        }
    }
}

/// Sorts numbers of things, stably. A merge sort of our own: the ones of the library
/// cannot be stopped in the middle, and may panic on an order that is none.
pub(super) fn sort(
    calls: &mut dyn Calls,
    count: usize,
    mut compare: impl FnMut(&mut dyn Calls, usize, usize) -> Result<Ordering, Fault>,
) -> Result<Vec<usize>, Fault> {
    calls
        .heap()
        .has_room(count.saturating_mul(2 * size_of::<usize>()))?;
    let mut sorted: Vec<usize> = (0..count).collect();
    let mut merged = Vec::with_capacity(count);
    let mut width = 1;
    while width < count {
        merged.clear();
        for pair in sorted.chunks(width.saturating_mul(2)) {
            let (mut left, mut right) = pair.split_at(width.min(pair.len()));
            while let ([first, left_rest @ ..], [second, right_rest @ ..]) = (left, right) {
                if compare(calls, *first, *second)?.is_le() {
                    merged.push(*first);
                    left = left_rest;
                } else {
                    merged.push(*second);
                    right = right_rest;
                }
            }
            merged.extend_from_slice(left);
            merged.extend_from_slice(right);
        }
        std::mem::swap(&mut sorted, &mut merged);
        width = width.saturating_mul(2);
    }
    Ok(sorted)
}
