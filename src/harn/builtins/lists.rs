//! Methods of lists. (harn.md, section 5.)

use std::collections::BTreeMap;

use crate::harn::builtins::Calls;
use crate::harn::builtins::args::{Args, bounds, int, list, place};
use crate::harn::builtins::compare::position;
use crate::harn::fault::Fault;
use crate::harn::value::{Dict, Str, Value};

pub(super) type Result<T = Value> = std::result::Result<T, Fault>;

/// Pays for walking over a list, and sees that there is room for another one.
pub(super) fn walk<'a>(calls: &mut dyn Calls, args: Args<'a>) -> Result<&'a [Value]> {
    let items = args.list(0, "")?.items();
    pay_for(calls, items.len())?;
    Ok(items)
}

fn pay_for(calls: &mut dyn Calls, items: usize) -> Result<()> {
    calls.pay(items.saturating_add(1))?;
    calls
        .heap()
        .has_room(items.saturating_mul(size_of::<Value>()))
}

/// Whether a call says yes to an item.
fn holds(calls: &mut dyn Calls, function: &Value, item: &Value) -> Result<bool> {
    calls.pay(1)?;
    let answer = calls.call(function, std::slice::from_ref(item))?;
    Ok(answer.is_truthy())
}

/// The first item of which a function says something.
fn find_where(
    calls: &mut dyn Calls,
    args: Args<'_>,
    wanted: bool,
) -> Result<Option<(usize, Value)>> {
    let (items, function) = (args.list(0, "")?.items(), args.function(1)?);
    for (at, item) in items.iter().enumerate() {
        if holds(calls, function, item)? == wanted {
            return Ok(Some((at, item.clone())));
        }
    }
    Ok(None)
}

fn copy(calls: &mut dyn Calls, args: Args<'_>, from: usize, to: usize) -> Result {
    let whole = args.list(0, "")?;
    let part = whole.items().get(from..to).unwrap_or_default();
    if part.len() == whole.items().len() {
        return Ok(Value::List(whole.clone()));
    }
    pay_for(calls, part.len())?;
    list(part.to_vec(), calls)
}

pub(super) fn is_empty(_: &mut dyn Calls, args: &[Value]) -> Result {
    let items = Args::of("empty", args).list(0, "")?.items();
    Ok(Value::Bool(items.is_empty()))
}

pub(super) fn first(_: &mut dyn Calls, args: &[Value]) -> Result {
    let items = Args::of("first", args).list(0, "")?.items();
    Ok(items.first().cloned().unwrap_or_default())
}

pub(super) fn last(_: &mut dyn Calls, args: &[Value]) -> Result {
    let items = Args::of("last", args).list(0, "")?.items();
    Ok(items.last().cloned().unwrap_or_default())
}

/// A copy with one item more. Where nobody else has the list the machine appends in
/// place instead.
pub(super) fn push(calls: &mut dyn Calls, args: &[Value]) -> Result {
    let args = Args::of("push", args);
    let mut list = args.list(0, "")?.clone();
    calls.pay(list.items().len().saturating_add(1))?;
    list.push(args.any(1))?;
    Ok(Value::List(list))
}

pub(super) fn map(calls: &mut dyn Calls, args: &[Value]) -> Result {
    let args = Args::of("map", args);
    let (items, function) = (walk(calls, args)?, args.function(1)?);
    let mut made = Vec::with_capacity(items.len());
    for item in items {
        made.push(calls.call(function, std::slice::from_ref(item))?);
    }
    list(made, calls)
}

pub(super) fn filter(calls: &mut dyn Calls, args: &[Value]) -> Result {
    let args = Args::of("filter", args);
    let (items, function) = (args.list(0, "")?.items(), args.function(1)?);
    let mut kept = Vec::new();
    for item in items {
        if holds(calls, function, item)? {
            kept.push(item.clone());
        }
    }
    list(kept, calls)
}

pub(super) fn flat_map(calls: &mut dyn Calls, args: &[Value]) -> Result {
    let args = Args::of("flat_map", args);
    let (items, function) = (walk(calls, args)?, args.function(1)?);
    let mut made = Vec::new();
    for item in items {
        let some = calls.call(function, std::slice::from_ref(item))?;
        append(calls, &mut made, some)?;
    }
    list(made, calls)
}

/// Appends the items of a list, or what is no list itself.
fn append(calls: &mut dyn Calls, made: &mut Vec<Value>, more: Value) -> Result<()> {
    match more {
        Value::List(more) => {
            calls.pay(more.items().len())?;
            let items = made.len().saturating_add(more.items().len());
            let bytes = items.saturating_mul(size_of::<Value>());
            calls.heap().has_room(bytes)?;
            made.extend_from_slice(more.items());
        }
        other => made.push(other),
    }
    Ok(())
}

pub(super) fn flatten(calls: &mut dyn Calls, args: &[Value]) -> Result {
    let items = walk(calls, Args::of("flatten", args))?;
    let mut made = Vec::new();
    for item in items {
        append(calls, &mut made, item.clone())?;
    }
    list(made, calls)
}

pub(super) fn reduce(calls: &mut dyn Calls, args: &[Value]) -> Result {
    let args = Args::of("reduce", args);
    let (items, function) = (args.list(0, "")?.items(), args.function(2)?);
    let mut result = args.any(1);
    for item in items {
        calls.pay(1)?;
        result = calls.call(function, &[result, item.clone()])?;
    }
    Ok(result)
}

pub(super) fn find(calls: &mut dyn Calls, args: &[Value]) -> Result {
    let found = find_where(calls, Args::of("find", args), true)?;
    Ok(found.map(|(_, item)| item).unwrap_or_default())
}

pub(super) fn find_index(calls: &mut dyn Calls, args: &[Value]) -> Result {
    let found = find_where(calls, Args::of("find_index", args), true)?;
    Ok(place(found.map(|(at, _)| at)))
}

pub(super) fn any(calls: &mut dyn Calls, args: &[Value]) -> Result {
    let found = find_where(calls, Args::of("any", args), true)?;
    Ok(Value::Bool(found.is_some()))
}

pub(super) fn all(calls: &mut dyn Calls, args: &[Value]) -> Result {
    let found = find_where(calls, Args::of("all", args), false)?;
    Ok(Value::Bool(found.is_none()))
}

/// Whether no item satisfies a function, or, without one, whether there are no items.
pub(super) fn none(calls: &mut dyn Calls, args: &[Value]) -> Result {
    if args.len() < 2 {
        return is_empty(calls, args);
    }
    let found = find_where(calls, Args::of("none", args), true)?;
    Ok(Value::Bool(found.is_none()))
}

pub(super) fn partition(calls: &mut dyn Calls, args: &[Value]) -> Result {
    let args = Args::of("partition", args);
    let (items, function) = (walk(calls, args)?, args.function(1)?);
    let (mut yes, mut no) = (Vec::new(), Vec::new());
    for item in items {
        match holds(calls, function, item)? {
            true => yes.push(item.clone()),
            false => no.push(item.clone()),
        }
    }
    let pair = vec![list(yes, calls)?, list(no, calls)?];
    list(pair, calls)
}

pub(super) fn reversed(calls: &mut dyn Calls, args: &[Value]) -> Result {
    let items = walk(calls, Args::of("reversed", args))?;
    list(items.iter().rev().cloned().collect(), calls)
}

pub(super) fn contains(calls: &mut dyn Calls, args: &[Value]) -> Result {
    let args = Args::of("contains", args);
    let items = args.list(0, "")?.items();
    Ok(Value::Bool(position(calls, items, &args.any(1))?.is_some()))
}

pub(super) fn index_of(calls: &mut dyn Calls, args: &[Value]) -> Result {
    let args = Args::of("index_of", args);
    let items = args.list(0, "")?.items();
    Ok(place(position(calls, items, &args.any(1))?))
}

pub(super) fn slice(calls: &mut dyn Calls, args: &[Value]) -> Result {
    let args = Args::of("slice", args);
    let len = args.list(0, "")?.items().len();
    let (from, to) = bounds(len, args.int(1, "start")?, args.opt_int(2, "end")?);
    copy(calls, args, from, to)
}

pub(super) fn take(calls: &mut dyn Calls, args: &[Value]) -> Result {
    let args = Args::of("take", args);
    let len = args.list(0, "")?.items().len();
    copy(calls, args, 0, args.count(1, "number of items")?.min(len))
}

pub(super) fn skip(calls: &mut dyn Calls, args: &[Value]) -> Result {
    let args = Args::of("skip", args);
    let len = args.list(0, "")?.items().len();
    copy(calls, args, args.count(1, "number of items")?.min(len), len)
}

pub(super) fn take_while(calls: &mut dyn Calls, args: &[Value]) -> Result {
    let args = Args::of("take_while", args);
    let len = args.list(0, "")?.items().len();
    let end = find_where(calls, args, false)?;
    copy(calls, args, 0, end.map_or(len, |(at, _)| at))
}

pub(super) fn drop_while(calls: &mut dyn Calls, args: &[Value]) -> Result {
    let args = Args::of("drop_while", args);
    let len = args.list(0, "")?.items().len();
    let start = find_where(calls, args, false)?;
    copy(calls, args, start.map_or(len, |(at, _)| at), len)
}

pub(super) fn compact(calls: &mut dyn Calls, args: &[Value]) -> Result {
    let items = walk(calls, Args::of("compact", args))?;
    let there = items.iter().filter(|item| !matches!(item, Value::Nil));
    list(there.cloned().collect(), calls)
}

/// Lists of as many items as wanted; the last chunk may be shorter.
pub(super) fn chunks(calls: &mut dyn Calls, args: &[Value]) -> Result {
    let args = Args::of("chunks", args);
    let items = walk(calls, args)?;
    let mut made = Vec::new();
    for chunk in items.chunks(args.positive(1, "size")?) {
        made.push(list(chunk.to_vec(), calls)?);
    }
    list(made, calls)
}

pub(super) fn windows(calls: &mut dyn Calls, args: &[Value]) -> Result {
    let args = Args::of("windows", args);
    let items = args.list(0, "")?.items();
    let size = args.positive(1, "size")?;
    let step = match args.given(2) {
        Some(_) => args.positive(2, "step")?,
        None => 1,
    };
    let mut made = Vec::new();
    for window in items.windows(size).step_by(step) {
        pay_for(calls, window.len())?;
        made.push(list(window.to_vec(), calls)?);
    }
    list(made, calls)
}

pub(super) fn enumerate(calls: &mut dyn Calls, args: &[Value]) -> Result {
    let items = walk(calls, Args::of("enumerate", args))?;
    let key = |name: &str| Str::new(name.into(), calls.heap());
    let (index, value) = (key("index")?, key("value")?);
    let mut made = Vec::with_capacity(items.len());
    for (at, item) in items.iter().enumerate() {
        let pairs = [(index.clone(), int(at)), (value.clone(), item.clone())];
        let dict = Dict::of(BTreeMap::from(pairs), calls.heap())?;
        made.push(Value::Dict(dict));
    }
    list(made, calls)
}

pub(super) fn zip(calls: &mut dyn Calls, args: &[Value]) -> Result {
    let args = Args::of("zip", args);
    let (left, right) = (
        args.list(0, "")?.items(),
        args.list(1, "other list")?.items(),
    );
    pay_for(calls, left.len().min(right.len()))?;
    let mut made = Vec::new();
    for (left, right) in left.iter().zip(right) {
        made.push(list(vec![left.clone(), right.clone()], calls)?);
    }
    list(made, calls)
}

/// Ints are summed up as such as long as they fit.
pub(super) fn sum(calls: &mut dyn Calls, args: &[Value]) -> Result {
    let args = Args::of("sum", args);
    let items = walk(calls, args)?;
    let mut sum = Value::Int(0);
    for item in items {
        sum = match (&sum, item) {
            (Value::Int(sum), Value::Int(item)) => match sum.checked_add(*item) {
                Some(sum) => Value::Int(sum),
                None => Value::Float(*sum as f64 + *item as f64),
            },
            (Value::Float(sum), Value::Int(item)) => Value::Float(*sum + *item as f64),
            (Value::Int(sum), Value::Float(item)) => Value::Float(*sum as f64 + *item),
            (Value::Float(sum), Value::Float(item)) => Value::Float(*sum + *item),
            (_, other) => {
                let got = other.type_name();
                return Err(args.fault(format_args!("wants numbers and got {got}")));
            }
        };
    }
    Ok(sum)
}
