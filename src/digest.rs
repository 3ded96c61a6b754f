//! SHA-256 digests of sources: the key of every cache.

use std::fmt;
use std::str::FromStr;

use sha2::{Digest as _, Sha256};

/// The SHA-256 of a byte string, by which programs are cached and claims are
/// compared.
///
/// Written as `sha256:` and 64 lower-case hex digits; read with or without the
/// prefix.
///
/// ```
/// use probity::Digest;
///
/// let digest = Digest::of(br#"exists("Cargo.toml")"#);
/// assert_eq!(
///     digest.to_string(),
///     "sha256:6a75306d87d7f95b4ad052d09a592dc279ef1934c56ef78ccb7c0826a27a0fc4",
/// );
/// assert_eq!(digest.hex().parse(), Ok(digest));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Digest([u8; 32]);

/// The text is neither 64 hex digits nor `sha256:` and 64 hex digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a SHA-256 digest: expected 64 hex digits, with or without `sha256:` before them")]
pub struct DigestError;

impl Digest {
    /// Hashes the exact bytes: nothing is trimmed or normalised.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// Wraps 32 raw bytes.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The 32 raw bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The 64 lower-case hex digits without a prefix.
    #[must_use]
    pub fn hex(&self) -> String {
        let mut text = String::with_capacity(64);
        for byte in self.0 {
            for nibble in [byte >> 4, byte & 15] {
                text.push(char::from(b"0123456789abcdef"[usize::from(nibble)]));
            }
        }
        text
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sha256:{}", self.hex())
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Digest {
    type Err = DigestError;

    fn from_str(text: &str) -> Result<Self, DigestError> {
        let hex = text.strip_prefix("sha256:").unwrap_or(text).as_bytes();
        if hex.len() != 64 {
            return Err(DigestError);
        }
        let mut bytes = [0; 32];
        for (byte, pair) in bytes.iter_mut().zip(hex.chunks_exact(2)) {
            let high = char::from(pair[0]).to_digit(16).ok_or(DigestError)?;
            let low = char::from(pair[1]).to_digit(16).ok_or(DigestError)?;
            *byte = u8::try_from(high << 4 | low).map_err(|_| DigestError)?;
        }
        Ok(Self(bytes))
    }
}
