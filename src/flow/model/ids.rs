//! The names of things of the model: hashes and opaque strings. (flow.md, section 1.1.)

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use sha2::{Digest as _, Sha256};

use crate::digest::Digest;

/// Hex digits of an id.
const HEX: usize = 64;

/// A text that is no id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IdError {
    /// It is too long or too short.
    #[error("an id has 64 hex digits, and this text has {0} bytes")]
    Length(usize),
    /// One of its bytes is no hex digit.
    #[error("an id has 64 hex digits, and byte {0} of this text is none")]
    Digit(usize),
}

fn parse(text: &str) -> Result<Digest, IdError> {
    if text.len() != HEX {
        return Err(IdError::Length(text.len()));
    }
    let wrong = text.bytes().position(|byte| !byte.is_ascii_hexdigit());
    // A text of this length that starts with `sha256:` is refused by the digits.
    text.parse()
        .map_err(|_| IdError::Digit(wrong.unwrap_or_default()))
}

/// Takes ids from texts without keeping the text.
struct HexVisitor;

impl de::Visitor<'_> for HexVisitor {
    type Value = Digest;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("64 hex digits")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Digest, E> {
        parse(text).map_err(E::custom)
    }
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident;)+) => {$(
        $(#[$doc])*
        ///
        /// Written as 64 lower-case hex digits without a prefix; read in either case.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name([u8; 32]);

        impl $name {
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
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&Digest::from_bytes(self.0).hex())
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}({self})", stringify!($name))
            }
        }

        impl FromStr for $name {
            type Err = IdError;

            fn from_str(text: &str) -> Result<Self, IdError> {
                parse(text).map(|digest| Self(*digest.as_bytes()))
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let digest = deserializer.deserialize_str(HexVisitor)?;
                Ok(Self(*digest.as_bytes()))
            }
        }
    )+};
}

ids! {
    /// The id of an atom: the SHA-256 of its canonical body.
    AtomId;
    /// The id of an intent.
    IntentId;
    /// The id of a slice, of either kind.
    SliceId;
}

/// The SHA-256 of parts one after the other, without anything between them.
pub(super) fn hash_parts<'p>(parts: impl IntoIterator<Item = &'p [u8]>) -> [u8; 32] {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update(part);
    }
    hasher.finalize().into()
}

macro_rules! opaque {
    ($($(#[$doc:meta])* $name:ident;)+) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// The text as it was given.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl From<String> for $name {
            fn from(text: String) -> Self {
                Self(text)
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(text.into())
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    )+};
}

opaque! {
    /// The hash of a predicate. Hashes of sources are `sha256:` and 64 hex digits, but
    /// any text is legal. (flow.md, section 2.5.)
    PredicateHash;
    /// The name of a test, as its owner gives it.
    TestId;
}

#[cfg(test)]
mod tests {
    use super::{AtomId, IdError};

    #[test]
    fn ids_are_read_in_either_case_and_written_in_lower_case() {
        let upper = "AB".repeat(32);
        let id: AtomId = upper.parse().expect("upper case is read");
        assert_eq!(id.to_string(), "ab".repeat(32));
        let json = serde_json::to_string(&id).expect("ids are written");
        assert_eq!(json, format!("\"{}\"", "ab".repeat(32)));
        let read: AtomId = serde_json::from_str(&format!("\"{upper}\"")).expect("ids are read");
        assert_eq!(read, id);
    }

    #[test]
    fn what_is_no_id_is_refused() {
        let prefixed = format!("sha256:{}", "a".repeat(57));
        for (text, error) in [
            ("", IdError::Length(0)),
            (&*"a".repeat(63), IdError::Length(63)),
            (&*"a".repeat(65), IdError::Length(65)),
            (&*format!("sha256:{}", "a".repeat(64)), IdError::Length(71)),
            (&*prefixed, IdError::Digit(0)),
            (&*format!("{}+f", "a".repeat(62)), IdError::Digit(62)),
            (&*format!("é{}", "a".repeat(62)), IdError::Digit(0)),
        ] {
            assert_eq!(text.parse::<AtomId>(), Err(error), "{text}");
        }
    }
}
