//! What is found out about a pattern before any file is read.

use std::sync::Arc;

use rayon::prelude::*;

use crate::budget::CancelToken;
use crate::reason::Reason;
use crate::scan::bound::may_be_too_large;
use crate::scan::compile::Haystack;
use crate::scan::finding::stopped;
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

/// Prepares the slots of a plan. A pattern that cannot be compiled fails before any
/// file is read, but its regex is built only if it could be too large.
pub(super) fn prepare(
    plan: &Plan<'_>,
    pool: &Pool<'_>,
    cancel: &CancelToken,
) -> Vec<Result<Prepared, Reason>> {
    let numbers: Vec<usize> = (0..plan.slots.len()).collect();
    let tasks = numbers.par_chunks(PER_TASK).map(|numbers| {
        if cancel.is_cancelled() {
            return numbers.iter().map(|_| Err(stopped(cancel))).collect();
        }
        let (prepared, cpu_ns) = cancel.timed(|| {
            let prepared = numbers
                .iter()
                .map(|&number| literals(&plan.slots[number], number, pool));
            prepared.collect::<Vec<_>>()
        });
        let each = cpu_ns / numbers.len() as u64;
        let prepared = prepared.into_iter().zip(numbers);
        let prepared = prepared.map(|(required, &number)| {
            required.map(|required| Prepared {
                required: required.map(Arc::new),
                cpu_ns: each.div_ceil(plan.users[number].max(1)),
            })
        });
        prepared.collect::<Vec<_>>()
    });
    tasks.flatten_iter().collect()
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
