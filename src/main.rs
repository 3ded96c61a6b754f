//! The command-line tool: turns an outcome into an exit status.

use std::process::ExitCode;

fn main() -> ExitCode {
    // Executing is for helpers that this program starts of itself.
    #[cfg(target_os = "linux")]
    if let Some(status) = probity::exec::serve_if_asked(std::env::args_os()) {
        return status;
    }
    probity::cli::run(std::env::args_os()).into()
}
