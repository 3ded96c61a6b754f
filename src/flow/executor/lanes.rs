//! Who runs next: lanes for all, lanes and envelopes for each slice, slices in turn.
//! (flow.md, sections 4.4 and 4.8.)

use std::collections::VecDeque;
use std::time::Duration;

/// What one kind of predicates of one slice has and uses.
#[derive(Debug, Default)]
pub(super) struct Line {
    pub(super) waiting: VecDeque<usize>,
    running: usize,
    spent: Duration,
}

/// The predicates of one kind.
#[derive(Debug)]
pub(super) struct Lanes {
    lines: Vec<Line>,
    running: usize,
    waiting: usize,
    most: usize,
    most_of_slice: usize,
    /// What a slice may use, if that is limited.
    envelope: Option<Duration>,
    budget: Duration,
    /// The slice whose turn it is.
    turn: usize,
}

impl Lanes {
    pub(super) fn new(
        lines: Vec<VecDeque<usize>>,
        most: usize,
        most_of_slice: usize,
        envelope: Duration,
        budget: Duration,
    ) -> Self {
        Self {
            waiting: lines.iter().map(VecDeque::len).sum(),
            lines: lines
                .into_iter()
                .map(|waiting| Line {
                    waiting,
                    ..Line::default()
                })
                .collect(),
            running: 0,
            most: most.max(1),
            most_of_slice: most_of_slice.max(1),
            envelope: Some(envelope).filter(|envelope| !envelope.is_zero()),
            budget,
            turn: 0,
        }
    }

    /// Whether nobody waits any more.
    pub(super) const fn is_empty(&self) -> bool {
        self.waiting == 0
    }

    /// Predicates that wait, at most as many as there are lanes.
    pub(super) fn wanted(&self) -> usize {
        self.waiting.min(self.most)
    }

    /// Whether a slice has nothing waiting or running.
    pub(super) fn is_done(&self, slice: usize) -> bool {
        let line = &self.lines[slice];
        line.waiting.is_empty() && line.running == 0
    }

    /// Takes the next predicate, a slice after the other; those slices are passed over
    /// that may not go on yet.
    pub(super) fn take(&mut self, may_go: impl Fn(usize) -> bool) -> Option<(usize, usize)> {
        if self.running >= self.most || self.waiting == 0 {
            return None;
        }
        let count = self.lines.len();
        for offset in 0..count {
            let slice = (self.turn + offset) % count;
            let line = &mut self.lines[slice];
            if line.running >= self.most_of_slice || !may_go(slice) {
                continue;
            }
            // Those that run may use up what is left: it goes on when that is known.
            let reserved = self
                .budget
                .saturating_mul(u32::try_from(line.running).unwrap_or(u32::MAX));
            if let Some(envelope) = self.envelope
                && line.running > 0
                && line.spent.saturating_add(reserved) >= envelope
            {
                continue;
            }
            if let Some(runner) = line.waiting.pop_front() {
                line.running += 1;
                self.running += 1;
                self.waiting -= 1;
                self.turn = (slice + 1) % count;
                return Some((slice, runner));
            }
        }
        None
    }

    /// Gives a lane back.
    pub(super) fn finish(&mut self, slice: usize) {
        self.lines[slice].running -= 1;
        self.running -= 1;
    }

    pub(super) fn charge(&mut self, slice: usize, took: Duration) {
        let line = &mut self.lines[slice];
        line.spent = line.spent.saturating_add(took);
    }

    /// Whether a slice has used all that it may.
    pub(super) fn is_used_up(&self, slice: usize) -> bool {
        self.envelope
            .is_some_and(|envelope| self.lines[slice].spent >= envelope)
    }
}
