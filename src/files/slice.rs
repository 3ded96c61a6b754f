//! Texts that are in memory already, handed out as [`Reader`] hands out files.

use memchr::{memchr, memchr_iter, memrchr};

use crate::files::read::{BLOCK_BYTES, check_lines};
use crate::files::{Block, Content, FileError, Flow, PROBE_BYTES, Reading};

/// Hands out the same blocks as [`crate::files::Reader::read`] does for a file that
/// holds these bytes.
///
/// # Errors
///
/// [`FileError::TooLarge`] for a text over its cap, and for a line once the blocks
/// before it were handed out.
pub fn read_slice(
    text: &[u8],
    reading: &Reading,
    consume: &mut dyn FnMut(Block<'_>) -> Flow,
) -> Result<Content, FileError> {
    let limits = &reading.limits;
    if text.len() as u64 > limits.max_file_bytes {
        return Err(FileError::TooLarge {
            what: "file",
            cap: limits.max_file_bytes,
        });
    }
    let probe = text.get(..PROBE_BYTES).unwrap_or(text);
    if reading.skip_binary && memchr(0, probe).is_some() {
        return Ok(Content::Binary);
    }
    let usual = if text.len() <= reading.as_one {
        text.len()
    } else {
        BLOCK_BYTES
    };
    let mut rest = text;
    let mut lines_before = 0;
    let mut room = usual;
    loop {
        let read = rest.get(..room).unwrap_or(rest);
        let is_last = read.len() == rest.len();
        let whole = match memrchr(b'\n', read) {
            _ if is_last => read.len(),
            newline => newline.map_or(0, |newline| newline + 1),
        };
        if whole == 0 && !is_last {
            // One line fills the room.
            check_lines(read, limits.max_line_bytes)?;
            room = room.saturating_mul(2);
            continue;
        }
        let (bytes, after) = rest.split_at(whole);
        check_lines(bytes, limits.max_line_bytes)?;
        let flow = consume(Block {
            bytes,
            lines_before,
            is_whole: bytes.len() == text.len(),
        });
        if is_last || flow == Flow::Enough {
            return Ok(Content::Text);
        }
        lines_before += memchr_iter(b'\n', bytes).count() as u64;
        room = usual.max(read.len() - whole + 1);
        rest = after;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::files::{Limits, Reader, Root};

    type Blocks = (Vec<(Vec<u8>, u64, bool)>, Result<Content, FileError>);

    fn blocks(
        read: impl FnOnce(&mut dyn FnMut(Block<'_>) -> Flow) -> Result<Content, FileError>,
    ) -> Blocks {
        let mut blocks = Vec::new();
        let content = read(&mut |block| {
            blocks.push((block.bytes.to_vec(), block.lines_before, block.is_whole));
            Flow::More
        });
        (blocks, content)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        #[test]
        fn slices_are_handed_out_as_files_are(
            lines in proptest::collection::vec(0_usize..700_000, 0..8),
            nul in proptest::option::of(0_usize..10_000),
            max_line_bytes in prop_oneof![Just(16 << 20), Just(500_000)],
            max_file_bytes in prop_oneof![Just(256 << 20), Just(1_000_000)],
            skip_binary: bool,
            as_one in prop_oneof![Just(0), Just(3 << 20)],
            ends: bool,
        ) {
            let mut text = Vec::new();
            for len in lines {
                text.extend(std::iter::repeat_n(b'x', len));
                text.push(b'\n');
            }
            if !ends {
                text.pop();
            }
            if let Some(byte) = nul.and_then(|at| text.get_mut(at)) {
                *byte = 0;
            }
            let directory = tempfile::tempdir().unwrap();
            std::fs::write(directory.path().join("file"), &text).unwrap();
            let reading = Reading {
                limits: Limits { max_line_bytes, max_file_bytes, ..Limits::default() },
                skip_binary,
                as_one,
            };
            let root = Root::open(directory.path()).unwrap();
            let [of_file, mapped] = [u64::MAX, 0].map(|map_from| {
                let file = root.find("file").unwrap().open().unwrap();
                let mut reader = Reader::mapping_from(map_from);
                blocks(|consume| reader.read(&file, &reading, consume))
            });
            prop_assert_eq!(&of_file, &mapped);
            let of_slice = blocks(|consume| read_slice(&text, &reading, consume));
            prop_assert_eq!(of_file, of_slice);
        }
    }
}
