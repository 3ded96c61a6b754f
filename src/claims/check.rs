//! A claim log through the engine: records in, verdicts out.

use std::borrow::Cow;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, channel, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rayon::prelude::*;

use crate::batch::{Batch, Content, Origin, Settings, Sink, Submission, Summary};
use crate::budget::CancelToken;
use crate::claims::{
    Body, Input, InputError, Limits, LogReader, Options, Place, RawRecord, Record, Window,
    parse_record,
};
use crate::diagnostic::Diagnostic;
use crate::engine::{Engine, EngineError};
use crate::language::Language;

/// How long the batch waits for the reader before it looks whether it was
/// cancelled: the reader may be blocked on a pipe for ever.
const PATIENCE: Duration = Duration::from_millis(50);

/// Windows that are filled while one is judged.
const AHEAD: usize = 1;

/// What came of a log.
#[derive(Debug)]
pub struct LogReport {
    /// The totals.
    pub summary: Summary,
    /// Inputs that could not be read to their end: the log was not judged as a
    /// whole.
    pub errors: Vec<InputError>,
}

/// Judges every record of the inputs and hands each result to the sink, in input
/// order. A record that is no claim is an `invalid` result; nothing is lost, and
/// the totals add up to the records read.
///
/// Memory is bounded by three windows (32,768 records or 16 MiB each) and by the
/// distinct predicates and facts. Windows do not depend on how fast the inputs
/// are, so equal logs give equal results, shares of costs included.
///
/// ```
/// use probity::batch::{ClaimResult, Settings, Verdict};
/// use probity::claims::{Input, Options, check_logs};
/// use probity::{Engine, Language, Watch};
///
/// let log = br#"{"assertion":{"form":"predicate","expression":{"source":"exists(\"Cargo.toml\")"}}}"#;
/// let engine = Engine::builder(".").build()?;
/// let options = Options {
///     default_language: Some(Language::ElenchV1),
///     ..Options::default()
/// };
/// let mut sink = Watch(|result: &ClaimResult| {
///     assert_eq!(result.verdict, Verdict::Pass);
///     Ok(())
/// });
/// let inputs = [Input::reader("log", &log[..])];
/// let report = check_logs(&engine, inputs, options, Settings::default(), &mut sink)?;
/// assert_eq!(report.summary.records, 1);
/// assert!(report.errors.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`EngineError`] if the sink refuses a result or a host's fact source breaks
/// its contract. An input that cannot be read is no error here but listed in the
/// report.
pub fn check_logs(
    engine: &Engine,
    inputs: impl IntoIterator<Item = Input>,
    options: Options,
    settings: Settings,
    sink: &mut (dyn Sink + Send),
) -> Result<LogReport, EngineError> {
    let mut batch = engine.batch(settings);
    let reader = spawn_reader(inputs.into_iter().collect());
    let token = batch.token().clone();
    while let Some(window) = reader.next(&token) {
        engine.run(|| judge(&mut batch, &window, &options, sink))?;
        reader.give_back(window);
    }
    Ok(LogReport {
        summary: batch.finish(),
        errors: reader.errors(&token),
    })
}

fn judge(
    batch: &mut Batch<'_>,
    window: &Window,
    options: &Options,
    sink: &mut (dyn Sink + Send),
) -> Result<(), EngineError> {
    let read: Vec<Read<'_>> = window
        .par_iter()
        .with_min_len(64)
        .map_init(
            || batch.stopwatch(),
            |_stopwatch, raw| Read::new(batch, raw, parse_record(raw, options)),
        )
        .collect();
    for _ in read.iter().filter(|read| read.signed_unchecked) {
        batch.note_unchecked_signature();
    }
    batch.window(read.into_iter().map(Read::submission), sink)
}

/// A record that was read on one of many threads, on its way into the batch.
struct Read<'w> {
    place: Place<'w>,
    id: Option<Box<str>>,
    language: Option<Cow<'static, str>>,
    content: Content,
    diagnostics: Vec<Diagnostic>,
    signed_unchecked: bool,
}

impl<'w> Read<'w> {
    fn new(batch: &Batch<'_>, raw: RawRecord<'w>, record: Record<'_>) -> Self {
        let content = match record.body {
            Body::Predicate(expression) => Content::Predicate(batch.prepare_digested(
                expression.language,
                &expression.source,
                expression.digest,
            )),
            Body::Annotation => Content::Annotation,
            Body::Invalid => Content::Invalid,
        };
        Self {
            place: raw.place,
            id: record.id.map(|id| id.into_owned().into_boxed_str()),
            language: record.language.map(named),
            content,
            diagnostics: record.diagnostics,
            signed_unchecked: record.signed_unchecked,
        }
    }

    /// Names the input here, on one thread: many threads that count the users of
    /// one name wait for each other.
    fn submission(self) -> Submission {
        Submission {
            origin: Origin {
                input: Arc::clone(self.place.input),
                line: Some(self.place.line),
                element: self.place.element,
            },
            id: self.id,
            language: self.language,
            content: self.content,
            diagnostics: self.diagnostics,
        }
    }
}

/// The name of a known language is not copied for each claim.
fn named(name: Cow<'_, str>) -> Cow<'static, str> {
    match name.parse::<Language>() {
        Ok(language) => Cow::Borrowed(language.name()),
        Err(_) => Cow::Owned(name.into_owned()),
    }
}

/// A thread that reads ahead. It is not joined: it may be blocked on a pipe that
/// nobody closes, and then it ends with the process.
struct Reader {
    filled: Receiver<Window>,
    empty: SyncSender<Window>,
    errors: Receiver<Vec<InputError>>,
    thread: JoinHandle<()>,
}

fn spawn_reader(inputs: Vec<Input>) -> Reader {
    let (send_filled, filled) = sync_channel(AHEAD);
    let (empty, take_empty) = sync_channel::<Window>(AHEAD + 2);
    let (send_errors, errors) = channel();
    let thread = thread::spawn(move || {
        let limits = Limits {
            window_records: 32_768,
            window_bytes: 16 << 20,
            ..Limits::default()
        };
        let mut reader = LogReader::with_limits(inputs, limits);
        loop {
            let mut window = take_empty.try_recv().unwrap_or_default();
            // Nobody listens any more once the batch has ended early.
            if !reader.fill(&mut window) || send_filled.send(window).is_err() {
                break;
            }
        }
        let _ = send_errors.send(reader.into_errors());
    });
    Reader {
        filled,
        empty,
        errors,
        thread,
    }
}

impl Reader {
    /// The next window; `None` at the end, or once the batch is interrupted.
    fn next(&self, token: &CancelToken) -> Option<Window> {
        loop {
            if token.is_interrupted() {
                return None;
            }
            match self.filled.recv_timeout(PATIENCE) {
                Ok(window) => return Some(window),
                Err(RecvTimeoutError::Disconnected) => return None,
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    fn give_back(&self, window: Window) {
        // A full channel means that there are windows enough.
        let _ = self.empty.try_send(window);
    }

    /// What could not be read. A reader that is still at work has not said yet.
    fn errors(self, token: &CancelToken) -> Vec<InputError> {
        drop(self.filled);
        loop {
            match self.errors.recv_timeout(PATIENCE) {
                Ok(errors) => return errors,
                Err(RecvTimeoutError::Timeout) => {
                    if token.is_interrupted() {
                        return Vec::new();
                    }
                }
                // It ended without a word: what it did not read must not be
                // missed.
                Err(RecvTimeoutError::Disconnected) => match self.thread.join() {
                    Ok(()) => return Vec::new(),
                    Err(panic) => resume_unwind(panic),
                },
            }
        }
    }
}
