//! Facts as they are at one commit, for the engine.

use std::sync::{PoisonError, RwLock};

use foldhash::{HashMap, HashMapExt};

use crate::budget::CancelToken;
use crate::facts::{Demand, FactKey, FactSource, FactValue, FetchStats, Fetched};
use crate::reason::{Reason, ReasonCode};

/// One fact, and how far it is counted.
pub(super) type Wanted = (FactKey, Option<u64>);

/// The values of facts; whoever has none yet is unknown.
#[derive(Debug, Default)]
pub(super) struct Table {
    inner: RwLock<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    /// For each key its limits, with the number of the fact.
    numbers: HashMap<FactKey, Vec<(Option<u64>, u32)>>,
    values: Vec<FactValue>,
}

impl Table {
    /// Makes room for facts, all unknown, numbered in their order.
    pub(super) fn reset(&self, facts: &[Wanted]) {
        let mut numbers: HashMap<FactKey, Vec<(Option<u64>, u32)>> = HashMap::new();
        for (number, (key, limit)) in (0..).zip(facts) {
            numbers
                .entry(key.clone())
                .or_default()
                .push((*limit, number));
        }
        let mut inner = self.inner.write().unwrap_or_else(PoisonError::into_inner);
        *inner = Inner {
            numbers,
            values: vec![FactValue::Unknown(missing()); facts.len()],
        };
    }

    /// Sets values and gives the facts whose value that changed.
    pub(super) fn set(&self, values: Vec<(u32, FactValue)>) -> Vec<u32> {
        let mut inner = self.inner.write().unwrap_or_else(PoisonError::into_inner);
        let mut changed = Vec::new();
        for (fact, value) in values {
            if let Some(old) = inner.values.get_mut(fact as usize)
                && *old != value
            {
                *old = value;
                changed.push(fact);
            }
        }
        changed
    }
}

impl FactSource for Table {
    fn fetch(&self, demands: &[Demand<'_>], _: &CancelToken) -> (Vec<Fetched>, FetchStats) {
        let inner = self.inner.read().unwrap_or_else(PoisonError::into_inner);
        let answer = |demand: &Demand<'_>| {
            let limits = inner.numbers.get(demand.key);
            let number = limits.and_then(|limits| {
                let found = limits.iter().find(|(limit, _)| *limit == demand.limit);
                found.map(|(_, number)| *number)
            });
            let value = number.and_then(|number| inner.values.get(number as usize));
            let value = value.cloned();
            Fetched::from(value.unwrap_or_else(|| FactValue::Unknown(missing())))
        };
        (demands.iter().map(answer).collect(), FetchStats::default())
    }
}

fn missing() -> Reason {
    Reason::new(ReasonCode::FactMissing, "nothing was looked up yet")
}
