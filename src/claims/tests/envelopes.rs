//! Statements and envelopes.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::support::{claim, findings, one, one_with};
use crate::claims::{Body, Options};
use crate::diagnostic::Code;

const AGENT_CLAIM: &str = "https://elench.dev/predicate/agent-claim/v0.1";

fn claim_value() -> Value {
    serde_json::from_str(&claim("a")).unwrap()
}

fn statement() -> Value {
    json!({
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [{"name": "t", "digest": {"sha256": "t"}}],
        "predicateType": AGENT_CLAIM,
        "predicate": claim_value(),
    })
}

fn envelope(payload: &str) -> Value {
    json!({
        "payloadType": "application/vnd.in-toto+json",
        "payload": payload,
        "signatures": [{"keyid": "k", "sig": "c2ln"}],
    })
}

fn base64(value: &Value) -> String {
    STANDARD.encode(value.to_string())
}

fn hex(value: &Value) -> String {
    let text = value.to_string();
    text.bytes().map(|byte| format!("{byte:02x}")).collect()
}

/// The value with one member set, or removed where the new value is null.
fn with(mut value: Value, key: &str, member: Value) -> Value {
    if member.is_null() {
        value.as_object_mut().unwrap().remove(key);
    } else {
        value[key] = member;
    }
    value
}

#[test]
fn every_wrapping_gives_the_claim() {
    let bare = one(claim("a"));
    assert_eq!(one(statement().to_string()), bare);
    let angled = with(
        statement(),
        "_type",
        json!("<https://in-toto.io/Statement/v1>"),
    );
    assert_eq!(one(angled.to_string()), bare);
    let untyped = with(statement(), "_type", Value::Null);
    let renamed = with(untyped, "type", json!("https://in-toto.io/Statement/v1"));
    assert_eq!(one(renamed.to_string()), bare);
    for payload in [
        base64(&statement()),
        hex(&statement()),
        base64(&claim_value()),
        hex(&claim_value()),
    ] {
        let mut record = one(envelope(&payload).to_string());
        assert!(record.signed_unchecked);
        record.signed_unchecked = false;
        assert_eq!(record, bare);
    }
}

#[test]
fn the_first_implementation_is_read_with_warnings() {
    let mut statement = with(statement(), "predicateType", Value::Null);
    statement["predicate_type"] = json!(AGENT_CLAIM);
    statement["predicate"]["depends_on"] = json!([]);
    let text = json!({
        "payload_type": AGENT_CLAIM,
        "payload": hex(&statement),
        "signatures": [{"keyid": "0123456789abcdef", "sig": "00"}],
    });
    let record = one(text.to_string());
    assert!(matches!(record.body, Body::Predicate(_)), "{record:?}");
    let codes: Vec<Code> = record.diagnostics.iter().map(|found| found.code).collect();
    assert_eq!(codes, [Code::SnakeCaseKey; 3]);
}

#[test]
fn what_holds_no_claim_is_refused() {
    let good = envelope(&base64(&statement()));
    let twice = envelope(&base64(&good));
    let truncated = STANDARD.encode(&statement().to_string()[..50]);
    for (value, message) in [
        (
            with(good.clone(), "payload", Value::Null),
            "`payload` is missing",
        ),
        (
            with(good.clone(), "payload", json!(1)),
            "`payload` is a number",
        ),
        (
            with(good.clone(), "payload", json!("p!")),
            "neither base64 nor hex",
        ),
        (
            with(good.clone(), "payload", json!("WzFd")),
            "neither base64 nor hex",
        ),
        (
            with(good.clone(), "payload", json!(truncated)),
            "not valid JSON: EOF",
        ),
        (
            with(good.clone(), "payload", json!("eyL/In0=")),
            "not valid UTF-8 at byte 2",
        ),
        (
            with(good.clone(), "payloadType", Value::Null),
            "`payloadType` is missing",
        ),
        (
            with(good.clone(), "payloadType", json!("text/plain")),
            "`payloadType` is `text/plain`",
        ),
        (json!({"signatures": []}), "`payloadType` is missing"),
        (twice, "an envelope again"),
        (
            with(statement(), "_type", Value::Null),
            "`_type` is missing",
        ),
        (with(statement(), "_type", json!("<x>")), "`_type` is `x`"),
        (
            with(statement(), "predicateType", Value::Null),
            "`predicateType` is missing",
        ),
        (
            with(statement(), "predicateType", json!("slsa")),
            "`predicateType` is `slsa`",
        ),
        (
            with(statement(), "predicate", Value::Null),
            "`predicate` is missing",
        ),
        (
            with(statement(), "predicate", json!([])),
            "`predicate` is an array, not a claim",
        ),
        (
            with(statement(), "assertion", json!({})),
            "more than one of",
        ),
        (
            with(good.clone(), "assertion", json!({})),
            "more than one of",
        ),
        (
            with(good.clone(), "predicate", json!({})),
            "more than one of",
        ),
    ] {
        let found = findings(value.to_string());
        assert!(
            found[0].0 == Code::BadEnvelope && found[0].1.contains(message),
            "{message}: {found:?}"
        );
    }
}

#[test]
fn faults_of_the_claim_inside_keep_their_code() {
    let inside = with(statement(), "predicate", json!({"id": "a"}));
    for text in [inside.to_string(), envelope(&hex(&inside)).to_string()] {
        let record = one(text);
        assert_eq!(record.id.as_deref(), Some("a"));
        assert_eq!(&*record.diagnostics[0].message, "`assertion` is missing");
    }
    let doubled = statement()
        .to_string()
        .replacen("\"id\"", "\"id\":\"b\",\"id\"", 1);
    assert_eq!(findings(doubled)[0].1, "`predicate.id` is given twice");
    let doubled = r#"{"payload": "e30", "payload": "e30", "payloadType": "application/json"}"#;
    assert_eq!(findings(doubled)[0].1, "`payload` is given twice");
}

#[test]
fn ids_are_checked_inside() {
    let options = Options {
        check_ids: true,
        ..Options::default()
    };
    let computed = crate::claims::id::compute(&claim_value());
    let mut good = statement();
    good["predicate"]["id"] = json!(computed);
    for (statement, warnings) in [(good, 0), (statement(), 1)] {
        for text in [
            statement.to_string(),
            envelope(&base64(&statement)).to_string(),
        ] {
            assert_eq!(one_with(text, &options).diagnostics.len(), warnings);
        }
    }
}
