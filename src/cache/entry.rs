//! One entry of the disk cache: an authenticated program.
//!
//! ```text
//! tag      32 bytes  HMAC-SHA256 under the key of the cache directory, over the
//!                    engine version, a NUL, the entry's name, a NUL and the body
//! body     the rest  the program as `code::encode` writes it
//! ```
//!
//! A checksum alone would let whoever can write the directory plant a program
//! that always passes. The tag makes an entry worth nothing without the key,
//! which only the owner can read; the name in it keeps one entry from standing
//! in for another.

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use crate::cache::Key;
use crate::code::{Program, decode, encode};

const TAG_BYTES: usize = 32;
const ENGINE_VERSION: &str = env!("CARGO_PKG_VERSION");

/// The secret of a cache directory.
pub(super) type Secret = [u8; 32];

/// The file name of an entry.
pub(super) fn name(key: &Key) -> String {
    let lax = if key.options.allow_vacuous {
        "-lax"
    } else {
        ""
    };
    format!("{}-{}{lax}", key.digest.hex(), key.language)
}

/// The bytes of an entry.
pub(super) fn seal(secret: &Secret, name: &str, program: &Program) -> Option<Vec<u8>> {
    let body = encode(program);
    let mut entry = tag(secret, name, &body)?.finalize().into_bytes().to_vec();
    entry.extend_from_slice(&body);
    Some(entry)
}

/// The program of an entry; `None` for anything that was not sealed for this
/// key by this version of the engine, or that the verifier refuses.
pub(super) fn open(secret: &Secret, key: &Key, entry: &[u8]) -> Option<Program> {
    let (sealed, body) = entry.split_at_checked(TAG_BYTES)?;
    tag(secret, &name(key), body)?.verify_slice(sealed).ok()?;
    let program = decode(body).ok()?;
    (program.digest() == key.digest && program.language() == key.language).then_some(program)
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
    use crate::check::Options;
    use crate::digest::Digest;
    use crate::language::Language;
    use crate::lower::compile;

    const SECRET: Secret = [7; 32];

    fn compiled(source: &str) -> (Key, Program) {
        let key = Key {
            digest: Digest::of(source.as_bytes()),
            language: Language::ElenchV1,
            options: Options::default(),
        };
        let program = compile(key.language, source, key.options).unwrap();
        (key, program)
    }

    #[test]
    fn an_entry_opens_under_its_own_name_and_secret_only() {
        let (key, program) = compiled("exists(\"a\")");
        let (other, _) = compiled("exists(\"b\")");
        let entry = seal(&SECRET, &name(&key), &program).unwrap();
        assert_eq!(
            open(&SECRET, &key, &entry).unwrap().source(),
            "exists(\"a\")"
        );
        assert!(open(&SECRET, &other, &entry).is_none());
        assert!(open(&[8; 32], &key, &entry).is_none());
        let lax = Key {
            options: Options {
                allow_vacuous: true,
            },
            ..key
        };
        assert!(open(&SECRET, &lax, &entry).is_none());
    }

    #[test]
    fn a_planted_program_does_not_open() {
        // Sealed with the right secret and the victim's name, for another source:
        // what the writer of a corrupted cache could at most achieve.
        let (key, _) = compiled("exists(\"a\")");
        let (_, planted) = compiled("exists(\"b\")");
        let entry = seal(&SECRET, &name(&key), &planted).unwrap();
        assert!(open(&SECRET, &key, &entry).is_none());
    }

    #[test]
    fn every_flipped_bit_and_every_cut_is_noticed() {
        let (key, program) = compiled("grep(/a|b/, \"f\") >= 300 && exists(\"a\")");
        let entry = seal(&SECRET, &name(&key), &program).unwrap();
        for bit in 0..entry.len() * 8 {
            let mut torn = entry.clone();
            torn[bit / 8] ^= 1 << (bit % 8);
            assert!(open(&SECRET, &key, &torn).is_none(), "bit {bit}");
        }
        for cut in 0..entry.len() {
            assert!(open(&SECRET, &key, &entry[..cut]).is_none(), "cut {cut}");
        }
    }
}
