//! `run` and `test`, executed.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::exec::{Execution, Executor, Failure, Layer};
use crate::facts::{CancelToken, Cost, FactKey, FactValue, Fetched, RunOutput, refused};
use crate::testing;

/// The answers to calls of `run` and `test`, in their order. As many commands are
/// executed at a time as the policy says; all tests together are one of them.
pub(super) fn execute(
    executor: &Executor,
    keys: &[&FactKey],
    cancel: &CancelToken,
) -> Vec<Fetched> {
    let mut lines = Vec::new();
    let mut names = Vec::new();
    for key in keys {
        match key {
            FactKey::Run(line) => lines.push(&**line),
            FactKey::Test(name) => names.push(&**name),
            _ => {}
        }
    }
    let mut tests = if names.is_empty() {
        Vec::new()
    } else {
        testing::answer(executor, &names, cancel)
    }
    .into_iter();
    let mut runs = run_all(executor, &lines, cancel).into_iter();
    let answers = keys.iter().map(|key| {
        let answer = match key {
            FactKey::Run(_) => runs.next().flatten().map(run),
            FactKey::Test(_) => tests.next().map(test),
            _ => None,
        };
        answer.unwrap_or_else(|| refused::not_allowed(key))
    });
    answers.collect()
}

fn run_all(
    executor: &Executor,
    lines: &[&str],
    cancel: &CancelToken,
) -> Vec<Option<Result<Execution, Failure>>> {
    let next = AtomicUsize::new(0);
    let done: Vec<_> = lines.iter().map(|_| Mutex::new(None)).collect();
    let work = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let (Some(line), Some(done)) = (lines.get(number), done.get(number)) else {
                return;
            };
            let result = executor.run(line, cancel);
            if let Ok(mut done) = done.lock() {
                *done = Some(result);
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..executor.policy().jobs.min(lines.len()) {
            scope.spawn(work);
        }
    });
    let done = done.into_iter().map(Mutex::into_inner);
    done.map(|done| done.ok().flatten()).collect()
}

fn test(answer: testing::Answer) -> Fetched {
    let value = match answer.passed {
        Ok(passed) => FactValue::Bool(passed),
        Err(reason) => FactValue::Unknown(reason),
    };
    Fetched {
        cost: Cost {
            cpu_ns: answer.cpu_ns,
            ..Cost::default()
        },
        tests: answer.runs,
        ..Fetched::from(value)
    }
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
