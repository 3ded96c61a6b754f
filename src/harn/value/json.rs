//! Values from JSON and to it. (harn.md, sections 4 and 5.2.)

use std::collections::BTreeMap;

use serde_json::Value as Json;

use crate::harn::fault::{Fault, Limit};
use crate::harn::value::{Dict, Heap, List, Str, Value};

/// The value of a JSON text. It nests no deeper than `serde_json` lets it.
pub(crate) fn from_json(json: &Json, heap: &Heap) -> Result<Value, Fault> {
    Ok(match json {
        Json::Null => Value::Nil,
        Json::Bool(value) => Value::Bool(*value),
        Json::Number(number) => match number.as_i64() {
            Some(value) => Value::Int(value),
            None => Value::Float(number.as_f64().unwrap_or(f64::NAN)),
        },
        Json::String(text) => Value::text(text.as_str(), heap)?,
        Json::Array(items) => {
            heap.has_room(items.len() * size_of::<Value>())?;
            let items: Result<Vec<Value>, Fault> =
                items.iter().map(|item| from_json(item, heap)).collect();
            Value::List(List::new(items?, heap)?)
        }
        Json::Object(fields) => {
            let mut entries = BTreeMap::new();
            for (key, value) in fields {
                entries.insert(Str::new(key.clone(), heap)?, from_json(value, heap)?);
            }
            Value::Dict(Dict::of(entries, heap)?)
        }
    })
}

/// What a value takes as JSON.
const VALUE: usize = size_of::<Json>();

/// What an entry of an object takes besides: its key, and its place in the tree.
const ENTRY: usize = 2 * size_of::<String>();

/// A value as JSON of at most so many bytes of memory: what JSON does not have is `null`,
/// functions are their text.
pub(crate) fn to_json(value: &Value, most: usize) -> Result<Json, Fault> {
    let mut room = most;
    write(value, &mut room)
}

fn take(room: &mut usize, bytes: usize) -> Result<(), Fault> {
    let left = room.checked_sub(bytes);
    *room = left.ok_or(Fault::Limit(Limit::Result))?;
    Ok(())
}

fn write(value: &Value, room: &mut usize) -> Result<Json, Fault> {
    take(room, VALUE)?;
    Ok(match value {
        Value::Nil => Json::Null,
        Value::Bool(value) => Json::Bool(*value),
        Value::Int(value) => Json::from(*value),
        Value::Float(value) => {
            serde_json::Number::from_f64(*value).map_or(Json::Null, Json::Number)
        }
        Value::Str(text) => {
            take(room, text.as_str().len())?;
            Json::from(text.as_str())
        }
        Value::List(list) => {
            let items = list.items().iter().map(|item| write(item, room));
            Json::Array(items.collect::<Result<_, _>>()?)
        }
        Value::Dict(dict) => {
            let mut fields = serde_json::Map::new();
            for (key, value) in dict.entries() {
                take(room, ENTRY + key.as_str().len())?;
                fields.insert(key.as_str().to_owned(), write(value, room)?);
            }
            Json::Object(fields)
        }
        Value::Range(range) => {
            let items = (range.0..range.1).map(|item| {
                take(room, VALUE)?;
                Ok(Json::from(item))
            });
            Json::Array(items.collect::<Result<_, Fault>>()?)
        }
        other => Json::from(other.to_text()),
    })
}
