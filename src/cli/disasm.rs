//! `probity disasm`: the bytecode of an expression.

use clap::Args;

use crate::check::Options;
use crate::cli::error::CliError;
use crate::cli::options::{LanguageOptions, TargetOptions};
use crate::cli::output::Output;
use crate::cli::{Exit, expression, harn, message};
use crate::code::listing;
use crate::lower::compile;

/// Show the bytecode of an expression
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  probity disasm 'grep(/fn main/, \"src/main.rs\") == 1'
  probity disasm - < predicate.txt
  probity disasm invariants.harn

Exit status:
  0    the listing was written
  2    usage or I/O error
  3    the expression is invalid")]
pub(super) struct DisasmArgs {
    /// The predicate, `-` to read it from standard input, or a file whose name ends in
    /// `.harn`
    #[arg(value_name = "EXPR")]
    expression: String,
    #[command(flatten)]
    language: LanguageOptions,
    #[command(flatten)]
    target: TargetOptions,
}

pub(super) fn run(args: &DisasmArgs) -> Result<Exit, CliError> {
    if let Some(path) = harn::file(args.expression.as_ref()) {
        return harn::disasm(path, &args.target);
    }
    let source = expression::text(&args.expression)?;
    let language = args.language.language.unwrap_or_default();
    let options = Options {
        allow_vacuous: args.language.allow_vacuous,
    };
    match compile(language, &source, options) {
        Ok(program) => {
            Output::open(&args.target)?.write(listing(&program).as_bytes())?;
            Ok(Exit::Passed)
        }
        Err(error) => {
            message::diagnostics(&source, &error.diagnostics);
            Ok(Exit::Undecided)
        }
    }
}
