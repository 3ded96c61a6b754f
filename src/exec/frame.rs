//! Messages over a socket: a length of four bytes, then that many.

use std::io::{self, Read, Write};

use serde::Serialize;
use serde::de::DeserializeOwned;

/// Longer messages are none.
const MAX: usize = 64 << 20;

pub(super) fn send(to: &mut impl Write, message: &impl Serialize) -> io::Result<()> {
    let mut frame = postcard::to_extend(message, vec![0; 4]).map_err(io::Error::other)?;
    let len = u32::try_from(frame.len() - 4).map_err(io::Error::other)?;
    frame[..4].copy_from_slice(&len.to_le_bytes());
    to.write_all(&frame)
}

/// The next message; `None` at the end.
pub(super) fn receive<M: DeserializeOwned>(from: &mut impl Read) -> io::Result<Option<M>> {
    let mut len = [0; 4];
    match from.read(&mut len[..1])? {
        0 => return Ok(None),
        _ => from.read_exact(&mut len[1..])?,
    }
    let len = u32::from_le_bytes(len) as usize;
    if len > MAX {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "too long"));
    }
    let mut body = vec![0; len];
    from.read_exact(&mut body)?;
    let message = postcard::from_bytes(&body);
    message.map(Some).map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_come_as_they_were_sent_and_cut_ones_are_errors() {
        let mut bytes = Vec::new();
        send(&mut bytes, &("a", 1)).unwrap();
        send(&mut bytes, &("b", 2)).unwrap();
        let mut from = &bytes[..];
        assert_eq!(receive(&mut from).unwrap(), Some(("a".to_owned(), 1)));
        assert_eq!(receive(&mut from).unwrap(), Some(("b".to_owned(), 2)));
        assert_eq!(receive::<(String, i32)>(&mut from).unwrap(), None);
        let mut cut = &bytes[..bytes.len() - 1];
        receive::<(String, i32)>(&mut cut).unwrap();
        assert!(receive::<(String, i32)>(&mut cut).is_err());
        assert!(receive::<(String, i32)>(&mut &[255; 9][..]).is_err());
    }
}
