//! `probity completions`: a script for a shell.

use clap::{Args, CommandFactory as _};
use clap_complete::Shell;

use crate::cli::error::CliError;
use crate::cli::options::TargetOptions;
use crate::cli::output::Output;
use crate::cli::{Cli, Exit};

/// Write a completion script for a shell
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  probity completions bash > ~/.local/share/bash-completion/completions/probity
  probity completions zsh --output _probity")]
pub(super) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
    #[command(flatten)]
    target: TargetOptions,
}

pub(super) fn run(args: &CompletionsArgs) -> Result<Exit, CliError> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "probity", &mut script);
    Output::open(&args.target)?.write(&script)?;
    Ok(Exit::Passed)
}
