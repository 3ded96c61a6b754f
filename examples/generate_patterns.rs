//! Writes `grep` claims about a directory to standard output, the same ones for the
//! same files, number and seed: `cargo run --release --example generate_patterns --
//! DIR NUMBER [SEED] [--plain]`.
//!
//! Two in three hold an identifier of the files, one in three an identifier with a
//! letter changed, which is mostly absent. One in ten is a real regex: classes,
//! alternations, word boundaries, ignored case, anchors; one in three hundred has no
//! literal at all. With `--plain` the patterns alone are written, one on a line.

use std::collections::BTreeSet;
use std::io::{self, Write as _};
use std::path::Path;

use ignore::WalkBuilder;

/// Most of a log that is searched for identifiers, in bytes.
const MAX_FILE_BYTES: u64 = 1 << 20;

fn main() -> io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (flags, positional): (Vec<_>, Vec<_>) = arguments
        .iter()
        .partition(|argument| argument.starts_with("--"));
    let [dir, number, seed @ ..] = &positional[..] else {
        return Err(io::Error::other(
            "usage: generate_patterns DIR NUMBER [SEED] [--plain]",
        ));
    };
    let number: usize = number.parse().map_err(io::Error::other)?;
    let seed = seed.first().map_or(Ok(1), |seed| seed.parse());
    let mut random = Random(seed.map_err(io::Error::other)?);
    let words = identifiers(Path::new(dir))?;
    if words.len() < 2 {
        return Err(io::Error::other("the directory holds no identifiers"));
    }
    let is_plain = flags.iter().any(|flag| *flag == "--plain");
    let mut out = io::BufWriter::new(io::stdout().lock());
    let mut seen = BTreeSet::new();
    let mut tries = 0;
    while seen.len() < number && tries < number.saturating_mul(100) {
        tries += 1;
        let pattern = pattern(&words, &mut random);
        if !seen.insert(pattern.clone()) {
            continue;
        }
        if is_plain {
            writeln!(out, "{pattern}")?;
            continue;
        }
        // No count is ever this one, so all of it is counted.
        let source = format!(
            "grep(/{}/, \".\") != 123456789",
            pattern.replace('/', "\\/")
        );
        let id = format!("cl_{:06}", seen.len());
        let claim = serde_json::json!({
            "id": id,
            "assertion": {
                "form": "predicate",
                "expression": {"language": "elench-predicate-v1", "source": source},
            },
        });
        writeln!(out, "{claim}")?;
    }
    out.flush()
}

/// `SplitMix64`.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % end.max(1) as u64).unwrap_or(0)
    }

    fn pick<'a>(&mut self, words: &'a [String]) -> &'a str {
        &words[self.below(words.len())]
    }
}

fn identifiers(dir: &Path) -> io::Result<Vec<String>> {
    let mut words = BTreeSet::new();
    let walk = WalkBuilder::new(dir).sort_by_file_name(Ord::cmp).build();
    for entry in walk {
        let entry = entry.map_err(io::Error::other)?;
        let is_small = |metadata: std::fs::Metadata| metadata.len() <= MAX_FILE_BYTES;
        let is_file = entry.file_type().is_some_and(|kind| kind.is_file());
        if !is_file || !entry.metadata().is_ok_and(is_small) {
            continue;
        }
        let bytes = std::fs::read(entry.path())?;
        let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        let runs = bytes.split(|byte| !is_word(byte));
        let runs = runs.filter(|run| (3..=40).contains(&run.len()) && !run[0].is_ascii_digit());
        words.extend(runs.map(|run| String::from_utf8_lossy(run).into_owned()));
    }
    Ok(words.into_iter().collect())
}

fn pattern(words: &[String], random: &mut Random) -> String {
    let mut word = random.pick(words).to_owned();
    if random.below(3) == 0 {
        let at = random.below(word.len());
        let letter = char::from(b'a' + u8::try_from(random.below(26)).unwrap_or(0));
        word.replace_range(at..=at, &letter.to_string());
    }
    match random.below(300) {
        0 => {
            let times = 2 + random.below(39);
            match random.below(3) {
                0 => format!(r"\d{{{times}}}-\d{{2}}"),
                1 => format!(r"[A-Z]{{{times},}}\d"),
                _ => format!(r"[a-f0-9]{{{times}}}\b"),
            }
        }
        1..30 => {
            let other = random.pick(words);
            let start = &word[..word.len().saturating_sub(2).max(3)];
            match random.below(10) {
                0 => format!(r"\b{word}\b"),
                1 => format!("{word}|{other}"),
                2 => format!("(?i){word}"),
                3 => format!(r"{word}\s*\("),
                4 => format!("^use .*{word}"),
                5 => format!("{start}[a-z_]+"),
                6 => format!(r"fn\s+{word}"),
                7 => format!("{word}.*{other}"),
                8 => format!(r"^\s*{word}$"),
                _ => format!(r"({word}|{other})\w*"),
            }
        }
        _ => word,
    }
}
