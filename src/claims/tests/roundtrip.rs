//! Properties: every way to write a log reads back equal, and no bytes do harm.

use std::io::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::{Compression, write::GzEncoder};
use proptest::prelude::*;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use serde_json::{Value, json};

use super::support::{read, read_with};
use crate::claims::{Body, Input, Limits, LogReader, Options, Record, Window, parse_record};

/// What a claim must read back as.
type Content = (Option<String>, Option<(String, String)>);

fn claims() -> impl Strategy<Value = Vec<Content>> {
    let text = prop_oneof!["\\PC{0,20}", "[\"\\\\{}\\[\\],\n\r\t\u{0}é]{0,20}"];
    let language = prop_oneof!["elench-predicate-v1", "elench-predicate-v2"];
    let expression = (language, text.clone());
    let claim = (prop::option::of(text), prop::option::of(expression));
    prop::collection::vec(claim, 0..12)
}

fn to_json((id, expression): &Content) -> Value {
    let assertion = match expression {
        Some((language, source)) => json!({"form": "predicate",
            "expression": {"language": language, "source": source}}),
        None => json!({"form": "annotation", "text": "}{]["}),
    };
    json!({"id": id, "kind": "assertion", "assertion": assertion, "timestamp": 1})
}

fn content(record: &Record<'_>) -> Content {
    let id = record.id.as_deref().map(str::to_owned);
    let expression = match &record.body {
        Body::Predicate(expression) => Some((
            expression.language.name().to_owned(),
            expression.source.clone().into_owned(),
        )),
        Body::Annotation => None,
        Body::Invalid => panic!("{:?}", record.diagnostics),
    };
    (id, expression)
}

fn statement(claim: &Value) -> String {
    json!({"_type": "https://in-toto.io/Statement/v1", "subject": [], "predicate": claim,
        "predicateType": "https://elench.dev/predicate/agent-claim/v0.1"})
    .to_string()
}

fn envelope(payload: &str) -> String {
    json!({"payloadType": "application/vnd.in-toto+json", "payload": payload, "signatures": []})
        .to_string()
}

/// The log in each of its forms.
fn written(claims: &[Value]) -> Vec<Vec<u8>> {
    let lines = |write: &dyn Fn(&Value) -> String, end: &str| {
        let lines = claims.iter().map(|claim| write(claim) + end);
        lines.collect::<String>().into_bytes()
    };
    let hex = |text: String| {
        text.bytes()
            .map(|byte| format!("{byte:02x}"))
            .collect::<String>()
    };
    let pretty = |value: &Value| serde_json::to_string_pretty(value).unwrap();
    let plain = lines(&Value::to_string, "\n");
    let array = Value::from(claims);
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    gzip.write_all(&plain).unwrap();
    let mut forms = vec![
        gzip.finish().unwrap(),
        compress_to_vec(&plain[..], CompressionLevel::Fastest),
        plain,
        lines(&Value::to_string, "\r\n\r\n"),
        array.to_string().into_bytes(),
        pretty(&array).into_bytes(),
        lines(&pretty, "\n\n"),
        lines(&statement, "\n"),
        lines(&|claim| envelope(&STANDARD.encode(statement(claim))), "\n"),
        lines(&|claim| envelope(&hex(statement(claim))), "\n"),
        lines(&|claim| envelope(&STANDARD.encode(claim.to_string())), "\n"),
    ];
    let marked = [b"\xef\xbb\xbf", &forms[2][..]].concat();
    forms.push(marked);
    forms
}

/// Bytes that look like a log here and there.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        3 => prop::sample::select(vec![
            "{", "}", "[", "]", ",", "\n", "\"", "\\", ":", " ", "\0", "1", "null",
            "{}", "{\"a\":1}", "{\"assertion\":", "{\"form\":\"annotation\"}", "{\"payload\":\"e30\"}",
        ])
        .prop_map(|text| text.as_bytes().to_vec()),
        1 => prop::collection::vec(any::<u8>(), 0..8),
    ];
    let magic = prop::sample::select(vec![
        &b""[..],
        b"\x1f\x8b\x08\0",
        b"\x28\xb5\x2f\xfd",
        b"\x50\x2a\x4d\x18",
        b"\xef\xbb\xbf",
    ]);
    let body = prop::collection::vec(piece, 0..40);
    (magic, body).prop_map(|(magic, body)| [magic, &body.concat()].concat())
}

proptest! {
    #[test]
    fn every_form_reads_back_equal(claims in claims()) {
        let values: Vec<Value> = claims.iter().map(to_json).collect();
        for form in written(&values) {
            let records = read(form.clone());
            let back: Vec<Content> = records.iter().map(|(_, record)| content(record)).collect();
            prop_assert_eq!(&back, &claims, "{}", String::from_utf8_lossy(&form));
        }
    }

    #[test]
    fn bytes_do_no_harm(bytes in bytes(), window_records in 1..4_usize, record_bytes in 0..60_usize) {
        let limits = Limits { window_records, record_bytes, ..Limits::default() };
        let mut reader = LogReader::with_limits(
            [Input::reader("log", std::io::Cursor::new(bytes.clone()))],
            limits,
        );
        let mut window = Window::default();
        let mut records = 0;
        while reader.fill(&mut window) {
            prop_assert!(window.len() <= window_records);
            for raw in window.iter() {
                prop_assert!(raw.bytes.len() <= record_bytes);
                let record = parse_record(raw, &Options { check_ids: true, ..Options::default() });
                let has_error = record.diagnostics.iter().any(|found| found.is_error());
                prop_assert_eq!(has_error, record.body == Body::Invalid);
            }
            records += window.len();
        }
        // Nothing is lost: whatever is not blank was in some record.
        let is_plain = |byte: &u8| byte.is_ascii_graphic() && !b"[]".contains(byte);
        if reader.errors().is_empty() && bytes.first().is_some_and(is_plain) {
            prop_assert!(records > 0);
        }
    }

    #[test]
    fn damaged_compression_does_no_harm(
        claims in claims(),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let values: Vec<Value> = claims.iter().map(to_json).collect();
        for mut form in written(&values).into_iter().take(2) {
            for (at, byte) in &damage {
                *at.get_mut(&mut form) = *byte;
            }
            let mut reader = LogReader::new([Input::reader("log", std::io::Cursor::new(form))]);
            let mut window = Window::default();
            while reader.fill(&mut window) {}
        }
    }

    #[test]
    fn lines_are_never_merged_or_lost(lines in prop::collection::vec("[ -~]{0,12}", 0..12)) {
        let text = format!("1\n{}", lines.join("\n"));
        let expected = text.lines().filter(|line| !line.trim().is_empty()).count();
        prop_assert_eq!(read_with(text, Limits::default(), &Options::default()).len(), expected);
    }
}
