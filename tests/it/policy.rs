//! What a policy and the budgets of a batch let be executed, and how often.

use std::fs;
use std::time::{Duration, Instant};

use crate::bin::{Bench, log_of};
use crate::cell::{Cell, POLICY, is_confined, processes_with, wait_until};

#[test]
fn what_the_policy_does_not_allow_is_not_executed() {
    if !is_confined() {
        return;
    }
    let cell = Cell::new(POLICY);
    assert_eq!(cell.run("touch out/x").code(), "command_not_allowed");
    assert_eq!(cell.run("/bin/true").code(), "command_not_allowed");
    assert_eq!(cell.run("./inside.txt").code(), "command_not_allowed");
    let cell = Cell::new(
        "[run]\nallow = [\"no-such-program\", { program = \"sh\", args = [\"-c\", \"true\"] }, { program = \"env\", nondeterministic = true }]",
    );
    assert_eq!(cell.run("no-such-program").code(), "command_not_found");
    assert_eq!(cell.run("sh -c true").exit(), 0);
    assert_eq!(cell.run("sh -c false").code(), "command_not_allowed");
    assert_eq!(cell.run("env").code(), "command_nondeterministic");
}

#[test]
fn a_program_of_the_workspace_is_never_started() {
    if !is_confined() {
        return;
    }
    let bench = Bench::new();
    bench.file("bin/tool", "#!/bin/sh\necho owned\n");
    let tool = bench.root().join("bin/tool");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(&tool, mode).expect("the mode can be set");
    let outside = bench.outside("links");
    fs::create_dir(&outside).expect("a directory can be made");
    std::os::unix::fs::symlink(&tool, outside.join("linked")).expect("a link can be made");
    let policy = format!(
        "[run]\nallow = [\"tool\", \"linked\", \"{}\"]\npath = [\"{}\", \"{}\"]",
        tool.display(),
        bench.root().join("bin").display(),
        outside.display()
    );
    let policy = bench.log("policy.toml", policy);
    let cell = Cell { bench, policy };
    for command in ["tool", "linked", tool.to_str().expect("a path in UTF-8")] {
        assert_eq!(cell.run(command).code(), "command_not_allowed", "{command}");
    }
}

#[test]
fn budgets_and_deadlines_of_the_batch_end_commands() {
    if !is_confined() {
        return;
    }
    let cell = Cell::new(
        &POLICY
            .replace("\"2s\"", "\"60s\"")
            .replace("\"20s\"", "\"60s\""),
    );
    let policy = cell.policy.to_str().expect("a path in UTF-8");
    let spin = r#"run("sh -c 'while :; do :; done'").exit == 0"#;
    let sleep = r#"run("sleep 86404.1").exit == 0"#;
    for (source, option, code) in [
        (spin, "--cpu-budget=500ms", "budget_exceeded"),
        (sleep, "--deadline=500ms", "cancelled"),
    ] {
        let begun = Instant::now();
        let other = r#"run("true").exit == 0"#;
        let log = cell.bench.log("log.jsonl", log_of(&[source, other]));
        let (results, _, _) = cell.bench.check(&log, &["--policy", policy, option]);
        assert_eq!(results[0]["code"], code, "{}", results[0]);
        assert!(begun.elapsed() < Duration::from_secs(20), "{option}");
        wait_until("nothing is left", || processes_with("sleep\x0086404") == 0);
    }
    // What it took is charged to those that asked, in equal shares.
    let burn = "run(\"sh -c 'i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done'\").exit";
    let claims = ["== 0", "!= 1", "< 2"].map(|rest| format!("{burn} {rest}"));
    let log = log_of(&claims.each_ref().map(String::as_str));
    let log = cell.bench.log("log.jsonl", log);
    let (results, _, status) = cell.bench.check(&log, &["--policy", policy]);
    assert_eq!(status, 0, "{}", results[0]);
    let costs: Vec<u64> = results
        .iter()
        .filter_map(|result| result["cost"]["cpu_ns"].as_u64())
        .collect();
    assert!(costs.iter().all(|cost| *cost > 10_000_000), "{costs:?}");
    let range = costs.iter().min().zip(costs.iter().max());
    assert!(
        range.is_some_and(|(least, most)| most - least < 2_000_000),
        "{costs:?}"
    );
}

#[test]
fn one_command_is_executed_once_for_a_batch() {
    if !is_confined() {
        return;
    }
    let cell = Cell::new(POLICY);
    let log: Vec<String> = (0..20)
        .map(|number| format!(r#"run("sh -c 'echo x >> out/count'").exit == 0 && grep(/x/, "inside.txt") == 0 && exists("absent{number}") == false"#))
        .map(|source| source.replace(" == false", "").replace("exists(", "!exists("))
        .collect();
    let log: Vec<&str> = log.iter().map(String::as_str).collect();
    let log = cell.bench.log("log.jsonl", log_of(&log));
    let policy = cell.policy.to_str().expect("a path in UTF-8");
    let (_, summary, status) = cell.bench.check(&log, &["--policy", policy]);
    assert_eq!(status, 0, "{summary}");
    let count = fs::read_to_string(cell.bench.root().join("out/count"));
    assert_eq!(count.expect("it was written"), "x\n");
}

#[test]
fn a_policy_in_the_workspace_is_used_and_named_and_another_takes_its_place() {
    if !is_confined() {
        return;
    }
    let bench = Bench::new();
    bench.file("probity.toml", "[run]\nallow = [\"true\"]\n");
    let claim = r#"run("true").exit == 0"#;
    let run = bench.run(&["eval", claim]);
    assert_eq!(run.status, 0, "{}", run.stdout);
    assert!(
        run.stderr.contains("a file of the workspace"),
        "{}",
        run.stderr
    );
    let other = bench.log("other.toml", "[run]\nallow = [\"false\"]\n");
    let run = bench.run(&[
        "eval",
        claim,
        "--policy",
        other.to_str().expect("a path in UTF-8"),
    ]);
    assert_eq!(run.status, 3, "{}", run.stdout);
    for bad in [
        "[run]\nalow = []\n",
        "[run]\ntimeout = \"soon\"\n",
        "run = 1",
        "[run]\nwrite = [\"../x\"]",
    ] {
        bench.file("probity.toml", bad);
        let run = bench.run(&["eval", claim]);
        assert_eq!(run.status, 2, "{bad}");
        assert!(run.stderr.contains("probity.toml"), "{}", run.stderr);
    }
}
