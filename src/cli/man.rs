//! `probity man`: the manual pages.

use clap::{Args, CommandFactory as _};

use crate::cli::error::CliError;
use crate::cli::options::TargetOptions;
use crate::cli::output::Output;
use crate::cli::{Cli, Exit};

/// Write a manual page
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  probity man | man -l -
  probity man check --output probity-check.1")]
pub(super) struct ManArgs {
    /// A command [default: the tool as a whole]
    #[arg(value_name = "COMMAND")]
    command: Option<String>,
    #[command(flatten)]
    target: TargetOptions,
}

pub(super) fn run(args: &ManArgs) -> Result<Exit, CliError> {
    let mut tool = Cli::command();
    tool.build();
    let command = match &args.command {
        None => &tool,
        Some(name) => tool.find_subcommand(name).ok_or_else(|| {
            CliError::Usage(format!(
                "there is no command `{name}`; `probity --help` lists them"
            ))
        })?,
    };
    let output = Output::open(&args.target)?;
    let mut page = Vec::new();
    clap_mangen::Man::new(command.clone())
        .render(&mut page)
        .map_err(|error| output.error(error))?;
    output.write(&page)?;
    Ok(Exit::Passed)
}
