use super::{Stub, check_functions, shown};
use crate::harn::value::Value;

const ATOM: &str = "00112233445566778899AABBCCDDEEFF00112233445566778899aabbccddeeff";

#[test]
fn results_have_their_serialized_form() {
    check_functions(&[
        (
            "flow_invariant_allow",
            "[]",
            r#"{"confidence": 1.0, "verdict": {"kind": "allow"}}"#,
        ),
        (
            "flow_invariant_warn",
            r#"["r"]"#,
            r#"{"confidence": 1.0, "verdict": {"kind": "warn", "reason": "r"}}"#,
        ),
        (
            "flow_invariant_block",
            r#"["c", "m"]"#,
            r#"{"confidence": 1.0, "verdict": {"error": {"code": "c", "message": "m"}, "kind": "block"}}"#,
        ),
        (
            "flow_invariant_require_approval",
            r#"["principal", "p"]"#,
            r#"{"confidence": 1.0, "verdict": {"approver": {"id": "p", "kind": "principal"}, "kind": "require_approval"}}"#,
        ),
        (
            "flow_invariant_require_approval",
            r#"["role", "p"]"#,
            r#"{"confidence": 1.0, "verdict": {"approver": {"kind": "role", "name": "p"}, "kind": "require_approval"}}"#,
        ),
        (
            "flow_invariant_require_approval",
            r#"["boss", "p"]"#,
            r#"Type: `flow_invariant_require_approval` wants "principal" or "role" as its kind"#,
        ),
        (
            "flow_invariant_warn",
            "[null]",
            "Type: `flow_invariant_warn` wants a string as its reason and got nil",
        ),
        ("flow_remediation", r#"["d"]"#, r#"{"description": "d"}"#),
    ]);
}

#[test]
fn evidence_has_its_serialized_form() {
    let lower = ATOM.to_ascii_lowercase();
    check_functions(&[
        (
            "flow_evidence_atom",
            &format!(r#"["{ATOM}", 0, 3]"#),
            &format!(
                r#"{{"atom": "{lower}", "diff_span": {{"end": 3, "start": 0}}, "kind": "atom_pointer"}}"#
            ),
        ),
        (
            "flow_evidence_atom",
            &format!(r#"["{ATOM}", 4, 3]"#),
            "Type: `flow_evidence_atom` wants a start and an end that is not before it, and got 4 and 3",
        ),
        (
            "flow_evidence_atom",
            r#"["12", 0, 3]"#,
            "Type: `flow_evidence_atom` wants 64 hex digits as its atom",
        ),
        (
            "flow_evidence_metadata",
            r#"["d", "n", "k"]"#,
            r#"{"directory": "d", "key": "k", "kind": "metadata_path", "namespace": "n"}"#,
        ),
        (
            "flow_evidence_transcript",
            r#"["t", 1, 1]"#,
            r#"{"kind": "transcript_excerpt", "span": {"end": 1, "start": 1}, "transcript_id": "t"}"#,
        ),
        (
            "flow_evidence_citation",
            r#"["u", "q", "f"]"#,
            r#"{"fetched_at": "f", "kind": "external_citation", "quote": "q", "url": "u"}"#,
        ),
    ]);
}

#[test]
fn results_are_completed() {
    let mut stub = Stub::new();
    let args = stub.values(r#"["r", "t", 1, 2, "d"]"#);
    let warn = stub.run("flow_invariant_warn", &args[..1]).unwrap();
    let item = stub.run("flow_evidence_transcript", &args[1..4]).unwrap();
    let items = stub.values("[[]]");
    let items = stub.send("push", &[items[0].clone(), item]).unwrap();
    let fix = stub.run("flow_remediation", &args[4..]).unwrap();
    let result = stub.run("flow_with_evidence", &[warn, items]).unwrap();
    let result = stub.run("flow_with_remediation", &[result, fix]).unwrap();
    let result = stub.run("flow_with_confidence", &[result, Value::Float(1.5)]);
    let result = stub
        .run("flow_with_confidence", &[result.unwrap(), Value::Int(0)])
        .unwrap();
    assert_eq!(
        shown(Ok(result.clone())),
        r#"{"confidence": 0.0, "evidence": [{"kind": "transcript_excerpt", "span": {"end": 2, "start": 1}, "transcript_id": "t"}], "remediation": {"description": "d"}, "verdict": {"kind": "warn", "reason": "r"}}"#
    );
    for (name, expected) in [
        ("flow_invariant_kind", "\"warn\""),
        ("flow_invariant_is_blocking", "false"),
        ("flow_invariant_confidence", "0.0"),
    ] {
        assert_eq!(
            shown(stub.run(name, std::slice::from_ref(&result))),
            expected
        );
    }
    let nan = stub.run("flow_with_confidence", &[result, Value::Float(f64::NAN)]);
    assert!(shown(nan).contains("got NaN"));
}

#[test]
fn what_is_no_result_is_refused() {
    let wrong = "wants a result that `flow_invariant_…` made";
    for result in [
        "{}",
        r#"{"verdict": "Warn"}"#,
        r#"{"verdict": {"kind": "allow"}}"#,
        r#"{"verdict": {"kind": "deny"}, "confidence": 1.0}"#,
        r#"{"verdict": {"kind": "warn"}, "confidence": 1.0}"#,
        r#"{"verdict": {"kind": "require_approval", "approver": {"kind": "role"}}, "confidence": 1.0}"#,
    ] {
        let outcome = super::function("flow_invariant_kind", &format!("[{result}]"));
        assert_eq!(
            outcome,
            format!("Type: `flow_invariant_kind` {wrong}"),
            "{result}"
        );
    }
    let allow = r#"{"verdict": {"kind": "allow"}, "confidence": 1}"#;
    check_functions(&[
        (
            "flow_invariant_kind",
            "[1]",
            "Type: `flow_invariant_kind` wants a dict as its result and got int",
        ),
        ("flow_invariant_confidence", &format!("[{allow}]"), "1.0"),
        (
            "flow_with_evidence",
            &format!(r#"[{allow}, [{{"kind": "gossip"}}]]"#),
            "Type: `flow_with_evidence` wants evidence that `flow_evidence_…` made, and item 0 is none",
        ),
        (
            "flow_with_remediation",
            &format!("[{allow}, {{}}]"),
            "Type: `flow_with_remediation` wants a remediation that has a description",
        ),
    ]);
}

#[test]
fn trees_are_searched_with_the_harness_only() {
    check_functions(&[(
        "ast_search",
        r#"[{}, {}]"#,
        "Type: `ast_search` wants the harness of the predicate and got dict",
    )]);
    let mut stub = Stub::new();
    let good = r#"{"source": "", "query": "", "language": "zig"}"#;
    for (params, expected) in [
        (
            good,
            "Type: this build has no syntax trees: build with the feature `ast`",
        ),
        (
            "{}",
            "Type: `ast_search` wants a string as `source` and got nothing",
        ),
        (
            r#"{"path": "/"}"#,
            "Type: `ast_search` knows no parameter `path`",
        ),
        (
            r#"{"max_matches": -1}"#,
            "Type: `ast_search` wants an int that is not negative as `max_matches`",
        ),
    ] {
        let params = stub.values(&format!("[{params}]"))[0].clone();
        assert_eq!(
            shown(stub.run("ast_search", &[Value::Harness, params])),
            expected
        );
    }
}

#[test]
fn feedback_is_paid_for_by_the_size_of_the_report() {
    let report = |size: usize| {
        let text = "x".repeat(size);
        format!(r#"[{{"records": [{{"name": "p", "result": {{}}, "more": "{text}"}}]}}]"#)
    };
    let spent = |size: usize| {
        let mut stub = Stub::with(1 << 24, 1 << 24);
        let args = stub.values(&report(size));
        let before = stub.fuel();
        stub.run("flow_invariant_feedback", &args)
            .expect("it is told");
        before - stub.fuel()
    };
    let (small, large) = (spent(0), spent(1 << 20));
    assert!(large - small >= (1 << 20) / 16, "{small} {large}");
    let mut stub = Stub::with(1 << 24, 1 << 10);
    let args = stub.values(&report(1 << 20));
    let outcome = stub.run("flow_invariant_feedback", &args);
    assert!(outcome.is_err(), "{}", shown(outcome));
    let mut stub = Stub::with(1 << 24, 1 << 24);
    let range = stub
        .run("range", &[Value::Int(0), Value::Int(i64::MAX)])
        .expect("a range");
    let outcome = stub.run("flow_invariant_feedback", &[range]);
    assert!(outcome.is_err(), "{}", shown(outcome));
}
