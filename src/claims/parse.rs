//! Parses one raw record: the entry to everything that looks inside.

use crate::diagnostic::{Code, Diagnostic, Span};
use crate::language::Language;

use super::envelope::{Kind, judge_envelope, judge_statement, refuse};
use super::field::Field;
use super::id;
use super::judge::{judge_claim, judge_notes};
use super::record::{Body, Findings, Record};
use super::shape::{self, RecordShape};
use super::window::RawRecord;

/// How records are judged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The language of expressions that name none; without it they are invalid.
    pub default_language: Option<Language>,
    /// Whether an id that is not the hash of its claim gives a warning. Off by
    /// default: each claim is parsed and hashed a second time, and logs written
    /// by hand have placeholders.
    pub check_ids: bool,
}

/// Reads a record out of its bytes. Every record gives exactly one result, and
/// all that is wrong with it is named as far as it can be told apart.
///
/// # Examples
/// See the [module documentation](super).
#[must_use]
pub fn parse_record<'a>(raw: RawRecord<'a>, options: &Options) -> Record<'a> {
    if let Some(limit) = raw.over_limit {
        let message = format!("the record is over {limit} bytes and was skipped");
        let error = Diagnostic::error(Code::RecordTooLarge, Span::default(), message);
        return Record::unreadable(vec![error]);
    }
    let text = match std::str::from_utf8(raw.bytes) {
        Ok(text) => text,
        Err(error) => return Record::unreadable(vec![bad_utf8(&raw, error)]),
    };
    let (shape, notes) = match shape::read(text) {
        Ok(read) => read,
        Err(error) => return Record::unreadable(vec![bad_json(&raw, &error)]),
    };
    let mut findings = Findings::default();
    judge_notes(&notes, &mut findings);
    match shape {
        Field::Value(shape) => open(shape, text, findings, options, true),
        Field::Absent | Field::Null => not_an_object("null", findings),
        Field::Wrong(found) => not_an_object(found, findings),
    }
}

fn not_an_object<'a>(found: &str, mut findings: Findings) -> Record<'a> {
    let message = format!("the record is {found}; it must be an object");
    findings.error(Code::BadField, message);
    Record::unreadable(findings.0)
}

/// Unwraps a record down to its claim. `text` is what the shape was read from.
fn open<'a>(
    shape: RecordShape<'a>,
    text: &str,
    mut findings: Findings,
    options: &Options,
    envelopes: bool,
) -> Record<'a> {
    let claim = match Kind::of(&shape) {
        Some(Kind::Claim) => Some(shape.claim),
        Some(Kind::Statement) => {
            judge_statement(&shape, &mut findings);
            shape.predicate.into_value().map(|claim| *claim)
        }
        Some(Kind::Envelope) if envelopes => return open_envelope(&shape, findings, options),
        Some(Kind::Envelope) => {
            refuse(&mut findings, "the payload is an envelope again");
            None
        }
        None => {
            let message = "the record is more than one of a claim (`assertion`), a statement \
                (`predicate`) and an envelope (`payload`)";
            refuse(&mut findings, message);
            None
        }
    };
    let Some(claim) = claim else {
        return Record::unreadable(findings.0);
    };
    let mut record = judge_claim(claim, findings, options);
    if options.check_ids && record.body != Body::Invalid {
        record.diagnostics.extend(check_id(&record, text));
    }
    record
}

fn open_envelope(
    shape: &RecordShape<'_>,
    mut findings: Findings,
    options: &Options,
) -> Record<'static> {
    let mut record = match judge_envelope(shape, &mut findings) {
        None => Record::unreadable(findings.0),
        Some(payload) => match shape::read(&payload) {
            Ok((Field::Value(shape), notes)) => {
                judge_notes(&notes, &mut findings);
                open(shape, &payload, findings, options, false).into_owned()
            }
            // The payload begins with a brace, so it is no other valid JSON.
            Ok(_) => Record::unreadable(findings.0),
            Err(error) => {
                refuse(
                    &mut findings,
                    &format!("the payload is not valid JSON: {error}"),
                );
                Record::unreadable(findings.0)
            }
        },
    };
    record.signed_unchecked = true;
    record
}

fn check_id(record: &Record<'_>, text: &str) -> Option<Diagnostic> {
    let stated = record.id.as_deref()?;
    let mut value: serde_json::Value = serde_json::from_str(text).ok()?;
    let claim = match value.get_mut("predicate") {
        Some(claim) => claim.take(),
        None => value,
    };
    let computed = id::compute(&claim);
    (stated != computed).then(|| {
        let message = format!("the id is not the hash of the claim, `{computed}`");
        Diagnostic::warning(Code::IdMismatch, Span::default(), message)
    })
}

fn bad_utf8(raw: &RawRecord<'_>, error: std::str::Utf8Error) -> Diagnostic {
    let offset = error.valid_up_to();
    if raw.at_end && error.error_len().is_none() {
        return truncated(raw, raw.bytes.len());
    }
    let (line, column) = locate(raw, offset);
    let message =
        format!("not valid UTF-8 at byte {offset} of the record (line {line}, column {column})");
    Diagnostic::error(
        Code::MalformedRecord,
        Span::new(offset, offset + 1),
        message,
    )
}

fn bad_json(raw: &RawRecord<'_>, error: &serde_json::Error) -> Diagnostic {
    if raw.at_end && error.is_eof() {
        return truncated(raw, raw.bytes.len());
    }
    if raw.bytes.is_empty() {
        let message = "the array has an empty element: there is a comma too many";
        return Diagnostic::error(Code::MalformedRecord, Span::default(), message);
    }
    let offset = offset_of(raw.bytes, error.line(), error.column());
    let (line, column) = locate(raw, offset);
    let full = error.to_string();
    let what = full.split(" at line ").next().unwrap_or(&full);
    let message = format!("not valid JSON at line {line}, column {column}: {what}");
    let span = Span::new(offset, raw.bytes.len().min(offset + 1));
    Diagnostic::error(Code::MalformedRecord, span, message)
}

fn truncated(raw: &RawRecord<'_>, offset: usize) -> Diagnostic {
    let message = if raw.bytes.is_empty() {
        "the log ends inside an array: it was cut, or its `]` is missing".to_owned()
    } else {
        let (line, column) = locate(raw, offset);
        format!("the log ends inside the record, at line {line}, column {column}: it was cut")
    };
    Diagnostic::error(Code::TruncatedRecord, Span::new(offset, offset), message)
}

/// The byte that the parser means by a line and column of the record.
fn offset_of(bytes: &[u8], line: usize, column: usize) -> usize {
    let line_start = match line {
        0 | 1 => 0,
        _ => memchr::memchr_iter(b'\n', bytes)
            .nth(line - 2)
            .map_or(bytes.len(), |newline| newline + 1),
    };
    (line_start + column.saturating_sub(1)).min(bytes.len())
}

/// Line and column in the input, both counted from 1, of a byte of the record.
fn locate(raw: &RawRecord<'_>, offset: usize) -> (u64, u64) {
    let before = &raw.bytes[..offset];
    match memchr::memrchr(b'\n', before) {
        None => (raw.place.line, raw.place.column + offset as u64),
        Some(newline) => {
            let lines = memchr::memchr_iter(b'\n', before).count() as u64;
            (raw.place.line + lines, (offset - newline) as u64)
        }
    }
}
