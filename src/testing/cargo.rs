//! `cargo test`, by the text that libtest prints. Documentation tests are not listed.

use crate::exec::Failure;
use crate::facts::TestOutcome;
use crate::testing::runner::{Files, Ran, Runner, Tools, failed};

/// Plain `cargo test`.
pub(super) struct Cargo;

/// Arguments longer than this together go into another invocation, in bytes.
const MOST_ARGUMENTS: usize = 512 << 10;

impl Runner for Cargo {
    fn list(&self, tools: &Tools<'_>) -> Result<Vec<String>, Failure> {
        let done = tools.execute(
            "cargo",
            &arguments(tools, &["--list", "--format", "terse"]),
            &env(tools),
            Files::default(),
        )?;
        if done.exit != 0 {
            return Err(failed("listing the tests with `cargo test`", &done));
        }
        let text = String::from_utf8_lossy(&done.stdout);
        let names = text.lines().filter_map(|line| line.strip_suffix(": test"));
        Ok(names.map(str::to_owned).collect())
    }

    fn run(&self, tools: &Tools<'_>, names: &[&str]) -> Result<Vec<Ran>, Failure> {
        let mut ran = Vec::new();
        let mut rest = names;
        while !rest.is_empty() {
            let mut bytes = 0;
            let fits = rest.iter().take_while(|name| {
                bytes += name.len() + 1;
                bytes <= MOST_ARGUMENTS
            });
            let (now, later) = rest.split_at(fits.count().max(1));
            let mut after = vec!["--exact"];
            after.extend(now);
            let done = tools.execute(
                "cargo",
                &arguments(tools, &after),
                &env(tools),
                Files::default(),
            )?;
            ran.extend(results(&String::from_utf8_lossy(&done.stdout)));
            rest = later;
        }
        Ok(ran)
    }

    fn separators(&self) -> &'static [&'static str] {
        &["::"]
    }
}

fn arguments<'a>(tools: &'a Tools<'_>, after: &[&'a str]) -> Vec<&'a str> {
    let mut arguments = vec!["test", "--no-fail-fast", "--tests"];
    arguments.extend(tools.policy.args.iter().map(|arg| &**arg));
    arguments.push("--");
    arguments.extend(after);
    arguments
}

/// Cargo asks the network for nothing it is not going to get.
pub(super) fn env(tools: &Tools<'_>) -> Vec<(&'static str, std::ffi::OsString)> {
    match tools.policy.bounds.network {
        true => Vec::new(),
        false => vec![("CARGO_NET_OFFLINE", "true".into())],
    }
}

/// The lines `test NAME ... RESULT`.
fn results(text: &str) -> Vec<Ran> {
    text.lines().filter_map(result).collect()
}

fn result(line: &str) -> Option<Ran> {
    let (name, result) = line.strip_prefix("test ")?.rsplit_once(" ... ")?;
    let name = name.strip_suffix(" - should panic").unwrap_or(name);
    let outcome = match result.split([',', ' ']).next()? {
        "ok" => TestOutcome::Passed,
        "FAILED" => TestOutcome::Failed,
        "ignored" => TestOutcome::Ignored,
        _ => return None,
    };
    Some(Ran {
        name: name.to_owned(),
        outcome,
        duration: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_libtest_are_read() {
        let text = "\nrunning 4 tests\ntest a::b ... ok\ntest c - should panic ... ok\ntest d ... FAILED\ntest e ... ignored, not yet\ntest f ... what\n\ntest result: FAILED. 2 passed; 1 failed\n";
        let found: Vec<_> = results(text)
            .into_iter()
            .map(|ran| (ran.name, ran.outcome))
            .collect();
        let expected = [
            ("a::b", TestOutcome::Passed),
            ("c", TestOutcome::Passed),
            ("d", TestOutcome::Failed),
            ("e", TestOutcome::Ignored),
        ];
        assert_eq!(
            found,
            expected.map(|(name, outcome)| (name.to_owned(), outcome))
        );
    }
}
