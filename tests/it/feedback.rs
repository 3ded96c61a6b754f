//! What an agent is told of reports, also of those that are none.

use probity::flow::flow_invariant_feedback;
use serde_json::{Value as Json, json};

fn told(report: &Json, options: &Json) -> Vec<String> {
    let told = flow_invariant_feedback(report, options).expect("it is a report");
    told.lines().map(Into::into).collect()
}

fn result(verdict: Json) -> Json {
    json!({"verdict": verdict, "confidence": 1.0})
}

#[test]
fn verdicts_have_their_labels_and_texts() {
    let report = json!({"ok": false, "status": "fail", "records": [
        {"name": "w", "result": result(json!({"kind": "warn", "reason": "a\n  b"}))},
        {"hash": "sha256:1", "result": result(json!({"kind": "require_approval",
            "approver": {"kind": "role", "name": "security"}}))},
        {"name": "u", "result": result(json!({"kind": "require_approval",
            "approver": {"kind": "principal", "id": "user:a"}}))},
        {"name": "f", "enforced": false, "result": result(json!({"kind": "block",
            "error": {"code": "c", "message": "m"}}))},
        {"name": "odd", "result": {"verdict": "Block"}},
        {},
    ], "skipped": [{"name": "s", "reason": "not selected"}]});
    assert_eq!(
        told(&report, &json!({"include_skipped": true})),
        [
            "Flow invariants need attention:",
            "- Warn w: a b",
            "- RequireApproval sha256:1: requires role approval from security",
            "- RequireApproval u: requires principal approval from user:a",
            "- Block (advisory) f: c: m",
            "- Invariant odd: it has no verdict that is known",
            "- Invariant unnamed: it has no verdict that is known",
            "- Skipped s: not selected",
        ]
    );
    assert_eq!(
        told(&report, &json!({"max_items": 2})).split_off(1),
        [
            "- Warn w: a b",
            "- RequireApproval sha256:1: requires role approval from security",
            "- 4 more item(s) omitted.",
        ]
    );
}

#[test]
fn warnings_are_told_of_files_in_no_order_alone() {
    let diagnostics = json!([
        {"severity": "warning", "code": "c", "message": "no provenance", "span": null},
        {"severity": "error", "code": "c", "message": "parse error", "span": null},
    ]);
    let mut report = json!({"ok": false, "status": "fail", "diagnostics": diagnostics});
    assert_eq!(
        told(&report, &Json::Null).split_off(1),
        ["- Diagnostic error: parse error"]
    );
    report["status"] = "discovery_error".into();
    assert_eq!(
        told(&report, &Json::Null).split_off(1),
        [
            "- Diagnostic warning: no provenance",
            "- Diagnostic error: parse error"
        ]
    );
}

#[test]
fn remediation_is_said_once() {
    let report = |message: &str, typed: Json, raw: Json| {
        let mut result = result(json!({"kind": "block",
            "error": {"code": "c", "message": message}}));
        result["remediation"] = typed;
        json!({"records": [{"name": "p", "result": result, "raw_result": raw}]})
    };
    for (typed, raw, expected) in [
        (
            json!({"description": "do it"}),
            json!({"remediation": "raw"}),
            " Remediation: do it",
        ),
        (json!("do it"), Json::Null, " Remediation: do it"),
        (
            Json::Null,
            json!({"remediation": "raw"}),
            " Remediation: raw",
        ),
        (
            json!({"description": " \n"}),
            json!({"remediation": "m\t m"}),
            "",
        ),
        (json!({"description": "m m"}), Json::Null, ""),
        (Json::Null, json!({"remediation": 5}), ""),
    ] {
        let line = told(&report("m m", typed, raw), &Json::Null).pop();
        assert_eq!(line, Some(format!("- Block p: c: m m{expected}")));
    }
}

#[test]
fn findings_have_labels() {
    let findings = json!([
        "text", {"path": "a", "start_line": 7}, {"path": "a", "line": -1}, {"message": "m"},
        {"reason": "r"}, {"text": "t"}, {"path": ""}, {}, 5, null, "text", " ",
        {"path": "a", "line": "9"},
    ]);
    let mut report = json!({"records": [{"name": "p", "findings": findings}]});
    let line = |report: &Json, options: Json| told(report, &options).pop().expect("a line");
    let all = json!({"max_findings_per_item": 99});
    let shown = "- Invariant p: it has no verdict that is known";
    assert_eq!(
        line(&report, all),
        format!("{shown} Findings: text, a:7, a, m, r, t")
    );
    assert_eq!(line(&report, json!({"include_findings": false})), shown);
    // Those of the raw result come first, whatever they are.
    report["records"][0]["raw_result"] = json!({"findings": "none"});
    assert_eq!(line(&report, Json::Null), shown);
}

#[test]
fn texts_are_cut_at_characters() {
    let reason = "ä ".repeat(5000);
    let report = json!({"records": [{"name": "n".repeat(9000),
        "result": result(json!({"kind": "warn", "reason": reason}))}]});
    for (asked, most) in [(1, 1), (5, 5), (99_999, 2000)] {
        let line = told(&report, &json!({"max_message_chars": asked}))
            .pop()
            .expect("a line");
        let (name, reason) = line.split_once(": ").expect("both");
        let name = name.strip_prefix("- Warn ").expect("a label");
        assert_eq!((name.chars().count(), reason.chars().count()), (most, most));
        assert!(name.ends_with('…') && reason.ends_with('…'));
    }
    let report = json!({"records": [{"name": "\u{1b}[31m\u{7}red", "result": {}}]});
    let line = told(&report, &Json::Null).pop().expect("a line");
    assert!(line.starts_with("- Invariant [31m red: "), "{line}");
}

#[test]
fn what_is_no_report_is_an_error() {
    for report in [
        Json::Null,
        json!([]),
        json!("ok"),
        json!({"records": {}}),
        json!({"diagnostics": 1}),
        json!({"skipped": "all"}),
        json!({"records": [5]}),
        json!({"diagnostics": [{}, null]}),
    ] {
        assert!(
            flow_invariant_feedback(&report, &Json::Null).is_err(),
            "{report}"
        );
    }
    // One that is not ok is never told to have passed.
    let report = json!({"ok": false, "status": "fail", "records": []});
    let told = told(&report, &json!({"empty_if_clear": false}));
    assert_eq!(told.len(), 2, "{told:?}");
}

#[test]
fn reports_of_any_size_and_depth_are_told() {
    let mut deep = json!("bottom");
    for _ in 0..100 {
        deep = json!({"verdict": [deep], "name": {"x": 1}});
    }
    let report = json!({"records": [{"result": deep["verdict"], "raw_result": deep["verdict"]}]});
    assert_eq!(told(&report, &Json::Null).len(), 2);
    let findings: Vec<Json> = (0..200_000)
        .map(|at| json!({"path": format!("f{at}")}))
        .collect();
    let record = json!({"name": " ".repeat(1 << 20) + "p", "findings": findings});
    let records: Vec<Json> = std::iter::once(record)
        .chain((0..100_000).map(|_| json!({"name": "q", "result": {}})))
        .collect();
    let told = told(&json!({ "records": records }), &json!({"max_items": 1}));
    assert!(told[1].ends_with("(+199997 more)"), "{}", told[1]);
    assert_eq!(told[2], "- 100000 more item(s) omitted.");
}
