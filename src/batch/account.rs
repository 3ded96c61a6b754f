//! What a batch has spent, what it may spend, and what becomes of a predicate that
//! spent too much.

use std::time::Duration;

use crate::budget::{Budgets, CancelToken};
use crate::reason::{Reason, ReasonCode};

/// From this many programs on, evaluating them is worth two looks at the clock
/// even if no limit hangs on it.
const MEASURED_PROGRAMS: usize = 64;

/// The accounts of one batch.
pub(super) struct Account {
    budgets: Budgets,
    /// Holds the CPU account.
    token: CancelToken,
    /// Programs are charged when they are added, facts when they are fetched.
    fuel: u64,
}

impl Account {
    pub(super) fn new(budgets: Budgets, token: &CancelToken) -> Self {
        Self {
            budgets,
            token: token.with_cpu_budget(budgets.batch.cpu),
            fuel: 0,
        }
    }

    pub(super) const fn token(&self) -> &CancelToken {
        &self.token
    }

    pub(super) const fn fuel(&self) -> u64 {
        self.fuel
    }

    pub(super) fn charge_fuel(&mut self, fuel: u64) {
        self.fuel = self.fuel.saturating_add(fuel);
    }

    /// True if the time that evaluating so many programs takes is to be measured.
    pub(super) fn measures(&self, programs: usize) -> bool {
        programs >= MEASURED_PROGRAMS
            || self.budgets.batch.cpu.is_some()
            || self.budgets.predicate.cpu.is_some()
    }

    /// Why no more facts may be fetched. What is spent on fuel at this point does
    /// not depend on the schedule: facts are fetched all at once, stage by stage.
    pub(super) fn refusal(&self) -> Option<Reason> {
        let limit = self.budgets.batch.fuel;
        match limit.filter(|limit| self.fuel > *limit) {
            Some(limit) => Some(batch_out_of_fuel(limit)),
            None => self.token.stop().map(Reason::from),
        }
    }

    /// Most fuel that one fact may cost: that of a predicate, and what is left.
    pub(super) fn fuel_for_a_fact(&self) -> Option<u64> {
        let left = self
            .budgets
            .batch
            .fuel
            .map(|limit| limit.saturating_sub(self.fuel));
        match (self.budgets.predicate.fuel, left) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        }
    }

    /// Why a predicate that took so much fuel gets no verdict.
    pub(super) fn over_fuel(&self, fuel: u64) -> Option<Reason> {
        let limit = self.budgets.predicate.fuel?;
        (fuel > limit).then(|| predicate_out_of_fuel(fuel, limit))
    }

    /// Why a predicate that took so much CPU time gets no verdict.
    pub(super) fn over_cpu(&self, cpu_ns: u64) -> Option<Reason> {
        let limit = self.budgets.predicate.cpu?;
        (Duration::from_nanos(cpu_ns) > limit).then(|| predicate_out_of_cpu(limit))
    }
}

fn batch_out_of_fuel(limit: u64) -> Reason {
    Reason::new(
        ReasonCode::BudgetExceeded,
        format!(
            "the batch had taken over {limit} units of fuel, its limit, before the fact was established; raise --batch-fuel or split the batch"
        ),
    )
}

fn predicate_out_of_fuel(used: u64, limit: u64) -> Reason {
    Reason::new(
        ReasonCode::BudgetExceeded,
        format!(
            "the predicate took {used} units of fuel and its limit is {limit}; raise --fuel or narrow what it scans"
        ),
    )
}

/// How much was used is left out: equal outcomes read equal.
fn predicate_out_of_cpu(limit: Duration) -> Reason {
    Reason::new(
        ReasonCode::BudgetExceeded,
        format!(
            "the predicate took more CPU time than its limit, {limit:?}; CPU time is not deterministic, another run may stay within it; raise --predicate-cpu or narrow what it scans"
        ),
    )
    .not_deterministic()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::Budget;

    fn account(predicate: Budget, batch: Budget) -> Account {
        let budgets = Budgets { predicate, batch };
        Account::new(budgets, &CancelToken::new())
    }

    fn of_fuel(fuel: u64) -> Budget {
        Budget {
            fuel: Some(fuel),
            cpu: None,
        }
    }

    #[test]
    fn a_fact_may_cost_what_a_predicate_may_and_what_is_left() {
        let mut account = account(of_fuel(50), of_fuel(100));
        assert_eq!(account.fuel_for_a_fact(), Some(50));
        account.charge_fuel(70);
        assert_eq!(account.fuel_for_a_fact(), Some(30));
        account.charge_fuel(30);
        assert_eq!(account.fuel_for_a_fact(), Some(0));
        assert_eq!(
            account.refusal(),
            None,
            "what is at its limit is not over it"
        );
        account.charge_fuel(1);
        let refusal = account.refusal().unwrap();
        assert!(
            refusal.deterministic && refusal.detail.contains("100"),
            "{refusal}"
        );
    }

    #[test]
    fn limits_are_honoured_to_the_unit_and_named() {
        let cpu = Budget {
            fuel: Some(7),
            cpu: Some(Duration::from_nanos(9)),
        };
        let account = account(cpu, Budget::default());
        assert_eq!((account.over_fuel(7), account.over_cpu(9)), (None, None));
        let fuel = account.over_fuel(8).unwrap();
        assert!(
            fuel.deterministic && fuel.detail.contains("took 8"),
            "{fuel}"
        );
        let cpu = account.over_cpu(10).unwrap();
        assert!(!cpu.deterministic && cpu.detail.contains("9ns"), "{cpu}");
        assert_eq!(account.refusal(), None);
    }

    #[test]
    fn few_programs_are_measured_only_for_a_limit() {
        assert!(!account(of_fuel(1), of_fuel(1)).measures(1));
        assert!(account(of_fuel(1), of_fuel(1)).measures(1000));
        let limited = Budget {
            fuel: None,
            cpu: Some(Duration::from_secs(1)),
        };
        assert!(account(limited, Budget::default()).measures(1));
        assert!(account(Budget::default(), limited).measures(1));
    }
}
