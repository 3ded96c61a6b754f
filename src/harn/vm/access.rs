//! Items, keys, properties and parts. (harn.md, section 3.)

use crate::harn::fault::{ErrorClass, Fault};
use crate::harn::value::{Heap, List, Str, Value};

fn no_property(object: &Value, name: &str) -> Fault {
    let what = match object {
        Value::Nil => return Fault::ty(format!("nil has no property `{name}`")),
        other => other.type_name(),
    };
    Fault::ty(format!("a {what} has no property `{name}`"))
}

fn count(len: usize) -> Value {
    Value::Int(i64::try_from(len).unwrap_or(i64::MAX))
}

/// `object.name`.
pub(super) fn property(object: &Value, name: &str) -> Result<Value, Fault> {
    Ok(match (object, name) {
        (Value::Dict(dict), _) => dict.get(name).cloned().unwrap_or_default(),
        (Value::List(list), "count") => count(list.items().len()),
        (Value::List(list), "empty") => Value::Bool(list.items().is_empty()),
        (Value::List(list), "first") => list.items().first().cloned().unwrap_or_default(),
        (Value::List(list), "last") => list.items().last().cloned().unwrap_or_default(),
        (Value::Str(text), "count") => count(text.chars()),
        (Value::Str(text), "empty") => Value::Bool(text.as_str().is_empty()),
        _ => return Err(no_property(object, name)),
    })
}

/// `object?.name`: nil where the object is nil or of a type without properties.
pub(super) fn safe_property(object: &Value, name: &str) -> Result<Value, Fault> {
    match object {
        Value::Dict(_) | Value::List(_) | Value::Str(_) => property(object, name),
        _ => Ok(Value::Nil),
    }
}

/// Where an index points to, from the end if it is negative.
fn at(index: i64, len: usize) -> Option<usize> {
    let index = if index < 0 {
        len.checked_sub(usize::try_from(index.unsigned_abs()).ok()?)?
    } else {
        usize::try_from(index).ok()?
    };
    (index < len).then_some(index)
}

/// `object[index]`.
pub(super) fn index(object: &Value, index: &Value, heap: &Heap) -> Result<Value, Fault> {
    match (object, index) {
        (Value::List(list), Value::Int(index)) => {
            let items = list.items();
            Ok(at(*index, items.len())
                .map(|at| items[at].clone())
                .unwrap_or_default())
        }
        (Value::Str(text), Value::Int(index)) => {
            let Some(at) = at(*index, text.chars()) else {
                return Ok(Value::Nil);
            };
            let start = text.offset(at).unwrap_or(0);
            let len = text.as_str()[start..]
                .chars()
                .next()
                .map_or(0, char::len_utf8);
            Ok(Value::Str(text.part(start..start + len, heap)?))
        }
        (Value::Dict(dict), Value::Str(key)) => {
            Ok(dict.get(key.as_str()).cloned().unwrap_or_default())
        }
        (Value::Dict(dict), key) => {
            let key = key.whole_text(heap)?;
            Ok(dict.get(&key).cloned().unwrap_or_default())
        }
        (Value::Range(range), Value::Int(index)) => {
            // It may have more items than an int counts.
            let len = usize::try_from(range.1.abs_diff(range.0)).unwrap_or(usize::MAX);
            let item = at(*index, len).and_then(|at| range.0.checked_add_unsigned(at as u64));
            Ok(item.map_or(Value::Nil, Value::Int))
        }
        _ => Err(Fault::ty(format!(
            "{} has no items by {}",
            object.type_name(),
            index.type_name()
        ))),
    }
}

/// `object[from:to]`; `from` and `to` are ints.
pub(super) fn slice(object: &Value, from: &Value, to: &Value, heap: &Heap) -> Result<Value, Fault> {
    let (Value::Int(from), Value::Int(to)) = (from, to) else {
        return Err(Fault::ty(format!(
            "the bounds of a part are ints, not {} and {}",
            from.type_name(),
            to.type_name()
        )));
    };
    let bound = |bound: i64, len: usize| {
        let len_int = i64::try_from(len).unwrap_or(i64::MAX);
        let bound = if bound < 0 {
            bound.saturating_add(len_int)
        } else {
            bound
        };
        usize::try_from(bound.clamp(0, len_int)).unwrap_or(len)
    };
    match object {
        Value::List(list) => {
            let items = list.items();
            let (from, to) = (bound(*from, items.len()), bound(*to, items.len()));
            let part = items.get(from..to).unwrap_or_default();
            heap.has_room(size_of_val(part))?;
            Ok(Value::List(List::new(part.to_vec(), heap)?))
        }
        Value::Str(text) => {
            let len = text.chars();
            let (from, to) = (bound(*from, len), bound(*to, len));
            if from >= to {
                return Ok(Value::Str(Str::new(String::new(), heap)?));
            }
            let start = text.offset(from).unwrap_or(0);
            let end = text.offset(to).unwrap_or(start);
            Ok(Value::Str(text.part(start..end, heap)?))
        }
        other => Err(Fault::ty(format!("{} has no parts", other.type_name()))),
    }
}

/// The key of a dict that a value is.
pub(super) fn key(value: &Value, heap: &Heap) -> Result<Str, Fault> {
    match value {
        Value::Str(text) => Ok(text.clone()),
        other => Str::new(other.whole_text(heap)?, heap),
    }
}

/// `object[index] = value`, in place where nobody else has the object.
pub(super) fn put(
    object: &mut Value,
    index: &Value,
    value: Value,
    heap: &Heap,
) -> Result<(), Fault> {
    match (object, index) {
        (Value::List(list), Value::Int(index)) => {
            let Some(at) = at(*index, list.items().len()) else {
                return Err(Fault::error(
                    ErrorClass::Bounds,
                    format!(
                        "index {index} is out of bounds of a list of {}",
                        list.items().len()
                    ),
                ));
            };
            list.set(at, value)
        }
        (Value::Dict(dict), index) => dict.set(key(index, heap)?, value),
        (object, index) => Err(Fault::ty(format!(
            "items of {} cannot be set by {}",
            object.type_name(),
            index.type_name()
        ))),
    }
}

/// Takes what `object[index]` is out of the object, to be put back after a change.
pub(super) fn part(object: &mut Value, index: &Value, heap: &Heap) -> Result<Value, Fault> {
    match (object, index) {
        (Value::List(list), Value::Int(index)) => match at(*index, list.items().len()) {
            Some(at) => list.take(at),
            None => Err(Fault::error(
                ErrorClass::Bounds,
                format!("index {index} is out of bounds"),
            )),
        },
        (Value::Dict(dict), index) => dict.take(key(index, heap)?.as_str()),
        (object, _) => Err(Fault::ty(format!(
            "what is in {} cannot be changed",
            object.type_name()
        ))),
    }
}
