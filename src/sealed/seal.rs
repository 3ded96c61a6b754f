//! The tag at the start of a sealed file.
//!
//! ```text
//! tag      32 bytes  HMAC-SHA256 under the secret of the cache directory, over the
//!                    engine version, a NUL, the name, a NUL and the body
//! body     the rest
//! ```
//!
//! The tag makes a file worth nothing without the secret, which only the owner can
//! read; the name in it keeps one file from standing in for another.

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

/// The length of a tag.
pub(crate) const TAG_BYTES: usize = 32;

const ENGINE_VERSION: &str = env!("CARGO_PKG_VERSION");

/// The secret of a cache directory.
pub(crate) type Secret = [u8; 32];

/// Puts the tag of all that follows them into the first [`TAG_BYTES`] of a file.
/// `None` if it is shorter.
pub(crate) fn seal(secret: &Secret, name: &str, file: &mut [u8]) -> Option<()> {
    let (sealed, body) = file.split_at_mut_checked(TAG_BYTES)?;
    sealed.copy_from_slice(&tag(secret, name, body)?.finalize().into_bytes());
    Some(())
}

/// The body of a file; `None` for anything that was not sealed under this secret
/// and name by this version of the engine.
pub(crate) fn open<'a>(secret: &Secret, name: &str, file: &'a [u8]) -> Option<&'a [u8]> {
    let (sealed, body) = file.split_at_checked(TAG_BYTES)?;
    tag(secret, name, body)?.verify_slice(sealed).ok()?;
    Some(body)
}

fn tag(secret: &Secret, name: &str, body: &[u8]) -> Option<Hmac<Sha256>> {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret).ok()?;
    for part in [
        ENGINE_VERSION.as_bytes(),
        b"\0",
        name.as_bytes(),
        b"\0",
        body,
    ] {
        mac.update(part);
    }
    Some(mac)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: Secret = [7; 32];

    #[test]
    fn a_file_opens_under_its_own_name_and_secret_only() {
        let mut file = [&[0; TAG_BYTES][..], b"body"].concat();
        seal(&SECRET, "a", &mut file).unwrap();
        assert_eq!(open(&SECRET, "a", &file), Some(&b"body"[..]));
        assert_eq!(open(&SECRET, "b", &file), None);
        assert_eq!(open(&[8; 32], "a", &file), None);
        for bit in 0..file.len() * 8 {
            let mut torn = file.clone();
            torn[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(open(&SECRET, "a", &torn), None, "bit {bit}");
        }
        for cut in 0..file.len() {
            assert_eq!(open(&SECRET, "a", &file[..cut]), None, "cut {cut}");
        }
    }
}
