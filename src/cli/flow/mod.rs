//! `probity flow`: predicate files, packs and slices.

mod evaluate;
mod judge_options;
mod test;

use std::path::Path;

use clap::{Args, Subcommand};

use crate::cli::Exit;
use crate::cli::error::CliError;
use crate::harn::Workspace;

pub(super) use judge_options::JudgeOptions;

/// Evaluate predicate files and try packs
#[derive(Args, Debug)]
pub(super) struct FlowArgs {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Evaluate(Box<evaluate::EvaluateArgs>),
    Test(test::TestArgs),
}

pub(super) fn run(args: &FlowArgs) -> Result<Exit, CliError> {
    match &args.command {
        Command::Evaluate(args) => evaluate::run(args),
        Command::Test(args) => test::run(args),
    }
}

/// The workspace that is named.
fn workspace(root: Option<&Path>) -> Result<Option<Workspace>, CliError> {
    let workspace = root.map(Workspace::open).transpose();
    workspace.map_err(|error| CliError::Usage(error.to_string()))
}
