//! Small files as a whole.

use sha2::{Digest as _, Sha256};

use crate::files::{Block, FileError, Flow, Limits, Node, OpenFile, Reader, Reading, Tree};

/// What a file holds, of up to `cap` bytes. Nothing but a regular file is read.
///
/// # Errors
///
/// As [`Tree::find`] and as reading it; [`FileError::TooLarge`] if it is over the cap.
pub fn read_whole(tree: &dyn Tree, path: &str, cap: u64) -> Result<Vec<u8>, FileError> {
    let Node::File(file) = tree.find(path)? else {
        return Err(FileError::NotRegular("directory"));
    };
    collect(cap, |reader, reading, consume| {
        file.read(reader, reading, consume).content.map(|_| ())
    })
}

/// What an open file holds, of up to `cap` bytes.
///
/// # Errors
///
/// As [`Reader::read`].
pub fn read_open(file: &OpenFile, cap: u64) -> Result<Vec<u8>, FileError> {
    collect(cap, |reader, reading, consume| {
        reader.read(file, reading, consume).map(|_| ())
    })
}

/// The SHA-256 of what an open file holds, whatever its size.
///
/// # Errors
///
/// [`FileError::Changed`], and what the operating system refuses.
pub fn digest_open(file: &OpenFile) -> Result<[u8; 32], FileError> {
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 64 << 10];
    let mut at = 0;
    loop {
        let read = rustix::io::retry_on_intr(|| rustix::io::pread(file, &mut *buffer, at));
        let read = read.map_err(FileError::Refused)?;
        let Some(bytes) = buffer.get(..read).filter(|bytes| !bytes.is_empty()) else {
            break;
        };
        hash.update(bytes);
        at += read as u64;
    }
    file.verify_unchanged()?;
    Ok(hash.finalize().into())
}

type Consume<'c> = dyn FnMut(Block<'_>) -> Flow + 'c;

fn collect(
    cap: u64,
    read: impl FnOnce(&mut Reader, &Reading, &mut Consume<'_>) -> Result<(), FileError>,
) -> Result<Vec<u8>, FileError> {
    let all = usize::try_from(cap).unwrap_or(usize::MAX);
    let reading = Reading {
        limits: Limits {
            max_file_bytes: cap,
            max_line_bytes: all,
            ..Limits::default()
        },
        skip_binary: false,
        as_one: all,
    };
    let mut bytes = Vec::new();
    // What is mapped may change while it is copied.
    let mut reader = Reader::mapping_from(u64::MAX);
    read(&mut reader, &reading, &mut |block| {
        bytes.extend_from_slice(block.bytes);
        Flow::More
    })?;
    Ok(bytes)
}
