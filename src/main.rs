//! The command-line tool: turns an outcome into an exit status.

use std::process::ExitCode;

fn main() -> ExitCode {
    probity::cli::run(std::env::args_os()).into()
}
