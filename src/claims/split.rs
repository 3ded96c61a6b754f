//! Cuts an input into records: lines, objects or the elements of an array.

use serde::de::IgnoredAny;

use super::brackets::{Brackets, Stop};
use super::feed::{Feed, is_blank};
use super::window::{Start, Window};

/// How the records of an input are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// To be found out from the bytes that come next.
    Unknown,
    /// One record a line, to the end of the input.
    Lines,
    /// Objects that may span lines.
    Objects,
    /// Elements of an array; `fresh` until its first element.
    Array { fresh: bool },
    /// Nothing more.
    Ended,
}

/// The records of one input.
pub(super) struct Splitter {
    feed: Feed,
    form: Form,
    /// Index of the input.
    input: usize,
    /// Array elements so far.
    elements: u64,
    /// Size cap of a record in bytes.
    limit: usize,
}

impl Splitter {
    pub(super) fn new(feed: Feed, input: usize, limit: usize) -> Self {
        Self {
            feed,
            form: Form::Unknown,
            input,
            elements: 0,
            limit,
        }
    }

    /// The read error that ended the input early, if one did.
    pub(super) fn into_error(self) -> Option<std::io::Error> {
        self.feed.into_error()
    }

    /// Adds the next record to the window; false at the end of the input.
    pub(super) fn next_into(&mut self, window: &mut Window) -> bool {
        loop {
            let next = self.feed.skip_blank();
            match (self.form, next) {
                (Form::Array { .. }, None) => {
                    // The array has no end: one truncated record says so.
                    window.begin(self.start(), self.limit).finish(true);
                    self.form = Form::Ended;
                    return true;
                }
                (_, None) | (Form::Ended, _) => return false,
                (Form::Array { fresh: true }, Some(b']')) => {
                    self.feed.advance(1);
                    self.form = Form::Unknown;
                }
                (Form::Array { .. }, Some(_)) => {
                    self.element(window);
                    return true;
                }
                (Form::Unknown | Form::Objects, Some(b'[')) => {
                    self.feed.advance(1);
                    self.form = Form::Array { fresh: true };
                }
                (Form::Unknown, Some(first)) => self.form = self.detect(first),
                (Form::Objects, Some(b'{')) => {
                    self.object(window);
                    return true;
                }
                (Form::Objects | Form::Lines, Some(_)) => {
                    self.line(window);
                    return true;
                }
            }
        }
    }

    fn start(&self) -> Start {
        let (line, column) = self.feed.position();
        Start {
            input: self.input,
            line,
            column,
            element: matches!(self.form, Form::Array { .. }).then_some(self.elements),
        }
    }

    fn line(&mut self, window: &mut Window) {
        let mut draft = window.begin(self.start(), self.limit);
        loop {
            let bytes = self.feed.bytes();
            if let Some(newline) = memchr::memchr(b'\n', bytes) {
                draft.push(&bytes[..newline]);
                self.feed.advance(newline + 1);
                return draft.finish(false);
            }
            let len = bytes.len();
            draft.push(bytes);
            self.feed.advance(len);
            if !self.feed.more() {
                return draft.finish(true);
            }
        }
    }

    fn object(&mut self, window: &mut Window) {
        let mut draft = window.begin(self.start(), self.limit);
        let mut brackets = Brackets::default();
        loop {
            let bytes = self.feed.bytes();
            let stop = brackets.scan(bytes);
            let len = match stop {
                Some(Stop::Closed(at) | Stop::Outside(at)) => at + 1,
                None => bytes.len(),
            };
            draft.push(&bytes[..len]);
            self.feed.advance(len);
            // A stray `]` belongs to the object, which the parser will refuse.
            if matches!(stop, Some(Stop::Closed(_))) {
                return draft.finish(false);
            }
            if stop.is_none() && !self.feed.more() {
                return draft.finish(true);
            }
        }
    }

    fn element(&mut self, window: &mut Window) {
        let mut draft = window.begin(self.start(), self.limit);
        self.elements += 1;
        self.form = Form::Array { fresh: false };
        let mut brackets = Brackets::default();
        // True while nothing but white space follows a bracket that ended a value.
        let mut whole = false;
        loop {
            let bytes = self.feed.bytes();
            let stop = brackets.scan(bytes);
            // Anything between a value and the comma is part of the element, which
            // the parser will refuse.
            let len = match stop {
                Some(Stop::Outside(at)) if bytes[at] != b'}' => {
                    draft.push(&bytes[..at]);
                    if bytes[at] == b']' {
                        self.form = Form::Unknown;
                    }
                    self.feed.advance(at + 1);
                    return draft.finish(false);
                }
                Some(Stop::Closed(at) | Stop::Outside(at)) => at + 1,
                None => bytes.len(),
            };
            whole = match stop {
                Some(stop) => matches!(stop, Stop::Closed(_)),
                None => whole && bytes.iter().copied().all(is_blank),
            };
            draft.push(&bytes[..len]);
            self.feed.advance(len);
            if stop.is_none() && !self.feed.more() {
                // After a whole element the cut array still wants telling.
                if !whole {
                    self.form = Form::Ended;
                }
                return draft.finish(true);
            }
        }
    }

    /// Lines or objects? Lines, unless the first line is the beginning of an
    /// object that later lines complete. Looks ahead by one record at most.
    fn detect(&mut self, first: u8) -> Form {
        if first != b'{' || !self.first_line_only_ends_early() {
            return Form::Lines;
        }
        let mut brackets = Brackets::default();
        let mut scanned = 0;
        let end = loop {
            let ahead = self.feed.bytes();
            match brackets.scan(&ahead[scanned..]) {
                Some(Stop::Closed(at)) => break scanned + at + 1,
                Some(Stop::Outside(at)) => scanned += at + 1,
                None => {
                    scanned = ahead.len();
                    if scanned > self.limit || !self.feed.more() {
                        break scanned;
                    }
                }
            }
        };
        // A log of lines whose first one was cut has whole records further on;
        // an object over several lines that is cut or too large has none.
        let ahead = &self.feed.bytes()[..end];
        let is_object = parses(ahead);
        if !is_object && ahead.split(|byte| *byte == b'\n').any(is_whole_object) {
            Form::Lines
        } else {
            Form::Objects
        }
    }

    fn first_line_only_ends_early(&mut self) -> bool {
        let mut searched = 0;
        loop {
            let ahead = self.feed.bytes();
            if let Some(newline) = memchr::memchr(b'\n', &ahead[searched..]) {
                let line = &ahead[..searched + newline];
                let parsed = serde_json::from_slice::<IgnoredAny>(line);
                return parsed.is_err_and(|error| error.is_eof());
            }
            searched = ahead.len();
            if searched > self.limit || !self.feed.more() {
                return false;
            }
        }
    }
}

fn parses(bytes: &[u8]) -> bool {
    serde_json::from_slice::<IgnoredAny>(bytes).is_ok()
}

fn is_whole_object(line: &[u8]) -> bool {
    line.trim_ascii_start().first() == Some(&b'{') && parses(line)
}
