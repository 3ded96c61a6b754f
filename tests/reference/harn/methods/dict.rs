//! Methods of dicts.

use std::collections::BTreeMap;

use super::super::failure::Failure;
use super::super::machine::Machine;
use super::super::text::text;
use super::super::value::Value;
use super::{callable, piece, unfit};

const KNOWN: &[(&str, usize, usize)] = &[
    ("count", 0, 0),
    ("entries", 0, 0),
    ("filter", 1, 1),
    ("get", 1, 2),
    ("has", 1, 1),
    ("keys", 0, 0),
    ("len", 0, 0),
    ("map_keys", 1, 1),
    ("map_values", 1, 1),
    ("merge", 1, 1),
    ("values", 0, 0),
];

pub(super) fn is_method(name: &str) -> bool {
    KNOWN.iter().any(|(known, ..)| *known == name)
}

impl Machine<'_> {
    pub(super) fn dict_method(
        &mut self,
        entries: &BTreeMap<String, Value>,
        name: &str,
        args: &[Value],
    ) -> Result<Value, Failure> {
        self.burn(entries.len())?;
        match (name, args) {
            ("len" | "count", []) => Ok(Value::int(entries.len())),
            ("keys", []) => self.list(entries.keys().map(Value::text).collect()),
            ("values", []) => self.list(entries.values().cloned().collect()),
            ("entries", []) => {
                let mut all = Vec::new();
                for (key, value) in entries {
                    let entry = [("key", Value::text(key)), ("value", value.clone())];
                    all.push(Value::record(entry)?);
                }
                self.list(all)
            }
            ("has", [key]) => Ok(Value::Bool(entries.contains_key(&piece(key)?))),
            ("get", [key, rest @ ..]) if rest.len() < 2 => {
                let default = rest.first().cloned().unwrap_or(Value::Nil);
                Ok(entries.get(&piece(key)?).cloned().unwrap_or(default))
            }
            ("merge", [Value::Dict(more)]) => {
                let mut all = entries.clone();
                all.extend(more.inner.clone());
                Value::dict(all)
            }
            ("map_values" | "map_keys" | "filter", [f]) => {
                let mut all = BTreeMap::new();
                callable(f)?;
                for (key, value) in entries {
                    match name {
                        "map_values" => {
                            all.insert(key.clone(), self.call(f, vec![value.clone()])?);
                        }
                        "map_keys" => {
                            let new = self.call(f, vec![Value::text(key)])?;
                            all.insert(text(&new), value.clone());
                        }
                        _ => {
                            if self.call(f, vec![value.clone()])?.is_truthy() {
                                all.insert(key.clone(), value.clone());
                            }
                        }
                    }
                }
                Value::dict(all)
            }
            _ => Err(unfit("dict", name, KNOWN, args.len())),
        }
    }
}
