//! A buffered byte stream that knows its line and column.

use std::io::{self, ErrorKind, Read};

/// Bytes asked of the input at a time.
const CHUNK: usize = 256 * 1024;

/// The decoded bytes of one input, from the place read so far onwards.
pub(super) struct Feed {
    reader: Box<dyn Read + Send>,
    /// Always initialised to its full length; `start..end` is unread.
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    done: bool,
    error: Option<io::Error>,
    line: u64,
    column: u64,
}

impl Feed {
    pub(super) fn new(reader: Box<dyn Read + Send>) -> Self {
        Self {
            reader,
            buffer: vec![0; CHUNK],
            start: 0,
            end: 0,
            done: false,
            error: None,
            line: 1,
            column: 1,
        }
    }

    /// The bytes that are at hand.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// Line and column (in bytes) of the next byte, both counted from 1.
    pub(super) fn position(&self) -> (u64, u64) {
        (self.line, self.column)
    }

    /// Adds to the bytes at hand; false if there are no more. A read error ends
    /// the stream and is kept for [`Feed::into_error`].
    pub(super) fn more(&mut self) -> bool {
        if self.done {
            return false;
        }
        self.make_room();
        loop {
            match self.reader.read(&mut self.buffer[self.end..]) {
                Ok(0) => self.done = true,
                Ok(len) => {
                    self.end += len;
                    return true;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => {
                    self.done = true;
                    self.error = Some(error);
                }
            }
            return false;
        }
    }

    fn make_room(&mut self) {
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        } else if self.end == self.buffer.len() {
            if self.start > 0 {
                self.buffer.copy_within(self.start..self.end, 0);
                (self.start, self.end) = (0, self.end - self.start);
            }
            // Also after a small move, lest a look-ahead moves for every few bytes.
            if self.end > self.buffer.len() / 2 {
                self.buffer.resize(self.buffer.len() * 2, 0);
            }
        }
    }

    /// Steps over the next `len` bytes, which must be at hand.
    pub(super) fn advance(&mut self, len: usize) {
        let passed = &self.buffer[self.start..self.start + len];
        let mut after = None;
        for newline in memchr::memchr_iter(b'\n', passed) {
            self.line += 1;
            after = Some(newline + 1);
        }
        match after {
            Some(after) => self.column = 1 + (len - after) as u64,
            None => self.column += len as u64,
        }
        self.start += len;
    }

    /// Steps over JSON white space; gives the next byte, or `None` at the end.
    pub(super) fn skip_blank(&mut self) -> Option<u8> {
        loop {
            let blank = self.bytes().iter().take_while(|b| is_blank(**b)).count();
            self.advance(blank);
            if let Some(&byte) = self.bytes().first() {
                return Some(byte);
            }
            if !self.more() {
                return None;
            }
        }
    }

    /// The read error that ended the stream early, if one did.
    pub(super) fn into_error(self) -> Option<io::Error> {
        self.error
    }
}

/// True for JSON white space.
pub(super) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives one byte at a time and is interrupted before each.
    struct Trickle(&'static [u8], bool);

    impl Read for Trickle {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.1 = !self.1;
            if self.1 {
                return Err(ErrorKind::Interrupted.into());
            }
            self.0.read(&mut buffer[..1])
        }
    }

    #[test]
    fn positions_follow_line_ends() {
        let mut feed = Feed::new(Box::new(Trickle(b" \r\n\n  ab", false)));
        assert_eq!(feed.skip_blank(), Some(b'a'));
        assert_eq!(feed.position(), (3, 3));
        feed.advance(1);
        assert_eq!(feed.skip_blank(), Some(b'b'));
        assert_eq!(feed.position(), (3, 4));
        feed.advance(1);
        assert_eq!(feed.skip_blank(), None);
        assert!(feed.into_error().is_none());
    }

    #[test]
    fn a_look_ahead_keeps_every_byte() {
        let text: Vec<u8> = (0..CHUNK * 3).map(|at| (at % 251) as u8).collect();
        let mut feed = Feed::new(Box::new(io::Cursor::new(text.clone())));
        assert!(feed.more());
        feed.advance(10);
        while feed.more() {}
        assert_eq!(feed.bytes(), &text[10..]);
    }
}
