//! A batch of raw records in one reused buffer.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use super::feed::is_blank;

/// Where a record begins.
///
/// Displays as reports show it: `claims.jsonl:12`, `-:3`, and `array.json:[4]`
/// for the elements of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place<'a> {
    /// The name of the input.
    pub input: &'a Arc<str>,
    /// The line, counted from 1.
    pub line: u64,
    /// The column in bytes, counted from 1.
    pub column: u64,
    /// Which element of the input's arrays, counted from 0.
    pub element: Option<u64>,
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.element {
            Some(element) => write!(f, "{}:[{element}]", self.input),
            None => write!(f, "{}:{}", self.input, self.line),
        }
    }
}

/// The bytes of one record, not yet looked at.
#[derive(Clone, Copy, Debug)]
pub struct RawRecord<'a> {
    /// Where it begins.
    pub place: Place<'a>,
    /// The record without surrounding white space; empty if it was too large.
    pub bytes: &'a [u8],
    /// True if the end of the input ended it, not a line end or bracket.
    pub at_end: bool,
    /// The size cap in bytes, if the record was over it.
    pub over_limit: Option<usize>,
}

/// Records of one or more inputs, filled by [`super::LogReader::fill`] and then
/// parsed, in any order and on any thread.
#[derive(Debug, Default)]
pub struct Window {
    names: Arc<[Arc<str>]>,
    bytes: Vec<u8>,
    entries: Vec<Entry>,
}

#[derive(Debug)]
struct Entry {
    start: Start,
    range: Range<usize>,
    at_end: bool,
    over_limit: Option<usize>,
}

/// Where a record begins, with its input as an index.
#[derive(Clone, Copy, Debug)]
pub(super) struct Start {
    pub(super) input: usize,
    pub(super) line: u64,
    pub(super) column: u64,
    pub(super) element: Option<u64>,
}

impl Window {
    /// How many records it holds.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// True if it holds no record.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The record at the index, or `None` past the last one.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<RawRecord<'_>> {
        self.entries.get(index).map(|entry| self.record(entry))
    }

    /// The records in input order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = RawRecord<'_>> {
        self.entries.iter().map(|entry| self.record(entry))
    }

    /// The records in input order, for all threads at once.
    pub fn par_iter(&self) -> impl rayon::iter::IndexedParallelIterator<Item = RawRecord<'_>> {
        use rayon::iter::{IntoParallelRefIterator as _, ParallelIterator as _};
        self.entries.par_iter().map(|entry| self.record(entry))
    }

    fn record(&self, entry: &Entry) -> RawRecord<'_> {
        RawRecord {
            place: Place {
                input: &self.names[entry.start.input],
                line: entry.start.line,
                column: entry.start.column,
                element: entry.start.element,
            },
            bytes: &self.bytes[entry.range.clone()],
            at_end: entry.at_end,
            over_limit: entry.over_limit,
        }
    }

    /// Empties it for records of the named inputs; the buffers stay.
    pub(super) fn reset(&mut self, names: &Arc<[Arc<str>]>) {
        self.names = Arc::clone(names);
        self.bytes.clear();
        self.entries.clear();
    }

    /// Bytes held.
    pub(super) fn size(&self) -> usize {
        self.bytes.len()
    }

    /// Begins a record, to be ended by [`Draft::finish`].
    pub(super) fn begin(&mut self, start: Start, limit: usize) -> Draft<'_> {
        Draft {
            from: self.bytes.len(),
            window: self,
            start,
            limit,
            over: false,
        }
    }
}

/// A record that is being copied into a window.
pub(super) struct Draft<'w> {
    window: &'w mut Window,
    start: Start,
    from: usize,
    limit: usize,
    over: bool,
}

impl Draft<'_> {
    /// Adds to the record. Over the limit nothing is kept, so memory stays flat.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        let len = self.window.bytes.len() - self.from;
        if self.over || bytes.len() > self.limit - len {
            self.over = true;
            self.window.bytes.truncate(self.from);
        } else {
            self.window.bytes.extend_from_slice(bytes);
        }
    }

    /// Ends the record.
    pub(super) fn finish(self, at_end: bool) {
        let bytes = &mut self.window.bytes;
        let trailing = bytes[self.from..]
            .iter()
            .rev()
            .take_while(|byte| is_blank(**byte))
            .count();
        bytes.truncate(bytes.len() - trailing);
        self.window.entries.push(Entry {
            start: self.start,
            range: self.from..bytes.len(),
            at_end,
            over_limit: self.over.then_some(self.limit),
        });
    }
}
