//! One pack of the disk cache: the programs of a sixty-fourth of all digests.
//!
//! ```text
//! tag      32 bytes  as of every sealed file
//! entries  each:
//!   digest    32 bytes  of the source
//!   options    1 byte   the language, and 128 if vacuous predicates were allowed
//!   length     4 bytes  little-endian
//!   program             so many bytes, as `code::encode` writes them
//! ```
//!
//! The oldest entry comes first; of equal keys the last one counts.

use std::ops::Range;

use crate::cache::Key;
use crate::code::{Program, decode, encode};
use crate::sealed::{self, Secret, TAG_BYTES};

/// Most entries of a pack; of more, the oldest are left out.
pub(super) const MAX_ENTRIES: usize = 256;

/// Most bytes of a pack, as above.
pub(super) const MAX_BYTES: usize = 1 << 20;

/// Programs that take more are not kept.
const MAX_PROGRAM_BYTES: usize = MAX_BYTES / 8;

const KEY_BYTES: usize = 33;
const HEAD_BYTES: usize = KEY_BYTES + 4;

/// A pack that was opened.
#[derive(Debug, Default)]
pub(super) struct Pack {
    bytes: Vec<u8>,
    entries: Vec<Range<usize>>,
}

/// An entry as it will stand in a pack.
#[derive(Debug)]
pub(super) struct Entry(Vec<u8>);

impl Entry {
    /// `None` for a program that takes too much.
    pub(super) fn new(key: &Key, program: &Program) -> Option<Self> {
        let program = encode(program);
        if program.len() > MAX_PROGRAM_BYTES {
            return None;
        }
        let mut entry = Vec::with_capacity(HEAD_BYTES + program.len());
        entry.extend_from_slice(&key_bytes(key));
        entry.extend_from_slice(&u32::try_from(program.len()).ok()?.to_le_bytes());
        entry.extend_from_slice(&program);
        Some(Self(entry))
    }
}

fn key_bytes(key: &Key) -> [u8; KEY_BYTES] {
    let mut bytes = [0; KEY_BYTES];
    bytes[..32].copy_from_slice(key.digest.as_bytes());
    bytes[32] = key.language as u8 | if key.options.allow_vacuous { 128 } else { 0 };
    bytes
}

impl Pack {
    /// The pack in a file; `None` for anything that was not sealed under this secret
    /// and name by this version of the engine.
    pub(super) fn open(secret: &Secret, name: &str, bytes: Vec<u8>) -> Option<Self> {
        sealed::open(secret, name, &bytes)?;
        Self::parse(bytes)
    }

    /// What seems to be in a file, whoever wrote it.
    pub(super) fn parse(bytes: Vec<u8>) -> Option<Self> {
        let mut entries = Vec::new();
        let mut at = TAG_BYTES;
        while at < bytes.len() {
            let head = bytes.get(at..at + HEAD_BYTES)?;
            let len = u32::from_le_bytes(*head.last_chunk()?);
            let end = (at + HEAD_BYTES).checked_add(usize::try_from(len).ok()?)?;
            entries.push(at..end);
            at = end;
        }
        (at == bytes.len()).then_some(Self { bytes, entries })
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// The program of a key, unless the verifier refuses it.
    pub(super) fn get(&self, key: &Key) -> Option<Program> {
        let sought = key_bytes(key);
        let entry = self.entries().rfind(|entry| entry.starts_with(&sought))?;
        let program = decode(entry.get(HEAD_BYTES..)?).ok()?;
        (program.digest() == key.digest && program.language() == key.language).then_some(program)
    }

    fn entries(&self) -> impl DoubleEndedIterator<Item = &[u8]> {
        let ranges = self.entries.iter().cloned();
        ranges.filter_map(|range| self.bytes.get(range))
    }

    /// The file of a pack with what this one holds and some new entries, as far as
    /// there is room.
    pub(super) fn with(&self, secret: &Secret, name: &str, fresh: &[Entry]) -> Option<Vec<u8>> {
        let fresh: Vec<&[u8]> = fresh.iter().map(|entry| &entry.0[..]).collect();
        let is_kept = |old: &&[u8]| fresh.iter().all(|new| new[..KEY_BYTES] != old[..KEY_BYTES]);
        let all: Vec<&[u8]> = self.entries().filter(is_kept).collect();
        let all: Vec<&[u8]> = all.into_iter().chain(fresh.iter().copied()).collect();
        let mut room = MAX_BYTES - TAG_BYTES;
        let newest = all.iter().rev().take(MAX_ENTRIES);
        let kept = newest.take_while(|entry| match room.checked_sub(entry.len()) {
            Some(left) => {
                room = left;
                true
            }
            None => false,
        });
        let kept = kept.count();
        let mut file = vec![0; TAG_BYTES];
        for entry in &all[all.len() - kept..] {
            file.extend_from_slice(entry);
        }
        sealed::seal(secret, name, &mut file)?;
        Some(file)
    }
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

    fn file(programs: &[(&Key, &Program)]) -> Vec<u8> {
        let entries = programs
            .iter()
            .map(|(key, program)| Entry::new(key, program));
        let entries: Vec<Entry> = entries.map(Option::unwrap).collect();
        Pack::default().with(&SECRET, "07", &entries).unwrap()
    }

    fn open(file: &[u8]) -> Option<Pack> {
        Pack::open(&SECRET, "07", file.to_vec())
    }

    #[test]
    fn a_pack_gives_each_program_under_its_own_key() {
        let (one, of_one) = compiled("exists(\"a\")");
        let (two, of_two) = compiled("exists(\"b\")");
        let pack = open(&file(&[(&one, &of_one), (&two, &of_two)])).unwrap();
        assert_eq!(pack.get(&one).unwrap().source(), "exists(\"a\")");
        assert_eq!(pack.get(&two).unwrap().source(), "exists(\"b\")");
        let lax = Key {
            options: Options {
                allow_vacuous: true,
            },
            ..one
        };
        assert!(pack.get(&lax).is_none());
        let other = Key {
            language: Language::ElenchV2,
            ..one
        };
        assert!(pack.get(&other).is_none());
    }

    #[test]
    fn a_pack_opens_under_its_own_name_and_secret_only() {
        let (key, program) = compiled("exists(\"a\")");
        let file = file(&[(&key, &program)]);
        assert!(Pack::open(&SECRET, "08", file.clone()).is_none());
        assert!(Pack::open(&[8; 32], "07", file).is_none());
    }

    #[test]
    fn a_planted_program_is_not_given() {
        // Sealed with the right secret under the victim's key, for another source:
        // what the writer of a corrupted cache could at most achieve.
        let (key, _) = compiled("exists(\"a\")");
        let (_, planted) = compiled("exists(\"b\")");
        let pack = open(&file(&[(&key, &planted)])).unwrap();
        assert!(pack.get(&key).is_none());
    }

    #[test]
    fn every_flipped_bit_and_every_cut_is_noticed() {
        let (key, program) = compiled("grep(/a|b/, \"f\") >= 300 && exists(\"a\")");
        let file = file(&[(&key, &program)]);
        for bit in 0..file.len() * 8 {
            let mut torn = file.clone();
            torn[bit / 8] ^= 1 << (bit % 8);
            assert!(open(&torn).is_none(), "bit {bit}");
        }
        for cut in 0..file.len() {
            assert!(open(&file[..cut]).is_none(), "cut {cut}");
        }
    }

    #[test]
    fn lengths_that_lie_do_not_open() {
        let (key, program) = compiled("exists(\"a\")");
        let good = file(&[(&key, &program)]);
        for length in [0, 1, u32::MAX, u32::MAX / 2] {
            let mut bad = good.clone();
            bad[TAG_BYTES + KEY_BYTES..][..4].copy_from_slice(&length.to_le_bytes());
            sealed::seal(&SECRET, "07", &mut bad).unwrap();
            let pack = open(&bad);
            assert!(pack.is_none_or(|pack| pack.get(&key).is_none()), "{length}");
        }
    }

    #[test]
    fn the_oldest_leave_a_full_pack() {
        let programs: Vec<_> = (0..MAX_ENTRIES + 2)
            .map(|number| compiled(&format!("exists(\"{number}\")")))
            .collect();
        let all: Vec<_> = programs
            .iter()
            .map(|(key, program)| (key, program))
            .collect();
        let pack = open(&file(&all)).unwrap();
        assert_eq!(pack.len(), MAX_ENTRIES);
        assert!(pack.get(all[1].0).is_none());
        assert!(pack.get(all[2].0).is_some());
        // One that comes again is the newest, and takes no second place.
        let again = Entry::new(all[2].0, all[2].1).unwrap();
        let next = pack.with(&SECRET, "07", &[again]).unwrap();
        assert_eq!(open(&next).unwrap().len(), MAX_ENTRIES);
        let new = Entry::new(all[0].0, all[0].1).unwrap();
        let next = open(&open(&next).unwrap().with(&SECRET, "07", &[new]).unwrap()).unwrap();
        assert!(next.get(all[2].0).is_some());
        assert!(next.get(all[3].0).is_none());
    }

    #[test]
    fn large_programs_are_left_out_and_packs_bounded() {
        let large = |number: usize, len: usize| {
            compiled(&format!("exists(\"{}\")", format!("{number}/").repeat(len)))
        };
        let (key, program) = large(1, 400);
        assert!(Entry::new(&key, &program).is_some());
        let programs: Vec<_> = (100..100 + MAX_ENTRIES)
            .map(|number| large(number, 1000))
            .collect();
        let all: Vec<_> = programs
            .iter()
            .map(|(key, program)| (key, program))
            .collect();
        let file = file(&all);
        assert!(file.len() <= MAX_BYTES);
        let pack = open(&file).unwrap();
        assert!(pack.get(all[MAX_ENTRIES - 1].0).is_some());
        assert!(pack.get(all[0].0).is_none());
    }
}
