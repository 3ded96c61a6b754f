//! `probity flow evaluate`: judges, fallbacks of ancestors, feedback.
//!
//! Where the machine lacks a layer of confinement, no command is executed, and the tests of
//! judges that are commands say so and end.

use std::path::PathBuf;

use serde_json::{Value as Json, json};

use crate::bin::{Bench, Run};
use crate::cell::is_confined;

const RULES: &str = r#"
@invariant
@deterministic
@archivist(evidence: ["e"], confidence: 1.0, source_date: "2026-05-01", coverage_examples: ["x"])
fn no_unwrap(slice) {
  const found = slice.files.filter({ f -> f.text.contains(".unwrap()") })
  return {
    verdict: if found.none() { "Allow" } else { "Block" },
    rule: "no_unwrap",
    findings: found.map({ f -> {path: f.path} }),
    remediation: "return the error",
  }
}
"#;

const SEMANTIC: &str = r#"
@invariant
@semantic(fallback: no_unwrap)
@archivist(evidence: ["e"], confidence: 0.5, source_date: "2026-05-01", coverage_examples: ["x"])
fn errors_are_kept(slice, ctx) {
  const answer = ctx.semantic_judge({rubric: "are errors kept?", files: slice.files})
  return {verdict: answer.verdict, rule: "errors_are_kept", findings: answer.findings}
}
"#;

/// A file with both predicates, and a slice.
struct Desk {
    bench: Bench,
    slice: PathBuf,
}

impl Desk {
    fn new(text: &str) -> Self {
        let bench = Bench::new();
        bench.file("invariants.harn", format!("{RULES}{SEMANTIC}"));
        let slice = json!({"files": [{"path": "a.rs", "text": text}]});
        let slice = bench.log("slice.json", slice.to_string());
        Self { bench, slice }
    }

    fn run_file(&self, file: &str, more: &[&str]) -> Run {
        let file = self.bench.root().join(file);
        let file = file.to_str().expect("a path in UTF-8");
        let slice = self.slice.to_str().expect("a path in UTF-8");
        // A machine that is busy takes its time.
        let mut args = vec!["flow", "evaluate", file, "--slice", slice];
        if !more.contains(&"--budget-ms") {
            args.extend(["--budget-ms", "20000"]);
        }
        args.extend(more);
        self.bench.run_bare(&args)
    }

    fn run(&self, more: &[&str]) -> Run {
        self.run_file("invariants.harn", more)
    }

    fn log(&self, name: &str, text: &str) -> String {
        let path = self.bench.log(name, text);
        path.to_str().expect("a path in UTF-8").to_owned()
    }
}

fn report(run: &Run) -> Json {
    serde_json::from_str(&run.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}{}", run.stdout, run.stderr))
}

fn record<'r>(report: &'r Json, name: &str) -> &'r Json {
    let mut records = report["records"].as_array().expect("a list").iter();
    let found = records.find(|record| record["name"] == name);
    found.unwrap_or_else(|| panic!("no `{name}` in {report:#}"))
}

#[test]
fn semantic_predicates_are_answered_from_what_was_written_down() {
    let desk = Desk::new("fine");
    let replies = json!({"replies": [{
        "predicate": "errors_are_kept",
        "reply": {"verdict": "Warn", "findings": [{"path": "a.rs", "line": 3}], "model_id": "m"},
    }]});
    let replies = desk.log("replies.json", &replies.to_string());
    let run = desk.run(&["--judge-fixture", &replies]);
    assert_eq!(run.status, 0, "{}{}", run.stdout, run.stderr);
    let told = report(&run);
    let semantic = record(&told, "errors_are_kept");
    assert_eq!(semantic["result"]["verdict"]["kind"], "warn");
    assert_eq!(semantic["semantic_replay_audit"]["model_id"], "m");
    assert_eq!(
        semantic["fallback_hash"],
        record(&told, "no_unwrap")["hash"]
    );

    let run = desk.run(&["--judge-fixture", &replies, "--feedback"]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert_eq!(
        run.stdout,
        "Flow invariants need attention:\n\
         - Warn errors_are_kept: errors_are_kept Findings: a.rs:3\n"
    );
    let run = desk.run(&["--judge-fixture", &replies, "--token-cap", "1"]);
    assert_eq!(run.status, 1);
    let told = report(&run);
    let error = &record(&told, "errors_are_kept")["result"]["verdict"]["error"];
    assert_eq!(error["code"], "budget_exceeded");
    // Without a judge there is none to ask.
    let run = desk.run(&["--include-semantic"]);
    assert_eq!(run.status, 1);
    let told = report(&run);
    let error = &record(&told, "errors_are_kept")["result"]["verdict"]["error"];
    assert_eq!(error["code"], "predicate_runtime_error");
    // By default it is not asked for.
    let run = desk.run(&[]);
    assert_eq!(run.status, 0, "{}", run.stdout);
    assert_eq!(report(&run)["skipped"][0]["name"], "errors_are_kept");
}

#[test]
fn a_command_is_the_judge() {
    if !is_confined() {
        return;
    }
    let desk = Desk::new("is it fine");
    let policy = "[run]\ntimeout = \"30s\"\ncpu = \"30s\"\nmemory = \"300MiB\"\n";
    let policy = desk.log("policy.toml", policy);
    let line = r#"python3 -c '
import json, sys
asked = json.load(sys.stdin)
files = json.loads(asked["evidence"])
good = asked["prompt"] == "are errors kept?" and files[0]["path"] == "a.rs"
print(json.dumps({"verdict": "Block" if good else "Allow", "findings": ["it asks"]}))'"#;
    let run = desk.run(&["--judge-command", line, "--policy", &policy, "--feedback"]);
    assert_eq!(run.status, 1, "{}{}", run.stdout, run.stderr);
    let expected = "- Block errors_are_kept: errors_are_kept: errors_are_kept found 1 finding(s) \
                    Findings: it asks";
    assert!(run.stdout.contains(expected), "{}", run.stdout);
    assert!(run.stderr.contains("policy.toml"), "{}", run.stderr);

    let fails = "sh -c 'echo no >&2; exit 3'";
    let run = desk.run(&["--judge-command", fails, "--policy", &policy]);
    assert_eq!(run.status, 1);
    let told = report(&run);
    let error = &record(&told, "errors_are_kept")["result"]["verdict"]["error"];
    assert_eq!(error["code"], "judge_failed", "{error}");

    // A policy of the workspace is told of.
    desk.bench
        .file("probity.toml", "[run]\ntimeout = \"30s\"\n");
    let root = desk.bench.root();
    let root = root.to_str().expect("a path in UTF-8");
    let run = desk.run(&["--judge-command", fails, "--root", root]);
    assert_eq!(run.status, 1);
    assert!(
        run.stderr.contains("a file of the workspace"),
        "{}",
        run.stderr
    );
}

#[test]
fn judges_that_cannot_be_used_are_usage_errors() {
    let desk = Desk::new("");
    let broken = desk.log("broken.json", "{");
    for args in [
        &["--judge-command", "no-such-program-anywhere"][..],
        &["--judge-command", "cat | cat"],
        &["--judge-command", ""],
        &["--judge-fixture", &broken],
        &["--judge-fixture", "missing.json"],
        &["--judge-command", "cat", "--judge-fixture", &broken],
        &["--policy", "missing.toml"],
        &["--token-cap", "0"],
        &["--budget-ms", "0"],
    ] {
        let run = desk.run(args);
        assert_eq!(run.status, 2, "{args:?}: {}", run.stdout);
        assert_eq!(run.stdout, "", "{args:?}");
    }
}

#[test]
fn fallbacks_of_ancestors_are_found_below_the_root() {
    let desk = Desk::new("x.unwrap()");
    desk.bench.file("invariants.harn", RULES);
    desk.bench.file("src/deep/invariants.harn", SEMANTIC);
    let replies = desk.log(
        "r.json",
        r#"{"replies": [], "otherwise": {"passes": true}}"#,
    );
    let root = desk.bench.root();
    let root = root.to_str().expect("a path in UTF-8");
    let file = "src/deep/invariants.harn";
    let run = desk.run_file(file, &["--judge-fixture", &replies, "--root", root]);
    assert_eq!(run.status, 1, "{}", run.stderr);
    let told = report(&run);
    let semantic = record(&told, "errors_are_kept");
    assert_eq!(semantic["raw_result"]["verdict"], "Allow");
    assert_eq!(semantic["result"]["verdict"]["error"]["code"], "no_unwrap");
    assert_eq!(record(&told, "no_unwrap")["enforced"], false);
    let feedback = desk.run_file(
        file,
        &["--judge-fixture", &replies, "--root", root, "--feedback"],
    );
    let expected = "- Block (advisory) no_unwrap: no_unwrap: return the error Findings: a.rs";
    assert!(feedback.stdout.contains(expected), "{}", feedback.stdout);
    // Alone it has none.
    let run = desk.run_file(file, &["--judge-fixture", &replies]);
    assert_eq!(run.status, 1);
    assert_eq!(
        report(&run)["diagnostics"][0]["code"],
        "fallback_unresolved"
    );
}

#[test]
fn feedback_is_empty_where_nothing_needs_attention() {
    let desk = Desk::new("fine");
    let run = desk.run(&["--feedback"]);
    assert_eq!((run.status, &*run.stdout), (0, ""));
    let said = r#"{"empty_if_clear": false}"#;
    let run = desk.run(&["--feedback", "--feedback-options", said]);
    assert_eq!(run.stdout, "Flow invariants passed.\n");
    for wrong in ["{", "[]", r#"{"foo": 1}"#, r#"{"max_items": 0}"#] {
        let run = desk.run(&["--feedback", "--feedback-options", wrong]);
        assert_eq!(run.status, 2, "{wrong}");
        assert!(run.stderr.contains("--feedback-options"), "{}", run.stderr);
    }
    assert_eq!(desk.run(&["--feedback-options", "{}"]).status, 2);
}

#[test]
fn equal_runs_write_the_same_without_timings() {
    let desk = Desk::new("x.unwrap()");
    let timed = report(&desk.run(&[]));
    assert!(record(&timed, "no_unwrap")["elapsed_ms"].is_u64());
    let output = desk.bench.outside("report.json");
    let output = output.to_str().expect("a path in UTF-8");
    let runs = [(); 2].map(|()| {
        let run = desk.run(&["--no-timings", "--output", output]);
        assert_eq!((run.status, &*run.stdout), (1, ""), "{}", run.stderr);
        std::fs::read_to_string(output).expect("a report")
    });
    assert_eq!(runs[0], runs[1]);
    assert!(runs[0].starts_with("{\n"), "it is for people too");
    let untimed: Json = serde_json::from_str(&runs[0]).expect("JSON");
    let record = record(&untimed, "no_unwrap");
    assert!(record.get("elapsed_ms").is_none());
    assert!(record["fuel"].as_u64() > Some(0), "{record}");
}

#[test]
fn a_file_in_no_order_is_told_of_and_nothing_is_evaluated() {
    let desk = Desk::new("");
    desk.bench.file("invariants.harn", "fn f( {");
    let run = desk.run(&[]);
    assert_eq!(run.status, 3, "{}", run.stderr);
    let told = report(&run);
    assert_eq!(told["status"], "discovery_error");
    let feedback = desk.run(&["--feedback"]).stdout;
    assert!(
        feedback.contains("- Diagnostic error: parse error"),
        "{feedback}"
    );

    desk.bench.file(
        "invariants.harn",
        format!("{RULES}fn g() {{ return nowhere }}"),
    );
    let run = desk.run(&[]);
    assert_eq!((run.status, &*run.stdout), (3, ""));
    assert!(run.stderr.contains("HARN-NAM-001"), "{}", run.stderr);

    desk.bench.file("invariants.harn", "fn f() { return 1 }");
    let run = desk.run(&[]);
    assert_eq!(run.status, 3);
    assert_eq!(report(&run)["status"], "nothing_evaluated");
    assert_eq!(desk.run_file("missing.harn", &[]).status, 2);
}

#[test]
fn what_comes_with_the_slice_is_read_from_files() {
    let desk = Desk::new("");
    let rule = "@invariant @deterministic\nfn p(slice, ctx, base) { \
                return flow_invariant_warn(ctx.a + base.b) }\n\
                @invariant @deterministic\nfn endless(slice) { while true { } }";
    desk.bench.file("invariants.harn", rule);
    let ctx = desk.log("ctx.json", r#"{"a": "x"}"#);
    let base = desk.log("base.json", r#"{"b": "y"}"#);
    let args = ["--predicate", "p", "--ctx", &ctx, "--repo-at-base", &base];
    let told = report(&desk.run(&args));
    assert_eq!(record(&told, "p")["result"]["verdict"]["reason"], "xy");
    let args = ["--predicate", "endless", "--budget-ms", "1"];
    for more in [&[][..], &["--fuel", "1000"]] {
        let run = desk.run(&[&args[..], more].concat());
        assert_eq!(run.status, 1);
        let told = report(&run);
        let error = &record(&told, "endless")["result"]["verdict"]["error"];
        assert_eq!(error["code"], "budget_exceeded");
    }
}
