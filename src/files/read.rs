//! Reading files in blocks of whole lines, small ones through one reused buffer and
//! large ones by mapping them, so that memory stays flat however large the file is.

#[cfg(target_os = "linux")]
use std::os::fd::AsFd as _;
#[cfg(target_os = "linux")]
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use memchr::{memchr, memchr_iter, memrchr};

#[cfg(target_os = "linux")]
use crate::files::map::Map;
#[cfg(target_os = "linux")]
use crate::files::read_slice;
use crate::files::{FileError, Limits, OpenFile};

/// A file up to this is one block; larger ones are handed out block by block.
pub(super) const BLOCK_BYTES: usize = 1 << 20;

/// Files from this size on are mapped, in bytes. Reading into a reused buffer is
/// faster up to 256 KiB, from 1 MiB on it takes up to twice as long; see
/// `docs/performance.md`.
pub const MAP_BYTES: u64 = 1 << 20;

/// How much of a file is looked at to tell text from data (ADR-0004).
pub const PROBE_BYTES: usize = 8 << 10;

/// A buffer that grew past this for a long line is given back.
const KEPT_BYTES: usize = 4 << 20;

/// Some whole lines of a file. Only the last line of a file may be without its
/// terminator; an empty file is one empty block.
#[derive(Clone, Copy, Debug)]
pub struct Block<'a> {
    /// The lines.
    pub bytes: &'a [u8],
    /// How many lines of the file came before.
    pub lines_before: u64,
    /// True if this is the whole file.
    pub is_whole: bool,
}

/// Whether a consumer wants the next block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// Go on.
    More,
    /// Enough; the rest of the file is not read.
    Enough,
}

/// What a file turned out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// It was handed out.
    Text,
    /// Its first 8 KiB hold a NUL byte and the reading was to skip such files.
    Binary,
}

/// How a file is to be read.
#[derive(Clone, Copy, Debug)]
pub struct Reading {
    /// Caps on the file and its lines.
    pub limits: Limits,
    /// Hand out nothing of a file whose first 8 KiB hold a NUL byte.
    pub skip_binary: bool,
    /// Hand out a file of up to this many bytes as one block, however long reading
    /// it takes.
    pub as_one: usize,
}

/// A reusable buffer to read files with.
#[derive(Debug)]
pub struct Reader {
    buffer: Vec<u8>,
    map_from: u64,
}

impl Default for Reader {
    fn default() -> Self {
        Self::mapping_from(MAP_BYTES)
    }
}

impl Reader {
    /// A reader that maps files from a size on, in bytes; `u64::MAX` maps none. What
    /// is handed out does not depend on it.
    #[must_use]
    pub const fn mapping_from(bytes: u64) -> Self {
        Self {
            buffer: Vec::new(),
            map_from: bytes,
        }
    }

    /// Hands out a file's blocks in order, then checks that the file was not
    /// written to meanwhile. A consumer's conclusions hold only if this succeeds.
    ///
    /// The bytes of a mapped file change when the file does, even while the consumer
    /// looks at them. A consumer that panics over that is caught, and the result is
    /// [`FileError::Changed`]; what it had in hand should be thrown away then.
    ///
    /// # Errors
    ///
    /// [`FileError::TooLarge`] for a file over its cap, and for
    /// a line once the blocks before it were handed out; [`FileError::Changed`];
    /// and what the operating system refuses.
    pub fn read(
        &mut self,
        file: &OpenFile,
        reading: &Reading,
        consume: &mut dyn FnMut(Block<'_>) -> Flow,
    ) -> Result<Content, FileError> {
        #[cfg(target_os = "linux")]
        if file.size() >= self.map_from
            && file.size() <= reading.limits.max_file_bytes
            && let Some(map) = usize::try_from(file.size())
                .ok()
                .and_then(|len| Map::new(file.as_fd(), len))
        {
            return read_map(file, &map, reading, consume);
        }
        let result = self.read_blocks(file, reading, consume);
        if self.buffer.len() > KEPT_BYTES {
            self.buffer = Vec::new();
        }
        // Before any other error: what was handed out may be wrong.
        file.verify_unchanged()?;
        result
    }

    fn read_blocks(
        &mut self,
        file: &OpenFile,
        reading: &Reading,
        consume: &mut dyn FnMut(Block<'_>) -> Flow,
    ) -> Result<Content, FileError> {
        let limits = &reading.limits;
        check_size(file, limits.max_file_bytes, "file")?;
        let mut unread = usize::try_from(file.size()).unwrap_or(usize::MAX);
        if unread == 0 {
            self.check_empty(file)?;
        }
        // Blocks depend on the file alone, not on what the buffer was used for.
        let usual = if unread <= reading.as_one {
            unread
        } else {
            BLOCK_BYTES
        };
        let mut room = usual;
        self.grow(unread.min(room));
        let mut filled = 0;
        if reading.skip_binary {
            filled = unread.min(PROBE_BYTES);
            self.fill(file, 0, filled)?;
            unread -= filled;
            if memchr(0, &self.buffer[..filled]).is_some() {
                return Ok(Content::Binary);
            }
        }
        let mut lines_before = 0;
        loop {
            let end = room.min(filled.saturating_add(unread));
            self.fill(file, filled, end)?;
            unread -= end - filled;
            let whole = if unread == 0 {
                end
            } else {
                memrchr(b'\n', &self.buffer[..end]).map_or(0, |newline| newline + 1)
            };
            filled = end - whole;
            let bytes = &self.buffer[..whole];
            if whole == 0 && unread > 0 {
                // One line fills the room.
                check_lines(&self.buffer[..end], limits.max_line_bytes)?;
                room = room.saturating_mul(2);
                self.grow(room.min(end.saturating_add(unread)));
                continue;
            }
            check_lines(bytes, limits.max_line_bytes)?;
            let flow = consume(Block {
                bytes,
                lines_before,
                is_whole: whole as u64 == file.size(),
            });
            if unread == 0 || flow == Flow::Enough {
                return Ok(Content::Text);
            }
            lines_before += memchr_iter(b'\n', bytes).count() as u64;
            self.buffer.copy_within(whole..end, 0);
            room = usual.max(filled + 1);
            self.grow(room.min(filled.saturating_add(unread)));
        }
    }

    /// Reads a small file whole.
    ///
    /// # Errors
    ///
    /// As [`Reader::read`]; `what` names the file in [`FileError::TooLarge`].
    pub fn read_whole(
        &mut self,
        file: &OpenFile,
        cap: u64,
        what: &'static str,
    ) -> Result<Vec<u8>, FileError> {
        check_size(file, cap, what)?;
        let reading = Reading {
            limits: Limits {
                max_line_bytes: usize::MAX,
                ..Limits::default()
            },
            skip_binary: false,
            as_one: usize::MAX,
        };
        let mut text = Vec::new();
        self.read(file, &reading, &mut |block| {
            text.extend_from_slice(block.bytes);
            Flow::More
        })?;
        Ok(text)
    }

    fn grow(&mut self, len: usize) {
        if self.buffer.len() < len {
            self.buffer.resize(len, 0);
        }
    }

    /// Fills a part of the buffer with what comes next in the file.
    fn fill(&mut self, file: &OpenFile, mut from: usize, to: usize) -> Result<(), FileError> {
        while from < to {
            match read(file, &mut self.buffer[from..to])? {
                // Shorter than it said.
                0 => return Err(FileError::Changed),
                read => from += read,
            }
        }
        Ok(())
    }

    /// Files that the system makes up as they are read say that they are empty.
    fn check_empty(&mut self, file: &OpenFile) -> Result<(), FileError> {
        self.grow(1);
        if read(file, &mut self.buffer[..1])? == 0 {
            return Ok(());
        }
        file.verify_unchanged()?;
        Err(FileError::NotRegular("file without a size"))
    }
}

/// Hands out a mapped file.
#[cfg(target_os = "linux")]
fn read_map(
    file: &OpenFile,
    map: &Map,
    reading: &Reading,
    consume: &mut dyn FnMut(Block<'_>) -> Flow,
) -> Result<Content, FileError> {
    let mut consume = |block: Block<'_>| {
        map.release_before(block.bytes);
        consume(block)
    };
    // Libraries panic when they find the end of a match and then not its start.
    let result = catch_unwind(AssertUnwindSafe(|| {
        read_slice(map.bytes(), reading, &mut consume)
    }));
    file.verify_unchanged()?;
    if let Some(offset) = map.fault() {
        // The file has its size, so a disk that fails, or a change and back again.
        let mut byte = [0];
        rustix::io::retry_on_intr(|| rustix::io::pread(file, &mut byte, offset))
            .map_err(FileError::Refused)?;
        return Err(FileError::Changed);
    }
    result.unwrap_or_else(|panic| resume_unwind(panic))
}

fn read(file: &OpenFile, into: &mut [u8]) -> Result<usize, FileError> {
    rustix::io::retry_on_intr(|| rustix::io::read(file, &mut *into)).map_err(FileError::Refused)
}

fn check_size(file: &OpenFile, cap: u64, what: &'static str) -> Result<(), FileError> {
    if file.size() > cap {
        return Err(FileError::TooLarge { what, cap });
    }
    Ok(())
}

pub(super) fn check_lines(bytes: &[u8], cap: usize) -> Result<(), FileError> {
    // The terminator may be two bytes.
    if bytes.len() <= cap {
        return Ok(());
    }
    for line in bytes.split(|&byte| byte == b'\n') {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.len() > cap {
            return Err(FileError::TooLarge {
                what: "line",
                cap: cap as u64,
            });
        }
    }
    Ok(())
}
