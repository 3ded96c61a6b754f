//! Whole files that a person names: programs, policies, fixtures.

use std::fs::OpenOptions;
use std::io::{Error, ErrorKind, Read, Result};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use super::open::READ;

/// Reads a regular file of UTF-8 text, of at most `max` bytes. Links are followed; a
/// pipe or a device is refused without waiting for it.
///
/// # Errors
/// What the system says; [`ErrorKind::InvalidInput`] if it is no regular file,
/// [`ErrorKind::FileTooLarge`], and [`ErrorKind::InvalidData`] if it is no UTF-8.
pub fn read_text(path: &Path, max: u64) -> Result<String> {
    let mut options = OpenOptions::new();
    let flags = READ.bits().cast_signed();
    let file = options.read(true).custom_flags(flags).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(Error::new(ErrorKind::InvalidInput, "it is no regular file"));
    }
    take_text(file, max)
}

/// Reads UTF-8 text of at most `max` bytes to its end.
///
/// # Errors
/// As [`read_text`].
pub fn take_text(source: impl Read, max: u64) -> Result<String> {
    let mut text = String::new();
    let taken = source
        .take(max.saturating_add(1))
        .read_to_string(&mut text)?;
    if taken as u64 > max {
        let message = format!("it is longer than {max} bytes");
        return Err(Error::new(ErrorKind::FileTooLarge, message));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use rustix::fs::{CWD, FileType, Mode, mknodat};

    use super::*;

    #[test]
    fn only_regular_files_within_the_limit_are_read() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("text");
        std::fs::write(&path, "four").expect("written");
        assert_eq!(read_text(&path, 4).expect("read"), "four");
        let kind = |path: &Path, max| read_text(path, max).expect_err("refused").kind();
        assert_eq!(kind(&path, 3), ErrorKind::FileTooLarge);
        assert_eq!(kind(dir.path(), 9), ErrorKind::InvalidInput);
        assert_eq!(kind(Path::new("/dev/zero"), 9), ErrorKind::InvalidInput);
        let fifo = dir.path().join("fifo");
        mknodat(CWD, &fifo, FileType::Fifo, Mode::RWXU, 0).expect("made");
        assert_eq!(kind(&fifo, 9), ErrorKind::InvalidInput);
        std::fs::write(&path, b"\xff").expect("written");
        assert_eq!(kind(&path, 9), ErrorKind::InvalidData);
    }
}
