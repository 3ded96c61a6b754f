//! `probity digest`: what a claim carries in `assertion.expression.digest`.

use clap::Args;

use crate::cli::error::CliError;
use crate::cli::options::TargetOptions;
use crate::cli::output::Output;
use crate::cli::{Exit, expression};
use crate::digest::Digest;

/// Show the digest of an expression
///
/// It is the SHA-256 of the exact bytes, whatever the language; nothing is
/// trimmed, not even a final line end.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  probity digest 'exists(\"Cargo.toml\")'
  printf %s \"$expression\" | probity digest -")]
pub(super) struct DigestArgs {
    /// The predicate, `-` to read it from standard input
    #[arg(value_name = "EXPR")]
    expression: String,
    #[command(flatten)]
    target: TargetOptions,
}

pub(super) fn run(args: &DigestArgs) -> Result<Exit, CliError> {
    let digest = Digest::of(&expression::bytes(&args.expression)?);
    Output::open(&args.target)?.write(format!("{digest}\n").as_bytes())?;
    Ok(Exit::Passed)
}
