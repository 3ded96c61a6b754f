//! The one place where claim logs meet the engine.

use std::path::PathBuf;

use crate::batch::{Settings, Sink, Summary};
use crate::cli::error::CliError;
use crate::cli::input::LogStream;
use crate::engine::Engine;
use crate::language::Language;
use crate::report::InputFailure;

/// What judging logs came to.
pub(super) struct LogRun {
    /// The totals over all logs.
    pub(super) summary: Summary,
    /// Logs that could not be read to their end.
    pub(super) failures: Vec<InputFailure>,
}

/// Judges every claim of the logs and hands each result to the sink.
pub(super) fn judge(
    engine: &Engine,
    logs: &[PathBuf],
    language: Option<Language>,
    settings: Settings,
    sink: &mut (dyn Sink + Send),
) -> Result<LogRun, CliError> {
    use std::io::Read as _;
    let mut failures = Vec::new();
    let mut claims = Vec::new();
    for log in logs {
        let mut text = String::new();
        let name: Box<str> = log.to_string_lossy().into();
        match LogStream::new(log, engine.cancel_token().clone()).read_to_string(&mut text) {
            Ok(_) => claims.extend(text.lines().map(|line| crate::ClaimInput {
                id: Some(name.clone()),
                language: language.unwrap_or_default(),
                source: line.into(),
            })),
            Err(error) => failures.push(InputFailure {
                input: name,
                error: error.to_string().into(),
            }),
        }
    }
    let summary = engine.evaluate_batch(claims, settings, sink)?;
    Ok(LogRun { summary, failures })
}
