//! `probity policy`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};

use crate::cli::Exit;
use crate::cli::error::CliError;
use crate::cli::options::TargetOptions;
use crate::cli::output::Output;
use crate::exec::Executor;
use crate::policy::{Bounds, Confinement, FILE_NAME, Policy, Runner};

/// Look at the policy that says what `run` and `test` may execute
#[derive(Args, Debug)]
pub(super) struct PolicyArgs {
    #[command(subcommand)]
    command: PolicyCommand,
}

#[derive(Debug, Subcommand)]
enum PolicyCommand {
    /// Read a policy, look its programs up and say what it comes to
    ///
    /// Exit status 0 if all of it can be used, 1 if a program cannot be started, 2 if it
    /// is no policy.
    Check(CheckArgs),
}

#[derive(Args, Debug)]
struct CheckArgs {
    /// The policy [default: `probity.toml` in the workspace]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    policy: Option<PathBuf>,
    /// The workspace
    #[arg(long, value_name = "DIR", default_value = ".", value_hint = ValueHint::DirPath)]
    root: PathBuf,
    #[command(flatten)]
    target: TargetOptions,
}

pub(super) fn run(args: &PolicyArgs) -> Result<Exit, CliError> {
    let PolicyCommand::Check(args) = &args.command;
    let path = match &args.policy {
        Some(path) => path.clone(),
        None => args.root.join(FILE_NAME),
    };
    let policy = Policy::read(&path)?;
    let executor =
        Executor::new(policy, &args.root, "").map_err(crate::engine::BuildError::from)?;
    let (text, is_usable) = describe(&executor);
    Output::open(&args.target)?.write(text.as_bytes())?;
    Ok(if is_usable {
        Exit::Passed
    } else {
        Exit::Failed
    })
}

/// What the policy comes to, and whether every program can be started.
fn describe(executor: &Executor) -> (String, bool) {
    let policy = executor.policy();
    let mut lines = Vec::new();
    let mut is_usable = true;
    for rule in &policy.allow {
        let name = &rule.program;
        let with = match &rule.args {
            None => String::new(),
            Some(args) => format!(" with only the arguments {args:?}"),
        };
        lines.push(match executor.program(name) {
            Ok(_) if rule.nondeterministic => {
                format!("run: `{name}`{with} is not executed: it is not deterministic")
            }
            Ok(path) => format!("run: `{name}`{with} is `{}`", path.display()),
            Err(reason) => {
                is_usable = false;
                format!("run: `{name}`{with} cannot be started: {}", reason.detail)
            }
        });
    }
    if policy.allow.is_empty() {
        lines.push("run: nothing is allowed".into());
    }
    lines.push(match &policy.test {
        None => "test: no test is run".into(),
        Some(test) => {
            let name = match &test.runner {
                Runner::Cargo => "cargo",
                Runner::Nextest => "nextest",
                Runner::Pytest => "pytest",
                Runner::Go => "go",
                Runner::Custom { .. } => "custom",
            };
            let seconds = test.bounds.timeout.as_secs_f64();
            format!("test: runner `{name}`, each invocation up to {seconds} s")
        }
    });
    lines.extend(within("run", "", &policy.bounds));
    lines.extend(within("judge", " of judge", &policy.judge));
    lines.push(String::new());
    (lines.join("\n"), is_usable)
}

/// The bounds of a section; `of` tells its lines from those of another.
fn within(section: &str, of: &str, bounds: &Bounds) -> Vec<String> {
    let mut lines = vec![format!(
        "bounds of {section}: {} s, {} s of CPU time, {} MiB of memory, {} KiB of output, {} processes, network {}",
        bounds.timeout.as_secs_f64(),
        bounds.cpu.as_secs_f64(),
        bounds.memory >> 20,
        bounds.output >> 10,
        bounds.processes,
        if bounds.network { "allowed" } else { "denied" },
    )];
    lines.push(match bounds.confinement {
        Confinement::Required => format!("confinement{of}: required"),
        Confinement::BestEffort => format!("confinement{of}: as far as the machine has it"),
    });
    for path in &bounds.write {
        lines.push(format!("write{of}: `{}`", path.display()));
    }
    lines
}
