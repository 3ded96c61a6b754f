//! Where logs come from, and what they are wrapped in.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufReader, Cursor, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use flate2::bufread::MultiGzDecoder;

use super::zstd::ZstdReader;

/// Compressions around a log that are undone.
const MAX_LAYERS: usize = 2;

/// Compressed bytes read at a time.
const COMPRESSED_CHUNK: usize = 64 * 1024;

/// One claim log: a file, standard input, or any reader.
pub struct Input {
    pub(super) name: Arc<str>,
    pub(super) source: Source,
}

/// The bytes behind an input, opened when its turn comes.
pub(super) enum Source {
    Path(PathBuf),
    Stdin,
    Reader(Box<dyn Read + Send>),
}

impl Input {
    /// The file at the path, which also names it in reports.
    #[must_use]
    pub fn path(path: impl AsRef<Path>) -> Self {
        let path = path.as_ref();
        Self {
            name: path.to_string_lossy().into(),
            source: Source::Path(path.to_owned()),
        }
    }

    /// Standard input, named `-`.
    #[must_use]
    pub fn stdin() -> Self {
        Self {
            name: "-".into(),
            source: Source::Stdin,
        }
    }

    /// A command line's word: `-` is standard input, all else a path.
    #[must_use]
    pub fn from_arg(word: &OsStr) -> Self {
        if word == "-" {
            Self::stdin()
        } else {
            Self::path(word)
        }
    }

    /// Any bytes, under the name that reports are to show.
    #[must_use]
    pub fn reader(name: impl Into<Arc<str>>, reader: impl Read + Send + 'static) -> Self {
        Self {
            name: name.into(),
            source: Source::Reader(Box::new(reader)),
        }
    }
}

/// An input that could not be opened or not be read to its end.
#[derive(Debug, thiserror::Error)]
#[error("cannot read claim log `{name}`: {error}")]
pub struct InputError {
    /// The input's name.
    pub name: Arc<str>,
    /// What went wrong.
    #[source]
    pub error: io::Error,
}

impl Source {
    /// Opens the input and undoes compression and byte order mark.
    ///
    /// # Errors
    /// The file cannot be opened or read, is compressed more than twice, or is
    /// UTF-16.
    pub(super) fn open(self) -> io::Result<Box<dyn Read + Send>> {
        match self {
            Self::Path(path) => decode(Box::new(File::open(path)?)),
            Self::Stdin => decode(Box::new(io::stdin())),
            Self::Reader(reader) => decode(reader),
        }
    }
}

/// What the first bytes say.
enum Wrapping {
    Gzip,
    Zstd,
    /// A UTF-8 byte order mark of three bytes.
    Mark,
    Utf16,
    None,
}

impl Wrapping {
    fn of(head: &[u8]) -> Self {
        match head {
            [0x1f, 0x8b, ..] => Self::Gzip,
            // A frame, or one that decoders skip.
            [0x28, 0xb5, 0x2f, 0xfd] | [0x50..=0x5f, 0x2a, 0x4d, 0x18] => Self::Zstd,
            [0xef, 0xbb, 0xbf, ..] => Self::Mark,
            [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => Self::Utf16,
            _ => Self::None,
        }
    }
}

fn decode(mut reader: Box<dyn Read + Send>) -> io::Result<Box<dyn Read + Send>> {
    for _ in 0..=MAX_LAYERS {
        let mut head = Vec::with_capacity(4);
        reader.by_ref().take(4).read_to_end(&mut head)?;
        let wrapping = Wrapping::of(&head);
        if matches!(wrapping, Wrapping::Mark) {
            head.drain(..3);
        }
        let whole = Cursor::new(head).chain(reader);
        reader = match wrapping {
            Wrapping::Gzip => Box::new(MultiGzDecoder::new(buffered(whole))),
            Wrapping::Zstd => Box::new(ZstdReader::new(buffered(whole))),
            Wrapping::Utf16 => return Err(refused("it is UTF-16; convert it to UTF-8")),
            Wrapping::Mark | Wrapping::None => return Ok(Box::new(whole)),
        };
    }
    Err(refused(
        "it is compressed more than twice; decompress it first",
    ))
}

fn buffered<R: Read>(reader: R) -> BufReader<R> {
    BufReader::with_capacity(COMPRESSED_CHUNK, reader)
}

fn refused(why: &'static str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, why)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::{Compression, write::GzEncoder};
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};

    use super::*;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn zstd(bytes: &[u8]) -> Vec<u8> {
        compress_to_vec(bytes, CompressionLevel::Fastest)
    }

    fn read(bytes: Vec<u8>) -> io::Result<Vec<u8>> {
        let mut text = Vec::new();
        decode(Box::new(Cursor::new(bytes)))?.read_to_end(&mut text)?;
        Ok(text)
    }

    #[test]
    fn compression_is_found_by_content() {
        let text = b"{\"a\": 1}\n".repeat(100_000);
        for bytes in [
            text.clone(),
            [b"\xef\xbb\xbf", &text[..]].concat(),
            gzip(&text),
            zstd(&text),
            gzip(&zstd(&text)),
            zstd(&gzip(&text)),
            gzip(&gzip(&text)),
            gzip(&[b"\xef\xbb\xbf", &text[..]].concat()),
            [gzip(&text[..9]), gzip(&text[9..])].concat(),
            [zstd(&text[..9]), zstd(&text[9..])].concat(),
        ] {
            assert!(read(bytes).unwrap() == text);
        }
        for short in [&b""[..], b"1", b"{}", b"\x1f", b"\xef\xbb"] {
            assert_eq!(read(short.to_vec()).unwrap(), short);
        }
        assert_eq!(read(gzip(b"")).unwrap(), b"");
    }

    #[test]
    fn faults_are_errors() {
        let error = |bytes: Vec<u8>| read(bytes).unwrap_err().to_string();
        assert!(error(b"\xff\xfe{\0}\0".to_vec()).contains("UTF-16"));
        assert!(error(b"\xfe\xff\0{\0}".to_vec()).contains("UTF-16"));
        assert!(error(gzip(&gzip(&gzip(b"{}")))).contains("more than twice"));
        let text = b"{\"a\": 1}\n".repeat(1000);
        for mut whole in [gzip(&text), zstd(&text)] {
            let cut = whole[..whole.len() - 5].to_vec();
            assert!(read(cut).is_err());
            let middle = whole.len() / 2;
            whole[middle] ^= 0x10;
            assert!(read(whole.clone()).is_err());
            whole[middle] ^= 0x10;
            whole.extend(b"tail");
            assert!(read(whole).is_err());
        }
    }
}
