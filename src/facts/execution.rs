//! `run` and `test`, executed.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::exec::{Execution, Executor, Failure, Layer};
use crate::facts::{CancelToken, Cost, FactKey, FactValue, Fetched, RunOutput, refused};

/// The answers to calls of `run` and `test`, in their order. As many commands are
/// executed at a time as the policy says.
pub(super) fn execute(
    executor: &Executor,
    keys: &[&FactKey],
    cancel: &CancelToken,
) -> Vec<Fetched> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::with_capacity(keys.len()));
    let work = || {
        while let Some(key) = keys.get(next.fetch_add(1, Ordering::Relaxed)) {
            let answer = match key {
                FactKey::Run(line) => run(executor.run(line, cancel)),
                other => refused::not_allowed(other),
            };
            if let Ok(mut done) = done.lock() {
                done.push((*key, answer));
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..executor.policy().jobs.min(keys.len()) {
            scope.spawn(work);
        }
    });
    let mut done: std::collections::HashMap<&FactKey, Fetched> =
        done.into_inner().unwrap_or_default().into_iter().collect();
    let answers = keys.iter().map(|key| done.remove(key));
    let lost = |key: &FactKey| refused::not_allowed(key);
    answers
        .zip(keys)
        .map(|(answer, key)| answer.unwrap_or_else(|| lost(key)))
        .collect()
}

fn run(result: Result<Execution, Failure>) -> Fetched {
    let (value, cpu_ns) = match result {
        Ok(execution) => {
            let isolation: Vec<_> = execution.isolation.iter().map(Layer::name).collect();
            let output = RunOutput {
                exit: execution.exit,
                stdout: execution.stdout.into(),
                stderr: execution.stderr.into(),
                stdout_truncated: execution.stdout_truncated,
                stderr_truncated: execution.stderr_truncated,
                isolation: isolation.into(),
            };
            (FactValue::Run(output), execution.cpu_ns)
        }
        Err(failure) => (FactValue::Unknown(failure.reason), failure.cpu_ns),
    };
    Fetched {
        cost: Cost {
            cpu_ns,
            ..Cost::default()
        },
        ..Fetched::from(value)
    }
}
