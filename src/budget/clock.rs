//! The physical account: CPU time of the calling thread.

use std::marker::PhantomData;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

use crate::budget::CancelToken;

/// Does work and says how much CPU time of this thread it took, in nanoseconds.
/// Reading the clock twice takes over a microsecond, so this is for whole files
/// and for slices of small work.
pub fn timed<R>(work: impl FnOnce() -> R) -> (R, u64) {
    let before = now();
    let result = work();
    (result, now().saturating_sub(before))
}

/// The CPU time of this thread since it was started. Reading it takes over half a
/// microsecond.
#[derive(Clone, Copy, Debug)]
pub struct ThreadClock {
    started: u64,
    /// A thread's clock means nothing to another thread.
    not_send: PhantomData<*const ()>,
}

impl ThreadClock {
    /// Starts it.
    #[must_use]
    pub fn start() -> Self {
        Self {
            started: now(),
            not_send: PhantomData,
        }
    }

    /// The CPU time since then.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        Duration::from_nanos(now().saturating_sub(self.started))
    }
}

/// Charges the CPU time from here to the end of its life to a token.
///
/// It stays on the thread that made it, whose clock it reads.
#[derive(Debug)]
pub struct Stopwatch<'t> {
    token: &'t CancelToken,
    started: u64,
    /// A thread's clock means nothing to another thread.
    not_send: PhantomData<*const ()>,
}

impl<'t> Stopwatch<'t> {
    pub(super) fn start(token: &'t CancelToken) -> Self {
        Self {
            token,
            started: now(),
            not_send: PhantomData,
        }
    }
}

impl Drop for Stopwatch<'_> {
    fn drop(&mut self) {
        self.token.charge_cpu(now().saturating_sub(self.started));
    }
}

fn now() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    let nanoseconds = u64::try_from(time.tv_nsec).unwrap_or(0);
    seconds
        .saturating_mul(1_000_000_000)
        .saturating_add(nanoseconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spin(ns: u64) {
        let started = now();
        while now() - started < ns {}
    }

    #[test]
    fn work_counts_and_waiting_does_not() {
        let ((), worked) = timed(|| spin(2_000_000));
        assert!(worked >= 2_000_000, "{worked}");
        let ((), waited) = timed(|| std::thread::sleep(Duration::from_millis(50)));
        assert!(waited < 25_000_000, "{waited}");
    }

    #[test]
    fn a_stopwatch_charges_when_it_ends() {
        let token = CancelToken::new();
        let stopwatch = token.stopwatch();
        spin(1_000_000);
        assert_eq!(token.cpu_spent_ns(), 0);
        drop(stopwatch);
        assert!(token.cpu_spent_ns() >= 1_000_000);
    }
}
