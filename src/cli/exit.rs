//! The exit statuses, all of them.

use std::process::ExitCode;

use crate::batch::{Summary, Verdict};

/// How a run ended, as the exit status tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// 0: every claim passed, and there was at least one; or a command that
    /// judges nothing did what it was asked.
    Passed = 0,
    /// 1: at least one claim failed; `lint`: at least one error, or with
    /// `--deny-warnings` a warning.
    Failed = 1,
    /// 2: a usage, I/O or configuration error, even if results were printed.
    Error = 2,
    /// 3: nothing failed, but something was unevaluated or invalid, the deadline
    /// ended the run, or nothing was there to be judged.
    Undecided = 3,
    /// 130: interrupted by a signal.
    Interrupted = 130,
    /// 141: whoever read the output closed it.
    ClosedPipe = 141,
}

/// The statuses as `--help` shows them.
pub(super) const HELP: &str = "\
Exit status:
  0    all passed
  1    at least one failed
  2    usage, I/O or configuration error
  3    nothing failed, but something was unevaluated or invalid, or nothing was judged
  130  interrupted";

impl Exit {
    /// The status of a batch that ran to its end or its deadline. Skipped claims
    /// prove nothing: a log of nothing else was not checked.
    #[must_use]
    pub fn of_summary(summary: &Summary) -> Self {
        let undecided = summary.count(Verdict::Unevaluated) + summary.count(Verdict::Invalid) > 0;
        if summary.count(Verdict::Fail) > 0 {
            Self::Failed
        } else if undecided || summary.interrupted || summary.count(Verdict::Pass) == 0 {
            Self::Undecided
        } else {
            Self::Passed
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exit(verdicts: [u64; 5], interrupted: bool) -> Exit {
        Exit::of_summary(&Summary {
            verdicts,
            interrupted,
            ..Summary::default()
        })
    }

    #[test]
    fn only_a_batch_that_passed_and_nothing_else_exits_with_0() {
        assert_eq!(exit([1, 0, 0, 0, 0], false), Exit::Passed);
        assert_eq!(exit([1, 0, 0, 0, 9], false), Exit::Passed);
        assert_eq!(exit([9, 1, 1, 1, 1], false), Exit::Failed);
        assert_eq!(exit([9, 1, 0, 0, 0], true), Exit::Failed);
        assert_eq!(exit([9, 0, 1, 0, 0], false), Exit::Undecided);
        assert_eq!(exit([9, 0, 0, 1, 0], false), Exit::Undecided);
        assert_eq!(exit([9, 0, 0, 0, 0], true), Exit::Undecided);
    }

    #[test]
    fn nothing_judged_is_not_all_passed() {
        assert_eq!(exit([0; 5], false), Exit::Undecided);
        assert_eq!(exit([0, 0, 0, 0, 3], false), Exit::Undecided);
    }
}
