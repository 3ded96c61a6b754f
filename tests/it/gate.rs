//! `probity gate` from end to end: a repository with nested predicate files.

use probity::files::memory_tree;
use probity::flow::{Discovery, Gate, GateJob, GateOutcome, Slice, SliceFile, touched_directories};
use serde_json::Value as Json;

use crate::bin::{Bench, Run};
use crate::changes::repository;
use crate::git::{commit_all, git};

const HEAD: &str = "@invariant\n@deterministic\n@archivist(evidence: [\"https://example.com\"], \
     confidence: 0.9, source_date: \"2026-01-01\", coverage_examples: [\"a\"])\n";

pub(crate) fn rule(name: &str, body: &str) -> String {
    format!("{HEAD}fn {name}(slice) {{\n{body}\n}}\n")
}

/// A committed repository: the root forbids `.unwrap()`, `src` says that all is well.
fn nested() -> Bench {
    let bench = repository();
    let body = "  for file in slice.files {\n    if file.text.contains(\".unwrap()\") {\n      \
         return {verdict: \"Block\", rule: \"no_unwrap\", remediation: \"handle it\", \
         findings: [{path: file.path, line: 1}]}\n    }\n  }\n  return flow_invariant_allow()";
    bench
        .file("invariants.harn", rule("no_unwrap", body))
        .file(
            "src/invariants.harn",
            rule("no_unwrap", "  return flow_invariant_allow()"),
        )
        .file("src/net/a.rs", "fn a() {}\n");
    commit_all(&bench.root(), "base");
    git(&bench.root(), &["branch", "before"]);
    bench
}

fn json(run: &Run) -> Json {
    serde_json::from_str(&run.stdout).expect("a report")
}

fn gate(bench: &Bench, args: &[&str]) -> Run {
    let base = ["gate", "--base", "before", "--format", "json"];
    bench.run(&[&base[..], args].concat())
}

#[test]
fn a_clean_change_passes() {
    let bench = nested();
    bench.file("src/net/a.rs", "fn a() { b() }\n");
    let run = gate(&bench, &[]);
    assert_eq!(run.status, 0, "{}{}", run.stdout, run.stderr);
    let report = json(&run);
    assert_eq!(report["summary"]["outcome"], "allow");
    assert_eq!(report["summary"]["slice"]["files"], 1);
    assert_eq!(report["records"].as_array().map(Vec::len), Some(2));
}

#[test]
fn a_violation_blocks_with_place_and_hint_and_a_child_cannot_relax_it() {
    let bench = nested();
    bench.file("src/net/a.rs", "fn a() { b().unwrap() }\n");
    let run = gate(&bench, &[]);
    assert_eq!(run.status, 1, "{}", run.stderr);
    let report = json(&run);
    let child = &report["records"][1];
    assert_eq!(child["name"], "src::no_unwrap");
    assert_eq!(child["selected"], "no_unwrap");
    assert_eq!(child["own_result"]["verdict"]["kind"], "allow");
    assert_eq!(child["result"]["verdict"]["error"]["code"], "no_unwrap");
    let text = bench.run(&["gate", "--base", "before"]).stdout;
    for part in [
        "src/net/a.rs:1",
        "handle it",
        "invariants.harn:4",
        "blocked",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn what_is_staged_is_judged_and_not_what_lies_on_disk() {
    let bench = nested();
    bench.file("src/net/a.rs", "fn a() { b().unwrap() }\n");
    git(&bench.root(), &["add", "-A"]);
    bench.file("src/net/a.rs", "fn a() { b() }\n");
    assert_eq!(bench.run(&["gate", "--staged"]).status, 1);
    assert_eq!(gate(&bench, &[]).status, 0);
}

#[test]
fn nothing_is_allowed_in_silence() {
    let bench = nested();
    let run = gate(&bench, &["--head", "before"]);
    assert_eq!(
        (run.status, &json(&run)["summary"]["judged"]),
        (3, &false.into())
    );
    assert_eq!(
        gate(&bench, &["--head", "before", "--allow-empty"]).status,
        0
    );
    git(
        &bench.root(),
        &["rm", "-q", "invariants.harn", "src/invariants.harn"],
    );
    assert_eq!(gate(&bench, &[]).status, 3);
    bench.file("src/net/a.rs", "fn a() { b().unwrap() }\n");
    assert_eq!(gate(&bench, &["--rules", "base"]).status, 1);
}

#[test]
fn what_was_not_judged_is_told_as_what_it_is() {
    let bench = nested();
    let empty = ["gate", "--base", "before", "--head", "before"];
    let text = bench.run(&empty).stdout;
    assert!(text.contains("the slice holds no files"), "{text}");
    assert!(!text.contains("no predicates"), "{text}");
    bench.file("src/net/a.rs", "fn a() { b() }\n");
    let text = bench
        .run(&["gate", "--base", "before", "--block-threshold", "1"])
        .stdout;
    assert!(text.contains("hard ceiling"), "{text}");
    assert!(!text.contains("no predicates"), "{text}");
}

#[test]
fn reports_are_the_same_whatever_the_number_of_threads() {
    let bench = nested();
    let body = "  return {verdict: \"Warn\", rule: \"r\", findings: slice.files}";
    let rules: String = (0..60).map(|at| rule(&format!("r{at}"), body)).collect();
    bench
        .file("src/invariants.harn", rules)
        .file("src/net/a.rs", "fn a() { b().unwrap() }\n");
    let run = |jobs: &str| gate(&bench, &["--no-timings", "--jobs", jobs]).stdout;
    let one = run("1");
    assert!(one.contains("no_unwrap"), "{one}");
    for jobs in ["2", "8", "64"] {
        assert_eq!(run(jobs), one, "{jobs}");
    }
}

#[test]
fn an_endless_loop_of_one_slice_holds_up_no_other() {
    let endless = rule(
        "endless",
        "  while true { }\n  return flow_invariant_allow()",
    );
    let fine = rule("fine", "  return flow_invariant_allow()");
    let tree = memory_tree([
        ("a/invariants.harn", endless.into_bytes()),
        ("b/invariants.harn", fine.into_bytes()),
    ])
    .expect("a tree");
    let paths = ["a/x", "b/x", "b/y"];
    let slices = paths.map(|path| Slice::new(vec![SliceFile::new(path, "text")]));
    let jobs = slices.iter().map(|slice| {
        let touched = touched_directories(slice).expect("paths");
        GateJob::new(slice, touched)
    });
    let jobs: Vec<GateJob<'_>> = jobs.collect();
    let reports = Gate::default().judge_all(&mut Discovery::new(&tree), None, &jobs);
    let outcomes: Vec<GateOutcome> = reports.iter().map(|report| report.outcome()).collect();
    let expected = [GateOutcome::Block, GateOutcome::Allow, GateOutcome::Allow];
    assert_eq!(outcomes, expected);
    let verdict = &reports[0].records[0].result.verdict;
    assert_eq!(verdict.code(), Some("budget_exceeded"));
}

/// What each returns is kept until the end: a thousand times 16 MiB would be too much.
#[test]
fn results_share_the_memory_that_they_may_take() {
    let bench = nested();
    bench.file("src/net/a.rs", "fn a() { b() }\n");
    let body = "  return {verdict: \"Warn\", rule: \"r\", findings: range(0, 40000)}";
    let judged = |count: usize| {
        let rules = (0..count).map(|at| rule(&format!("r{at}"), body));
        bench.file("src/invariants.harn", rules.collect::<String>());
        json(&gate(&bench, &[]))["records"][1]["result"]["verdict"].clone()
    };
    assert_eq!(judged(1)["kind"], "warn");
    let verdict = judged(250);
    assert_eq!(verdict["error"]["code"], "budget_exceeded", "{verdict}");
    let message = verdict["error"]["message"].as_str().expect("a message");
    assert!(message.contains("result is too large"), "{message}");
}

#[test]
fn a_removed_rule_is_told() {
    let bench = nested();
    git(&bench.root(), &["rm", "-q", "src/invariants.harn"]);
    let report = json(&gate(&bench, &[]));
    let remark = &report["summary"]["diagnostics"][0];
    assert_eq!(remark["code"], "predicate_changed");
    assert_eq!(remark["predicate"], "no_unwrap");
}

/// Row 22 of flow.md, section 13.
#[test]
fn row_22_an_endless_loop_is_ended_by_its_budget_and_others_go_on() {
    let bench = nested();
    let body = "  let x = 0\n  while true { x = x + 1 }\n  return flow_invariant_allow()";
    bench
        .file("src/invariants.harn", rule("endless", body))
        .file("src/net/a.rs", "fn a() { b() }\n");
    let report = json(&gate(&bench, &[]));
    let [other, endless] = &report["records"].as_array().expect("records")[..] else {
        panic!("{report}");
    };
    assert_eq!(other["result"]["verdict"]["kind"], "allow");
    assert_eq!(
        endless["result"]["verdict"]["error"]["code"],
        "budget_exceeded"
    );
}

#[test]
fn many_predicates_want_an_approval_and_too_many_are_refused() {
    let bench = nested();
    let rules = |count: usize| -> String {
        let body = "  return flow_invariant_allow()";
        let rules = (0..count).map(|number| rule(&format!("rule_{number}"), body));
        rules.collect()
    };
    bench.file("src/invariants.harn", rules(300));
    assert_eq!(gate(&bench, &[]).status, 1);
    let run = gate(&bench, &["--approved-by", "role:flow-platform"]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    let report = json(&run);
    let approval = &report["summary"]["ceiling_approval"];
    assert_eq!(approval["given_by"], "role:flow-platform");
    bench.file("src/invariants.harn", rules(1100));
    let run = gate(&bench, &["--approved-by", "role:flow-platform"]);
    let report = json(&run);
    assert_eq!(
        (run.status, &report["summary"]["ceiling"]["level"]),
        (1, &"block".into())
    );
    assert_eq!(report["records"].as_array().map(Vec::len), Some(0));
}
