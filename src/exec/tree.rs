//! The processes below one, from `/proc`.

use std::fs;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

/// What processes use at a moment.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Usage {
    /// CPU time, of processes that ended and were waited for as well.
    pub(super) cpu: Duration,
    /// Memory that is their own or shared with each other, in bytes.
    pub(super) memory: u64,
    /// Threads of all of them.
    pub(super) tasks: u64,
}

/// What the processes below one use. It stops looking where there are more tasks than
/// `most`.
pub(super) fn usage(top: i32, most: u64) -> Usage {
    let mut sum = Usage::default();
    let mut pending = vec![top];
    while let Some(pid) = pending.pop() {
        let Some(tasks) = tasks(pid) else { continue };
        if pid != top {
            sum.tasks += tasks.len() as u64;
            if sum.tasks > most {
                break;
            }
            sum.cpu += cpu(pid).unwrap_or_default();
            sum.memory += memory(pid).unwrap_or_default();
        }
        for task in tasks {
            pending.extend(children(pid, &task));
        }
    }
    sum
}

/// Sends `SIGKILL` to everything below a process.
pub(super) fn kill_below(top: i32) {
    let mut pending = vec![top];
    while let Some(pid) = pending.pop() {
        for task in tasks(pid).into_iter().flatten() {
            pending.extend(children(pid, &task));
        }
        if pid != top
            && let Some(pid) = Pid::from_raw(pid)
        {
            let _ = kill_process(pid, Signal::KILL);
        }
    }
}

fn tasks(pid: i32) -> Option<Vec<String>> {
    let entries = fs::read_dir(format!("/proc/{pid}/task")).ok()?;
    let names = entries.flatten().map(|entry| entry.file_name());
    Some(names.filter_map(|name| name.into_string().ok()).collect())
}

fn children(pid: i32, task: &str) -> Vec<i32> {
    let text = fs::read_to_string(format!("/proc/{pid}/task/{task}/children"));
    let text = text.unwrap_or_default();
    text.split_ascii_whitespace()
        .filter_map(|pid| pid.parse().ok())
        .collect()
}

fn cpu(pid: i32) -> Option<Duration> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name before may hold anything.
    let (_, fields) = stat.rsplit_once(')')?;
    let ticks: u64 = fields
        .split_ascii_whitespace()
        .skip(11)
        .take(4)
        .filter_map(|field| field.parse::<u64>().ok())
        .sum();
    let per_second = rustix::param::clock_ticks_per_second().max(1);
    Some(Duration::from_millis(
        ticks.saturating_mul(1000) / per_second,
    ))
}

fn memory(pid: i32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let kib = status.lines().filter_map(|line| {
        let rest = line
            .strip_prefix("RssAnon:")
            .or_else(|| line.strip_prefix("RssShmem:"))?;
        rest.trim().strip_suffix(" kB")?.parse::<u64>().ok()
    });
    Some(kib.sum::<u64>() << 10)
}
