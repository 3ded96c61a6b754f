//! What is wrong with a record, and with which words it is said.

use super::support::{DIGEST, SOURCE, claim, findings, one, one_with};
use crate::claims::{Body, Options};
use crate::diagnostic::{Code, Span};
use crate::digest::Digest;
use crate::language::Language;

fn expression(members: &str) -> String {
    format!("{{\"assertion\":{{\"form\":\"predicate\",\"expression\":{members}}}}}")
}

#[test]
fn a_claim_gives_its_expression() {
    let record = one(claim("cl_1"));
    assert_eq!(record.id.as_deref(), Some("cl_1"));
    assert_eq!(record.kind.as_deref(), Some("assertion"));
    assert_eq!(record.language.as_deref(), Some("elench-predicate-v1"));
    assert!(!record.signed_unchecked);
    let Body::Predicate(expression) = record.body else {
        panic!("{record:?}");
    };
    assert_eq!(expression.language, Language::ElenchV1);
    assert_eq!(expression.source, SOURCE);
    assert_eq!(expression.digest, Digest::of(SOURCE.as_bytes()));
}

#[test]
fn optional_scalars_may_be_null_and_unknown_keys_pass_through() {
    let text = r#"{"id": null, "kind": null, "x": {"y": [1]}, "assertion": {"form": "predicate",
        "text": null, "x": 1.5, "expression": {"language": "elench-predicate-v2",
        "source": "\u0065xists(\"a\")", "digest": null, "x": true}}, "timestamp": null}"#;
    let record = one(text);
    assert_eq!((record.id, record.kind, record.text), (None, None, None));
    let Body::Predicate(expression) = record.body else {
        panic!("{:?}", record.diagnostics);
    };
    assert_eq!(expression.language, Language::ElenchV2);
    assert_eq!(expression.source, r#"exists("a")"#);
}

#[test]
fn annotations_are_annotations() {
    let record = one(r#"{"assertion": {"form": "annotation", "text": "prose"}}"#);
    assert_eq!(record.body, Body::Annotation);
    assert_eq!(record.text.as_deref(), Some("prose"));
}

#[test]
fn fields_at_fault_are_named() {
    for (text, message) in [
        ("{}", "`assertion` is missing"),
        (r#"{"assertion": null}"#, "`assertion` is null"),
        (
            r#"{"assertion": "x"}"#,
            "`assertion` is a string; it must be an object",
        ),
        (r#"{"assertion": {}}"#, "`assertion.form` is missing"),
        (
            r#"{"assertion": {"form": 1}}"#,
            "`assertion.form` is a number; it must be a string",
        ),
        (
            r#"{"assertion": {"form": "Predicate"}}"#,
            "`assertion.form` is `Predicate`; known are `predicate` and `annotation`",
        ),
        (
            &expression("[]"),
            "`assertion.expression` is an array; it must be an object",
        ),
        (
            &expression(r#"{"language": "elench-predicate-v1"}"#),
            "`assertion.expression.source` is missing",
        ),
        (
            &expression(r#"{"language": "elench-predicate-v1", "source": {}}"#),
            "`assertion.expression.source` is an object; it must be a string",
        ),
        (
            &expression(r#"{"language": 1, "source": ""}"#),
            "`assertion.expression.language` is a number; it must be a string",
        ),
        (
            &expression(r#"{"language": "elench-predicate-v1", "source": "", "digest": true}"#),
            "`assertion.expression.digest` is a bool; it must be a string",
        ),
        (
            r#"{"id": -1, "assertion": {"form": "annotation"}}"#,
            "`id` is a number; it must be a string",
        ),
        ("null", "the record is null; it must be an object"),
        ("17", "the record is a number; it must be an object"),
        ("\"x\"", "the record is a string; it must be an object"),
    ] {
        assert_eq!(
            findings(text),
            [(Code::BadField, message.to_owned())],
            "{text}"
        );
    }
}

#[test]
fn all_faults_are_named_at_once() {
    let text = r#"{"id": 1, "kind": [], "assertion": {"form": "predicate", "text": 1,
        "expression": {"language": "v9", "digest": 5}}, "depends_on": []}"#;
    let codes: Vec<Code> = findings(text).into_iter().map(|(code, _)| code).collect();
    let mut expected = vec![
        Code::SnakeCaseKey,
        Code::BadField,
        Code::BadField,
        Code::BadField,
    ];
    expected.extend([Code::UnknownLanguage, Code::BadField, Code::BadField]);
    assert_eq!(codes, expected);
}

#[test]
fn keys_given_twice_are_refused() {
    let claim = claim("a");
    let body = claim.strip_suffix('}').unwrap();
    for (extra, path) in [
        (r#""id": "b""#, "id"),
        (r#""assertion": {"form": "annotation"}"#, "assertion"),
        (r#""timestamp": 1, "timestamp": 1"#, "timestamp"),
        (r#""dependsOn": [], "depends_on": []"#, "depends_on"),
        (r#""x": 1, "\u0078": 1"#, "x"),
    ] {
        let text = format!("{body}, {extra}}}");
        let message = format!("`{path}` is given twice");
        assert!(
            findings(text).contains(&(Code::BadField, message)),
            "{extra}"
        );
    }
    let text = r#"{"assertion": {"form": "annotation", "form": "predicate"}}"#;
    assert_eq!(findings(text)[0].1, "`assertion.form` is given twice");
    let text = expression(r#"{"source": "a", "source": "b"}"#);
    assert_eq!(
        findings(text)[0].1,
        "`assertion.expression.source` is given twice"
    );
    // Many are cut short, not listed by the million.
    let text = format!("{{{}\"assertion\": 1}}", "\"x\": 1, ".repeat(100_000));
    assert_eq!(findings(text).len(), 9);
}

#[test]
fn snake_case_gives_one_warning_for_each_key() {
    let text = r#"{"assertion": {"form": "annotation"}, "depends_on": [],
        "origin": {"session_id": 1, "producer": {"session_id": "s"}},
        "anchor": {"content_digest": "d"}, "exit_code": 1, "session_id": 1,
        "evidence": [{"exit_code": 0}, {"exit_code": 1, "x": {"content_digest": 1}}]}"#;
    let record = one(text);
    assert_eq!(record.body, Body::Annotation);
    let found: Vec<_> = record
        .diagnostics
        .iter()
        .map(|found| &*found.message)
        .collect();
    let warning = |snake: &str, camel: &str| {
        format!("`{snake}` is lost by other readers of the log; write `{camel}`")
    };
    assert_eq!(
        found,
        [
            warning("depends_on", "dependsOn"),
            warning("session_id", "sessionId"),
            warning("content_digest", "contentDigest"),
            warning("exit_code", "exitCode"),
        ]
    );
}

#[test]
fn languages() {
    let unnamed = expression(r#"{"source": "x"}"#);
    assert_eq!(findings(unnamed.clone())[0].0, Code::LanguageMissing);
    let options = Options {
        default_language: Some(Language::ElenchV2),
        ..Options::default()
    };
    let record = one_with(unnamed, &options);
    assert_eq!(record.language, None);
    assert!(matches!(
        record.body,
        Body::Predicate(expression) if expression.language == Language::ElenchV2
    ));
    // A name that is given is never overruled.
    let record = one_with(
        expression(r#"{"language": "rego", "source": "x"}"#),
        &options,
    );
    assert_eq!(record.language.as_deref(), Some("rego"));
    assert_eq!(record.diagnostics[0].code, Code::UnknownLanguage);
    assert_eq!(
        &*record.diagnostics[0].message,
        "unknown language `rego`: known are `elench-predicate-v1` and `elench-predicate-v2`"
    );
    // What a log says is shown on one line and not at length.
    let name = format!("a\\u001b[2J\\n{}", "z".repeat(1000));
    let text = expression(&format!(r#"{{"language": "{name}", "source": "x"}}"#));
    let message = &findings(text)[0].1;
    assert!(
        message.starts_with(r"unknown language `a\u{1b}[2J\nzzz"),
        "{message}"
    );
    assert!(message.len() < 250);
}

#[test]
fn a_predicate_needs_an_expression() {
    for text in [
        r#"{"assertion": {"form": "predicate"}}"#,
        &expression("null"),
    ] {
        assert_eq!(findings(text)[0].0, Code::ExpressionMissing);
    }
}

#[test]
fn digests() {
    let with = |digest: &str| {
        let source = SOURCE.replace('"', "\\\"");
        let members = format!(
            r#"{{"language": "elench-predicate-v1", "source": "{source}", "digest": "{digest}"}}"#
        );
        findings(expression(&members))
    };
    let upper = DIGEST.to_uppercase();
    for digest in [
        DIGEST,
        &upper,
        &format!("sha256:{DIGEST}"),
        &format!("sha256:{upper}"),
    ] {
        assert_eq!(with(digest), [], "{digest}");
    }
    let other = DIGEST.replace('6', "7");
    for digest in ["", "x", &DIGEST[1..], &other, &format!("sha512:{DIGEST}")] {
        let message = format!(
            "`assertion.expression.digest` is `{digest}`; the source has `sha256:{DIGEST}`"
        );
        assert_eq!(with(digest), [(Code::DigestMismatch, message)]);
    }
}

#[test]
fn malformed_json_has_a_place() {
    for (text, place, span) in [
        (
            "{\"a\": 1,}",
            "line 1, column 9: trailing comma",
            Span::new(8, 9),
        ),
        (
            "\n\n  {\"a\" 1}",
            "line 3, column 8: expected `:`",
            Span::new(5, 6),
        ),
        (
            "[\n  {\n    \"a\": x}]",
            "line 3, column 10: expected value",
            Span::new(11, 12),
        ),
        (
            "{\"a\": \"\0\"}",
            "line 1, column 8: control character",
            Span::new(7, 8),
        ),
    ] {
        let record = one(text);
        let found = &record.diagnostics[0];
        assert_eq!(found.code, Code::MalformedRecord);
        let start = format!("not valid JSON at {place}");
        assert!(found.message.starts_with(&start), "{}", found.message);
        assert_eq!(found.span, span, "{text}");
    }
    let found = findings(&b"\n {\"a\": \"\xff\"}\n"[..]);
    let message = "not valid UTF-8 at byte 7 of the record (line 2, column 9)";
    assert_eq!(found, [(Code::MalformedRecord, message.to_owned())]);
    let found = findings("{\"a\":\n [1,");
    let message = "the log ends inside the record, at line 2, column 5: it was cut";
    assert_eq!(found, [(Code::TruncatedRecord, message.to_owned())]);
}

#[test]
fn deep_nesting_is_refused_wherever_it_is() {
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    for key in ["x", "origin", "assertion", "id", "payload", "predicate"] {
        for depth in [200, 1_000_000] {
            let text = format!("{{\"{key}\": {}}}", nested(depth));
            assert_eq!(findings(text)[0].0, Code::MalformedRecord, "{key}");
        }
    }
    let text = format!(
        r#"{{"x": {}, "assertion": {{"form": "annotation"}}}}"#,
        nested(100)
    );
    assert_eq!(one(text).body, Body::Annotation);
}

#[test]
fn ids_are_checked_on_demand() {
    let options = Options {
        check_ids: true,
        ..Options::default()
    };
    let computed = crate::claims::id::compute(&serde_json::from_str(&claim("")).unwrap());
    let good = claim(&computed);
    assert_eq!(one_with(good, &options).diagnostics, []);
    let wrong = claim("cl_0");
    assert_eq!(one(wrong.clone()).diagnostics, []);
    let record = one_with(wrong, &options);
    assert!(matches!(record.body, Body::Predicate(_)));
    assert_eq!(record.diagnostics[0].code, Code::IdMismatch);
    assert!(record.diagnostics[0].message.contains(&computed));
}
