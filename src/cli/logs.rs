//! The one place where claim logs meet the engine.

use std::path::PathBuf;

use crate::batch::{Settings, Sink, Summary};
use crate::claims::{Input, Options, check_logs};
use crate::cli::error::CliError;
use crate::cli::input::{self, LogStream};
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
    let inputs = logs.iter().map(|log| {
        let stream = LogStream::new(log, engine.cancel_token().clone());
        Input::reader(log.to_string_lossy(), stream)
    });
    let options = Options {
        default_language: language,
        ..Options::default()
    };
    let report = check_logs(engine, inputs, options, settings, sink)?;
    let failed = report.errors.into_iter();
    let failures = failed
        .filter(|failed| !input::is_stop(&failed.error))
        .map(|failed| InputFailure {
            input: (*failed.name).into(),
            error: failed.error.to_string().into(),
        });
    Ok(LogRun {
        summary: report.summary,
        failures: failures.collect(),
    })
}
