//! One entry of the disk cache: a sealed program, its body as `code::encode` writes
//! it.

use crate::cache::Key;
use crate::code::{Program, decode, encode};
use crate::sealed::{self, Secret, TAG_BYTES};

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
    let mut entry = vec![0; TAG_BYTES];
    entry.extend_from_slice(&encode(program));
    sealed::seal(secret, name, &mut entry)?;
    Some(entry)
}

/// The program of an entry; `None` for anything that was not sealed for this
/// key by this version of the engine, or that the verifier refuses.
pub(super) fn open(secret: &Secret, key: &Key, entry: &[u8]) -> Option<Program> {
    let body = sealed::open(secret, &name(key), entry)?;
    let program = decode(body).ok()?;
    (program.digest() == key.digest && program.language() == key.language).then_some(program)
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
