//! `run` and `test`, executed.

use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde::{Deserialize, Serialize};

use crate::budget::StopCause;
use crate::exec::{Execution, Executor, Failure, Layer, World};
use crate::facts::{CancelToken, Cost, FactKey, FactValue, Fetched, RunOutput, TestRun, refused};
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
    let world = executor.world();
    let mut tests = test_all(executor, world.as_ref(), &names, cancel).into_iter();
    let mut runs = run_all(executor, world.as_ref(), &lines, cancel).into_iter();
    let answers = keys.iter().map(|key| match key {
        FactKey::Run(_) => runs.next(),
        FactKey::Test(_) => tests.next(),
        _ => None,
    });
    let answers: Vec<Option<Answer>> = answers.collect();
    keep(executor, world.as_ref(), &answers);
    answers
        .into_iter()
        .zip(keys)
        .map(|(answer, key)| match answer {
            Some(answer) => answer.fetched,
            None => refused::not_allowed(key),
        })
        .collect()
}

/// An answer, and what is to be kept of it.
struct Answer {
    fetched: Fetched,
    keep: Option<Keep>,
}

/// A result for the next run.
struct Keep {
    what: String,
    program: PathBuf,
    result: Kept,
}

/// A result of an earlier run.
#[derive(Serialize, Deserialize)]
enum Kept {
    Run(Execution),
    Test { passed: bool, runs: Vec<TestRun> },
}

/// Keeps results, unless the workspace changed while they came about.
fn keep(executor: &Executor, world: Option<&World<'_>>, answers: &[Option<Answer>]) {
    let kept: Vec<&Keep> = answers
        .iter()
        .flatten()
        .filter_map(|it| it.keep.as_ref())
        .collect();
    let Some(world) = world.filter(|_| !kept.is_empty()) else {
        return;
    };
    if executor.world().is_some_and(|now| now.is(world)) {
        for keep in kept {
            world.put(&keep.what, &keep.program, &keep.result);
        }
    }
}

fn test_all(
    executor: &Executor,
    world: Option<&World<'_>>,
    names: &[&str],
    cancel: &CancelToken,
) -> Vec<Answer> {
    let program = testing::program(executor);
    let what = |name: &str| format!("test {name}");
    let known = |name: &&str| match world?.get(&what(name), program.as_ref()?)? {
        Kept::Test { passed, runs } => Some((passed, runs)),
        Kept::Run(_) => None,
    };
    let known: Vec<_> = names.iter().map(known).collect();
    let open = names
        .iter()
        .zip(&known)
        .filter(|(_, known)| known.is_none());
    let open: Vec<&str> = open.map(|(name, _)| *name).collect();
    let mut fresh = match open.is_empty() {
        true => Vec::new(),
        false => testing::answer(executor, &open, cancel),
    }
    .into_iter();
    let mut answers = Vec::with_capacity(names.len());
    for (name, known) in names.iter().zip(known) {
        if let Some((passed, runs)) = known {
            let fetched = Fetched {
                tests: runs,
                reused: true,
                ..Fetched::from(FactValue::Bool(passed))
            };
            answers.push(Answer {
                fetched,
                keep: None,
            });
        } else if let Some(answer) = fresh.next() {
            let keep = match (&answer.passed, &program) {
                (Ok(passed), Some(program)) => Some(Keep {
                    what: what(name),
                    program: program.clone(),
                    result: Kept::Test {
                        passed: *passed,
                        runs: answer.runs.clone(),
                    },
                }),
                _ => None,
            };
            let fetched = test(answer);
            answers.push(Answer { fetched, keep });
        }
    }
    answers
}

fn run_all(
    executor: &Executor,
    world: Option<&World<'_>>,
    lines: &[&str],
    cancel: &CancelToken,
) -> Vec<Answer> {
    let next = AtomicUsize::new(0);
    let done: Vec<_> = lines.iter().map(|_| Mutex::new(None)).collect();
    let work = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let (Some(line), Some(done)) = (lines.get(number), done.get(number)) else {
                return;
            };
            let answer = run_one(executor, world, line, cancel);
            if let Ok(mut done) = done.lock() {
                *done = Some(answer);
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..executor.policy().jobs.min(lines.len()) {
            scope.spawn(work);
        }
    });
    let done = done.into_iter().map(Mutex::into_inner);
    let lost = || Answer {
        fetched: Fetched::from(FactValue::Unknown(StopCause::Cancelled.into())),
        keep: None,
    };
    done.map(|done| done.ok().flatten().unwrap_or_else(lost))
        .collect()
}

fn run_one(
    executor: &Executor,
    world: Option<&World<'_>>,
    line: &str,
    cancel: &CancelToken,
) -> Answer {
    let what = format!("run {line}");
    // Only what the policy still allows is looked for.
    let program = executor.program_of(line).ok().map(|(_, program)| program);
    if let (Some(world), Some(program)) = (world, &program)
        && let Some(Kept::Run(execution)) = world.get(&what, program)
    {
        let known = Execution {
            cpu_ns: 0,
            ..execution
        };
        let fetched = Fetched {
            reused: true,
            ..run(Ok(known))
        };
        return Answer {
            fetched,
            keep: None,
        };
    }
    let result = executor.run(line, cancel);
    let keep = match (&result, program) {
        (Ok(execution), Some(program)) if world.is_some() => Some(Keep {
            what,
            program,
            result: Kept::Run(execution.clone()),
        }),
        _ => None,
    };
    Answer {
        fetched: run(result),
        keep,
    }
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
