//! Reading a log in one go.

use std::io::Cursor;

use crate::claims::{Body, Input, Limits, LogReader, Options, Record, Window, parse_record};
use crate::diagnostic::Code;

pub(super) const SOURCE: &str = r#"exists("Cargo.toml")"#;
pub(super) const DIGEST: &str = "6a75306d87d7f95b4ad052d09a592dc279ef1934c56ef78ccb7c0826a27a0fc4";

/// A claim on one line with the id.
pub(super) fn claim(id: &str) -> String {
    serde_json::json!({
        "id": id,
        "kind": "assertion",
        "assertion": {"form": "predicate", "expression":
            {"language": "elench-predicate-v1", "source": SOURCE}},
    })
    .to_string()
}

/// Reads a log named `log` with the limits: each record and where it was.
pub(super) fn read_with(
    bytes: impl Into<Vec<u8>>,
    limits: Limits,
    options: &Options,
) -> Vec<(String, Record<'static>)> {
    let input = Input::reader("log", Cursor::new(bytes.into()));
    let mut reader = LogReader::with_limits([input], limits);
    let mut window = Window::default();
    let mut records = Vec::new();
    while reader.fill(&mut window) {
        for raw in window.iter() {
            let record = parse_record(raw, options);
            let has_error = record.diagnostics.iter().any(|found| found.is_error());
            assert_eq!(has_error, record.body == Body::Invalid, "{record:?}");
            records.push((raw.place.to_string(), record.into_owned()));
        }
    }
    assert!(reader.errors().is_empty(), "{:?}", reader.errors());
    records
}

/// Reads a log.
pub(super) fn read(bytes: impl Into<Vec<u8>>) -> Vec<(String, Record<'static>)> {
    read_with(bytes, Limits::default(), &Options::default())
}

/// Places of a log's records, each with the id or the first diagnostic's code.
pub(super) fn outline(bytes: impl Into<Vec<u8>>) -> Vec<String> {
    outline_of(&read(bytes))
}

pub(super) fn outline_of(records: &[(String, Record<'_>)]) -> Vec<String> {
    let line = |(place, record): &(String, Record<'_>)| match record.diagnostics.first() {
        Some(found) => format!("{place} {}", found.code),
        None => format!("{place} {}", record.id.as_deref().unwrap_or("-")),
    };
    records.iter().map(line).collect()
}

/// The one record of a log.
pub(super) fn one(text: impl Into<Vec<u8>>) -> Record<'static> {
    one_with(text, &Options::default())
}

pub(super) fn one_with(text: impl Into<Vec<u8>>, options: &Options) -> Record<'static> {
    let mut records = read_with(text, Limits::default(), options);
    assert_eq!(records.len(), 1, "{records:?}");
    records.remove(0).1
}

/// The codes and messages of the one record of a log.
pub(super) fn findings(text: impl Into<Vec<u8>>) -> Vec<(Code, String)> {
    let found = one(text).diagnostics.into_iter();
    found
        .map(|found| (found.code, found.message.into()))
        .collect()
}
