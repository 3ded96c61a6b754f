//! Methods of lists that sort, compare or group. (harn.md, section 5.2.)

use std::cmp::Ordering;
use std::collections::BTreeMap;

use crate::harn::builtins::Calls;
use crate::harn::builtins::args::{Args, int, list};
use crate::harn::builtins::compare::{compare, equal, sort, text_cost};
use crate::harn::builtins::lists::{Result, walk};
use crate::harn::value::{Dict, Str, Value, order};

/// Puts things into groups by keys, which have to be texts.
struct Groups<T>(BTreeMap<Str, T>);

impl<T: Default> Groups<T> {
    fn of(&mut self, calls: &mut dyn Calls, args: Args<'_>, key: Value) -> Result<&mut T> {
        let Value::Str(key) = key else {
            let got = key.type_name();
            return Err(args.fault(format_args!("wants strings as keys and got {got}")));
        };
        let steps = usize::BITS - self.0.len().leading_zeros();
        let cost = text_cost(key.as_str().len());
        calls.pay(cost.saturating_mul(steps as usize + 1))?;
        Ok(self.0.entry(key).or_default())
    }

    fn finish(self, calls: &dyn Calls, mut value: impl FnMut(T) -> Result) -> Result {
        let mut entries = BTreeMap::new();
        for (key, group) in self.0 {
            entries.insert(key, value(group)?);
        }
        Ok(Value::Dict(Dict::of(entries, calls.heap())?))
    }
}

pub(super) fn group_by(calls: &mut dyn Calls, args: &[Value]) -> Result {
    let args = Args::of("group_by", args);
    let (items, function) = (walk(calls, args)?, args.function(1)?);
    let mut groups = Groups::<Vec<Value>>(BTreeMap::new());
    for item in items {
        let key = calls.call(function, std::slice::from_ref(item))?;
        groups.of(calls, args, key)?.push(item.clone());
    }
    let calls = &*calls;
    groups.finish(calls, |group| list(group, calls))
}

pub(super) fn count_by(calls: &mut dyn Calls, args: &[Value]) -> Result {
    let args = Args::of("count_by", args);
    let (items, function) = (walk(calls, args)?, args.function(1)?);
    let mut groups = Groups::<usize>(BTreeMap::new());
    for item in items {
        let key = calls.call(function, std::slice::from_ref(item))?;
        *groups.of(calls, args, key)? += 1;
    }
    groups.finish(calls, |count| Ok(int(count)))
}

/// How often each text is in a list.
pub(super) fn tally(calls: &mut dyn Calls, args: &[Value]) -> Result {
    let args = Args::of("tally", args);
    let items = walk(calls, args)?;
    let mut groups = Groups::<usize>(BTreeMap::new());
    for item in items {
        *groups.of(calls, args, item.clone())? += 1;
    }
    groups.finish(calls, |count| Ok(int(count)))
}

/// The items, in the order of keys that are as many.
fn by_keys(calls: &mut dyn Calls, items: &[Value], keys: &[Value]) -> Result {
    let sorted = sort(calls, keys.len(), |calls, left, right| {
        match (keys.get(left), keys.get(right)) {
            (Some(left), Some(right)) => compare(calls, left, right),
            _ => Ok(Ordering::Equal),
        }
    })?;
    let sorted = sorted.into_iter().filter_map(|at| items.get(at).cloned());
    list(sorted.collect(), calls)
}

pub(super) fn sorted(calls: &mut dyn Calls, args: &[Value]) -> Result {
    let items = walk(calls, Args::of("sorted", args))?;
    by_keys(calls, items, items)
}

/// The keys that a function gives to the items.
fn keys_of(calls: &mut dyn Calls, args: Args<'_>) -> Result<Vec<Value>> {
    let (items, function) = (walk(calls, args)?, args.function(1)?);
    let mut keys = Vec::with_capacity(items.len());
    for item in items {
        keys.push(calls.call(function, std::slice::from_ref(item))?);
    }
    Ok(keys)
}

pub(super) fn sorted_by(calls: &mut dyn Calls, args: &[Value]) -> Result {
    let args = Args::of("sorted_by", args);
    let keys = keys_of(calls, args)?;
    by_keys(calls, args.list(0, "")?.items(), &keys)
}

/// The place of the first key that comes before, or after, all others; of a NaN if
/// there is one. Keys of types without an order are an error.
fn extreme(calls: &mut dyn Calls, keys: &[Value], wanted: Ordering) -> Result<Option<usize>> {
    let mut best: Option<(usize, &Value)> = None;
    for (at, key) in keys.iter().enumerate() {
        // Alone it has to have an order too.
        let (best_at, other) = best.unwrap_or((at, key));
        // Pays for the next comparison.
        compare(calls, key, other)?;
        match order(key, other)? {
            Some(order) if best.is_none() || order == wanted => best = Some((at, key)),
            Some(_) => {}
            None if order(key, key)?.is_none() => return Ok(Some(at)),
            None => return Ok(Some(best_at)),
        }
    }
    Ok(best.map(|(at, _)| at))
}

fn best(calls: &mut dyn Calls, items: &[Value], keys: &[Value], wanted: Ordering) -> Result {
    let at = extreme(calls, keys, wanted)?;
    Ok(at.and_then(|at| items.get(at)).cloned().unwrap_or_default())
}

pub(super) fn min(calls: &mut dyn Calls, args: &[Value]) -> Result {
    let items = walk(calls, Args::of("min", args))?;
    best(calls, items, items, Ordering::Less)
}

pub(super) fn max(calls: &mut dyn Calls, args: &[Value]) -> Result {
    let items = walk(calls, Args::of("max", args))?;
    best(calls, items, items, Ordering::Greater)
}

pub(super) fn min_by(calls: &mut dyn Calls, args: &[Value]) -> Result {
    let args = Args::of("min_by", args);
    let keys = keys_of(calls, args)?;
    best(calls, args.list(0, "")?.items(), &keys, Ordering::Less)
}

pub(super) fn max_by(calls: &mut dyn Calls, args: &[Value]) -> Result {
    let args = Args::of("max_by", args);
    let keys = keys_of(calls, args)?;
    best(calls, args.list(0, "")?.items(), &keys, Ordering::Greater)
}

/// The first of those items that are equal. They are next to each other once all are
/// sorted, except that some values without an order have to be compared one by one.
pub(super) fn unique(calls: &mut dyn Calls, args: &[Value]) -> Result {
    let items = walk(calls, Args::of("unique", args))?;
    let order = sort(calls, items.len(), |calls, left, right| {
        match (items.get(left), items.get(right)) {
            (Some(left), Some(right)) => compare(calls, left, right),
            _ => Ok(Ordering::Equal),
        }
    })?;
    let mut is_kept = vec![false; items.len()];
    // Those kept that the order cannot tell from the item at hand.
    let mut alike: Vec<&Value> = Vec::new();
    for at in order {
        let Some(item) = items.get(at) else { continue };
        if let Some(last) = alike.last()
            && compare(calls, last, item)?.is_ne()
        {
            alike.clear();
        }
        let mut is_known = false;
        for known in &alike {
            calls.pay(1)?;
            if equal(calls, known, item)? {
                is_known = true;
                break;
            }
        }
        if !is_known {
            alike.push(item);
            if let Some(kept) = is_kept.get_mut(at) {
                *kept = true;
            }
        }
    }
    let kept = items.iter().zip(is_kept).filter(|(_, is_kept)| *is_kept);
    list(kept.map(|(item, _)| item.clone()).collect(), calls)
}
