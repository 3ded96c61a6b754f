//! `pytest`, by the node ids it collects and its report in JUnit XML.

use crate::exec::Failure;
use crate::reason::{Reason, ReasonCode};
use crate::testing::junit;
use crate::testing::runner::{Files, Ran, Runner, Tools, failed};

/// `pytest`.
pub(super) struct Pytest;

/// Nothing is written into the workspace, and no test is left out.
const ALWAYS: [&str; 6] = [
    "-p",
    "no:cacheprovider",
    "-o",
    "addopts=",
    "-o",
    "xfail_strict=true",
];

impl Runner for Pytest {
    fn list(&self, tools: &Tools<'_>) -> Result<Vec<String>, Failure> {
        let mut arguments = ALWAYS.to_vec();
        arguments.extend(["--collect-only", "-q"]);
        arguments.extend(tools.policy.args.iter().map(|arg| &**arg));
        let env = environment();
        let done = tools.execute("pytest", &arguments, &env, Files::default())?;
        // 5: there are none.
        if !matches!(done.exit, 0 | 5) {
            return Err(failed("`pytest --collect-only`", &joined(done)));
        }
        let text = String::from_utf8_lossy(&done.stdout);
        let ids = text.lines().take_while(|line| !line.is_empty());
        let ids = ids.filter(|id| id.contains("::"));
        Ok(ids.map(str::to_owned).collect())
    }

    fn run(&self, tools: &Tools<'_>, names: &[&str]) -> Result<Vec<Ran>, Failure> {
        let mut arguments = ALWAYS.to_vec();
        arguments.extend([
            "-q",
            "-o",
            "junit_family=xunit2",
            "--junitxml={temporary}/junit.xml",
        ]);
        arguments.extend(
            tools
                .policy
                .args
                .iter()
                .map(|arg| &**arg)
                .filter(|arg| arg.starts_with('-')),
        );
        // From a file: there may be more than a command line holds.
        arguments.push("@{temporary}/names");
        // A file may be called like an option, or like a list of arguments.
        let given = names.iter().map(|name| match name.starts_with(['-', '@']) {
            true => format!("./{name}"),
            false => (*name).to_owned(),
        });
        let list = given.collect::<Vec<_>>().join("\n");
        let files = Files {
            given: Some(("names", &list)),
            report: Some("junit.xml"),
        };
        let done = tools.execute("pytest", &arguments, &environment(), files)?;
        let Some(report) = &done.report else {
            // The process ended before it could write.
            return match done.exit {
                2..=4 => Err(failed("`pytest`", &joined(done))),
                _ => Ok(Vec::new()),
            };
        };
        let cases = junit::read(report).map_err(|error| {
            let why = format!("the report of `pytest` cannot be read: {error}");
            Failure::from(Reason::new(ReasonCode::TestRunnerFailed, why))
        })?;
        let ran = cases.into_iter().filter_map(|case| {
            let id = names.iter().find(|id| names_case(id, &case))?;
            Some(Ran {
                name: (*id).to_owned(),
                outcome: case.outcome,
                duration: case.duration,
            })
        });
        Ok(ran.collect())
    }

    fn separators(&self) -> &'static [&'static str] {
        &["::", "/"]
    }
}

fn environment() -> [(&'static str, std::ffi::OsString); 1] {
    [("PYTHONDONTWRITEBYTECODE", "1".into())]
}

/// `tests/test_a.py::TestX::test_y` is `test_y` of the class `tests.test_a.TestX`.
fn names_case(id: &str, case: &junit::Case) -> bool {
    // What is in brackets may hold anything.
    let head = id.split('[').next().unwrap_or(id);
    let Some(at) = head.rfind("::") else {
        return false;
    };
    let (path, name) = (&id[..at], &id[at + 2..]);
    name == case.name && path.replace(".py", "").replace("::", ".").replace('/', ".") == case.class
}

/// `pytest` says what is wrong on standard output.
fn joined(mut done: crate::exec::Execution) -> crate::exec::Execution {
    done.stderr.extend_from_slice(&done.stdout);
    done
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::TestOutcome;

    #[test]
    fn node_ids_name_cases() {
        let case = |class: &str, name: &str| junit::Case {
            suite: "pytest".into(),
            class: class.into(),
            name: name.into(),
            outcome: TestOutcome::Passed,
            duration: None,
            output: String::new(),
        };
        assert!(names_case(
            "tests/test_a.py::test_y",
            &case("tests.test_a", "test_y")
        ));
        assert!(names_case(
            "t.py::X::y[a::b/c.py]",
            &case("t.X", "y[a::b/c.py]")
        ));
        assert!(!names_case(
            "tests/test_b.py::test_y",
            &case("tests.test_a", "test_y")
        ));
    }
}
