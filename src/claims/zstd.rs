//! Zstandard streams: frames one after the other, skippable ones among them.

use std::io::{self, BufRead, ErrorKind, Read};

use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

/// Decodes a stream of frames, with at most one window (128 MiB, as other
/// decoders allow) and one block in memory, and verifies the checksums that the
/// frames carry.
pub(super) struct ZstdReader<R> {
    source: R,
    decoder: FrameDecoder,
    /// True while a frame is being decoded.
    in_frame: bool,
}

impl<R: BufRead> ZstdReader<R> {
    pub(super) fn new(source: R) -> Self {
        Self {
            source,
            decoder: FrameDecoder::new(),
            in_frame: false,
        }
    }

    /// Reads the next frame's header; false at the end of the stream.
    fn next_frame(&mut self) -> io::Result<bool> {
        while !self.source.fill_buf()?.is_empty() {
            match self.decoder.init(&mut self.source) {
                Ok(()) => {
                    self.in_frame = true;
                    return Ok(true);
                }
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => {
                    let mut skipped = self.source.by_ref().take(length.into());
                    if io::copy(&mut skipped, &mut io::sink())? < length.into() {
                        return Err(ErrorKind::UnexpectedEof.into());
                    }
                }
                Err(error) => return Err(corrupt(error)),
            }
        }
        Ok(false)
    }
}

impl<R: BufRead> Read for ZstdReader<R> {
    fn read(&mut self, target: &mut [u8]) -> io::Result<usize> {
        if target.is_empty() {
            return Ok(0);
        }
        loop {
            if !self.in_frame && !self.next_frame()? {
                return Ok(0);
            }
            if self.decoder.can_collect() > 0 {
                return self.decoder.read(target);
            }
            if self.decoder.is_finished() {
                let stated = self.decoder.get_checksum_from_data();
                if stated.is_some() && stated != self.decoder.get_calculated_checksum() {
                    return Err(corrupt("the checksum does not match"));
                }
                self.in_frame = false;
            } else {
                self.decoder
                    .decode_blocks(&mut self.source, BlockDecodingStrategy::UptoBlocks(1))
                    .map_err(corrupt)?;
            }
        }
    }
}

fn corrupt(error: impl std::fmt::Display) -> io::Error {
    let text = format!("corrupt zstd data: {error}");
    io::Error::new(ErrorKind::InvalidData, text)
}

#[cfg(test)]
mod tests {
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};

    use super::*;

    fn read(bytes: &[u8]) -> io::Result<Vec<u8>> {
        let mut text = Vec::new();
        ZstdReader::new(bytes).read_to_end(&mut text)?;
        Ok(text)
    }

    fn frame(bytes: &[u8]) -> Vec<u8> {
        compress_to_vec(bytes, CompressionLevel::Fastest)
    }

    fn skippable(bytes: &[u8]) -> Vec<u8> {
        let len = u32::try_from(bytes.len()).unwrap();
        [&[0x53, 0x2a, 0x4d, 0x18], &len.to_le_bytes()[..], bytes].concat()
    }

    #[test]
    fn frames_and_skippable_frames() {
        let stream = [
            skippable(b"note"),
            frame(b"one "),
            skippable(b""),
            frame(b""),
            frame(b"two"),
            skippable(b"end"),
        ];
        assert_eq!(read(&stream.concat()).unwrap(), b"one two");
        assert_eq!(read(b"").unwrap(), b"");
    }

    /// `printf 'hello hello hello hello\n' | zstd` of the reference
    /// implementation, which adds a checksum.
    const REFERENCE: &[u8] = &[
        0x28, 0xb5, 0x2f, 0xfd, 0x04, 0x58, 0x6d, 0x00, 0x00, 0x38, 0x68, 0x65, 0x6c, 0x6c, 0x6f,
        0x20, 0x0a, 0x01, 0x00, 0x99, 0x4b, 0x11, 0xa8, 0x7c, 0x2e, 0xa8,
    ];

    #[test]
    fn checksums_are_verified() {
        assert_eq!(read(REFERENCE).unwrap(), b"hello hello hello hello\n");
        let mut flipped = REFERENCE.to_vec();
        *flipped.last_mut().unwrap() ^= 1;
        let error = read(&flipped).unwrap_err().to_string();
        assert!(error.contains("checksum"), "{error}");
    }

    #[test]
    fn every_cut_and_every_tail_is_an_error() {
        let whole = frame(&b"some text, some more text, ".repeat(20));
        for cut in 1..whole.len() {
            assert!(read(&whole[..cut]).is_err(), "{cut}");
        }
        assert!(read(&[&whole[..], b"tail"].concat()).is_err());
        assert!(read(&skippable(b"note")[..10]).is_err());
    }
}
