//! `go test -json`. Subtests are not listed.

use std::collections::BTreeSet;
use std::time::Duration;

use serde::Deserialize;

use crate::exec::Failure;
use crate::facts::TestOutcome;
use crate::testing::runner::{Files, Ran, Runner, Tools, failed};

/// `go test`.
pub(super) struct Go;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Line {
    action: String,
    #[serde(default)]
    package: String,
    test: Option<String>,
    elapsed: Option<f64>,
    output: Option<String>,
}

impl Runner for Go {
    fn list(&self, tools: &Tools<'_>) -> Result<Vec<String>, Failure> {
        let mut arguments = vec!["test", "-json", "-list", "^(Test|Example|Fuzz)"];
        let packages = packages(tools);
        arguments.extend(packages);
        let done = tools.execute("go", &arguments, &env(), Files::default())?;
        if done.exit != 0 {
            return Err(failed("`go test -list`", &done));
        }
        let names = lines(&done.stdout)
            .filter(|line| line.action == "output")
            .filter_map(|line| {
                let name = line.output?;
                let name = name.trim_end();
                let is_name = ["Test", "Example", "Fuzz"]
                    .iter()
                    .any(|kind| name.starts_with(kind));
                (is_name && !name.contains(char::is_whitespace))
                    .then(|| format!("{} {name}", line.package))
            });
        Ok(names.collect())
    }

    fn run(&self, tools: &Tools<'_>, names: &[&str]) -> Result<Vec<Ran>, Failure> {
        let pairs = || names.iter().filter_map(|name| name.split_once(' '));
        let packages: BTreeSet<&str> = pairs().map(|(package, _)| package).collect();
        let tests: BTreeSet<&str> = pairs().map(|(_, test)| test).collect();
        let pattern = format!("^({})$", tests.into_iter().collect::<Vec<_>>().join("|"));
        let mut arguments = vec!["test", "-json", "-count=1", "-run", &pattern];
        arguments.extend(
            tools
                .policy
                .args
                .iter()
                .map(|arg| &**arg)
                .filter(|arg| arg.starts_with('-')),
        );
        arguments.extend(packages);
        let done = tools.execute("go", &arguments, &env(), Files::default())?;
        let ran: Vec<Ran> = lines(&done.stdout).filter_map(result).collect();
        if ran.is_empty() && done.exit != 0 && names.len() == 1 {
            return Err(failed("`go test`", &done));
        }
        Ok(ran)
    }

    fn separators(&self) -> &'static [&'static str] {
        &[" ", "/"]
    }
}

/// The packages that the policy names, else all.
fn packages<'a>(tools: &'a Tools<'_>) -> Vec<&'a str> {
    let args: Vec<&str> = tools.policy.args.iter().map(|arg| &**arg).collect();
    match args.iter().any(|arg| !arg.starts_with('-')) {
        true => args,
        false => [&args[..], &["./..."]].concat(),
    }
}

fn env() -> [(&'static str, std::ffi::OsString); 2] {
    [
        ("GOFLAGS", "-mod=mod".into()),
        ("GOCACHE", "{temporary}/gocache".into()),
    ]
}

fn lines(text: &[u8]) -> impl Iterator<Item = Line> {
    let lines = text.split(|&byte| byte == b'\n');
    lines.filter_map(|line| serde_json::from_slice(line).ok())
}

fn result(line: Line) -> Option<Ran> {
    let test = line.test.filter(|test| !test.contains('/'))?;
    let outcome = match line.action.as_str() {
        "pass" => TestOutcome::Passed,
        "fail" => TestOutcome::Failed,
        "skip" => TestOutcome::Ignored,
        _ => return None,
    };
    Some(Ran {
        name: format!("{} {test}", line.package),
        outcome,
        duration: line
            .elapsed
            .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_read() {
        let text = br#"{"Action":"run","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Test":"TestA","Output":"--- PASS"}
{"Action":"pass","Package":"p","Test":"TestA/sub","Elapsed":0.1}
{"Action":"pass","Package":"p","Test":"TestA","Elapsed":0.5}
{"Action":"fail","Package":"p","Test":"TestB"}
no json
{"Action":"skip","Package":"p","Test":"TestC"}
{"Action":"fail","Package":"p"}
"#;
        let found: Vec<_> = lines(text)
            .filter_map(result)
            .map(|ran| (ran.name, ran.outcome))
            .collect();
        let expected = [
            ("p TestA", TestOutcome::Passed),
            ("p TestB", TestOutcome::Failed),
            ("p TestC", TestOutcome::Ignored),
        ];
        assert_eq!(
            found,
            expected.map(|(name, outcome)| (name.to_owned(), outcome))
        );
    }
}
