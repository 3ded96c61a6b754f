//! Many patterns over a tree of files: Probity beside what one would otherwise use,
//! in one run.
//!
//! `cargo run --release --manifest-path benches/peers/Cargo.toml --bin scan -- DIR`,
//! after `cargo build --release --bins --examples` of Probity itself. `rg` is found on
//! `PATH` and left out if it is not there.
//!
//! Every candidate is a whole process that walks, reads, plans and counts, with its
//! output in a file. They take turns, several rounds, and the quickest round counts.
//! `floor` walks, reads and counts line ends; ratios are to it. What each of them
//! counted is added up and compared.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use probity_peers::scan::peer;

const PATTERNS: [usize; 3] = [100, 1_000, 10_000];

fn main() -> io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match &arguments[..] {
        ["peer", name, dir, patterns, threads] => {
            let threads = threads.parse().map_err(io::Error::other)?;
            let total = peer(name, Path::new(dir), Path::new(patterns), threads)?;
            println!("{total}");
            Ok(())
        }
        [dir] => compare(Path::new(dir), 5),
        [dir, rounds] => compare(Path::new(dir), rounds.parse().map_err(io::Error::other)?),
        _ => Err(io::Error::other("usage: scan DIR [ROUNDS]")),
    }
}

/// A command to be measured.
struct Candidate {
    name: String,
    command: Command,
    /// Takes so long that one round has to do.
    is_slow: bool,
    /// Done before each run, unmeasured.
    before: Option<Box<dyn FnMut() -> io::Result<()>>>,
}

struct Bench {
    dir: PathBuf,
    work: tempfile::TempDir,
    probity: PathBuf,
}

fn compare(dir: &Path, rounds: u32) -> io::Result<()> {
    let release = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/release");
    let bench = Bench {
        dir: dir.canonicalize()?,
        work: tempfile::tempdir()?,
        probity: release.join("probity").canonicalize()?,
    };
    println!("| patterns | threads | | wall | × floor | CPU | peak memory |");
    println!("|---|---|---|---|---|---|---|");
    for number in PATTERNS {
        let generate = |plain: &[&str], to: &Path| {
            let generated = Command::new(release.join("examples/generate_patterns"))
                .arg(&bench.dir)
                .args([&number.to_string(), "1"])
                .args(plain)
                .stdout(fs::File::create(to)?)
                .status()?;
            generated
                .success()
                .then_some(())
                .ok_or_else(|| io::Error::other("no patterns"))
        };
        let (patterns, log) = (bench.path("patterns"), bench.path("log.jsonl"));
        generate(&["--plain"], &patterns)?;
        generate(&[], &log)?;
        for threads in [1, 2] {
            bench.compare(number, threads, rounds)?;
        }
    }
    Ok(())
}

impl Bench {
    fn path(&self, name: &str) -> PathBuf {
        self.work.path().join(name)
    }

    fn compare(&self, number: usize, threads: u32, rounds: u32) -> io::Result<()> {
        let mut candidates = self.candidates(number, threads)?;
        let mut best: BTreeMap<usize, Cost> = BTreeMap::new();
        for round in 0..rounds {
            for (index, candidate) in candidates.iter_mut().enumerate() {
                if candidate.is_slow && round > 0 {
                    continue;
                }
                if let Some(before) = &mut candidate.before {
                    before()?;
                }
                let cost = measure(&mut candidate.command, &self.path(&format!("out{index}")))?;
                let best = best.entry(index).or_insert(cost);
                best.wall = best.wall.min(cost.wall);
                best.cpu = best.cpu.min(cost.cpu);
                best.peak_kb = best.peak_kb.max(cost.peak_kb);
            }
        }
        let floor = best
            .get(&0)
            .map_or(Duration::from_secs(1), |cost| cost.wall);
        for (index, candidate) in candidates.iter().enumerate() {
            let Some(cost) = best.get(&index) else {
                continue;
            };
            println!(
                "| {number} | {threads} | {} | {:.3} s | {:.1} | {:.3} s | {} MB |",
                candidate.name,
                cost.wall.as_secs_f64(),
                cost.wall.as_secs_f64() / floor.as_secs_f64(),
                cost.cpu.as_secs_f64(),
                cost.peak_kb / 1024,
            );
        }
        self.check(&candidates)
    }

    fn candidates(&self, number: usize, threads: u32) -> io::Result<Vec<Candidate>> {
        let patterns = self.path("patterns");
        let mut all = Vec::new();
        let me = std::env::current_exe()?;
        let mut peer = |name: &str| {
            let mut command = Command::new(&me);
            command
                .args(["peer", name])
                .arg(&self.dir)
                .arg(&patterns)
                .arg(threads.to_string());
            all.push(candidate(name, command));
        };
        peer("floor");
        // Minutes otherwise.
        if number <= 1_000 || threads > 1 {
            peer("regex");
        }
        peer("aho-corasick");
        let probity = |cache: &Path| {
            let mut command = Command::new(&self.probity);
            command
                .args(["check", "--format", "jsonl", "--jobs", &threads.to_string()])
                .arg("--root")
                .arg(&self.dir)
                .arg("--cache-dir")
                .arg(cache)
                .arg(self.path("log.jsonl"));
            command
        };
        let (cold, warm) = (self.path("cold"), self.path("warm"));
        let mut first = candidate("probity, empty cache", probity(&cold));
        first.before = Some(Box::new(move || match fs::remove_dir_all(&cold) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }));
        let mut uncached = probity(&warm);
        let arguments: Vec<_> = uncached.get_args().map(ToOwned::to_owned).collect();
        uncached = Command::new(&self.probity);
        let mut skip = false;
        for argument in arguments {
            if skip {
                skip = false;
            } else if argument == "--cache-dir" {
                uncached.arg("--no-cache");
                skip = true;
            } else {
                uncached.arg(argument);
            }
        }
        let is_many = number > 1_000;
        for candidate in &mut all {
            candidate.is_slow = is_many && candidate.name == "regex";
        }
        all.push(candidate("probity, no cache", uncached));
        all.push(first);
        let _ = measure(&mut probity(&warm), &self.path("warming"))?;
        all.push(candidate("probity, again", probity(&warm)));
        let mut changed = candidate("probity, one file changed", probity(&warm));
        let file = self.largest()?;
        let text = fs::read(&file)?;
        changed.before = Some(Box::new(move || {
            let mut text = text.clone();
            // Another time and so another content, though it holds the same.
            text.push(b'\n');
            text.pop();
            fs::write(&file, text)
        }));
        all.push(changed);
        if let Some(rg) = find("rg") {
            let rg = |arguments: &[&str]| {
                let mut command = Command::new(&rg);
                command
                    .args([
                        "--no-config",
                        "-c",
                        "--threads",
                        &threads.to_string(),
                        "--hidden",
                    ])
                    .args(arguments)
                    .stdin(Stdio::null());
                command
            };
            let mut together = rg(&["-f"]);
            together.arg(&patterns).arg(&self.dir);
            let mut together = candidate("one `rg -c -f`, no counts by pattern", together);
            together.is_slow = number > 100;
            // Most of a minute, of which the threads change little.
            if !is_many || threads > 1 {
                all.push(together);
            }
            if number == PATTERNS[0] {
                let script =
                    r#"while IFS= read -r p; do "$0" "$@" -e "$p" -- "$DIR"; done < "$PATTERNS""#;
                let mut each = Command::new("sh");
                let one = rg(&[]);
                each.args(["-c", script])
                    .arg(one.get_program())
                    .args(one.get_args())
                    .env("DIR", &self.dir)
                    .env("PATTERNS", &patterns);
                let mut each = candidate("one `rg -c` for each pattern", each);
                each.is_slow = true;
                all.push(each);
            }
        }
        Ok(all)
    }

    /// Some file of usual size.
    fn largest(&self) -> io::Result<PathBuf> {
        let walk = ignore::WalkBuilder::new(&self.dir).hidden(false).build();
        let files = walk.filter_map(Result::ok).filter(|entry| {
            let metadata = entry.metadata();
            metadata.is_ok_and(|metadata| metadata.is_file() && metadata.len() < 50_000)
        });
        let found = files.max_by_key(|entry| entry.metadata().map_or(0, |it| it.len()));
        found
            .map(ignore::DirEntry::into_path)
            .ok_or_else(|| io::Error::other("no file to change"))
    }

    /// Everybody who counts by pattern must have counted the same.
    fn check(&self, candidates: &[Candidate]) -> io::Result<()> {
        let mut totals = BTreeMap::new();
        for (index, candidate) in candidates.iter().enumerate() {
            let text = fs::read_to_string(self.path(&format!("out{index}")))?;
            let total = match candidate.name.as_str() {
                "regex" | "aho-corasick" => text.trim().parse().map_err(io::Error::other)?,
                name if name.starts_with("probity") => counted(&text)?,
                _ => continue,
            };
            totals.insert(candidate.name.as_str(), total);
        }
        let distinct: std::collections::BTreeSet<u64> = totals.values().copied().collect();
        match distinct.len() {
            1 => Ok(()),
            _ => Err(io::Error::other(format!("counts differ: {totals:?}"))),
        }
    }
}

fn candidate(name: &str, command: Command) -> Candidate {
    Candidate {
        name: name.into(),
        command,
        is_slow: false,
        before: None,
    }
}

/// The sum of all counts in a report.
fn counted(report: &str) -> io::Result<u64> {
    let mut total = 0;
    for line in report.lines() {
        let record: serde_json::Value = serde_json::from_str(line).map_err(io::Error::other)?;
        let facts = record["facts"].as_array().into_iter().flatten();
        total += facts.filter_map(|fact| fact["value"].as_u64()).sum::<u64>();
    }
    Ok(total)
}

fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let found = std::env::split_paths(&path).map(|dir| dir.join(program));
    found.into_iter().find(|path| path.is_file())
}

#[derive(Clone, Copy, Debug)]
struct Cost {
    wall: Duration,
    cpu: Duration,
    peak_kb: i64,
}

/// Runs a command with its output in a file.
fn measure(command: &mut Command, out: &Path) -> io::Result<Cost> {
    command.stdout(fs::File::create(out)?);
    let started = Instant::now();
    let mut child = command.spawn()?;
    let pid = i32::try_from(child.id()).map_err(io::Error::other)?;
    let usage = wait(pid)?;
    let wall = started.elapsed();
    // It was waited for already.
    let _ = child.try_wait();
    let time = |time: libc::timeval| {
        Duration::from_secs(time.tv_sec.unsigned_abs())
            + Duration::from_micros(time.tv_usec.unsigned_abs())
    };
    Ok(Cost {
        wall,
        cpu: time(usage.ru_utime) + time(usage.ru_stime),
        peak_kb: usage.ru_maxrss,
    })
}

fn wait(pid: i32) -> io::Result<libc::rusage> {
    let mut status = 0;
    // SAFETY: both pointers are to memory for the call to write, and a usage of
    // zeros is a usage.
    unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        match libc::wait4(pid, &raw mut status, 0, &raw mut usage) {
            -1 => Err(io::Error::last_os_error()),
            _ => Ok(usage),
        }
    }
}
