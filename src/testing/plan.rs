//! From names to answers: listed once, run together, and again apart where one test
//! took others with it.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use crate::budget::CancelToken;
use crate::exec::{Executor, Failure};
use crate::facts::{TestOutcome, TestRun};
use crate::policy;
use crate::reason::{Reason, ReasonCode};
use crate::testing::cargo::Cargo;
use crate::testing::custom::Custom;
use crate::testing::go::Go;
use crate::testing::names::{means, nearest};
use crate::testing::nextest::Nextest;
use crate::testing::pytest::Pytest;
use crate::testing::runner::{Ran, Runner, Tools};

/// Most invocations for one batch. They are reached only where many tests abort.
const MAX_RUNS: usize = 200;

/// What became of one name.
pub(crate) struct Answer {
    /// Whether every test of that name passed.
    pub(crate) passed: Result<bool, Reason>,
    /// The tests it means, as they ran.
    pub(crate) runs: Vec<TestRun>,
    /// Its share of the CPU time, in nanoseconds.
    pub(crate) cpu_ns: u64,
}

/// The program that the runner starts.
pub(crate) fn program(executor: &Executor) -> Option<PathBuf> {
    let policy = executor.policy().test.as_ref()?;
    let name = match &policy.runner {
        policy::Runner::Cargo | policy::Runner::Nextest => "cargo",
        policy::Runner::Pytest => "pytest",
        policy::Runner::Go => "go",
        policy::Runner::Custom { command, .. } => command.first()?,
    };
    executor.resolve(name, &policy.bounds).ok()
}

/// Answers the names of a batch.
pub(crate) fn answer(executor: &Executor, names: &[&str], cancel: &CancelToken) -> Vec<Answer> {
    let refuse = |reason: &Reason, cpu_ns| {
        let answer = |_: &&str| Answer {
            passed: Err(reason.clone()),
            runs: Vec::new(),
            cpu_ns,
        };
        names.iter().map(answer).collect()
    };
    let Some(policy) = &executor.policy().test else {
        let why = "the policy names no test runner; to allow tests, write a `[test]` section with `runner`";
        return refuse(&Reason::new(ReasonCode::CommandNotAllowed, why), 0);
    };
    let custom;
    let runner: &dyn Runner = match &policy.runner {
        policy::Runner::Cargo => &Cargo,
        policy::Runner::Nextest => &Nextest,
        policy::Runner::Pytest => &Pytest,
        policy::Runner::Go => &Go,
        policy::Runner::Custom { command, junit } => {
            custom = Custom {
                command,
                junit,
                names,
            };
            &custom
        }
    };
    let tools = Tools {
        executor,
        policy,
        cancel,
        cpu_ns: Cell::new(0),
    };
    let outcome = resolve(runner, &tools, names);
    let share = tools.cpu_ns.get() / (names.len().max(1) as u64);
    match outcome {
        Ok(answers) => answers
            .into_iter()
            .map(|(passed, runs)| Answer {
                passed,
                runs,
                cpu_ns: share,
            })
            .collect(),
        Err(failure) => refuse(&failure.reason, share),
    }
}

type Found = (Result<bool, Reason>, Vec<TestRun>);

fn resolve(runner: &dyn Runner, tools: &Tools<'_>, names: &[&str]) -> Result<Vec<Found>, Failure> {
    let listed = runner.list(tools)?;
    let separators = runner.separators();
    let wanted: Vec<BTreeSet<&str>> = names
        .iter()
        .map(|name| {
            let full = listed.iter().map(String::as_str);
            full.filter(|full| means(name, full, separators)).collect()
        })
        .collect();
    let needed: BTreeSet<&str> = wanted.iter().flatten().copied().collect();
    let mut times: BTreeMap<&str, usize> = BTreeMap::new();
    for name in &listed {
        *times.entry(name).or_default() += 1;
    }
    let results = Runs {
        runner,
        tools,
        times: &times,
        left: MAX_RUNS,
        results: BTreeMap::new(),
        problem: None,
    }
    .all(&needed.into_iter().collect::<Vec<_>>())?;
    let found = names.iter().zip(&wanted).map(|(name, wanted)| {
        if wanted.is_empty() {
            let near = nearest(name, &listed, separators);
            let near = match near.is_empty() {
                true => format!("the runner lists {} tests", listed.len()),
                false => format!("did you mean `{}`?", near.join("`, `")),
            };
            let why = format!("no test is called `{name}`: {near}");
            return (Err(Reason::new(ReasonCode::TestNotFound, why)), Vec::new());
        }
        judge(wanted, &times, &results)
    });
    Ok(found.collect())
}

/// What the tests of one name come to.
fn judge(
    wanted: &BTreeSet<&str>,
    times: &BTreeMap<&str, usize>,
    results: &BTreeMap<String, Vec<Ran>>,
) -> Found {
    let mut runs = Vec::new();
    let (mut failed, mut ignored, mut lost) = (false, None, None);
    for name in wanted {
        let found = results.get(*name).map_or(&[][..], Vec::as_slice);
        for ran in found {
            runs.push(TestRun {
                name: ran.name.as_str().into(),
                outcome: ran.outcome,
                duration: ran.duration,
            });
            match ran.outcome {
                TestOutcome::Passed => {}
                TestOutcome::Failed => failed = true,
                TestOutcome::Ignored => ignored = Some(name),
            }
        }
        if Some(&found.len()) != times.get(name) {
            lost = Some(name);
        }
    }
    let passed = if failed {
        Ok(false)
    } else if let Some(name) = lost {
        let why = format!(
            "the test `{name}` gave no result: its process ended before, or nothing ran it"
        );
        Err(Reason::new(ReasonCode::TestRunnerFailed, why))
    } else if let Some(name) = ignored {
        let why = format!("the test `{name}` is ignored");
        Err(Reason::new(ReasonCode::TestIgnored, why))
    } else {
        Ok(true)
    };
    (passed, runs)
}

/// Runs until every test has its results or is alone without.
struct Runs<'a> {
    runner: &'a dyn Runner,
    tools: &'a Tools<'a>,
    /// How often each name is listed.
    times: &'a BTreeMap<&'a str, usize>,
    left: usize,
    results: BTreeMap<String, Vec<Ran>>,
    problem: Option<Failure>,
}

impl Runs<'_> {
    fn all(mut self, names: &[&str]) -> Result<BTreeMap<String, Vec<Ran>>, Failure> {
        let mut groups: Vec<Vec<&str>> = vec![names.to_vec()];
        while let Some(group) = groups.pop() {
            if group.is_empty() {
                continue;
            }
            let Some(left) = self.left.checked_sub(1) else {
                break;
            };
            self.left = left;
            let mut missing = self.once(&group);
            if let Some(problem) = self.problem.take() {
                // Nothing else will go better, or it may be the fault of this test.
                if group.len() == 1 && problem.reason.code != ReasonCode::Cancelled {
                    continue;
                }
                if problem.reason.code != ReasonCode::CommandTimedOut {
                    return Err(problem);
                }
                missing = group.clone();
            }
            if group.len() > 1 && !missing.is_empty() {
                let half = missing.split_off(missing.len() / 2);
                groups.extend([half, missing]);
            }
        }
        Ok(self.results)
    }

    /// Runs a group and gives the tests of it that got no or too few results.
    fn once<'n>(&mut self, group: &[&'n str]) -> Vec<&'n str> {
        let ran = match self.runner.run(self.tools, group) {
            Ok(ran) => ran,
            Err(problem) => {
                self.problem = Some(problem);
                return Vec::new();
            }
        };
        let mut by_name: BTreeMap<String, Vec<Ran>> = BTreeMap::new();
        for ran in ran {
            by_name.entry(ran.name.clone()).or_default().push(ran);
        }
        let mut missing = Vec::new();
        for name in group {
            let found = by_name.remove(*name).unwrap_or_default();
            if Some(&found.len()) == self.times.get(name) {
                self.results.insert((*name).to_owned(), found);
            } else {
                missing.push(*name);
            }
        }
        missing
    }
}
