//! Why a batch stops fetching.

use std::time::Duration;

use crate::reason::{Reason, ReasonCode};

/// Why nothing more is to be established. What was decided stays decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StopCause {
    /// Somebody asked.
    Cancelled,
    /// The wall-clock deadline passed.
    Deadline,
    /// The CPU budget of the batch, this long, is used up.
    CpuBudget(Duration),
}

/// The reason of a fact that was not established. None of them is deterministic.
impl From<StopCause> for Reason {
    fn from(cause: StopCause) -> Self {
        let reason = match cause {
            StopCause::Cancelled => Self::new(
                ReasonCode::Cancelled,
                "the batch was cancelled before the fact was established",
            ),
            StopCause::Deadline => Self::new(
                ReasonCode::Cancelled,
                "the batch ran into its deadline before the fact was established",
            ),
            StopCause::CpuBudget(limit) => Self::new(
                ReasonCode::BudgetExceeded,
                format!(
                    "the CPU budget of the batch, {limit:?}, was used up before the fact was established; CPU time is not deterministic, another run may get further; raise --cpu-budget or split the batch"
                ),
            ),
        };
        reason.not_deterministic()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_cause_has_its_reason() {
        for (cause, code, word) in [
            (StopCause::Cancelled, ReasonCode::Cancelled, "cancelled"),
            (StopCause::Deadline, ReasonCode::Cancelled, "deadline"),
            (
                StopCause::CpuBudget(Duration::from_millis(1500)),
                ReasonCode::BudgetExceeded,
                "CPU budget of the batch, 1.5s",
            ),
        ] {
            let reason = Reason::from(cause);
            assert_eq!(reason.code, code);
            assert!(reason.detail.contains(word), "{reason}");
            assert!(!reason.deterministic);
        }
    }
}
