//! Runs the targets without a fuzzer: first what is kept, then pseudo-random
//! changes to it. The same arguments give the same inputs on every machine.
//!
//! ```text
//! smoke [--iterations N] [--seconds N] [--seed N] [TARGET…]
//! ```
//!
//! Exit status 0 if every promise held, 1 if one was broken, 2 for bad usage. An
//! input that breaks a promise is written to `artifacts/`.

use std::ffi::OsStr;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};
use std::{env, fs, io};

use probity_fuzz::{Dictionary, Mutator, names, run};

const USAGE: &str = "usage: smoke [--iterations N] [--seconds N] [--seed N] [TARGET…]";

/// What to run, and how long.
struct Options {
    /// Changed inputs for each target.
    iterations: u64,
    /// Wall-clock time for each target, whichever ends first.
    time: Duration,
    seed: u64,
    targets: Vec<&'static str>,
}

fn main() -> ExitCode {
    let options = match options(env::args().skip(1)) {
        Ok(options) => options,
        Err(problem) => {
            eprintln!("{problem}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    let mut sound = true;
    for target in &options.targets {
        match smoke(target, &options) {
            Ok(true) => {}
            Ok(false) => sound = false,
            Err(error) => {
                eprintln!("{target}: {error}");
                return ExitCode::from(2);
            }
        }
    }
    if sound {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn options(mut args: impl Iterator<Item = String>) -> Result<Options, String> {
    let mut options = Options {
        iterations: 20_000,
        time: Duration::from_secs(20),
        seed: 1,
        targets: Vec::new(),
    };
    while let Some(arg) = args.next() {
        let mut number = || {
            let value = args.next().ok_or_else(|| format!("{arg} wants a number"))?;
            value
                .parse::<u64>()
                .map_err(|error| format!("{arg} {value}: {error}"))
        };
        match arg.as_str() {
            "--iterations" => options.iterations = number()?,
            "--seconds" => options.time = Duration::from_secs(number()?),
            "--seed" => options.seed = number()?,
            name => {
                let known = names().find(|known| *known == name);
                let known = known.ok_or_else(|| format!("no target is called `{name}`"))?;
                options.targets.push(known);
            }
        }
    }
    if options.targets.is_empty() {
        options.targets.extend(names());
    }
    Ok(options)
}

/// Runs one target; false if it broke a promise.
fn smoke(target: &str, options: &Options) -> io::Result<bool> {
    let home = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut corpus = Vec::new();
    for kept in ["seeds", "regressions"] {
        for path in files(&home.join(kept).join(target))? {
            let input = fs::read(&path)?;
            if !holds(target, &input) {
                eprintln!("{target}: {} breaks a promise", path.display());
                return Ok(false);
            }
            corpus.push(input);
        }
    }
    let dictionary = fs::read_to_string(home.join("dictionaries/claims.dict"))?;
    let dictionary = Dictionary::parse(&dictionary).map_err(io::Error::other)?;
    let mut mutator = Mutator::new(&corpus, &dictionary, options.seed);
    let begun = Instant::now();
    let mut done = 0;
    while done < options.iterations && begun.elapsed() < options.time {
        let input = mutator.next_input();
        if !holds(target, &input) {
            let path = keep(home, target, &input)?;
            eprintln!(
                "{target}: input {done} breaks a promise, see {}",
                path.display()
            );
            return Ok(false);
        }
        done += 1;
    }
    let kept = corpus.len();
    println!("{target}: {kept} kept and {done} changed inputs, every promise held");
    Ok(true)
}

fn holds(target: &str, input: &[u8]) -> bool {
    catch_unwind(|| run(target, input)).is_ok()
}

/// The files of a directory in the order of their names; none if it is missing.
fn files(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut paths = Vec::new();
    for entry in entries {
        let path = entry?.path();
        if path.file_name() != Some(OsStr::new(".gitkeep")) {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

/// Writes an input down so that it can be looked into.
fn keep(home: &Path, target: &str, input: &[u8]) -> io::Result<PathBuf> {
    let mut hasher = DefaultHasher::new();
    input.hash(&mut hasher);
    let dir = home.join("artifacts").join(target);
    fs::create_dir_all(&dir)?;
    let path = dir.join(format!("{:016x}", hasher.finish()));
    fs::write(&path, input)?;
    Ok(path)
}
