//! Running the binary in a fresh workspace.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// A workspace, and beside it a place for logs and caches.
pub(crate) struct Bench {
    dir: TempDir,
}

/// What a run printed and how it ended.
pub(crate) struct Run {
    pub(crate) status: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Bench {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("root")).unwrap();
        Self { dir }
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.dir.path().join("root")
    }

    pub(crate) fn outside(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Writes a file of the workspace.
    pub(crate) fn file(&self, path: &str, text: impl AsRef<[u8]>) -> &Self {
        write(&self.root().join(path), text.as_ref());
        self
    }

    /// Writes a file beside the workspace and gives its path.
    pub(crate) fn log(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.outside(name);
        write(&path, text.as_ref());
        path
    }

    /// `probity COMMAND ARGS… --root ROOT`, without the user's cache.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = self.bare(args);
        command.arg("--root").arg(self.root());
        command
    }

    /// `probity ARGS…` with a cache directory of its own.
    pub(crate) fn bare(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_probity"));
        command
            .args(args)
            .env("XDG_CACHE_HOME", self.outside("cache"))
            .env("HOME", self.outside("home"))
            .env_remove("NO_COLOR")
            .stdin(Stdio::null());
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Run {
        finish(self.command(args).output().unwrap())
    }

    pub(crate) fn run_bare(&self, args: &[&str]) -> Run {
        finish(self.bare(args).output().unwrap())
    }

    /// Runs with text on standard input.
    pub(crate) fn pipe(&self, args: &[&str], input: &[u8]) -> Run {
        let mut child = self
            .command(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let input = input.to_vec();
        let writer = std::thread::spawn(move || {
            // The program may end before it has read everything.
            let _ = stdin.write_all(&input);
        });
        let output = child.wait_with_output().unwrap();
        writer.join().unwrap();
        finish(output)
    }

    /// `check LOG --format jsonl`: the results, the summary, the status.
    pub(crate) fn check(&self, log: &Path, more: &[&str]) -> (Vec<Value>, Value, i32) {
        let mut args = vec!["check", log.to_str().unwrap(), "--format", "jsonl"];
        args.extend(more);
        let run = self.run(&args);
        let mut lines: Vec<Value> = run
            .stdout
            .lines()
            .map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}")))
            .collect();
        let summary = lines
            .pop()
            .unwrap_or_else(|| panic!("no output; stderr: {}", run.stderr))["summary"]
            .take();
        (lines, summary, run.status)
    }
}

fn finish(output: Output) -> Run {
    Run {
        status: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

fn write(path: &Path, text: &[u8]) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// One claim as a line of a log.
pub(crate) fn claim(source: &str) -> String {
    let claim = serde_json::json!({
        "id": format!("cl_{:064x}", source.len()),
        "kind": "assertion",
        "assertion": {
            "form": "predicate",
            "expression": {"language": "elench-predicate-v1", "source": source},
        },
        "origin": {"kind": "agent-asserted", "producer": {"id": "agent-1"}},
        "anchor": {"tree": "t", "strategy": "multi"},
        "timestamp": 1_700_000_000,
    });
    format!("{claim}\n")
}

/// A log of claims, one a line.
pub(crate) fn log_of(sources: &[&str]) -> String {
    sources.iter().map(|source| claim(source)).collect()
}
