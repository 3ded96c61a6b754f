//! Methods of dicts, some of which are functions too. (harn.md, section 5.2.)

use std::collections::BTreeMap;

use crate::harn::builtins::Calls;
use crate::harn::builtins::args::{Args, list};
use crate::harn::builtins::builder::piece;
use crate::harn::builtins::compare::text_cost;
use crate::harn::fault::Fault;
use crate::harn::value::{Dict, Str, Value};

/// What a new dict takes for an entry, before it is made.
const ENTRY: usize = 48;

/// Pays for walking over a dict, and sees that there is room for another one.
fn walk<'a>(calls: &mut dyn Calls, args: Args<'a>) -> Result<&'a Dict, Fault> {
    let dict = args.dict(0, "")?;
    calls.pay(dict.len().saturating_add(1))?;
    calls.heap().has_room(dict.len().saturating_mul(ENTRY))?;
    Ok(dict)
}

fn made(entries: BTreeMap<Str, Value>, calls: &dyn Calls) -> Result<Value, Fault> {
    Ok(Value::Dict(Dict::of(entries, calls.heap())?))
}

/// Pays for looking up a key.
fn pay_key(calls: &mut dyn Calls, dict: &Dict, key: &str) -> Result<(), Fault> {
    let steps = usize::BITS - dict.len().leading_zeros();
    calls.pay(text_cost(key.len()).saturating_mul(steps as usize + 1))
}

pub(super) fn is_empty(_: &mut dyn Calls, args: &[Value]) -> Result<Value, Fault> {
    Ok(Value::Bool(Args::of("empty", args).dict(0, "")?.is_empty()))
}

pub(super) fn keys(calls: &mut dyn Calls, args: &[Value]) -> Result<Value, Fault> {
    let dict = walk(calls, Args::of("keys", args))?;
    list(
        dict.entries().keys().cloned().map(Value::Str).collect(),
        calls,
    )
}

pub(super) fn values(calls: &mut dyn Calls, args: &[Value]) -> Result<Value, Fault> {
    let dict = walk(calls, Args::of("values", args))?;
    list(dict.entries().values().cloned().collect(), calls)
}

pub(super) fn entries(calls: &mut dyn Calls, args: &[Value]) -> Result<Value, Fault> {
    let dict = walk(calls, Args::of("entries", args))?;
    let name = |name: &str| Str::new(name.into(), calls.heap());
    let (key_name, value_name) = (name("key")?, name("value")?);
    let mut entries = Vec::with_capacity(dict.len());
    for (key, value) in dict.entries() {
        let entry = [
            (key_name.clone(), Value::Str(key.clone())),
            (value_name.clone(), value.clone()),
        ];
        entries.push(made(BTreeMap::from(entry), calls)?);
    }
    list(entries, calls)
}

pub(super) fn has(calls: &mut dyn Calls, args: &[Value]) -> Result<Value, Fault> {
    let args = Args::of("has", args);
    let dict = args.dict(0, "")?;
    let key = piece(calls, args, 1, "key")?;
    let key = key.as_str();
    pay_key(calls, dict, key)?;
    Ok(Value::Bool(dict.get(key).is_some()))
}

/// The value of a key; what is given besides, or nil, if the dict does not have it.
pub(super) fn get(calls: &mut dyn Calls, args: &[Value]) -> Result<Value, Fault> {
    let args = Args::of("get", args);
    let dict = args.dict(0, "")?;
    let key = piece(calls, args, 1, "key")?;
    let key = key.as_str();
    pay_key(calls, dict, key)?;
    Ok(match dict.get(key) {
        Some(value) => value.clone(),
        None => args.any(2),
    })
}

pub(super) fn merge(calls: &mut dyn Calls, args: &[Value]) -> Result<Value, Fault> {
    let args = Args::of("merge", args);
    let mut dict = walk(calls, args)?.clone();
    let more = args.dict(1, "other dict")?;
    for key in more.entries().keys() {
        pay_key(calls, &dict, key.as_str())?;
    }
    dict.merge(more)?;
    Ok(Value::Dict(dict))
}

pub(super) fn map_values(calls: &mut dyn Calls, args: &[Value]) -> Result<Value, Fault> {
    let args = Args::of("map_values", args);
    let (dict, function) = (walk(calls, args)?, args.function(1)?);
    let mut entries = BTreeMap::new();
    for (key, value) in dict.entries() {
        let value = calls.call(function, std::slice::from_ref(value))?;
        entries.insert(key.clone(), value);
    }
    made(entries, calls)
}

/// Of keys that become the same the last one stays.
pub(super) fn map_keys(calls: &mut dyn Calls, args: &[Value]) -> Result<Value, Fault> {
    let args = Args::of("map_keys", args);
    let (dict, function) = (walk(calls, args)?, args.function(1)?);
    let mut entries = BTreeMap::new();
    for (key, value) in dict.entries() {
        let key = calls.call(function, &[Value::Str(key.clone())])?;
        let Value::Str(key) = key else {
            let got = key.type_name();
            return Err(args.fault(format_args!("wants strings as keys and got {got}")));
        };
        pay_key(calls, dict, key.as_str())?;
        entries.insert(key, value.clone());
    }
    made(entries, calls)
}

pub(super) fn filter(calls: &mut dyn Calls, args: &[Value]) -> Result<Value, Fault> {
    let args = Args::of("filter", args);
    let (dict, function) = (walk(calls, args)?, args.function(1)?);
    let mut entries = BTreeMap::new();
    for (key, value) in dict.entries() {
        if calls
            .call(function, std::slice::from_ref(value))?
            .is_truthy()
        {
            entries.insert(key.clone(), value.clone());
        }
    }
    made(entries, calls)
}

/// The entries of some keys, as far as the dict has them.
pub(super) fn pick(calls: &mut dyn Calls, args: &[Value]) -> Result<Value, Fault> {
    let args = Args::of("pick", args);
    let (dict, wanted) = (args.dict(0, "")?, args.list(1, "keys")?.items());
    let mut entries = BTreeMap::new();
    for key in wanted {
        let Value::Str(key) = key else {
            let got = key.type_name();
            return Err(args.fault(format_args!("wants strings as keys and got {got}")));
        };
        pay_key(calls, dict, key.as_str())?;
        if let Some((key, value)) = dict.entries().get_key_value(key) {
            entries.insert(key.clone(), value.clone());
        }
    }
    made(entries, calls)
}
