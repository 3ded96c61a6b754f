//! `probity flow test`: a pack against its fixtures.

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::{Args, ValueHint};

use crate::budget::CancelToken;
use crate::cli::error::CliError;
use crate::cli::options::TargetOptions;
use crate::cli::output::Output;
use crate::cli::{Exit, message};
use crate::flow::{CaseOutcome, Pack, PackError};
use crate::harn::Limits;
use crate::report::escape;

/// Most characters of a message.
const WIDTH: usize = 400;

/// Try packs: `invariants.harn` against `fixtures/*.json`
///
/// A fixture is `{"predicate", "cases": [{"name", "expect", "files", "judge_verdict",
/// "ctx"}]}`. The judge of semantic predicates answers `judge_verdict`, or else what is
/// expected, with no findings.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  probity flow test examples/packs/rust
  probity flow test packs/*

Exit status:
  0    every case came to what it expects
  1    a case came to something else, or names a predicate that is not there
  2    a pack cannot be read, or there is no case")]
pub(super) struct TestArgs {
    /// Directories with an `invariants.harn` and a `fixtures` directory
    #[arg(value_name = "DIR", required = true, value_hint = ValueHint::DirPath)]
    directories: Vec<PathBuf>,
    /// The workspace that `grep` and `exists` look into [default: none, and a predicate
    /// that calls them blocks]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    root: Option<PathBuf>,
    /// Fuel of each predicate [default: 20000000]
    #[arg(long, value_name = "N")]
    fuel: Option<u64>,
    #[command(flatten)]
    target: TargetOptions,
}

pub(super) fn run(args: &TestArgs) -> Result<Exit, CliError> {
    let mut limits = Limits::default();
    limits.fuel = args.fuel.unwrap_or(limits.fuel);
    let workspace = super::workspace(args.root.as_deref())?;
    let output = Output::open(&args.target)?;
    let mut text = String::new();
    let (mut right, mut wrong, mut is_broken) = (0, 0, false);
    for directory in &args.directories {
        let pack = match Pack::load(directory) {
            Ok(pack) => pack,
            Err(PackError::Invalid {
                path,
                source_text,
                problems,
            }) => {
                message::problems(&path, &source_text, &problems);
                is_broken = true;
                continue;
            }
            Err(error) => {
                message::error(error);
                is_broken = true;
                continue;
            }
        };
        if let Some(workspace) = &workspace {
            workspace.look_ahead([&pack.module], limits.fuel, &CancelToken::new());
        }
        let report = pack.test(&limits, workspace.as_ref());
        for name in &report.untested {
            message::warning(format_args!(
                "{}: `{name}` has no fixture",
                pack.path.display()
            ));
        }
        let failed: Vec<_> = report.outcomes.iter().filter(|it| !it.is_right()).collect();
        for outcome in &failed {
            differs(&mut text, outcome);
        }
        right += report.outcomes.len() - failed.len();
        wrong += failed.len();
        let _ = writeln!(
            text,
            "{}: {} predicates, {} cases, {} differ",
            escape(&directory.display().to_string(), WIDTH),
            pack.module.predicates().len(),
            report.outcomes.len(),
            failed.len()
        );
    }
    output.write(text.as_bytes())?;
    if is_broken {
        return Ok(Exit::Error);
    }
    if right + wrong == 0 {
        message::error("there is no case: nothing was tried");
        return Ok(Exit::Error);
    }
    Ok(if wrong > 0 {
        Exit::Failed
    } else {
        Exit::Passed
    })
}

fn differs(text: &mut String, outcome: &CaseOutcome<'_>) {
    let case = outcome.case;
    let _ = writeln!(
        text,
        "DIFFERS {} `{}`",
        escape(&case.fixture.display().to_string(), WIDTH),
        escape(&case.name, WIDTH)
    );
    let found = match &outcome.evaluated {
        None => format!("there is no predicate `{}`", case.predicate),
        Some(evaluated) => {
            let verdict = serde_json::to_string(&evaluated.result.verdict).unwrap_or_default();
            format!("{} {verdict}", evaluated.result.verdict.word())
        }
    };
    let _ = writeln!(text, "  expected {}", escape(&case.expect, WIDTH));
    let _ = writeln!(text, "  found    {}", escape(&found, WIDTH));
}
