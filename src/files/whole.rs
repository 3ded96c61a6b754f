//! Small files as a whole.

use crate::files::{FileError, Flow, Limits, Node, Reader, Reading, Tree};

/// What a file holds, of up to `cap` bytes. Nothing but a regular file is read.
///
/// # Errors
///
/// As [`Tree::find`] and as reading it; [`FileError::TooLarge`] if it is over the cap.
pub fn read_whole(tree: &dyn Tree, path: &str, cap: u64) -> Result<Vec<u8>, FileError> {
    let Node::File(file) = tree.find(path)? else {
        return Err(FileError::NotRegular("directory"));
    };
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
    let read = file.read(&mut reader, &reading, &mut |block| {
        bytes.extend_from_slice(block.bytes);
        Flow::More
    });
    read.content.map(|_| bytes)
}
