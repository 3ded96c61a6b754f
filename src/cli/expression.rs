//! Expressions from the command line or standard input.

use std::io::{self, Read as _};

use crate::cli::error::CliError;

/// Most bytes that are read: far more than a source may have, so that one that
/// is too large gets its diagnostic.
const MAX_BYTES: u64 = 16 << 20;

/// The exact bytes of an expression; `-` reads standard input, trimming nothing.
pub(super) fn bytes(argument: &str) -> Result<Vec<u8>, CliError> {
    if argument != "-" {
        return Ok(argument.as_bytes().to_vec());
    }
    let mut bytes = Vec::new();
    io::stdin()
        .lock()
        .take(MAX_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(CliError::Expression)?;
    if u64::try_from(bytes.len()).is_ok_and(|len| len > MAX_BYTES) {
        return Err(CliError::Expression(io::Error::other(
            "it is over 16 MiB; a predicate has at most 64 KiB",
        )));
    }
    Ok(bytes)
}

/// The same as text.
pub(super) fn text(argument: &str) -> Result<String, CliError> {
    String::from_utf8(bytes(argument)?)
        .map_err(|error| CliError::Expression(io::Error::new(io::ErrorKind::InvalidData, error)))
}

/// How reports name an expression's origin.
pub(super) fn origin(argument: &str) -> &'static str {
    if argument == "-" { "-" } else { "expression" }
}
