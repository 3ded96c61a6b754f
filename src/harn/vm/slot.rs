//! Writing into registers.
//!
//! These are functions of their own, and go by the kinds of values, so that the tag and
//! what is behind it are written into the register one by one. Within the loop over the
//! instructions a value would be put together in memory and copied as a whole, and a
//! processor waits with such a load until both parts are out of its store buffer.

use crate::harn::value::Value;

/// Puts a value into a register.
#[inline(never)]
pub(super) fn put(slot: &mut Value, value: Value) {
    match value {
        Value::Nil => *slot = Value::Nil,
        Value::Bool(value) => *slot = Value::Bool(value),
        Value::Int(value) => *slot = Value::Int(value),
        Value::Str(text) => *slot = Value::Str(text),
        Value::List(list) => *slot = Value::List(list),
        Value::Dict(dict) => *slot = Value::Dict(dict),
        other => *slot = other,
    }
}

/// Puts a boolean into a register.
#[inline(never)]
pub(super) fn put_bool(slot: &mut Value, value: bool) {
    *slot = Value::Bool(value);
}

/// Puts an int into a register.
#[inline(never)]
pub(super) fn put_int(slot: &mut Value, value: i64) {
    *slot = Value::Int(value);
}

/// Copies a value into a register.
#[inline(never)]
pub(super) fn copy(slot: &mut Value, value: &Value) {
    match value {
        Value::Nil => *slot = Value::Nil,
        Value::Bool(value) => *slot = Value::Bool(*value),
        Value::Int(value) => *slot = Value::Int(*value),
        Value::Str(text) => *slot = Value::Str(text.clone()),
        Value::List(list) => *slot = Value::List(list.clone()),
        Value::Dict(dict) => *slot = Value::Dict(dict.clone()),
        other => *slot = other.clone(),
    }
}

/// Copies a value from one register to another.
#[inline(never)]
pub(super) fn copy_within(stack: &mut [Value], from: usize, to: usize) {
    match &stack[from] {
        Value::Nil => stack[to] = Value::Nil,
        Value::Bool(value) => {
            let value = *value;
            stack[to] = Value::Bool(value);
        }
        Value::Int(value) => {
            let value = *value;
            stack[to] = Value::Int(value);
        }
        Value::Str(text) => {
            let text = text.clone();
            stack[to] = Value::Str(text);
        }
        other => {
            let value = other.clone();
            stack[to] = value;
        }
    }
}
