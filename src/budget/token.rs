//! The token that everybody who works for a batch looks at: whether to go on, and
//! where CPU time is charged.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::budget::{StopCause, Stopwatch, timed};

/// A request to stop, a wall-clock deadline and an account of CPU time. Cheap to
/// clone, safe to set from a signal handler's thread. Work already done is kept.
///
/// Clones are one token: who cancels one cancels all, and what is charged to one
/// is charged to all. [`CancelToken::with_deadline`] and the like share the request
/// to stop and differ in what they add.
///
/// ```
/// use std::time::Duration;
/// use probity::budget::{CancelToken, StopCause};
///
/// let host = CancelToken::new();
/// let second = Duration::from_secs(1);
/// let token = host.with_cpu_budget(Some(second));
/// token.charge_cpu(999_999_999);
/// assert_eq!(token.stop(), None);
/// token.charge_cpu(1);
/// assert_eq!(token.stop(), Some(StopCause::CpuBudget(second)));
/// host.cancel();
/// assert_eq!(token.stop(), Some(StopCause::Cancelled));
/// ```
#[derive(Clone, Debug, Default)]
pub struct CancelToken {
    flag: Arc<AtomicBool>,
    /// The flags of tokens that this one was joined with.
    joined: Vec<Arc<AtomicBool>>,
    deadline: Option<Instant>,
    cpu: Arc<CpuMeter>,
}

/// CPU time spent, over all threads.
#[derive(Debug, Default)]
struct CpuMeter {
    spent_ns: AtomicU64,
    limit: Option<Duration>,
}

impl CpuMeter {
    fn used_up(&self) -> Option<Duration> {
        self.limit.filter(|limit| {
            let spent = Duration::from_nanos(self.spent_ns.load(Ordering::Relaxed));
            spent >= *limit
        })
    }
}

impl CancelToken {
    /// A token nobody has cancelled.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The same token with a wall-clock deadline, which takes the place of an
    /// earlier one.
    #[must_use]
    pub fn with_deadline(&self, deadline: Instant) -> Self {
        Self {
            deadline: Some(deadline),
            ..self.clone()
        }
    }

    /// The same token with a CPU account of its own, empty, and a limit on it.
    #[must_use]
    pub fn with_cpu_budget(&self, limit: Option<Duration>) -> Self {
        Self {
            cpu: Arc::new(CpuMeter {
                spent_ns: AtomicU64::new(0),
                limit,
            }),
            ..self.clone()
        }
    }

    /// A token that stops when either does; the earlier deadline holds. The CPU
    /// account is this token's.
    #[must_use]
    pub fn joined_with(&self, other: &Self) -> Self {
        let mut all = self.clone();
        all.joined.push(Arc::clone(&other.flag));
        all.joined.extend(other.joined.iter().cloned());
        all.deadline = match (self.deadline, other.deadline) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
        all
    }

    /// Asks everyone who holds the token to stop.
    pub fn cancel(&self) {
        self.flag.store(true, Ordering::Relaxed);
    }

    /// Why to stop, if there is cause to. A few nanoseconds; some thirty with a
    /// deadline.
    #[must_use]
    pub fn stop(&self) -> Option<StopCause> {
        self.interruption()
            .or_else(|| self.cpu.used_up().map(StopCause::CpuBudget))
    }

    /// True if there is any cause to stop.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.stop().is_some()
    }

    /// True once cancelled or past the deadline: the batch is to end. A batch whose
    /// CPU budget is used up goes on and says so of every claim that is left.
    #[must_use]
    pub fn is_interrupted(&self) -> bool {
        self.interruption().is_some()
    }

    fn interruption(&self) -> Option<StopCause> {
        let is_set = |flag: &Arc<AtomicBool>| flag.load(Ordering::Relaxed);
        if is_set(&self.flag) || self.joined.iter().any(is_set) {
            return Some(StopCause::Cancelled);
        }
        self.deadline
            .is_some_and(|deadline| Instant::now() >= deadline)
            .then_some(StopCause::Deadline)
    }

    /// CPU time that is left of the budget; `None` without one.
    #[must_use]
    pub fn cpu_left(&self) -> Option<Duration> {
        let spent = Duration::from_nanos(self.cpu_spent_ns());
        self.cpu.limit.map(|limit| limit.saturating_sub(spent))
    }

    /// Adds to the CPU account, in nanoseconds. It is meant for a file or a slice
    /// of programs at a time; the threads share the account.
    pub fn charge_cpu(&self, ns: u64) {
        let add = |spent: u64| Some(spent.saturating_add(ns));
        // Never fails: the closure always has a next value.
        let _ = self
            .cpu
            .spent_ns
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, add);
    }

    /// What was charged so far, in nanoseconds.
    #[must_use]
    pub fn cpu_spent_ns(&self) -> u64 {
        self.cpu.spent_ns.load(Ordering::Relaxed)
    }

    /// Does work on this thread, charges the CPU time it took and says how much
    /// that was, in nanoseconds.
    pub fn timed<R>(&self, work: impl FnOnce() -> R) -> (R, u64) {
        let (result, ns) = timed(work);
        self.charge_cpu(ns);
        (result, ns)
    }

    /// Charges this thread's CPU time from now to the end of the stopwatch's life.
    #[must_use]
    pub fn stopwatch(&self) -> Stopwatch<'_> {
        Stopwatch::start(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn causes_come_in_order_of_who_has_the_say() {
        let host = CancelToken::new();
        let budget = Duration::from_nanos(5);
        let token = host.with_cpu_budget(Some(budget));
        token.charge_cpu(4);
        assert_eq!((token.stop(), token.cpu_spent_ns()), (None, 4));
        assert_eq!(token.cpu_left(), Some(budget - Duration::from_nanos(4)));
        assert_eq!(host.cpu_left(), None);
        token.charge_cpu(u64::MAX);
        assert_eq!(token.cpu_spent_ns(), u64::MAX);
        assert_eq!(token.stop(), Some(StopCause::CpuBudget(budget)));
        assert!(token.is_cancelled() && !token.is_interrupted());
        assert_eq!(host.stop(), None, "the account is the batch's own");
        let late = token.with_deadline(Instant::now());
        assert_eq!(late.stop(), Some(StopCause::Deadline));
        assert!(late.is_interrupted());
        host.cancel();
        assert_eq!(late.stop(), Some(StopCause::Cancelled));
    }

    #[test]
    fn a_joined_token_stops_when_either_does() {
        let [engine, batch, other] = [(); 3].map(|()| CancelToken::new());
        let joined = batch.joined_with(&engine.joined_with(&other));
        assert!(!joined.is_cancelled());
        other.cancel();
        assert!(joined.is_cancelled() && !batch.is_cancelled() && !engine.is_cancelled());

        let soon = CancelToken::new().with_deadline(Instant::now());
        let hour = Instant::now() + Duration::from_secs(3600);
        let late = CancelToken::new().with_deadline(hour);
        assert_eq!(late.joined_with(&soon).stop(), Some(StopCause::Deadline));
        assert_eq!(soon.joined_with(&late).stop(), Some(StopCause::Deadline));
    }
}
