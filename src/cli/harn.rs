//! Predicate files: read, compiled, linted, listed.

use std::path::Path;

use crate::cli::error::CliError;
use crate::cli::options::TargetOptions;
use crate::cli::output::Output;
use crate::cli::{Exit, message};
use crate::files::read_text;
use crate::harn::{self, Module};

/// The path, if it is that of a predicate file.
pub(super) fn file(path: &Path) -> Option<&Path> {
    let is_harn = path
        .extension()
        .is_some_and(|extension| extension == "harn");
    is_harn.then_some(path)
}

/// The text of a file, of at most `max` bytes.
pub(super) fn read(path: &Path, max: usize) -> Result<String, CliError> {
    read_text(path, max as u64).map_err(|source| CliError::Input {
        path: path.to_owned(),
        source,
    })
}

/// A predicate file, compiled; what is wrong with it is told.
pub(super) fn compile(path: &Path) -> Result<Option<Module>, CliError> {
    let source = read(path, harn::syntax::MAX_SOURCE)?;
    match harn::compile_file(path, &source) {
        Ok(module) => Ok(Some(module)),
        Err(problems) => {
            message::problems(path, &source, &problems);
            Ok(None)
        }
    }
}

/// Says what is wrong with files and what is doubtful in them.
pub(super) fn lint(paths: &[&Path], deny_warnings: bool) -> Result<Exit, CliError> {
    let mut exit = Exit::Passed;
    let mut predicates = 0;
    for path in paths {
        let Some(module) = compile(path)? else {
            exit = Exit::Failed;
            continue;
        };
        predicates += module.predicates().len();
        let mut warnings = module.warnings().to_vec();
        warnings.extend(module.invalid_patterns());
        if !warnings.is_empty() {
            message::problems(path, module.source(), &warnings);
            if deny_warnings {
                exit = Exit::Failed;
            }
        }
    }
    if exit == Exit::Passed && predicates == 0 {
        message::warning("there is no predicate: no function carries `@invariant`");
        exit = Exit::Undecided;
    }
    Ok(exit)
}

/// Lists the instructions of a file.
pub(super) fn disasm(path: &Path, target: &TargetOptions) -> Result<Exit, CliError> {
    match compile(path)? {
        Some(module) => {
            Output::open(target)?.write(module.listing().as_bytes())?;
            Ok(Exit::Passed)
        }
        None => Ok(Exit::Undecided),
    }
}
