//! Evaluating many programs, with the CPU time of each.

use rayon::prelude::*;

use crate::batch::account::Account;
use crate::budget::timed;
use crate::code::{Arena, ProgramRef};
use crate::facts::FactTable;
use crate::vm::{Trace, evaluate_traced};

/// Programs evaluated between two looks at the clock: a look takes longer than
/// many a program.
const SLICE: usize = 256;

/// What a program came to, and the CPU time that took, in nanoseconds.
pub(super) type Measured = (Trace, u64);

/// Evaluates programs on all threads, charges the account and gives the traces in
/// order. The time of a slice is shared equally among its programs.
pub(super) fn evaluate_all(
    programs: &[ProgramRef],
    arena: &Arena,
    table: &FactTable,
    account: &Account,
) -> Vec<Vec<Measured>> {
    let is_measured = account.measures(programs.len());
    programs
        .par_chunks(SLICE)
        .map(|slice| {
            if is_measured {
                measure(slice, arena, table, account)
            } else {
                let run = |&at| (evaluate_traced(arena, at, table), 0);
                slice.iter().map(run).collect()
            }
        })
        .collect()
}

fn measure(
    slice: &[ProgramRef],
    arena: &Arena,
    table: &FactTable,
    account: &Account,
) -> Vec<Measured> {
    let run = |&at: &ProgramRef| evaluate_traced(arena, at, table);
    let (mut all, ns) = account.token().timed(|| {
        let untimed = |at| (run(at), 0);
        slice.iter().map(untimed).collect::<Vec<Measured>>()
    });
    let share = ns.div_ceil(u64::try_from(slice.len()).unwrap_or(1).max(1));
    for (_, cpu_ns) in &mut all {
        *cpu_ns = share;
    }
    // Some program may be over its limit: which one? Each runs once more alone;
    // evaluating changes nothing.
    if account.over_cpu(ns).is_some() {
        for (at, (_, cpu_ns)) in slice.iter().zip(&mut all) {
            *cpu_ns = timed(|| run(at)).1;
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::budget::{Budget, Budgets, CancelToken};
    use crate::check::Options;
    use crate::facts::{FactValue, RunOutput};
    use crate::language::Language;
    use crate::lower::compile;

    /// Programs over one command's output, the number `costly` searching all of it
    /// a hundred times, under a limit for each.
    fn times(costly: usize, limit: Duration) -> (Vec<u64>, u64) {
        let search = r#"!run("c").stdout.contains("zb")"#;
        let sources = (0..100).map(|number| match number {
            _ if number == costly => [search; 100].join(" && "),
            _ => format!(r#"run("c").exit == {number}"#),
        });
        let mut arena = Arena::new();
        let programs: Vec<_> = sources
            .map(|source| {
                let program = compile(Language::ElenchV1, &source, Options::default()).unwrap();
                arena.link(&program, |_| 0).unwrap()
            })
            .collect();
        let mut table = FactTable::with_len(1);
        table.set(
            0,
            FactValue::Run(RunOutput {
                stdout: "za".repeat(100_000).into_bytes().into(),
                ..RunOutput::default()
            }),
        );
        let predicate = Budget {
            fuel: None,
            cpu: Some(limit),
        };
        let budgets = Budgets {
            predicate,
            ..Budgets::default()
        };
        let account = Account::new(budgets, &CancelToken::new());
        let slices = evaluate_all(&programs, &arena, &table, &account);
        let all = slices.into_iter().flatten().map(|(_, ns)| ns).collect();
        (all, account.token().cpu_spent_ns())
    }

    #[test]
    fn a_slice_within_the_limit_is_shared_equally() {
        let (times, spent) = times(usize::MAX, Duration::from_secs(3600));
        assert!(times.iter().all(|&ns| ns == times[0]), "{times:?}");
        assert!(spent > 0 && spent <= times.iter().sum());
    }

    #[test]
    fn a_costly_program_pays_for_itself() {
        let (times, spent) = times(40, Duration::from_nanos(1));
        let (most, at) = times.iter().zip(0..).max().unwrap();
        assert_eq!(at, 40, "{times:?}");
        assert!(*most > spent / 4, "{most} of {spent}");
    }
}
