//! Reports of the gate in every format, from a report made by hand.

use std::collections::BTreeMap;

use probity::diagnostic::Severity;
use probity::flow::model::{Approval, Evidence};
use probity::flow::{
    CeilingLevel, GateApproval, GateOutcome, GateReport, InvariantResult, Verdict,
};
use probity::report::{GateFormat, write_gate};
use serde_json::{Value, json};

use crate::formats;
use crate::gate_sample::{approval, exceed, of, record, remark, report, sample, warn};

const PLAIN: GateFormat = GateFormat::Text { colour: false };

fn write(report: &GateReport, format: GateFormat) -> String {
    let mut out = Vec::new();
    write_gate(&mut out, report, format, false).expect("a vector takes everything");
    String::from_utf8(out).expect("a report is text")
}

#[test]
fn text_tells_what_blocks_first_and_where_it_comes_from() {
    let expected = "\
BLOCK no_tokens
 - src/a b.rs:42: a token
 - src/c.rs:7
 - ../outside:1: made up
 - in general
 = secret_leak: raw token in the diff
 = help: move it to the vault
 = declared at invariants.harn:12
 = also counts for: `src::no_tokens` (src/invariants.harn:3), which said Warn: looks odd
 = evidence: https://example.com/a b \"never commit tokens\" (2026-01-01)

APPROVAL reviewed
 = requires approval by role security
 = declared at invariants.harn:30

WARN src::docs
 = no docs
 = declared at src/invariants.harn:20

NOT ENFORCED style
 = tabs
 = declared at invariants.harn:40

blocked: 6 predicates, 1 allow, 1 warn, 1 require approval, 2 block, 1 not enforced, 1 skipped
slice 5f: main..HEAD, 3 files in 2 directories
cost: 600 fuel, 4.0 kB of memory at most
";
    assert_eq!(write(&sample(), PLAIN), expected);
    let coloured = write(&sample(), GateFormat::Text { colour: true });
    assert!(
        coloured.starts_with("\u{1b}[1m\u{1b}[31mBLOCK\u{1b}[0m no_tokens"),
        "{coloured:?}"
    );
}

#[test]
fn json_holds_records_as_documented_and_json_lines_the_same() {
    let whole: Value =
        serde_json::from_str(&write(&sample(), GateFormat::Json)).expect("it is JSON");
    let record = &whole["records"][5];
    assert_eq!(record["name"], "src::no_tokens");
    assert_eq!(record["logical_name"], "no_tokens");
    assert_eq!(record["kind"], "deterministic");
    assert_eq!(record["fallback_policy"], "enforce");
    assert_eq!(
        record["declared"],
        json!({"path": "src/invariants.harn", "line": 3})
    );
    assert_eq!(record["selected"], "no_tokens");
    assert_eq!(record["own_result"]["verdict"]["kind"], "warn");
    assert_eq!(record["result"]["verdict"]["error"]["code"], "secret_leak");
    assert_eq!(record["outcome"], "block");
    assert_eq!(record["cost"], json!({"fuel": 100, "memory": 4096}));
    let findings = &whole["records"][4]["findings"];
    assert_eq!(findings[1], json!({"path": "src/c.rs", "line": 7}));
    assert_eq!(findings[3], json!({"message": "in general"}));
    let summary = &whole["summary"];
    assert_eq!(summary["outcome"], "block");
    assert_eq!(summary["exit_status"], 1);
    assert_eq!(summary["touched"], json!([".", "src"]));
    assert_eq!(summary["ceiling"], json!({"status": "within", "count": 6}));
    assert_eq!(summary["skipped"][0]["reason"], "not selected");
    assert_eq!(
        summary["verdicts"],
        json!({"allow": 1, "warn": 1, "require_approval": 1, "block": 2, "not_enforced": 1})
    );
    let lines = write(&sample(), GateFormat::JsonLines);
    let mut lines: Vec<Value> = lines
        .lines()
        .map(|line| serde_json::from_str(line).expect("a line is JSON"))
        .collect();
    let last = lines.pop().expect("there is a summary");
    assert_eq!(&last["summary"], summary);
    assert_eq!(Value::Array(lines), whole["records"]);
}

#[test]
fn sarif_holds_a_result_for_each_place() {
    let log = formats::sarif(&write(&sample(), GateFormat::Sarif));
    let run = &log["runs"][0];
    let rules = run["tool"]["driver"]["rules"].as_array().expect("rules");
    assert_eq!(rules.len(), 6);
    assert_eq!(rules[4]["id"], "no_tokens");
    assert_eq!(rules[4]["help"]["text"], "move it to the vault");
    assert_eq!(rules[4]["helpUri"], "https://example.com/a%20b");
    let results = run["results"].as_array().expect("results");
    let shown: Vec<(&Value, &Value, &Value, &Value)> = results
        .iter()
        .map(|result| {
            let place = &result["locations"][0]["physicalLocation"];
            let uri = &place["artifactLocation"]["uri"];
            (
                &result["ruleId"],
                &result["level"],
                uri,
                &place["region"]["startLine"],
            )
        })
        .collect();
    let expected = [
        ("no_tokens", "error", "src/a%20b.rs", 42),
        ("no_tokens", "error", "src/c.rs", 7),
        ("reviewed", "error", "invariants.harn", 30),
        ("src::docs", "warning", "src/invariants.harn", 20),
        ("style", "note", "invariants.harn", 40),
    ];
    assert_eq!(shown.len(), expected.len());
    for (shown, (rule, level, uri, line)) in shown.into_iter().zip(expected) {
        assert_eq!(
            shown,
            (&json!(rule), &json!(level), &json!(uri), &json!(line))
        );
    }
    let message = results[0]["message"]["text"].as_str().expect("a message");
    for part in [
        "a token",
        "../outside: made up",
        "in general",
        "src::no_tokens",
    ] {
        assert!(message.contains(part), "{message}");
    }
    let prints: Vec<_> = results
        .iter()
        .map(|it| &it["partialFingerprints"]["probity/v1"])
        .collect();
    assert!(prints.windows(2).all(|pair| pair[0] != pair[1]));
    assert_eq!(run["invocations"][0]["exitCode"], 1);
    assert_eq!(run["invocations"][0]["executionSuccessful"], true);
}

#[test]
fn junit_holds_a_suite_for_each_file_and_a_case_for_each_predicate() {
    let cases = formats::junit(&write(&sample(), GateFormat::JUnit));
    let shown: Vec<(&str, &str, &str)> = cases
        .iter()
        .map(|case| (&*case.suite, &*case.name, &*case.outcome))
        .collect();
    assert_eq!(
        shown,
        [
            ("invariants.harn", "fine", "passed"),
            ("invariants.harn", "reviewed", "failure approval_required"),
            ("invariants.harn", "style", "skipped not enforced: tabs"),
            ("invariants.harn", "no_tokens", "failure secret_leak"),
            ("src/invariants.harn", "src::docs", "passed"),
            (
                "src/invariants.harn",
                "src::no_tokens",
                "failure secret_leak"
            ),
            ("src/invariants.harn", "src::tone", "skipped not selected"),
        ]
    );
    assert!(cases[3].text.contains("src/a b.rs:42: a token"));
    assert!(
        cases[5]
            .text
            .contains("that of `no_tokens`; this said Warn: looks odd")
    );
}

#[test]
fn annotations_stand_where_the_findings_are() {
    let found = formats::annotations(&write(&sample(), GateFormat::GitHub));
    let shown: Vec<_> = found
        .iter()
        .map(|it| {
            (
                &*it.level,
                it.file.as_deref(),
                it.line.as_deref(),
                &*it.title,
            )
        })
        .collect();
    assert_eq!(
        shown,
        [
            ("error", Some("src/a b.rs"), Some("42"), "no_tokens"),
            ("error", Some("src/c.rs"), Some("7"), "no_tokens"),
            ("error", Some("invariants.harn"), Some("30"), "reviewed"),
            (
                "warning",
                Some("src/invariants.harn"),
                Some("20"),
                "src::docs"
            ),
            ("notice", Some("invariants.harn"), Some("40"), "style"),
            ("notice", None, None, "probity"),
        ]
    );
    assert!(
        found[0]
            .message
            .contains("help: move it to the vault\ndeclared at invariants.harn:12")
    );
    let mut many = sample();
    let findings: Vec<_> = (1..=30)
        .map(|line| json!({"path": "a", "line": line}))
        .collect();
    many.records[4].raw = Some(json!({ "findings": findings }));
    let found = formats::annotations(&write(&many, GateFormat::GitHub));
    let errors = found.iter().filter(|it| it.level == "error").count();
    assert_eq!(errors, 10);
    let last = &found.last().expect("a closing line").message;
    assert!(last.contains("; 21 more not shown here"), "{last}");
}

#[test]
fn what_refuses_the_slice_decides_outcome_and_status() {
    let refused = |change: &dyn Fn(&mut GateReport)| {
        let mut report = report(vec![record("fine", 1, of(Verdict::Allow))]);
        change(&mut report);
        (report.outcome(), report.exit_status())
    };
    use GateOutcome::{Allow, Block, RequireApproval, Warn};
    assert_eq!(refused(&|_| ()), (Allow, 0));
    assert_eq!(refused(&|it| it.records[0].result = warn("w")), (Warn, 0));
    assert_eq!(
        refused(&|it| it.records[0].result = approval()),
        (RequireApproval, 1)
    );
    let approved = |it: &mut GateReport| {
        it.records[0].result = approval();
        it.records[0].approved_by = Some("user:alice".into());
    };
    assert_eq!(refused(&approved), (Warn, 0));
    let block = InvariantResult::block("c", "m");
    assert_eq!(
        refused(&|it| it.records[0].result = block.clone()),
        (Block, 1)
    );
    let advisory = |it: &mut GateReport| {
        it.records.push(it.records[0].clone());
        it.records[1].result = block.clone();
        it.records[1].enforced = false;
    };
    assert_eq!(refused(&advisory), (Allow, 0));
    // Nothing that could not be judged counts as passed.
    assert_eq!(refused(&|it| it.records.clear()), (Allow, 3));
    assert_eq!(refused(&|it| it.records[0].enforced = false), (Allow, 3));
    let error = |it: &mut GateReport| it.diagnostics.push(remark(Severity::Error, "e"));
    assert_eq!(refused(&error), (Block, 3));
    let warning = |it: &mut GateReport| it.diagnostics.push(remark(Severity::Warning, "w"));
    assert_eq!(refused(&warning), (Allow, 0));
    assert_eq!(refused(&|it| it.interrupted = true), (Allow, 130));
    let soft = |it: &mut GateReport| exceed(it, CeilingLevel::RequireApproval);
    assert_eq!(refused(&soft), (RequireApproval, 1));
    assert_eq!(refused(&|it| exceed(it, CeilingLevel::Block)), (Block, 1));
}

#[test]
fn errors_of_discovery_the_ceiling_and_nothing_judged_are_told_in_every_format() {
    let mut report = report(Vec::new());
    report.diagnostics = vec![
        remark(Severity::Error, "no fallback"),
        remark(Severity::Warning, "odd"),
    ];
    exceed(&mut report, CeilingLevel::RequireApproval);
    report.ceiling_approval = Some(GateApproval {
        wanted: "role flow-platform".into(),
        given_by: None,
    });
    let ceiling = "300 predicates apply to this slice, and the soft ceiling is 256";
    let text = write(&report, PLAIN);
    for part in [
        "ERROR src/invariants.harn:7 tone\n = fallback_missing: no fallback",
        "WARNING ",
        ceiling,
        "nothing was judged",
    ] {
        assert!(text.contains(part), "{text}");
    }
    let log = formats::sarif(&write(&report, GateFormat::Sarif));
    let invocation = &log["runs"][0]["invocations"][0];
    assert_eq!(invocation["executionSuccessful"], false);
    let notes = invocation["toolExecutionNotifications"]
        .as_array()
        .expect("notifications");
    let codes: Vec<_> = notes
        .iter()
        .map(|it| (&it["descriptor"]["id"], &it["level"]))
        .collect();
    let (fallback, nothing) = (json!("fallback_missing"), json!("nothing_judged"));
    let (error, warning) = (json!("error"), json!("warning"));
    assert_eq!(
        codes,
        [
            (&fallback, &error),
            (&fallback, &warning),
            (&nothing, &error)
        ]
    );
    assert_eq!(
        notes[0]["locations"][0]["physicalLocation"]["region"]["startLine"],
        7
    );
    assert_eq!(log["runs"][0]["results"][0]["ruleId"], "predicate-ceiling");
    let cases = formats::junit(&write(&report, GateFormat::JUnit));
    let outcomes: BTreeMap<&str, &str> = cases.iter().map(|it| (&*it.name, &*it.outcome)).collect();
    assert_eq!(
        outcomes["predicate ceiling"],
        "failure predicate_count_explosion"
    );
    assert_eq!(outcomes["predicates"], "error nothing_judged");
    assert_eq!(outcomes["discovery of tone"], "error fallback_missing");
    let found = formats::annotations(&write(&report, GateFormat::GitHub));
    let errors: Vec<_> = found
        .iter()
        .filter(|it| it.level == "error")
        .map(|it| &*it.title)
        .collect();
    assert_eq!(errors, ["probity", "fallback_missing", "predicate ceiling"]);
}

#[test]
fn an_approval_is_shown_and_no_longer_refuses() {
    let mut reviewed = record("reviewed", 30, approval());
    reviewed.approved_by = Some("user:alice".into());
    let mut report = report(vec![reviewed]);
    report.approvals.push(Approval {
        reviewer: "user:alice".into(),
        approved_at: "2026-04-26T00:00:00Z".into(),
        reason: None,
        signature: None,
    });
    let text = write(&report, PLAIN);
    assert!(text.starts_with("WARN reviewed\n"), "{text}");
    assert!(text.contains(" = approved by: user:alice\n"), "{text}");
    let log = formats::sarif(&write(&report, GateFormat::Sarif));
    let result = &log["runs"][0]["results"][0];
    assert_eq!(result["level"], "warning");
    assert_eq!(
        result["suppressions"][0]["justification"],
        "approved by user:alice"
    );
    assert_eq!(
        formats::junit(&write(&report, GateFormat::JUnit))[0].outcome,
        "passed"
    );
}

#[test]
fn what_could_not_be_judged_is_an_error_of_junit() {
    let results = [
        "budget_exceeded",
        "predicate_runtime_error",
        "fallback_missing",
    ];
    for code in results {
        let report = report(vec![record("p", 1, InvariantResult::block(code, "m"))]);
        let cases = formats::junit(&write(&report, GateFormat::JUnit));
        assert_eq!(cases[0].outcome, format!("error {code}"));
    }
}

#[test]
fn hostile_text_is_safe_in_every_format() {
    let hostile =
        "\u{1b}[2J]]>\r\n::error::faked\n##[error]x\0%0A<&\"'>\u{fffe}\u{ffff}\u{202e}\u{9b}";
    let huge = "x".repeat(1 << 20);
    let mut report = sample();
    for text in [hostile, &huge] {
        let result = InvariantResult::block(text, text);
        let mut record = record("evil", 1, result);
        record.raw = Some(json!({"remediation": "r", "findings": [
            {"path": text, "line": 1, "message": text},
            {"path": format!("src/{text}"), "line": u64::MAX, "message": text},
            text,
        ]}));
        record.own.evidence = vec![Evidence::ExternalCitation {
            url: format!("https://example.com/{text}"),
            quote: text.into(),
            fetched_at: text.into(),
        }];
        record.declared.path = format!("d/{hostile}").into();
        record.approved_by = Some(text.into());
        report.records.push(record);
        report.diagnostics.push(remark(Severity::Error, text));
    }
    report.slice.base = Some(hostile.into());
    let formats_of_people = [
        PLAIN,
        GateFormat::GitHub,
        GateFormat::JUnit,
        GateFormat::Sarif,
    ];
    for format in formats_of_people {
        let text = write(&report, format);
        let steers = |char: char| (char.is_control() && char != '\n') || char == '\u{202e}';
        assert!(!text.contains(steers), "{format:?}");
        assert!(text.len() < 400_000, "{format:?}: {}", text.len());
    }
    for line in write(&report, PLAIN).lines() {
        assert!(!line.trim_start().starts_with("::") && !line.trim_start().starts_with("##["));
    }
    formats::sarif(&write(&report, GateFormat::Sarif));
    formats::junit(&write(&report, GateFormat::JUnit));
    for found in formats::annotations(&write(&report, GateFormat::GitHub)) {
        assert_ne!(found.title, "faked");
        assert_ne!(found.message, "faked");
    }
    // Machines get what was said, byte for byte.
    let whole: Value = serde_json::from_str(&write(&report, GateFormat::Json)).expect("JSON");
    assert_eq!(whole["records"][6]["findings"][0]["path"], hostile);
}

#[test]
fn equal_runs_print_equal_reports() {
    let mut slow = sample();
    slow.wall_ns *= 7;
    for record in &mut slow.records {
        record.cost.cpu_ns *= 3;
        record.cost.elapsed_ns *= 5;
    }
    for format in [
        PLAIN,
        GateFormat::Json,
        GateFormat::JsonLines,
        GateFormat::Sarif,
        GateFormat::JUnit,
        GateFormat::GitHub,
    ] {
        assert_eq!(write(&sample(), format), write(&slow, format), "{format:?}");
    }
}
