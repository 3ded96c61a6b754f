//! Names of objects.

use std::fmt;

use sha1::Sha1;
use sha2::{Digest, Sha256};

/// The name of an object: SHA-1 or SHA-256.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Oid {
    bytes: [u8; 32],
    len: u8,
}

impl Oid {
    /// The name that bytes are, 20 or 32 of them.
    #[must_use]
    pub fn new(name: &[u8]) -> Option<Self> {
        if !matches!(name.len(), 20 | 32) {
            return None;
        }
        let mut bytes = [0; 32];
        bytes.get_mut(..name.len())?.copy_from_slice(name);
        Some(Self {
            bytes,
            len: u8::try_from(name.len()).ok()?,
        })
    }

    /// The name that hexadecimal digits give, 40 or 64 of them.
    #[must_use]
    pub fn parse(digits: &str) -> Option<Self> {
        if !digits.is_ascii() || !digits.len().is_multiple_of(2) {
            return None;
        }
        let bytes = (0..digits.len()).step_by(2).map(|at| {
            let pair = digits.get(at..at + 2)?;
            let is_hex = pair.bytes().all(|byte| byte.is_ascii_hexdigit());
            is_hex.then(|| u8::from_str_radix(pair, 16).ok()).flatten()
        });
        Self::new(&bytes.collect::<Option<Vec<u8>>>()?)
    }

    /// The bytes of the name.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        self.bytes
            .get(..usize::from(self.len))
            .unwrap_or(&self.bytes)
    }

    /// Whether it is the name of a file with these bytes.
    #[must_use]
    pub fn is_of_blob(&self, bytes: &[u8]) -> bool {
        let header = format!("blob {}\0", bytes.len());
        match self.len {
            20 => self.is_by::<Sha1>(header.as_bytes(), bytes),
            _ => self.is_by::<Sha256>(header.as_bytes(), bytes),
        }
    }

    fn is_by<H: Digest>(&self, header: &[u8], bytes: &[u8]) -> bool {
        let digest = H::new().chain_update(header).chain_update(bytes).finalize();
        digest[..] == *self.as_bytes()
    }

    /// Enough of it for people: the first twelve digits.
    #[must_use]
    pub fn short(&self) -> String {
        self.to_string().chars().take(12).collect()
    }
}

impl fmt::Display for Oid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_bytes()
            .iter()
            .try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Oid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What `git hash-object` says.
    #[test]
    fn files_are_known_by_their_names() {
        for name in [
            "ce013625030ba8dba906f756967f9e9ca394464a",
            "2cf8d83d9ee29543b34a87727421fdecb7e3f3a183d337639025de576db9ebb4",
        ] {
            let oid = Oid::parse(name).unwrap();
            assert!(oid.is_of_blob(b"hello\n"));
            assert!(!oid.is_of_blob(b"hello"));
        }
    }

    #[test]
    fn names_are_40_or_64_digits() {
        for len in [40, 64] {
            let digits = "0123456789abcdef".repeat(4)[..len].to_owned();
            assert_eq!(Oid::parse(&digits).unwrap().to_string(), digits);
        }
        for bad in [
            "",
            "abc",
            &"a".repeat(39),
            &"g".repeat(40),
            &"+1".repeat(20),
            &"é".repeat(20),
        ] {
            assert_eq!(Oid::parse(bad), None, "{bad}");
        }
    }
}
