//! What a pattern finds in a file, and why a file gives no answer.

use memchr::memchr_iter;

use crate::budget::{CancelToken, StopCause};
use crate::files::{FileError, Flow};
use crate::reason::{Reason, ReasonCode};

/// Why a file gave no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// The file is at fault.
    File(FileError),
    /// The pattern made counting quadratic.
    Work(u64),
    /// The pattern cannot be compiled.
    Pattern(Reason),
    /// Nothing more is to be established.
    Batch(StopCause),
}

impl From<FileError> for Stop {
    fn from(error: FileError) -> Self {
        Self::File(error)
    }
}

impl Stop {
    /// The reason of a fact that hangs on the file.
    pub(super) fn reason(&self, path: &str) -> Reason {
        match self {
            Self::File(error) => error.reason(path),
            Self::Work(cap) => Reason::new(
                ReasonCode::BudgetExceeded,
                format!(
                    "{path:?}: counting the matches looks at over {cap} bytes more than once; count lines with grep, or bound the repetitions of the pattern"
                ),
            ),
            Self::Pattern(reason) => reason.clone(),
            Self::Batch(cause) => (*cause).into(),
        }
    }
}

/// The reason of a fact that was not finished because the batch stops.
pub(super) fn stopped(cancel: &CancelToken) -> Reason {
    cancel.stop().unwrap_or(StopCause::Cancelled).into()
}

/// What one slot finds in a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Finding {
    /// Lines or matches; at least the limit if that was reached.
    pub(super) count: u64,
    /// The numbers of the first matching lines.
    pub(super) lines: Vec<u64>,
    /// Bytes that were looked at more than once.
    pub(super) again: u64,
    /// Why there may be more.
    pub(super) stop: Option<Stop>,
}

/// A finding that grows, and when it is enough.
#[derive(Debug)]
pub(super) struct Tracker<'a> {
    pub(super) finding: &'a mut Finding,
    pub(super) limit: u64,
    pub(super) places: usize,
    pub(super) max_again: u64,
    /// How many lines come before `counted_to` in the text at hand.
    pub(super) lines_before: u64,
    pub(super) counted_to: usize,
}

impl Tracker<'_> {
    /// Adds what was found at a position of the text at hand. Positions ascend.
    pub(super) fn add(&mut self, text: &[u8], position: usize) -> Flow {
        self.finding.count += 1;
        if self.finding.lines.len() < self.places {
            let passed = memchr_iter(b'\n', &text[self.counted_to..position]).count();
            self.lines_before += passed as u64;
            self.counted_to = position;
            let line = self.lines_before + 1;
            if self.finding.lines.last() != Some(&line) {
                self.finding.lines.push(line);
            }
        }
        if self.finding.count >= self.limit {
            Flow::Enough
        } else {
            Flow::More
        }
    }

    /// Accounts for bytes that the next search looks at once more.
    pub(super) fn look_again(&mut self, bytes: u64) -> Result<(), Stop> {
        self.finding.again = self.finding.again.saturating_add(bytes);
        if self.finding.again > self.max_again {
            return Err(Stop::Work(self.max_again));
        }
        Ok(())
    }
}
