//! Limits, each off unless it is given.

use std::time::Duration;

use crate::reason::{Reason, ReasonCode};

/// Limits on one account holder. Without a limit the account is kept all the
/// same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Budget {
    /// Most fuel, in the units of `docs/bytecode.md`. Deterministic: the same
    /// limit stops the same work on any machine and under any load.
    pub fuel: Option<u64>,
    /// Most CPU time, summed over threads. Not deterministic: CPU time differs
    /// from run to run, so leave room. Wall-clock time plays no part.
    pub cpu: Option<Duration>,
}

impl Budget {
    /// True if nothing is limited.
    #[must_use]
    pub fn is_unlimited(&self) -> bool {
        *self == Self::default()
    }

    /// The tighter limit of each account.
    #[must_use]
    pub fn tightest(self, other: Self) -> Self {
        Self {
            fuel: tighter(self.fuel, other.fuel),
            cpu: tighter(self.cpu, other.cpu),
        }
    }
}

/// The limits of a batch. Write `..Budgets::default()` after the ones you set:
/// kinds of work that are to come will have budgets of their own.
///
/// ```
/// use std::time::Duration;
/// use probity::budget::{Budget, Budgets};
///
/// let budgets = Budgets {
///     predicate: Budget {
///         fuel: Some(1_000_000),
///         ..Budget::default()
///     },
///     batch: Budget {
///         cpu: Some(Duration::from_secs(60)),
///         ..Budget::default()
///     },
/// };
/// assert!(!budgets.is_unlimited());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Budgets {
    /// For each predicate: its evaluation and every fact it asked for, at full
    /// price whoever shares them, so that it does not matter who else is in the
    /// batch. Held against the account when the predicate is decided. No fact is
    /// fetched on past the fuel that one predicate may take.
    pub predicate: Budget,
    /// For the whole batch, each piece of work once.
    ///
    /// Fuel is looked at before the facts of each stage of each window are
    /// fetched, all in one go. Once more was spent than the limit, facts that are
    /// not known yet stay unknown; what was paid for is kept. So a batch goes over
    /// its limit by at most what one stage of one window costs, and in it no fact
    /// costs more than what was left.
    ///
    /// CPU time is looked at while facts are being fetched; when it is used up,
    /// the fetch ends.
    pub batch: Budget,
}

impl Budgets {
    /// True if nothing is limited.
    #[must_use]
    pub fn is_unlimited(&self) -> bool {
        *self == Self::default()
    }

    /// The tighter limit of each account.
    #[must_use]
    pub fn tightest(self, other: Self) -> Self {
        Self {
            predicate: self.predicate.tightest(other.predicate),
            batch: self.batch.tightest(other.batch),
        }
    }
}

fn tighter<T: Ord>(one: Option<T>, other: Option<T>) -> Option<T> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

/// Why a fact is unknown that takes more fuel by itself than its demand allows.
/// Deterministic, as the account is.
#[must_use]
pub fn fact_out_of_fuel(limit: u64) -> Reason {
    Reason::new(
        ReasonCode::BudgetExceeded,
        format!(
            "the fact takes more fuel than the {limit} units that one predicate or the rest of the batch may take; raise --fuel or --batch-fuel, or narrow what is searched"
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tighter_limit_holds() {
        let one = Budget {
            fuel: Some(10),
            cpu: None,
        };
        let other = Budget {
            fuel: Some(20),
            cpu: Some(Duration::from_secs(1)),
        };
        let both = Budget {
            fuel: Some(10),
            cpu: Some(Duration::from_secs(1)),
        };
        assert_eq!(one.tightest(other), both);
        assert_eq!(other.tightest(one), both);
        assert!(Budget::default().tightest(Budget::default()).is_unlimited());
    }
}
