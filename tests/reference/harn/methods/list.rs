//! Methods of lists.

use std::collections::BTreeMap;

use super::super::builtins::int;
use super::super::expr::bounds;
use super::super::failure::Failure;
use super::super::machine::Machine;
use super::super::ops::add;
use super::super::text::text;
use super::super::value::{Value, equal, total_order};
use super::{callable, unfit};

const KNOWN: &[(&str, usize, usize)] = &[
    ("all", 1, 1),
    ("any", 1, 1),
    ("chunks", 1, 1),
    ("compact", 0, 0),
    ("contains", 1, 1),
    ("count", 0, 0),
    ("count_by", 1, 1),
    ("drop_while", 1, 1),
    ("empty", 0, 0),
    ("enumerate", 0, 0),
    ("every", 1, 1),
    ("filter", 1, 1),
    ("find", 1, 1),
    ("find_index", 1, 1),
    ("first", 0, 0),
    ("flat_map", 1, 1),
    ("flatten", 0, 0),
    ("group_by", 1, 1),
    ("index_of", 1, 1),
    ("join", 0, 1),
    ("last", 0, 0),
    ("len", 0, 0),
    ("map", 1, 1),
    ("max", 0, 0),
    ("max_by", 1, 1),
    ("min", 0, 0),
    ("min_by", 1, 1),
    ("none", 0, 1),
    ("partition", 1, 1),
    ("push", 1, 1),
    ("reduce", 2, 2),
    ("reversed", 0, 0),
    ("skip", 1, 1),
    ("slice", 1, 2),
    ("sorted", 0, 0),
    ("sorted_by", 1, 1),
    ("sum", 0, 0),
    ("take", 1, 1),
    ("take_while", 1, 1),
    ("tally", 0, 0),
    ("unique", 0, 0),
    ("windows", 1, 2),
    ("zip", 1, 1),
];

impl Machine<'_> {
    pub(super) fn list_method(
        &mut self,
        items: &[Value],
        name: &str,
        args: &[Value],
    ) -> Result<Value, Failure> {
        self.burn(items.len() / 4)?;
        match (name, args) {
            ("len" | "count", []) => Ok(Value::int(items.len())),
            ("empty" | "none", []) => Ok(Value::Bool(items.is_empty())),
            ("first", []) => Ok(items.first().cloned().unwrap_or(Value::Nil)),
            ("last", []) => Ok(items.last().cloned().unwrap_or(Value::Nil)),
            ("push", [item]) => self.list([items, std::slice::from_ref(item)].concat()),
            ("contains", [wanted]) => {
                let found = items.iter().any(|item| equal(item, wanted));
                Ok(Value::Bool(found))
            }
            ("index_of", [wanted]) => {
                let found = items.iter().position(|item| equal(item, wanted));
                Ok(found.map_or(Value::Int(-1), Value::int))
            }
            ("join", separator) if separator.len() < 2 => {
                let separator = separator.first().filter(|given| !given.is_nil());
                let separator = separator.map_or_else(String::new, text);
                let items: Vec<String> = items.iter().map(text).collect();
                self.text(items.join(&separator))
            }
            ("reversed", []) => self.list(items.iter().rev().cloned().collect()),
            ("enumerate", []) => {
                let mut all = Vec::new();
                for (index, value) in items.iter().enumerate() {
                    let entry = [("index", Value::int(index)), ("value", value.clone())];
                    all.push(Value::record(entry)?);
                }
                self.list(all)
            }
            ("zip", [Value::List(others)]) => {
                let pairs = items.iter().zip(others.iter());
                let pairs: Result<_, _> = pairs
                    .map(|(a, b)| Value::list(vec![a.clone(), b.clone()]))
                    .collect();
                self.list(pairs?)
            }
            ("slice", [from, rest @ ..]) if rest.len() < 2 => {
                let (from, to) = bounds(items.len(), Some(from), rest.first())?;
                self.list(items[from..to].to_vec())
            }
            ("take" | "skip", [count]) => {
                let at = usize::try_from(int(count)?).unwrap_or(0).min(items.len());
                let (taken, skipped) = items.split_at(at);
                let kept = if name == "take" { taken } else { skipped };
                self.list(kept.to_vec())
            }
            ("unique", []) => {
                let mut all: Vec<Value> = Vec::new();
                for item in items {
                    self.burn(all.len() / 4)?;
                    if !all.iter().any(|known| equal(known, item)) {
                        all.push(item.clone());
                    }
                }
                self.list(all)
            }
            ("compact", []) => {
                let there = items.iter().filter(|item| !item.is_nil());
                self.list(there.cloned().collect())
            }
            ("flatten", []) => self.flattened(items),
            ("chunks" | "windows", [size, step @ ..]) if step.len() < 2 => {
                self.parts(items, name, size, step.first())
            }
            ("sum", []) => {
                let mut sum = Value::Int(0);
                for item in items {
                    if !matches!(item, Value::Int(_) | Value::Float(_)) {
                        let name = item.type_name();
                        return Err(Failure::ty(format!("{name} cannot be summed")));
                    }
                    sum = add(&sum, item)?;
                }
                Ok(sum)
            }
            ("tally", []) => self.grouped(items, items, true),
            ("sorted" | "min" | "max", []) => self.ordered(items, items.to_vec(), name),
            ("sorted_by" | "min_by" | "max_by", [f]) => {
                let keys = self.mapped(items, f)?;
                self.ordered(items, keys, name.trim_end_matches("_by"))
            }
            ("group_by" | "count_by", [f]) => {
                let keys = self.mapped(items, f)?;
                self.grouped(items, &keys, name == "count_by")
            }
            ("map", [f]) => {
                let all = self.mapped(items, f)?;
                self.list(all)
            }
            ("flat_map", [f]) => {
                let all = self.mapped(items, f)?;
                self.flattened(&all)
            }
            ("reduce", [init, f]) => {
                callable(f)?;
                items.iter().try_fold(init.clone(), |sum, item| {
                    self.call(f, vec![sum, item.clone()])
                })
            }
            _ if args.len() == 1 && is_test(name) => self.tested(items, name, callable(&args[0])?),
            _ => Err(unfit("list", name, KNOWN, args.len())),
        }
    }

    /// Methods that ask something of each item.
    fn tested(&mut self, items: &[Value], name: &str, f: &Value) -> Result<Value, Failure> {
        let (mut yes, mut no) = (Vec::new(), Vec::new());
        for (at, item) in items.iter().enumerate() {
            let holds = self.call(f, vec![item.clone()])?.is_truthy();
            match (name, holds) {
                ("any", true) => return Ok(Value::Bool(true)),
                ("all" | "every", false) | ("none", true) => return Ok(Value::Bool(false)),
                ("find", true) => return Ok(item.clone()),
                ("find_index", true) => return Ok(Value::int(at)),
                ("take_while", false) => break,
                ("drop_while", false) => {
                    no.extend_from_slice(&items[at..]);
                    break;
                }
                (_, true) => yes.push(item.clone()),
                (_, false) => no.push(item.clone()),
            }
        }
        match name {
            "any" => Ok(Value::Bool(false)),
            "all" | "every" | "none" => Ok(Value::Bool(true)),
            "find" => Ok(Value::Nil),
            "find_index" => Ok(Value::Int(-1)),
            "drop_while" => self.list(no),
            "partition" => {
                let (yes, no) = (self.list(yes)?, self.list(no)?);
                self.list(vec![yes, no])
            }
            _ => self.list(yes),
        }
    }

    fn mapped(&mut self, items: &[Value], f: &Value) -> Result<Vec<Value>, Failure> {
        callable(f)?;
        items
            .iter()
            .map(|item| self.call(f, vec![item.clone()]))
            .collect()
    }

    fn flattened(&mut self, items: &[Value]) -> Result<Value, Failure> {
        let mut all = Vec::new();
        for item in items {
            match item {
                Value::List(inner) => all.extend(inner.iter().cloned()),
                other => all.push(other.clone()),
            }
        }
        self.list(all)
    }

    fn parts(
        &mut self,
        items: &[Value],
        name: &str,
        size: &Value,
        step: Option<&Value>,
    ) -> Result<Value, Failure> {
        let positive = |value: &Value| match usize::try_from(int(value)?) {
            Ok(value) if value > 0 => Ok(value),
            _ => Err(Failure::ty(format!("`{name}` takes what is above 0"))),
        };
        let size = positive(size)?;
        let mut parts = Vec::new();
        if name == "chunks" {
            if step.is_some() {
                return Err(Failure::arity(name));
            }
            for part in items.chunks(size) {
                parts.push(self.list(part.to_vec())?);
            }
        } else {
            let step = step.map_or(Ok(1), positive)?;
            for part in items.windows(size).step_by(step) {
                parts.push(self.list(part.to_vec())?);
            }
        }
        self.list(parts)
    }

    /// Items by their keys, or how many of each.
    fn grouped(
        &mut self,
        items: &[Value],
        keys: &[Value],
        counted: bool,
    ) -> Result<Value, Failure> {
        let mut groups: BTreeMap<String, Vec<Value>> = BTreeMap::new();
        for (item, key) in items.iter().zip(keys) {
            let Value::Str(key) = key else {
                let message = format!("{} is no key of a group", key.type_name());
                return Err(Failure::ty(message));
            };
            groups
                .entry(key.to_string())
                .or_default()
                .push(item.clone());
        }
        let mut all = BTreeMap::new();
        for (key, group) in groups {
            let value = if counted {
                Value::int(group.len())
            } else {
                self.list(group)?
            };
            all.insert(key, value);
        }
        Value::dict(all)
    }

    /// Items in the order of their keys, or the first that is least or greatest.
    fn ordered(
        &mut self,
        items: &[Value],
        keys: Vec<Value>,
        wanted: &str,
    ) -> Result<Value, Failure> {
        let mut pairs: Vec<(Value, Value)> = keys.into_iter().zip(items.iter().cloned()).collect();
        pairs.sort_by(|(a, _), (b, _)| total_order(a, b));
        let mut sorted = pairs.iter().map(|(_, item)| item.clone());
        match wanted {
            "min" => Ok(sorted.next().unwrap_or(Value::Nil)),
            "max" => {
                let most = pairs.last().map(|(key, _)| key);
                let is_most = |(key, _): &&(Value, Value)| {
                    most.is_some_and(|most| total_order(key, most).is_eq())
                };
                let found = pairs.iter().find(is_most);
                Ok(found.map_or(Value::Nil, |(_, item)| item.clone()))
            }
            _ => self.list(sorted.collect()),
        }
    }
}

/// Whether a method takes a function that says yes or no.
fn is_test(name: &str) -> bool {
    matches!(
        name,
        "all"
            | "any"
            | "drop_while"
            | "every"
            | "filter"
            | "find"
            | "find_index"
            | "none"
            | "partition"
            | "take_while"
    )
}
