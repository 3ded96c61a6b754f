//! A workspace in which commands are executed, and what came of them.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::bin::{Bench, log_of};

pub(crate) const POLICY: &str = r#"
[run]
allow = ["sh", "bash", "cat", "true", "env", "setsid", "yes", "head", "ls", "sleep"]
write = ["out"]
timeout = "2s"
cpu = "20s"
memory = "200MiB"
output = "64KiB"
processes = 40
"#;

/// A policy, and a workspace with a directory that may be written.
pub(crate) struct Cell {
    pub(crate) bench: Bench,
    pub(crate) policy: PathBuf,
}

impl Cell {
    pub(crate) fn new(policy: &str) -> Self {
        let bench = Bench::new();
        bench.file("inside.txt", "inside\n");
        bench.file("out/kept.txt", "kept\n");
        let policy = bench.log("policy.toml", policy);
        Self { bench, policy }
    }

    /// What came of one command: its fact, and the whole result.
    pub(crate) fn run(&self, command: &str) -> Done {
        let quoted = command.replace('\\', "\\\\").replace('"', "\\\"");
        let source = format!(r#"run("{quoted}").exit == 0"#);
        let log = self.bench.log("log.jsonl", log_of(&[&source]));
        let policy = self.policy.to_str().expect("a path in UTF-8");
        let (mut results, _, _) = self.bench.check(&log, &["--policy", policy, "--no-cache"]);
        let result = results.remove(0);
        assert_ne!(result["verdict"], "invalid", "{result}");
        Done(result)
    }

    /// The same for a script.
    pub(crate) fn script(&self, script: &str) -> Done {
        assert!(!script.contains('\''), "{script}");
        self.run(&format!("sh -c '{script}'"))
    }
}

/// Whether this machine has every layer, as `probity doctor` finds.
pub(crate) fn is_confined() -> bool {
    static FOUND: std::sync::OnceLock<bool> = std::sync::OnceLock::new();
    let confined = *FOUND.get_or_init(|| {
        let output = Command::new(env!("CARGO_BIN_EXE_probity"))
            .arg("doctor")
            .output();
        output.expect("it runs").status.success()
    });
    if !confined {
        eprintln!("skipped: this machine lacks a layer of confinement, see `probity doctor`");
    }
    confined
}

/// The result of a claim about a command.
pub(crate) struct Done(pub(crate) Value);

impl Done {
    pub(crate) fn fact(&self) -> &Value {
        &self.0["facts"][0]
    }

    pub(crate) fn exit(&self) -> i64 {
        let exit = self.fact()["exit"].as_i64();
        exit.unwrap_or_else(|| panic!("it has no exit status: {}", self.0))
    }

    pub(crate) fn stdout(&self) -> &str {
        self.fact()["stdout"]
            .as_str()
            .unwrap_or_else(|| panic!("{}", self.0))
    }

    pub(crate) fn stderr(&self) -> &str {
        self.fact()["stderr"]
            .as_str()
            .unwrap_or_else(|| panic!("{}", self.0))
    }

    pub(crate) fn code(&self) -> &str {
        self.0["code"]
            .as_str()
            .unwrap_or_else(|| panic!("{}", self.0))
    }

    pub(crate) fn has_layer(&self, name: &str) -> bool {
        let layers = self.fact()["isolation"].as_array();
        layers.is_some_and(|layers| layers.iter().any(|layer| layer == name))
    }
}

/// How many processes have the text among their arguments.
pub(crate) fn processes_with(text: &str) -> usize {
    let entries = fs::read_dir("/proc").expect("the processes can be listed");
    let lines = entries
        .flatten()
        .filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
    lines
        .filter(|line| String::from_utf8_lossy(line).contains(text))
        .count()
}

pub(crate) fn wait_until(what: &str, is: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is() {
        assert!(
            begun.elapsed() < Duration::from_secs(20),
            "not in time: {what}"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
}
