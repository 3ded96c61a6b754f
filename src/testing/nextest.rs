//! `cargo nextest`, by its list in JSON and its report in JUnit XML.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use crate::exec::Failure;
use crate::facts::TestOutcome;
use crate::reason::{Reason, ReasonCode};
use crate::testing::runner::{Files, Ran, Runner, Tools, failed};
use crate::testing::{cargo, junit};

/// `cargo nextest`.
pub(super) struct Nextest;

/// Every test gets its one try, and the report says what it printed.
const CONFIG: &str = "\
[profile.probity]
fail-fast = false
retries = 0

[profile.probity.junit]
path = \"{temporary}/junit.xml\"
store-success-output = true
";

#[derive(Deserialize)]
struct List {
    #[serde(rename = "rust-suites")]
    suites: BTreeMap<String, Suite>,
}

#[derive(Deserialize)]
struct Suite {
    #[serde(rename = "testcases", default)]
    cases: BTreeMap<String, serde::de::IgnoredAny>,
}

impl Runner for Nextest {
    fn list(&self, tools: &Tools<'_>) -> Result<Vec<String>, Failure> {
        let mut arguments = vec!["nextest", "list", "--message-format", "json"];
        arguments.extend(tools.policy.args.iter().map(|arg| &**arg));
        let env = cargo::env(tools);
        let done = tools.execute("cargo", &arguments, &env, Files::default())?;
        if done.exit != 0 {
            return Err(failed("`cargo nextest list`", &done));
        }
        let list: List =
            serde_json::from_slice(&done.stdout).map_err(|error| unreadable(&error))?;
        let names = list.suites.into_iter().flat_map(|(suite, found)| {
            let names = found.cases.into_keys();
            names.map(move |name| format!("{suite} {name}"))
        });
        Ok(names.collect())
    }

    fn run(&self, tools: &Tools<'_>, names: &[&str]) -> Result<Vec<Ran>, Failure> {
        let filter: Vec<String> = names
            .iter()
            .filter_map(|name| name.split_once(' '))
            .map(|(suite, name)| format!("(binary_id(={suite}) & test(={name}))"))
            .collect();
        let filter = filter.join(" + ");
        let mut arguments = vec![
            "nextest",
            "run",
            "--profile",
            "probity",
            "--tool-config-file",
            "probity:{temporary}/nextest.toml",
            "--no-tests",
            "pass",
            "--run-ignored",
            "default",
            "-E",
            &filter,
        ];
        arguments.extend(tools.policy.args.iter().map(|arg| &**arg));
        let files = Files {
            given: Some(("nextest.toml", CONFIG)),
            report: Some("junit.xml"),
        };
        let done = tools.execute("cargo", &arguments, &cargo::env(tools), files)?;
        // Ignored tests are left out of the report.
        let Some(report) = &done.report else {
            return match done.exit {
                0 => Ok(names.iter().map(|name| ignored(name)).collect()),
                _ => Err(failed("`cargo nextest run`", &done)),
            };
        };
        let cases = junit::read(report).map_err(|error| unreadable(&error))?;
        let reported: BTreeSet<String> = cases.iter().map(full_name).collect();
        let mut ran: Vec<Ran> = cases.into_iter().filter_map(result).collect();
        // After a run to its end what did not run is ignored: 100 says that tests failed.
        if matches!(done.exit, 0 | 100) {
            let missing = names.iter().filter(|name| !reported.contains(**name));
            ran.extend(missing.map(|name| ignored(name)));
        }
        Ok(ran)
    }

    fn separators(&self) -> &'static [&'static str] {
        &["::", " "]
    }
}

fn ignored(name: &str) -> Ran {
    Ran {
        name: name.to_owned(),
        outcome: TestOutcome::Ignored,
        duration: None,
    }
}

fn full_name(case: &junit::Case) -> String {
    format!("{} {}", case.suite, case.name)
}

/// A test that ended its process with status 0 passed for nextest; what libtest printed
/// tells.
fn result(case: junit::Case) -> Option<Ran> {
    let is_whole = case.output.contains("test result: ok. 1 passed");
    if case.outcome == TestOutcome::Passed && !is_whole {
        return None;
    }
    Some(Ran {
        name: full_name(&case),
        outcome: case.outcome,
        duration: case.duration,
    })
}

fn unreadable(error: &dyn std::fmt::Display) -> Failure {
    let why = format!("what `cargo nextest` reports cannot be read: {error}");
    Reason::new(ReasonCode::TestRunnerFailed, why).into()
}
