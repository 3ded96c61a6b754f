//! The physical account: CPU time of the calling thread.

use rustix::time::{ClockId, clock_gettime};

/// Does work and says how much CPU time of this thread it took, in nanoseconds.
/// Reading the clock takes most of a microsecond, so this is for whole files.
pub(super) fn timed<R>(work: impl FnOnce() -> R) -> (R, u64) {
    let before = now();
    let result = work();
    (result, now().saturating_sub(before))
}

fn now() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    let nanoseconds = u64::try_from(time.tv_nsec).unwrap_or(0);
    seconds
        .saturating_mul(1_000_000_000)
        .saturating_add(nanoseconds)
}
