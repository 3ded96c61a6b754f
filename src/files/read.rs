//! Reading files in blocks of whole lines through one reused buffer, so that
//! memory stays flat however large the file is.

use memchr::{memchr, memchr_iter, memrchr};

use crate::files::{FileError, Limits, OpenFile};

/// A file below this is read at once; larger ones block by block. Up to about
/// here `read` into a reused buffer beats a memory map.
pub(super) const BLOCK_BYTES: usize = 1 << 20;

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
#[derive(Debug, Default)]
pub struct Reader {
    buffer: Vec<u8>,
}

impl Reader {
    /// Hands out a file's blocks in order, then checks that the file was not
    /// written to meanwhile. A consumer's conclusions hold only if this succeeds.
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

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;
    use crate::files::Root;

    fn reading(limits: Limits) -> Reading {
        Reading {
            limits,
            skip_binary: false,
            as_one: 0,
        }
    }

    /// The blocks of a file, and what reading it came to.
    fn blocks(root: &Path, reading: &Reading) -> (Vec<(usize, u64)>, Result<Content, FileError>) {
        let file = Root::open(root)
            .unwrap()
            .find("file")
            .unwrap()
            .open()
            .unwrap();
        let mut blocks = Vec::new();
        let content = Reader::default().read(&file, reading, &mut |block| {
            blocks.push((block.bytes.len(), block.lines_before));
            Flow::More
        });
        (blocks, content)
    }

    #[test]
    fn blocks_hold_whole_lines() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        let line = "x".repeat(99) + "\n";
        for (text, expected) in [
            (String::new(), vec![(0, 0)]),
            ("a".into(), vec![(1, 0)]),
            (line.repeat(20_000), vec![(1_048_500, 0), (951_500, 10_485)]),
            (
                line.clone() + &"y".repeat(3 << 20) + "\nz",
                vec![(100, 0), ((3 << 20) + 2, 1)],
            ),
        ] {
            fs::write(&path, &text).unwrap();
            let (blocks, content) = blocks(directory.path(), &reading(Limits::default()));
            assert_eq!(blocks, expected);
            assert_eq!(content, Ok(Content::Text));
        }
    }

    #[test]
    fn caps_are_honoured_to_the_byte() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        let limits = Limits {
            max_file_bytes: 3 << 20,
            max_line_bytes: 2 << 20,
            ..Limits::default()
        };
        let line = |len: usize, end: &str| "x".repeat(len) + end;
        for (text, too_large) in [
            (line(3 << 20, ""), Some("line")),
            (line((3 << 20) + 1, ""), Some("file")),
            (line(2 << 20, "\n"), None),
            (line(2 << 20, "\r\n"), None),
            (line((2 << 20) + 1, "\n"), Some("line")),
            ("\n".repeat(3 << 20), None),
        ] {
            fs::write(&path, &text).unwrap();
            let (_, content) = blocks(directory.path(), &reading(limits));
            match (content, too_large) {
                (Ok(_), None) => {}
                (Err(FileError::TooLarge { what, .. }), Some(expected)) => {
                    assert_eq!(what, expected);
                }
                other => panic!("{other:?}"),
            }
        }
    }

    #[test]
    fn sparse_files_over_the_cap_are_not_read() {
        let directory = tempfile::tempdir().unwrap();
        let file = fs::File::create(directory.path().join("file")).unwrap();
        file.set_len(1 << 40).unwrap();
        let (blocks, content) = blocks(directory.path(), &reading(Limits::default()));
        assert!(blocks.is_empty());
        assert!(matches!(
            content,
            Err(FileError::TooLarge { what: "file", .. })
        ));
    }

    #[test]
    fn data_is_told_by_a_nul_in_the_first_8_kib() {
        let directory = tempfile::tempdir().unwrap();
        for (nul_at, size, expected) in [
            (0, 1, Content::Binary),
            (8191, 8192, Content::Binary),
            (8191, 100_000, Content::Binary),
            (8192, 8193, Content::Text),
            (8192, 100_000, Content::Text),
        ] {
            let mut text = vec![b'x'; size];
            text[nul_at] = 0;
            fs::write(directory.path().join("file"), &text).unwrap();
            let skipping = Reading {
                skip_binary: true,
                ..reading(Limits::default())
            };
            let (read, content) = blocks(directory.path(), &skipping);
            assert_eq!(content, Ok(expected));
            assert_eq!(read.is_empty(), expected == Content::Binary);
            let (_, content) = blocks(directory.path(), &reading(Limits::default()));
            assert_eq!(content, Ok(Content::Text));
        }
    }

    #[test]
    fn a_file_written_to_while_it_is_read_has_changed() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        type Change = fn(&fs::File);
        let changes: [Change; 3] = [
            |file| file.set_len(10).unwrap(),
            |file| file.set_len(5 << 20).unwrap(),
            |file| std::os::unix::fs::FileExt::write_all_at(file, b"y", 0).unwrap(),
        ];
        for change in changes {
            fs::write(&path, "line\n".repeat(1 << 19)).unwrap();
            // Times are kept in ticks of a few milliseconds.
            std::thread::sleep(std::time::Duration::from_millis(20));
            let root = Root::open(directory.path()).unwrap();
            let file = root.find("file").unwrap().open().unwrap();
            let writer = fs::File::options().write(true).open(&path).unwrap();
            let content = Reader::default().read(&file, &reading(Limits::default()), &mut |_| {
                change(&writer);
                Flow::More
            });
            assert_eq!(content, Err(FileError::Changed));
        }
    }
}
