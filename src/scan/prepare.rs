//! What is found out about a pattern before any file is read.

use std::sync::{Arc, OnceLock};

use rayon::prelude::*;

use crate::budget::CancelToken;
use crate::reason::Reason;
use crate::scan::bound::may_be_too_large;
use crate::scan::compile::Haystack;
use crate::scan::line_safe::line_safe;
use crate::scan::literal::{Required, plain, required};
use crate::scan::panel::usable;
use crate::scan::pattern::{MAX_PATTERN_BYTES, parse_pattern};
use crate::scan::plan::{Plan, Slot};
use crate::scan::pool::Pool;

/// Patterns that one thread prepares in a row.
const PER_TASK: usize = 32;

/// A pattern that can be searched.
#[derive(Clone, Debug)]
pub(super) struct Prepared {
    /// What a line with a match must hold, if that is of use.
    pub(super) required: Option<Arc<Required>>,
    /// What preparing it took for each request that shares it.
    pub(super) cpu_ns: u64,
}

/// The slots of a plan, each prepared when somebody first asks for it.
#[derive(Debug)]
pub(super) struct Preparation<'a> {
    plan: &'a Plan<'a>,
    pool: &'a Pool<'a>,
    cancel: &'a CancelToken,
    slots: Vec<OnceLock<Result<Prepared, Reason>>>,
}

impl<'a> Preparation<'a> {
    pub(super) fn new(plan: &'a Plan<'a>, pool: &'a Pool<'a>, cancel: &'a CancelToken) -> Self {
        Self {
            plan,
            pool,
            cancel,
            slots: plan.slots.iter().map(|_| OnceLock::new()).collect(),
        }
    }

    /// What was found out about a slot, if it was prepared.
    pub(super) fn get(&self, slot: usize) -> Option<&Result<Prepared, Reason>> {
        self.slots.get(slot)?.get()
    }

    /// Prepares slots that are not yet. A pattern that cannot be compiled fails
    /// here, but its regex is built only if it could be too large.
    pub(super) fn prepare(&self, slots: impl IntoIterator<Item = usize>) {
        let slots = slots.into_iter();
        let slots: Vec<usize> = slots.filter(|&slot| self.get(slot).is_none()).collect();
        slots
            .par_chunks(PER_TASK)
            .for_each(|slots| self.prepare_some(slots));
    }

    fn prepare_some(&self, slots: &[usize]) {
        let (prepared, cpu_ns) = self.cancel.timed(|| {
            let prepared = slots.iter().map(|&slot| match self.cancel.stop() {
                Some(cause) => Err(cause.into()),
                None => literals(&self.plan.slots[slot], slot, self.pool),
            });
            prepared.collect::<Vec<_>>()
        });
        let each = cpu_ns / slots.len().max(1) as u64;
        for (required, &slot) in prepared.into_iter().zip(slots) {
            let prepared = required.map(|required| Prepared {
                required: required.map(Arc::new),
                cpu_ns: each.div_ceil(self.plan.users[slot].max(1)),
            });
            // Who prepared it at the same time found out the same.
            let _ = self.slots[slot].set(prepared);
        }
    }
}

fn literals(slot: &Slot<'_>, number: usize, pool: &Pool<'_>) -> Result<Option<Required>, Reason> {
    if slot.haystack == Haystack::Lines
        && slot.pattern.text.len() <= MAX_PATTERN_BYTES
        && let Some(required) = plain(slot.pattern)
    {
        return Ok(usable(required));
    }
    let hir = parse_pattern(slot.pattern).map_err(|error| error.reason(slot.pattern))?;
    let hir = match slot.haystack {
        Haystack::Lines => line_safe(&hir),
        Haystack::Text => hir,
    };
    if may_be_too_large(&hir) {
        pool.full(number)?;
    }
    // A literal with a line feed is searched in vain line by line.
    let found = required(&hir).filter(|required| {
        let mut literals = required.literals.iter();
        slot.haystack == Haystack::Lines || !literals.any(|literal| literal.bytes.contains(&b'\n'))
    });
    Ok(found.and_then(usable))
}
