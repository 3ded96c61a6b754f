//! Reads inputs one after the other into windows of records.

use std::sync::Arc;

use super::feed::Feed;
use super::input::{Input, InputError, Source};
use super::split::Splitter;
use super::window::Window;

/// What bounds the memory of a [`LogReader`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of the largest record that is read; a larger one is skipped without
    /// being held and gives an invalid record. 16 MiB.
    pub record_bytes: usize,
    /// Records of a window. 8192: enough work for all threads.
    pub window_records: usize,
    /// Bytes of a window; the last record may exceed them. 4 MiB.
    pub window_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            record_bytes: 16 << 20,
            window_records: 8192,
            window_bytes: 4 << 20,
        }
    }
}

/// Streams the records of a list of inputs.
///
/// The form of each input is found from its content: gzip or zstd compression
/// (also one in the other), a byte order mark, then JSON Lines, an array, one
/// object, or objects in a row. An input that cannot be read is listed by
/// [`LogReader::errors`]; what came before the fault has been delivered, and the
/// other inputs go on.
pub struct LogReader {
    names: Arc<[Arc<str>]>,
    /// The inputs not yet opened, in order.
    waiting: std::vec::IntoIter<Source>,
    opened: usize,
    current: Option<Splitter>,
    limits: Limits,
    errors: Vec<InputError>,
}

impl LogReader {
    /// A reader over the inputs with the default limits. Nothing is opened yet.
    #[must_use]
    pub fn new(inputs: impl IntoIterator<Item = Input>) -> Self {
        Self::with_limits(inputs, Limits::default())
    }

    /// A reader with other limits. Limits of a window that are 0 count as 1.
    #[must_use]
    pub fn with_limits(inputs: impl IntoIterator<Item = Input>, limits: Limits) -> Self {
        let (names, sources): (Vec<_>, Vec<_>) = inputs
            .into_iter()
            .map(|input| (input.name, input.source))
            .unzip();
        Self {
            names: names.into(),
            waiting: sources.into_iter(),
            opened: 0,
            current: None,
            limits,
            errors: Vec::new(),
        }
    }

    /// Replaces the window's records by the next ones; false, with an empty
    /// window, once there are none left.
    ///
    /// Blocks while an input does. Records come in the order of the inputs, and
    /// each record read comes exactly once.
    pub fn fill(&mut self, window: &mut Window) -> bool {
        window.reset(&self.names);
        while window.len() < self.limits.window_records.max(1)
            && window.size() < self.limits.window_bytes.max(1)
        {
            let Some(splitter) = &mut self.current else {
                if self.open_next() {
                    continue;
                }
                break;
            };
            if !splitter.next_into(window) {
                let error = self.current.take().and_then(Splitter::into_error);
                self.note(error);
            }
        }
        !window.is_empty()
    }

    /// The inputs that could not be read to their end so far. Once
    /// [`LogReader::fill`] has given false the list is complete, and if it is not
    /// empty the log was not judged as a whole.
    #[must_use]
    pub fn errors(&self) -> &[InputError] {
        &self.errors
    }

    /// Ends the reader and gives what [`LogReader::errors`] lists.
    #[must_use]
    pub fn into_errors(self) -> Vec<InputError> {
        self.errors
    }

    /// Opens the next input; false if there is none.
    fn open_next(&mut self) -> bool {
        let Some(source) = self.waiting.next() else {
            return false;
        };
        let input = self.opened;
        self.opened += 1;
        match source.open() {
            Ok(bytes) => {
                let feed = Feed::new(bytes);
                self.current = Some(Splitter::new(feed, input, self.limits.record_bytes));
            }
            Err(error) => self.note(Some(error)),
        }
        true
    }

    /// Lists the error of the input opened last.
    fn note(&mut self, error: Option<std::io::Error>) {
        self.errors.extend(error.map(|error| InputError {
            name: self.names[self.opened - 1].clone(),
            error,
        }));
    }
}
