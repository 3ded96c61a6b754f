//! Judges of semantic predicates that are commands: they answer, fail and try to escape.
//!
//! Where the machine lacks a layer of confinement, no command is executed, and these
//! tests say so and end.

mod replies;

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::time::{Duration, Instant};

use probity::budget::CancelToken;
use probity::flow::BlockError;
use probity::flow::executor::{CheapJudge, JudgeReply, JudgeRequest, MAX_JUDGE_REQUEST_BYTES};
use probity::flow::judges::{CommandJudge, CommandJudgeError, FixtureJudge};
use probity::policy::Policy;
use serde_json::json;

use self::replies::{Asks, executed, got};
use crate::bin::Bench;
use crate::cell::{is_confined, processes_with, wait_until};

const HELPER: &str = env!("CARGO_BIN_EXE_probity");

/// Bounds in which a loaded machine has time enough.
const POLICY: &str = r#"
[run]
timeout = "30s"
cpu = "30s"
memory = "300MiB"
"#;

fn made(bench: &Bench, line: &str, policy: &str) -> Result<CommandJudge, CommandJudgeError> {
    let policy = Policy::parse(policy).expect("it is a policy");
    CommandJudge::new(line, Some(policy), &bench.root(), HELPER)
}

fn request(evidence: impl Into<String>) -> JudgeRequest {
    JudgeRequest {
        prompt: "is it good?".into(),
        evidence_key: "case".into(),
        evidence: evidence.into(),
        predicate: "tested".into(),
    }
}

/// What a command says under a policy.
fn asked(bench: &Bench, line: &str, policy: &str) -> Result<JudgeReply, BlockError> {
    let judge = made(bench, line, policy).expect("it can be a judge");
    judge.judge(&request("some evidence"), &CancelToken::new())
}

/// What a script says.
fn script(bench: &Bench, script: &str, policy: &str) -> Result<JudgeReply, BlockError> {
    assert!(!script.contains('\''), "{script}");
    asked(bench, &format!("sh -c '{script}'"), policy)
}

fn code(answer: Result<JudgeReply, BlockError>) -> String {
    answer.expect_err("it does not answer").code
}

/// The end of a script that says yes.
const YES: &str = r#"echo "{\"passes\": true}""#;

#[test]
fn a_command_is_asked_by_the_executor() {
    if !is_confined() {
        return;
    }
    let bench = Bench::new();
    let line = r#"python3 -c '
import json, sys
text = sys.stdin.read()
asked = json.loads(text)
good = "good" in asked["evidence"]
print(json.dumps({
    "verdict": "Allow" if good else "Block",
    "findings": [sorted(asked), text.count("\n")],
    "reason": asked["prompt"],
    "input_tokens": 11,
    "model_id": "small",
}))'"#;
    for (evidence, verdict) in [("all good", "Allow"), ("all bad", "Block")] {
        let judge = made(&bench, line, POLICY).expect("it can be a judge");
        let asks = Asks::new("tested", evidence);
        let record = executed(judge, &asks, None);
        let expected = json!({
            "passes": verdict == "Allow",
            "verdict": verdict,
            "findings": [["evidence", "evidence_key", "prompt"], 1],
            "reason": "is it good?",
        });
        assert_eq!(got(&asks), expected);
        let code = record.result.verdict.code();
        assert_eq!(code, (verdict == "Block").then_some("judged"));
        let audit = record.semantic_replay_audit.expect("it was asked");
        assert_eq!(audit.model_id.as_deref(), Some("small"));
    }
}

#[test]
fn a_command_that_sleeps_ends_with_the_budget_and_leaves_nothing() {
    if !is_confined() {
        return;
    }
    let bench = Bench::new();
    let mark = format!("86407.{}0", std::process::id());
    let line = format!("sh -c 'setsid sleep {mark}1 & trap \"\" TERM; sleep {mark}2; sleep 60'");
    let judge = made(&bench, &line, POLICY).expect("it can be a judge");
    let asks = Asks::new("tested", "some evidence");
    let begun = Instant::now();
    let (record, was_seen) = std::thread::scope(|scope| {
        let run = scope.spawn(|| executed(judge, &asks, Some(Duration::from_secs(2))));
        let mut was_seen = false;
        while !run.is_finished() {
            was_seen |= processes_with(&mark) > 0;
            std::thread::sleep(Duration::from_millis(5));
        }
        (run.join().expect("it does not panic"), was_seen)
    });
    assert!(begun.elapsed() < Duration::from_secs(8));
    assert!(was_seen, "what is looked for is never found");
    assert_eq!(processes_with(&mark), 0);
    assert_eq!(record.result.verdict.code(), Some("budget_exceeded"));
    assert_eq!(record.semantic_replay_audit, None);
}

#[test]
fn the_bounds_of_the_policy_and_the_token_end_a_command() {
    if !is_confined() {
        return;
    }
    let bench = Bench::new();
    let mark = format!("86408.{}0", std::process::id());
    let sleep = format!("sleep {mark}; {YES}");
    let bounds = |bound: &str| format!("{POLICY}[judge]\n{bound}\n");
    let answer = script(&bench, &sleep, &bounds("timeout = \"300ms\""));
    assert_eq!(code(answer), "budget_exceeded");
    let spin = "while :; do :; done";
    let answer = script(&bench, spin, &bounds("cpu = \"200ms\""));
    assert_eq!(code(answer), "budget_exceeded");
    let hog = "x=xxxxxxxx; while :; do x=$x$x; done";
    let answer = script(&bench, hog, &bounds("memory = \"60MiB\""));
    assert_eq!(code(answer), "budget_exceeded");
    assert_eq!(processes_with(&mark), 0);

    let judge = made(&bench, &format!("sh -c '{sleep}'"), POLICY).expect("it can be a judge");
    let token = CancelToken::new();
    let answer = std::thread::scope(|scope| {
        let answer = scope.spawn(|| judge.judge(&request("e"), &token));
        wait_until("it runs", || processes_with(&mark) > 0);
        token.cancel();
        answer.join().expect("it does not panic")
    });
    assert_eq!(code(answer), "cancelled");
    assert_eq!(processes_with(&mark), 0);
    // The next request is answered again, but not with a token that was used.
    let judge = made(&bench, &format!("sh -c '{YES}'"), POLICY).expect("it can be a judge");
    assert_eq!(code(judge.judge(&request("e"), &token)), "cancelled");
    let answer = judge.judge(&request("e"), &CancelToken::new());
    assert!(answer.expect("it answers").passes);
}

#[test]
fn what_is_no_reply_is_none() {
    if !is_confined() {
        return;
    }
    let bench = Bench::new();
    for (says, named) in [
        ("echo maybe", "expected value"),
        (":", "EOF"),
        (r#"echo "{\"passes\": true""#, "EOF"),
        (r#"echo "{\"passes\": true} {}""#, "trailing"),
        (r#"echo "{\"passes\": \"yes\"}""#, "`passes`"),
        (r#"echo "[]""#, "no object"),
        (r#"printf "{\"verdict\": \"\\377\"}""#, "unicode"),
        ("head -c 20000000 /dev/zero", "longer than"),
        // Also if what was kept of it is one.
        (
            r#"echo "{\"passes\": true}"; yes "" | head -c 20000000"#,
            "longer than",
        ),
        ("head -c 100000 /dev/zero | tr \"\\\\0\" [", "recursion"),
    ] {
        let error = script(&bench, says, POLICY).expect_err("it is none");
        assert_eq!(error.code, "judge_invalid_reply", "{says}: {error:?}");
        assert!(error.message.contains(named), "{says}: {error:?}");
        assert!(error.message.len() < 400, "{says}");
    }
    // A flood without end is one until its time is up.
    let policy = format!("{POLICY}[judge]\ntimeout = \"500ms\"\n");
    assert_eq!(code(script(&bench, "yes", &policy)), "budget_exceeded");
}

#[test]
fn a_command_that_fails_says_why() {
    if !is_confined() {
        return;
    }
    let bench = Bench::new();
    let fails = format!("echo >&2; echo no key >&2; echo more >&2; {YES}; exit 3");
    let error = script(&bench, &fails, POLICY).expect_err("it fails");
    assert_eq!(error.code, "judge_failed");
    assert_eq!(error.message, "the judge `sh` ended with status 3: no key");
    let error = script(&bench, "head -c 100000 /dev/zero >&2; kill -9 $$", POLICY);
    let error = error.expect_err("it fails");
    assert_eq!(error.code, "judge_failed");
    assert!(
        error
            .message
            .starts_with("the judge `sh` ended with status 137")
    );
    assert!(error.message.len() < 1000);
}

#[test]
fn files_outside_are_not_read_and_the_workspace_is_not_written() {
    if !is_confined() {
        return;
    }
    let bench = Bench::new();
    bench.file("inside.txt", "inside\n");
    let secret = bench.log("secret.txt", "secret\n");
    let reads = format!(
        "cat $PROBITY_WORKSPACE/inside.txt >&2; cat {} /etc/shadow /proc/1/environ; exit 3",
        secret.display()
    );
    let error = script(&bench, &reads, POLICY).expect_err("it fails");
    assert!(error.message.ends_with(": inside"), "{error:?}");
    let reads = format!("cat {} && {YES}", secret.display());
    assert_eq!(code(script(&bench, &reads, POLICY)), "judge_failed");
    // Once it may.
    let policy = format!(
        "{POLICY}[judge]\nread = [{:?}]\n",
        secret.display().to_string()
    );
    let reads = format!("cat {} >&2 && {YES}", secret.display());
    assert!(script(&bench, &reads, &policy).expect("it answers").passes);

    // What commands may write is nothing that a judge may.
    let policy = POLICY.replace("[run]", "[run]\nwrite = [\"out\"]");
    bench.file("out/kept.txt", "kept\n");
    let writes = format!("echo x > $PROBITY_WORKSPACE/out/new.txt; echo y > $TMPDIR/y && {YES}");
    assert!(script(&bench, &writes, &policy).expect("it answers").passes);
    assert!(!bench.root().join("out/new.txt").exists());
    let policy = format!("{policy}[judge]\nwrite = [\"out\"]\n");
    assert!(script(&bench, &writes, &policy).expect("it answers").passes);
    assert!(bench.root().join("out/new.txt").exists());
}

#[test]
fn the_network_is_refused_unless_the_section_of_judges_allows_it() {
    if !is_confined() {
        return;
    }
    let bench = Bench::new();
    let tcp = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    tcp.set_nonblocking(true).expect("it can be set");
    let port = tcp.local_addr().expect("it is bound").port();
    let line = format!("bash -c 'echo hello > /dev/tcp/127.0.0.1/{port} && {YES}'");
    // What commands may reach is nothing that a judge may.
    for policy in [
        POLICY.to_owned(),
        POLICY.replace("[run]", "[run]\nnetwork = true"),
        format!("{POLICY}[judge]\nnetwork = false\n"),
    ] {
        assert_eq!(code(asked(&bench, &line, &policy)), "judge_failed");
        assert!(tcp.accept().is_err());
    }
    let judge = CommandJudge::new(&line, None, &bench.root(), HELPER);
    let judge = judge.expect("it can be a judge");
    let answer = judge.judge(&request("e"), &CancelToken::new());
    assert_eq!(code(answer), "judge_failed");
    assert!(tcp.accept().is_err());
    let policy = format!("{POLICY}[judge]\nnetwork = true\n");
    assert!(asked(&bench, &line, &policy).expect("it answers").passes);
    assert!(tcp.accept().is_ok());
}

#[test]
fn a_large_request_arrives_whole_and_a_larger_one_is_not_made() {
    if !is_confined() {
        return;
    }
    let bench = Bench::new();
    let line = r#"python3 -c '
import hashlib, json, os, sys
os.lseek(0, 0, os.SEEK_SET)
asked = json.loads(sys.stdin.buffer.read())
evidence = asked["evidence"].encode()
print(json.dumps({"passes": True, "findings": [len(evidence), hashlib.sha256(evidence).hexdigest()]}))'"#;
    let word = "wörter \u{1}\"\\\n";
    let evidence = word.repeat(900_000 / word.len());
    let digest = probity::Digest::of(evidence.as_bytes()).hex().to_string();
    let judge = made(&bench, line, POLICY).expect("it can be a judge");
    let asks = Asks::new("tested", &*evidence);
    executed(judge, &asks, None);
    assert_eq!(got(&asks)["findings"], json!([evidence.len(), digest]));
    // So it does where it is opened by its name.
    let line = format!("sh -c 'grep -q \"some evidence\" /dev/stdin && {YES}'");
    assert!(asked(&bench, &line, POLICY).expect("it answers").passes);
    // One that does not read it answers as well.
    let judge = made(&bench, &format!("sh -c '{YES}'"), POLICY).expect("it can be a judge");
    let asks = Asks::new("tested", &*evidence);
    executed(judge, &asks, None);
    assert_eq!(got(&asks)["passes"], true);

    let judge = FixtureJudge::parse(r#"{"replies": [], "otherwise": {"passes": true}}"#);
    let judge = judge.expect("it is a fixture");
    let room = MAX_JUDGE_REQUEST_BYTES - "is it good?".len();
    for (bytes, expected) in [(room, None), (room + 1, Some("budget_exceeded"))] {
        let asks = Asks::new("tested", "x".repeat(bytes));
        let record = executed(judge.clone(), &asks, None);
        assert_eq!(record.result.verdict.code(), expected);
    }
}

#[test]
fn nothing_of_the_workspace_is_taken_for_a_part_of_a_judge() {
    if !is_confined() {
        return;
    }
    let bench = Bench::new();
    bench.file(
        "json.py",
        "print('{\"passes\": true}')\nraise SystemExit(0)\n",
    );
    bench.file("judge.sh", YES);
    let line = r#"python3 -c 'import json; print(json.dumps({"passes": False}))'"#;
    assert!(!asked(&bench, line, POLICY).expect("it answers").passes);
    assert_eq!(code(asked(&bench, "sh judge.sh", POLICY)), "judge_failed");

    bench.file("bin/tool", format!("#!/bin/sh\n{YES}\n"));
    let tool = bench.root().join("bin/tool");
    let mode = fs::Permissions::from_mode(0o755);
    fs::set_permissions(&tool, mode).expect("the mode can be set");
    let outside = bench.outside("links");
    fs::create_dir(&outside).expect("a directory can be made");
    std::os::unix::fs::symlink(&tool, outside.join("linked")).expect("a link can be made");
    let bin = bench.root().join("bin");
    let policy = format!(
        "{POLICY}[judge]\npath = [{:?}, {:?}, \"/usr/bin\"]\n",
        bin.display().to_string(),
        outside.display().to_string()
    );
    let lines = [
        "tool".to_owned(),
        "linked".to_owned(),
        "bin/tool".to_owned(),
        "./tool".to_owned(),
        tool.display().to_string(),
        outside.join("linked").display().to_string(),
    ];
    for line in lines {
        let error = made(&bench, &line, &policy).expect_err("it is refused");
        assert!(
            matches!(error, CommandJudgeError::Program(_)),
            "{line}: {error}"
        );
    }
    // By its own path it is read and executed wherever else it lies.
    let own = bench.outside("own");
    fs::copy(&tool, &own).expect("it can be copied");
    let answer = asked(&bench, &own.display().to_string(), POLICY);
    assert!(answer.expect("it answers").passes);
}

#[test]
fn what_is_no_command_is_no_judge() {
    let bench = Bench::new();
    for (line, named) in [
        ("", "names no program"),
        (" \t", "names no program"),
        ("'' x", "names no program"),
        ("python3 'x", "not closed"),
        ("python3 x | tee y", "a pipe"),
        ("KEY=1 python3", "NAME=value"),
        ("python3 $HOME/x", "`$`"),
        ("python3 ~/x", "`~`"),
        ("no-such-program-here", "no-such-program-here"),
        ("/no/such/program", "/no/such/program"),
    ] {
        let error = made(&bench, line, POLICY).expect_err("it is none");
        assert!(error.to_string().contains(named), "{line}: {error}");
    }
    let nowhere = bench.outside("nowhere");
    let error = CommandJudge::new("sh", None, &nowhere, HELPER).expect_err("it is not there");
    assert!(error.to_string().contains("nowhere"), "{error}");
    // A host without a helper executes nothing.
    for helper in ["", "/no/such/helper"] {
        let judge = CommandJudge::new("sh", None, &bench.root(), helper);
        let judge = judge.expect("it can be a judge");
        let answer = judge.judge(&request("e"), &CancelToken::new());
        assert_eq!(code(answer), "llm_unavailable", "{helper}");
    }
}
