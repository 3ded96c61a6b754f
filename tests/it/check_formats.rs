//! `check` and `lint` in the formats of other tools.

use serde_json::{Value, json};

use crate::bin::{Bench, claim, log_of};
use crate::formats;

const SOURCES: [&str; 4] = [
    r#"grep(/fn /, "src/lib.rs") == 2"#,
    r#"grep(/fn /, "src/") == 0"#,
    r#"grep(/x/, "missing.rs") == 0"#,
    "The tests all pass now.",
];

fn bench() -> Bench {
    let bench = Bench::new();
    bench.file("src/lib.rs", "fn one() {}\nfn two() {}\n");
    bench
}

/// Runs in the directory of the log, so that its path is relative.
fn run(bench: &Bench, command: &str, format: &str, more: &[&str]) -> (String, Option<i32>) {
    let mut args = vec![command, "log.jsonl", "--format", format, "--no-timings"];
    args.extend(more);
    let mut command = bench.bare(&args);
    if args[0] == "check" {
        command.arg("--root").arg(bench.root());
    }
    let output = command
        .current_dir(bench.outside(""))
        .output()
        .expect("the binary runs");
    let text = String::from_utf8(output.stdout).expect("output is text");
    (text, output.status.code())
}

#[test]
fn sarif_holds_what_did_not_pass_with_its_line_and_where_facts_were_found() {
    let bench = bench();
    bench.log("log.jsonl", log_of(&SOURCES));
    let (text, status) = run(&bench, "check", "sarif", &[]);
    assert_eq!(status, Some(1));
    let log = formats::sarif(&text);
    let results = log["runs"][0]["results"].as_array().expect("results");
    let shown: Vec<_> = results
        .iter()
        .map(|it| {
            let place = &it["locations"][0]["physicalLocation"];
            assert_eq!(place["artifactLocation"]["uri"], "log.jsonl");
            assert_eq!(it["level"], "error");
            let line = place["region"]["startLine"].as_u64();
            (it["ruleId"].as_str().expect("an id"), line.expect("a line"))
        })
        .collect();
    assert_eq!(
        shown,
        [("claim_failed", 2), ("path_not_found", 3), ("prose", 4)]
    );
    let related: Vec<_> = results[0]["relatedLocations"]
        .as_array()
        .expect("places")
        .iter()
        .map(|it| {
            let place = &it["physicalLocation"];
            (
                place["artifactLocation"]["uri"].clone(),
                place["region"]["startLine"].clone(),
            )
        })
        .collect();
    assert_eq!(related, [(json!("src/lib.rs"), json!(1))]);
    let rules = &log["runs"][0]["tool"]["driver"]["rules"];
    assert!(
        rules[1]["help"]["text"]
            .as_str()
            .is_some_and(|it| it.contains("!exists"))
    );
}

#[test]
fn junit_holds_a_case_for_each_claim() {
    let bench = bench();
    bench.log("log.jsonl", log_of(&SOURCES));
    let (text, status) = run(&bench, "check", "junit", &[]);
    assert_eq!(status, Some(1));
    let cases = formats::junit(&text);
    let outcomes: Vec<_> = cases.iter().map(|it| (&*it.suite, &*it.outcome)).collect();
    assert_eq!(
        outcomes,
        [
            ("log.jsonl", "passed"),
            ("log.jsonl", "failure claim_failed"),
            ("log.jsonl", "error path_not_found"),
            ("log.jsonl", "error prose"),
        ]
    );
    assert!(
        cases[1].text.contains("found at src/lib.rs:1"),
        "{}",
        cases[1].text
    );
}

#[test]
fn annotations_name_the_line_of_the_log() {
    let bench = bench();
    bench.log("log.jsonl", log_of(&SOURCES));
    let (text, _) = run(&bench, "check", "github", &[]);
    let found = formats::annotations(&text);
    let shown: Vec<_> = found
        .iter()
        .map(|it| (&*it.level, it.file.as_deref(), it.line.as_deref()))
        .collect();
    assert_eq!(
        shown,
        [
            ("error", Some("log.jsonl"), Some("2")),
            ("error", Some("log.jsonl"), Some("3")),
            ("error", Some("log.jsonl"), Some("4")),
            ("notice", None, None),
        ]
    );
    assert_eq!(
        found[3].message,
        "4 claims: 1 pass, 1 fail, 1 unevaluated, 1 invalid, 0 skipped"
    );
}

#[test]
fn no_claims_never_pass_in_silence() {
    let bench = bench();
    bench.log("log.jsonl", "");
    let (text, status) = run(&bench, "check", "sarif", &[]);
    assert_eq!(status, Some(3));
    let log = formats::sarif(&text);
    let invocation = &log["runs"][0]["invocations"][0];
    assert_eq!(invocation["executionSuccessful"], false);
    let note = &invocation["toolExecutionNotifications"][0];
    assert_eq!(note["descriptor"]["id"], "nothing_checked");
    let (text, _) = run(&bench, "check", "junit", &[]);
    assert_eq!(formats::junit(&text)[0].outcome, "error nothing_checked");
    let (text, _) = run(&bench, "check", "github", &[]);
    assert_eq!(formats::annotations(&text)[0].level, "error");
    // Nor does a log that is not there.
    let (text, status) = run(&bench, "check", "junit", &["gone.jsonl"]);
    assert_eq!(status, Some(2));
    let cases = formats::junit(&text);
    assert!(
        cases
            .iter()
            .any(|it| it.outcome == "error unreadable_input"),
        "{text}"
    );
}

#[test]
fn lint_tells_of_warnings_and_errors() {
    let bench = bench();
    bench.log("log.jsonl", log_of(&[SOURCES[0], SOURCES[3]]));
    let (text, status) = run(&bench, "lint", "sarif", &[]);
    assert_eq!(status, Some(1));
    let log = formats::sarif(&text);
    let results = log["runs"][0]["results"].as_array().expect("results");
    assert!(
        results
            .iter()
            .any(|it| it["ruleId"] == "prose" && it["level"] == "error")
    );
    let (text, _) = run(&bench, "lint", "junit", &[]);
    assert_eq!(formats::junit(&text)[1].outcome, "failure prose");
}

#[test]
fn a_history_has_no_such_format() {
    let bench = bench();
    bench.log("log.jsonl", log_of(&SOURCES));
    let (text, status) = run(&bench, "history", "sarif", &[]);
    assert_eq!((&*text, status), ("", Some(2)));
}

#[test]
fn hostile_logs_are_safe_in_every_format() {
    let bench = bench();
    let hostile = "\u{1b}[2J]]>\r\n::error::faked\0%<&\"'\u{fffe}\u{202e}";
    let hostile_claim = |source: &str| {
        let mut claim: Value = serde_json::from_str(&claim(source)).expect("it is JSON");
        claim["id"] = json!(hostile);
        format!("{claim}\n")
    };
    let predicate = "exists(\"\u{1b}]]>\u{fffe}\")";
    let log = [
        hostile_claim(predicate),
        hostile_claim(hostile),
        hostile_claim(&"x".repeat(200_000)),
    ]
    .concat();
    bench.log("log.jsonl", log);
    let steers = |char: char| (char.is_control() && char != '\n') || char == '\u{202e}';
    for format in ["sarif", "junit", "github"] {
        let (text, status) = run(&bench, "check", format, &[]);
        assert!(matches!(status, Some(1 | 3)), "{status:?}");
        assert!(!text.contains(steers), "{format}: {text:?}");
        assert!(text.len() < 100_000, "{format}: {}", text.len());
        match format {
            "sarif" => drop(formats::sarif(&text)),
            "junit" => assert_eq!(formats::junit(&text).len(), 3),
            _ => assert_eq!(formats::annotations(&text).len(), 4),
        }
    }
}
