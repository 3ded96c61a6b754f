//! Files of JSON that options name.

use std::path::Path;

use serde_json::Value as Json;

use crate::cli::error::CliError;
use crate::cli::harn;
use crate::files::take_text;

/// Most bytes of a slice or of what comes with it.
const MOST_JSON: usize = 256 << 20;

/// A file of JSON, `-` for standard input.
pub(super) fn read(path: &Path) -> Result<Json, CliError> {
    let text = if path.as_os_str() == "-" {
        let text = take_text(std::io::stdin(), MOST_JSON as u64);
        text.map_err(|source| CliError::Input {
            path: path.to_owned(),
            source,
        })?
    } else {
        harn::read(path, MOST_JSON)?
    };
    serde_json::from_str(&text)
        .map_err(|error| CliError::Usage(format!("`{}`: {error}", path.display())))
}
