//! A buffer that hands on whole records.

use std::io::{self, Write};

/// Bytes gathered before they are handed on.
const BLOCK: usize = 64 << 10;

/// Gathers whole records and writes them in large blocks, never half of one:
/// what has been written ends with a record's end even if the process dies.
pub(super) struct Blocks<W> {
    out: W,
    pending: Vec<u8>,
    /// An error that nobody could be told when it came.
    failed: Option<io::Error>,
}

impl<W: Write> Blocks<W> {
    pub(super) fn new(out: W) -> Self {
        Self {
            out,
            pending: Vec::with_capacity(BLOCK + BLOCK / 4),
            failed: None,
        }
    }

    /// Where the next record is written. [`Blocks::end`] ends it.
    pub(super) fn record(&mut self) -> &mut Vec<u8> {
        &mut self.pending
    }

    /// Ends a record.
    pub(super) fn end(&mut self) -> io::Result<()> {
        if self.pending.len() >= BLOCK || self.failed.is_some() {
            self.write()?;
        }
        Ok(())
    }

    /// Hands everything on, through the output's own buffers.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.write()?;
        self.out.flush()
    }

    /// The same where an error cannot be returned: the next call returns it.
    pub(super) fn flush_or_remember(&mut self) {
        if let Err(error) = self.flush() {
            self.failed = Some(error);
        }
    }

    /// The output, once everything is handed on.
    pub(super) fn get_mut(&mut self) -> io::Result<&mut W> {
        self.flush()?;
        Ok(&mut self.out)
    }

    fn write(&mut self) -> io::Result<()> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        let outcome = self.out.write_all(&self.pending);
        self.pending.clear();
        outcome
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Full;

    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::StorageFull.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn every_write_ends_with_a_record() {
        struct Ends(Vec<u8>);
        impl Write for Ends {
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                self.0.extend(bytes.last());
                Ok(bytes.len())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let mut blocks = Blocks::new(Ends(Vec::new()));
        for _ in 0..10_000 {
            blocks
                .record()
                .extend_from_slice(b"a record of some length\n");
            blocks.end().unwrap();
        }
        let ends = &blocks.get_mut().unwrap().0;
        assert!(ends.len() > 2 && ends.iter().all(|&end| end == b'\n'));
    }

    #[test]
    fn an_error_that_could_not_be_returned_is_returned_by_the_next_call() {
        let mut blocks = Blocks::new(Full);
        blocks.record().push(b'x');
        blocks.flush_or_remember();
        let error = blocks.end().unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
    }
}
