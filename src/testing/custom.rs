//! A command of the policy's own that runs tests by name and writes JUnit XML.

use std::path::Path;

use crate::exec::Failure;
use crate::reason::{Reason, ReasonCode};
use crate::testing::junit;
use crate::testing::runner::{Files, Ran, Runner, Tools, failed};

/// Such a runner lists nothing: every name is asked for, and what the report has under
/// it is what was meant.
pub(super) struct Custom<'a> {
    pub(super) command: &'a [Box<str>],
    pub(super) junit: &'a Path,
    pub(super) names: &'a [&'a str],
}

impl Runner for Custom<'_> {
    fn list(&self, _: &Tools<'_>) -> Result<Vec<String>, Failure> {
        // One that begins with a dash would be an option of the command.
        let names = self.names.iter().filter(|name| !name.starts_with('-'));
        Ok(names.map(|name| (*name).to_owned()).collect())
    }

    fn run(&self, tools: &Tools<'_>, names: &[&str]) -> Result<Vec<Ran>, Failure> {
        let Some((program, template)) = self.command.split_first() else {
            return Ok(Vec::new());
        };
        let mut arguments = Vec::new();
        for word in template {
            match &**word {
                "{names}" => arguments.extend(names.iter().copied()),
                word => arguments.push(word),
            }
        }
        // One of an earlier run says nothing of this one.
        drop(tools.executor.take(self.junit));
        let done = tools.execute(program, &arguments, &[], Files::default())?;
        let Some(report) = &tools.executor.take(self.junit) else {
            return Err(failed("the test command", &done));
        };
        let cases = junit::read(report).map_err(|error| {
            let why = format!("the report of the test command cannot be read: {error}");
            Failure::from(Reason::new(ReasonCode::TestRunnerFailed, why))
        })?;
        let ran = cases.into_iter().filter_map(|case| {
            let full = format!("{}.{}", case.class, case.name);
            let asked = |name: &&&str| **name == case.name || full == **name;
            Some(Ran {
                name: names.iter().find(asked)?.to_string(),
                outcome: case.outcome,
                duration: case.duration,
            })
        });
        Ok(ran.collect())
    }

    fn separators(&self) -> &'static [&'static str] {
        &[]
    }
}
