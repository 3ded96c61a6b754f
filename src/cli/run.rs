//! From arguments to an exit status.

use std::ffi::OsString;
use std::io;

use clap::Parser as _;

use crate::cli::args::{Cli, Command};
use crate::cli::options::When;
use crate::cli::{
    Exit, cache, check, completions, digest, disasm, eval, flow, gate, history, lint, man, message,
};

/// Runs the tool as its arguments say; the first is the program's own name.
/// Nothing but `--help` and the like is answered without a command.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> Exit {
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => return no_command(&error),
    };
    colour(cli.color);
    let outcome = match cli.command {
        Command::Check(args) => check::run(&args),
        Command::Eval(args) => eval::run(&args),
        Command::Lint(args) => lint::run(&args),
        Command::History(args) => history::history(&args),
        Command::Blame(args) => history::blame(&args),
        Command::Gate(args) => gate::run(&args),
        Command::Flow(args) => flow::run(&args),
        Command::Disasm(args) => disasm::run(&args),
        Command::Digest(args) => digest::run(&args),
        Command::Cache(args) => cache::run(&args),
        #[cfg(target_os = "linux")]
        Command::Policy(args) => crate::cli::policy::run(&args),
        #[cfg(target_os = "linux")]
        Command::Doctor(args) => crate::cli::doctor::run(&args),
        Command::Completions(args) => completions::run(&args),
        Command::Man(args) => man::run(&args),
    };
    outcome.unwrap_or_else(|error| {
        let exit = error.exit();
        if exit != Exit::ClosedPipe {
            message::error(error);
        }
        exit
    })
}

/// Help and version go to standard output, usage errors to standard error.
fn no_command(error: &clap::Error) -> Exit {
    match error.print() {
        Err(closed) if closed.kind() == io::ErrorKind::BrokenPipe => Exit::ClosedPipe,
        _ if error.exit_code() == 0 => Exit::Passed,
        _ => Exit::Error,
    }
}

/// Sets what [`anstream`] does on both streams from here on.
fn colour(when: When) {
    let choice = match when {
        When::Auto => anstream::ColorChoice::Auto,
        When::Always => anstream::ColorChoice::Always,
        When::Never => anstream::ColorChoice::Never,
    };
    choice.write_global();
}
