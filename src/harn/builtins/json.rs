//! JSON texts, read and written without a tree in between, so that both are paid for
//! and counted as they go.

use std::cell::RefCell;
use std::io;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};

use crate::harn::builtins::Calls;
use crate::harn::builtins::args::int;
use crate::harn::builtins::builder::MAX_TEXT;
use crate::harn::builtins::compare::text_cost;
use crate::harn::fault::{Fault, Limit};
use crate::harn::value::{Dict, List, Str, Value};

/// The value of a JSON text. What is wrong with it is thrown, as a dict.
pub(super) fn parse(calls: &mut dyn Calls, text: &str) -> Result<Value, Fault> {
    calls.pay(text_cost(text.len()))?;
    let state = RefCell::new(Reading { calls, fault: None });
    let mut reader = serde_json::Deserializer::from_str(text);
    let read = Seed(&state)
        .deserialize(&mut reader)
        .and_then(|value| reader.end().map(|()| value));
    let Reading { calls, fault } = state.into_inner();
    if let Some(fault) = fault {
        return Err(fault);
    }
    read.or_else(|error| Err(Fault::Thrown(described(calls, &error)?)))
}

fn described(calls: &dyn Calls, error: &serde_json::Error) -> Result<Value, Fault> {
    let (line, column) = (error.line(), error.column());
    let whole = error.to_string();
    let place = format!(" at line {line} column {column}");
    let message = whole.strip_suffix(&place).unwrap_or(&whole);
    let heap = calls.heap();
    let pairs = [
        ("column", int(column)),
        ("line", int(line)),
        ("message", Value::text(message, heap)?),
    ];
    Ok(Value::Dict(Dict::from_pairs(pairs, heap)?))
}

struct Reading<'c> {
    calls: &'c mut dyn Calls,
    /// Why reading stopped, other than for what is in the text.
    fault: Option<Fault>,
}

/// Reads one value.
#[derive(Clone, Copy)]
struct Seed<'r, 'c>(&'r RefCell<Reading<'c>>);

impl Seed<'_, '_> {
    /// Makes something of a value; a fault stops the reader.
    fn make<T, E: serde::de::Error>(
        self,
        make: impl FnOnce(&mut dyn Calls) -> Result<T, Fault>,
    ) -> Result<T, E> {
        let mut state = self.0.borrow_mut();
        let made = state.calls.pay(1).and_then(|()| make(state.calls));
        made.map_err(|fault| {
            state.fault = Some(fault);
            E::custom("stopped")
        })
    }
}

impl<'de> DeserializeSeed<'de> for Seed<'_, '_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Value, D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Seed<'_, '_> {
    type Value = Value;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<Value, E> {
        self.make(|_| Ok(Value::Nil))
    }

    fn visit_bool<E: serde::de::Error>(self, value: bool) -> Result<Value, E> {
        self.make(|_| Ok(Value::Bool(value)))
    }

    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<Value, E> {
        self.make(|_| Ok(Value::Int(value)))
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<Value, E> {
        self.make(|_| {
            Ok(match i64::try_from(value) {
                Ok(value) => Value::Int(value),
                Err(_) => Value::Float(value as f64),
            })
        })
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Value, E> {
        self.make(|_| Ok(Value::Float(value)))
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Value, E> {
        self.make(|calls| {
            calls.heap().has_room(text.len())?;
            Value::text(text, calls.heap())
        })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = self.make(|calls| List::new(Vec::new(), calls.heap()))?;
        while let Some(item) = items.next_element_seed(self)? {
            self.make(|_| list.push(item))?;
        }
        Ok(Value::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value, A::Error> {
        let mut dict = self.make(|calls| Dict::new(calls.heap()))?;
        while let Some(key) = fields.next_key_seed(KeySeed(self))? {
            let value = fields.next_value_seed(self)?;
            self.make(|_| dict.set(key, value))?;
        }
        Ok(Value::Dict(dict))
    }
}

/// Reads the key of a field.
struct KeySeed<'r, 'c>(Seed<'r, 'c>);

impl<'de> DeserializeSeed<'de> for KeySeed<'_, '_> {
    type Value = Str;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Str, D::Error> {
        reader.deserialize_str(self)
    }
}

impl Visitor<'_> for KeySeed<'_, '_> {
    type Value = Str;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Str, E> {
        self.0.make(|calls| {
            calls.heap().has_room(text.len())?;
            Str::new(text.into(), calls.heap())
        })
    }
}

/// A value as JSON: what JSON does not have is `null`, functions are their text.
pub(super) fn write(calls: &mut dyn Calls, value: &Value, pretty: bool) -> Result<Value, Fault> {
    calls.pay(value.weight() as usize)?;
    let mut out = Sink {
        bytes: Vec::new(),
        most: calls.heap().room().min(MAX_TEXT),
    };
    let written = match pretty {
        true => serde_json::to_writer_pretty(&mut out, &Shown(value)),
        false => serde_json::to_writer(&mut out, &Shown(value)),
    };
    calls.pay(text_cost(out.bytes.len()))?;
    if written.is_err() {
        return Err(Fault::Limit(Limit::Memory));
    }
    let text = String::from_utf8(out.bytes).unwrap_or_default();
    Value::text(text, calls.heap())
}

/// Bytes up to a limit.
struct Sink {
    bytes: Vec<u8>,
    most: usize,
}

impl io::Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.bytes.len().saturating_add(bytes.len()) > self.most {
            return Err(io::ErrorKind::OutOfMemory.into());
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

struct Shown<'a>(&'a Value);

impl Serialize for Shown<'_> {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Nil => out.serialize_unit(),
            Value::Bool(value) => out.serialize_bool(*value),
            Value::Int(value) => out.serialize_i64(*value),
            Value::Float(value) => out.serialize_f64(*value),
            Value::Str(text) => out.serialize_str(text.as_str()),
            Value::List(list) => {
                let mut items = out.serialize_seq(Some(list.items().len()))?;
                for item in list.items() {
                    items.serialize_element(&Shown(item))?;
                }
                items.end()
            }
            Value::Dict(dict) => {
                let mut fields = out.serialize_map(Some(dict.len()))?;
                for (key, value) in dict.entries() {
                    fields.serialize_entry(key.as_str(), &Shown(value))?;
                }
                fields.end()
            }
            Value::Range(range) => out.collect_seq(range.0..range.1),
            other => out.serialize_str(&other.to_text()),
        }
    }
}
