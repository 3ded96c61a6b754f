//! What a host gives to many evaluations: made once, its texts shared by all.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value as Json;

use crate::harn::fault::Fault;
use crate::harn::value::{Dict, Heap, List, Str, Value};

/// A value that many evaluations get. Each of them gets its own lists and dicts; the
/// texts are there once, however large they are.
#[derive(Clone, Debug)]
pub struct Given(Kind);

#[derive(Clone, Debug)]
enum Kind {
    Nil,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(Arc<str>),
    List(Vec<Kind>),
    Dict(Vec<(Arc<str>, Kind)>),
}

impl Given {
    /// The value of a JSON text. It nests no deeper than `serde_json` lets it.
    #[must_use]
    pub fn new(json: &Json) -> Self {
        Self(kind(json))
    }

    /// It on a heap.
    pub(crate) fn value(&self, heap: &Heap) -> Result<Value, Fault> {
        value(&self.0, heap)
    }
}

fn kind(json: &Json) -> Kind {
    match json {
        Json::Null => Kind::Nil,
        Json::Bool(value) => Kind::Bool(*value),
        Json::Number(number) => match number.as_i64() {
            Some(value) => Kind::Int(value),
            None => Kind::Float(number.as_f64().unwrap_or(f64::NAN)),
        },
        Json::String(text) => Kind::Text(text.as_str().into()),
        Json::Array(items) => Kind::List(items.iter().map(kind).collect()),
        Json::Object(fields) => {
            let fields = fields.iter();
            Kind::Dict(
                fields
                    .map(|(key, value)| (key.as_str().into(), kind(value)))
                    .collect(),
            )
        }
    }
}

fn value(given: &Kind, heap: &Heap) -> Result<Value, Fault> {
    Ok(match given {
        Kind::Nil => Value::Nil,
        Kind::Bool(value) => Value::Bool(*value),
        Kind::Int(value) => Value::Int(*value),
        Kind::Float(value) => Value::Float(*value),
        Kind::Text(text) => Value::shared(text.clone(), heap)?,
        Kind::List(items) => {
            heap.has_room(items.len() * size_of::<Value>())?;
            let items: Result<Vec<Value>, Fault> =
                items.iter().map(|item| value(item, heap)).collect();
            Value::List(List::new(items?, heap)?)
        }
        Kind::Dict(fields) => {
            let mut entries = BTreeMap::new();
            for (key, field) in fields {
                entries.insert(Str::shared(key.clone(), heap)?, value(field, heap)?);
            }
            Value::Dict(Dict::of(entries, heap)?)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn it_is_what_the_json_is_and_its_texts_take_no_memory() {
        let json = json!({"a": [1, 2.5, true, null, "x".repeat(1 << 20)], "b": {"c": {}}});
        let given = Given::new(&json);
        let heap = Heap::new(64 << 10);
        let value = given.value(&heap).expect("it has room");
        assert_eq!(value.to_json().ok(), Some(json));
    }
}
