//! Other ways to count the lines of many patterns in many files.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use memchr::{memchr, memchr_iter, memrchr};
use rayon::prelude::*;
use regex::bytes::{Regex, RegexBuilder};
use regex_syntax::hir::literal::{ExtractKind, Extractor};

/// Does the work of a peer and gives the sum of all counts, or of all lines for the
/// floor.
///
/// # Errors
///
/// If it is unknown, or a file or a pattern cannot be used.
pub fn peer(name: &str, dir: &Path, patterns: &Path, threads: usize) -> io::Result<u64> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = pool.map_err(io::Error::other)?;
    let files = walk(dir, threads)?;
    let text = fs::read_to_string(patterns)?;
    let patterns: Vec<&str> = text.lines().collect();
    pool.install(|| match name {
        "floor" => Ok(floor(&files)),
        "regex" => by_regex(&files, &patterns),
        "aho-corasick" => by_literals(&files, &patterns),
        other => Err(io::Error::other(format!("no peer {other}"))),
    })
}

fn walk(dir: &Path, threads: usize) -> io::Result<Vec<PathBuf>> {
    let files = Mutex::new(Vec::new());
    let walk = ignore::WalkBuilder::new(dir)
        .hidden(false)
        .threads(threads)
        .build_parallel();
    walk.run(|| {
        Box::new(|entry| {
            if let Ok(entry) = entry
                && entry.file_type().is_some_and(|kind| kind.is_file())
                && let Ok(mut files) = files.lock()
            {
                files.push(entry.into_path());
            }
            ignore::WalkState::Continue
        })
    });
    files
        .into_inner()
        .map_err(|_| io::Error::other("a walker panicked"))
}

/// A file, unless it is no text.
fn read(path: &Path) -> Option<Vec<u8>> {
    let bytes = fs::read(path).ok()?;
    let probe = bytes.get(..8192).unwrap_or(&bytes);
    memchr(0, probe).is_none().then_some(bytes)
}

fn floor(files: &[PathBuf]) -> u64 {
    let lines = files.par_iter().filter_map(|path| read(path));
    lines
        .map(|bytes| memchr_iter(b'\n', &bytes).count() as u64)
        .sum()
}

fn build(pattern: &str) -> io::Result<Regex> {
    // Line ends as Probity sees them: a final `\r` is no part of a line.
    RegexBuilder::new(pattern)
        .multi_line(true)
        .crlf(true)
        .build()
        .map_err(io::Error::other)
}

/// The lines of a text with a match.
fn count_lines(regex: &Regex, text: &[u8]) -> u64 {
    let (mut at, mut count) = (0, 0);
    while at < text.len()
        && let Some(found) = regex.find_at(text, at)
    {
        let start = memrchr(b'\n', &text[..found.start()]).map_or(0, |newline| newline + 1);
        let end = memchr(b'\n', &text[found.start()..]);
        let end = end.map_or(text.len(), |newline| found.start() + newline);
        // A match over several lines is none of a line.
        count += u64::from(found.end() <= end || regex.is_match(&text[start..end]));
        at = end + 1;
    }
    count
}

/// A regex for each pattern, over whole files.
fn by_regex(files: &[PathBuf], patterns: &[&str]) -> io::Result<u64> {
    let texts: Vec<Vec<u8>> = files.par_iter().filter_map(|path| read(path)).collect();
    let counts = patterns.par_iter().map(|pattern| {
        let regex = build(pattern)?;
        Ok(texts
            .iter()
            .map(|text| count_lines(&regex, text))
            .sum::<u64>())
    });
    counts.sum()
}

/// One automaton for the prefixes of all patterns; each regex is run on the lines
/// where its prefixes were seen, and over whole files if it has none.
fn by_literals(files: &[PathBuf], patterns: &[&str]) -> io::Result<u64> {
    let planned: io::Result<Vec<_>> = patterns
        .par_iter()
        .map(|pattern| {
            let hir = regex_syntax::ParserBuilder::new()
                .utf8(false)
                .build()
                .parse(pattern);
            let mut extractor = Extractor::new();
            extractor.kind(ExtractKind::Prefix);
            let sequence = extractor.extract(&hir.map_err(io::Error::other)?);
            let literals = sequence.literals().unwrap_or_default();
            let literals: Vec<Vec<u8>> = literals.iter().map(|it| it.as_bytes().to_vec()).collect();
            let is_usable = !literals.is_empty() && literals.iter().all(|it| it.len() >= 2);
            Ok((build(pattern)?, is_usable.then_some(literals)))
        })
        .collect();
    let planned = planned?;
    let mut literals = Vec::new();
    let mut owners = Vec::new();
    for (owner, (_, of_pattern)) in planned.iter().enumerate() {
        for literal in of_pattern.iter().flatten() {
            literals.push(literal);
            owners.push(owner);
        }
    }
    let automaton = AhoCorasick::builder()
        .match_kind(MatchKind::Standard)
        .kind(Some(AhoCorasickKind::ContiguousNFA))
        .build(&literals)
        .map_err(io::Error::other)?;
    let total = AtomicU64::new(0);
    files
        .par_iter()
        .filter_map(|path| read(path))
        .for_each_init(
            || vec![0_usize; planned.len()],
            |decided, text| {
                decided.fill(0);
                let mut count = 0;
                for found in automaton.find_overlapping_iter(&text) {
                    let owner = owners[found.pattern().as_usize()];
                    if found.start() < decided[owner] {
                        continue;
                    }
                    let start = memrchr(b'\n', &text[..found.start()]).map_or(0, |at| at + 1);
                    let end = memchr(b'\n', &text[found.start()..]);
                    let end = end.map_or(text.len(), |at| found.start() + at);
                    count += u64::from(planned[owner].0.is_match(&text[start..end]));
                    decided[owner] = end.max(1);
                }
                for (regex, literals) in &planned {
                    if literals.is_none() {
                        count += count_lines(regex, &text);
                    }
                }
                total.fetch_add(count, Ordering::Relaxed);
            },
        );
    Ok(total.into_inner())
}
