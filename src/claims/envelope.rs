//! Statements and envelopes: what claims come wrapped in.
//!
//! An in-toto Statement carries a claim in `predicate`; a DSSE envelope carries
//! a Statement, or a bare claim, in `payload`. The first implementation writes
//! the payload as hex where the standard wants base64, and names the predicate
//! type where the standard wants a media type; both are read.

use std::borrow::Cow;

use base64::Engine as _;
use base64::alphabet::{Alphabet, STANDARD, URL_SAFE};
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use crate::diagnostic::Code;

use super::field::Field;
use super::record::{Findings, quoted};
use super::shape::RecordShape;

/// The in-toto Statement type; an early writer put it in angle brackets.
const STATEMENT_TYPE: &str = "https://in-toto.io/Statement/v1";

/// What the predicate of a Statement may be.
const PREDICATE_TYPES: [&str; 2] = [
    "https://elench.dev/predicate/agent-claim/v0.1",
    "https://elench.dev/predicate/build-provenance/v0.1",
];

/// The media types of payloads; the predicate types are read here as well.
const MEDIA_TYPES: [&str; 2] = ["application/vnd.in-toto+json", "application/json"];

/// What a record turned out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Claim,
    Statement,
    Envelope,
}

impl Kind {
    /// Tells records apart by the keys that make them what they are; `None` if
    /// they would make it more than one thing, as different readers would then
    /// see different claims.
    pub(super) fn of(shape: &RecordShape<'_>) -> Option<Self> {
        let is_claim = shape.claim.assertion.is_given();
        let is_statement = shape.predicate.is_given() || shape.predicate_type.is_given();
        let is_envelope = shape.payload.is_given() || shape.payload_type.is_given();
        match (is_claim, is_statement, is_envelope) {
            (true, false, false) => Some(Self::Claim),
            (false, true, false) => Some(Self::Statement),
            (false, false, true) => Some(Self::Envelope),
            (false, false, false) if shape.has_signatures => Some(Self::Envelope),
            (false, false, false) if shape.statement_type.is_given() => Some(Self::Statement),
            (false, false, false) => Some(Self::Claim),
            _ => None,
        }
    }
}

/// Judges what a Statement says of its predicate.
pub(super) fn judge_statement(shape: &RecordShape<'_>, findings: &mut Findings) {
    let statement_type = text(&shape.statement_type, "_type", findings);
    let bare = statement_type.map(|name| {
        let inner = name
            .strip_prefix('<')
            .and_then(|name| name.strip_suffix('>'));
        inner.unwrap_or(name)
    });
    one_of(bare, "_type", &[STATEMENT_TYPE], findings);
    let predicate_type = text(&shape.predicate_type, "predicateType", findings);
    one_of(predicate_type, "predicateType", &PREDICATE_TYPES, findings);
    match &shape.predicate {
        Field::Value(_) => {}
        Field::Wrong(found) => refuse(findings, &format!("`predicate` is {found}, not a claim")),
        Field::Absent | Field::Null => refuse(findings, "`predicate` is missing"),
    }
}

/// Judges an envelope and decodes its payload, which is a JSON object as far as
/// its first byte tells.
pub(super) fn judge_envelope(shape: &RecordShape<'_>, findings: &mut Findings) -> Option<String> {
    let payload_type = text(&shape.payload_type, "payloadType", findings);
    let known = [MEDIA_TYPES, PREDICATE_TYPES].concat();
    one_of(payload_type, "payloadType", &known, findings);
    let payload = text(&shape.payload, "payload", findings)?;
    let Some(bytes) = decode(payload) else {
        refuse(
            findings,
            "`payload` is neither base64 nor hex of a JSON object",
        );
        return None;
    };
    match String::from_utf8(bytes) {
        Ok(text) => Some(text),
        Err(error) => {
            let offset = error.utf8_error().valid_up_to();
            refuse(
                findings,
                &format!("the payload is not valid UTF-8 at byte {offset}"),
            );
            None
        }
    }
}

/// Adds the error that the record is no proper envelope or statement.
pub(super) fn refuse(findings: &mut Findings, message: &str) {
    findings.error(Code::BadEnvelope, message);
}

fn text<'s>(
    field: &'s Field<Cow<'_, str>>,
    path: &str,
    findings: &mut Findings,
) -> Option<&'s str> {
    match field {
        Field::Value(text) => return Some(text),
        Field::Wrong(found) => {
            refuse(
                findings,
                &format!("`{path}` is {found}; it must be a string"),
            );
        }
        Field::Absent | Field::Null => refuse(findings, &format!("`{path}` is missing")),
    }
    None
}

fn one_of(value: Option<&str>, path: &str, known: &[&str], findings: &mut Findings) {
    if let Some(value) = value.filter(|value| !known.contains(value)) {
        let value = quoted(value);
        let known = known.join("`, `");
        refuse(
            findings,
            &format!("`{path}` is {value}; known is `{known}`"),
        );
    }
}

/// Decodes base64, standard or URL-safe, padded or not; else hex.
///
/// Much hex is valid base64 too, so the decoded bytes must begin an object. That
/// never misleads: base64 of `{` or white space begins with a letter or digits
/// that are no hex of them.
fn decode(payload: &str) -> Option<Vec<u8>> {
    let begins_object = |bytes: &Vec<u8>| bytes.trim_ascii_start().first() == Some(&b'{');
    let base64 = decode_base64(payload).filter(begins_object);
    base64.or_else(|| decode_hex(payload).filter(begins_object))
}

fn decode_base64(payload: &str) -> Option<Vec<u8>> {
    let alphabet: &Alphabet = if payload.contains(['-', '_']) {
        &URL_SAFE
    } else {
        &STANDARD
    };
    let config =
        GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
    GeneralPurpose::new(alphabet, config).decode(payload).ok()
}

fn decode_hex(payload: &str) -> Option<Vec<u8>> {
    let digits = payload.as_bytes();
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let byte = |pair: &[u8]| u8::try_from(digit(pair[0])? << 4 | digit(pair[1])?).ok();
    let pairs = digits.chunks_exact(2);
    if !pairs.remainder().is_empty() {
        return None;
    }
    pairs.map(byte).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn payloads_decode_in_every_spelling() {
        let json = "{\"a\": \"\u{3bf}>?\u{fe}\"}";
        let hex: String = json.bytes().map(|byte| format!("{byte:02x}")).collect();
        for payload in [
            "eyJhIjogIs6/Pj/DviJ9",
            "eyJhIjogIs6_Pj_DviJ9",
            &hex,
            &hex.to_uppercase(),
        ] {
            assert_eq!(
                decode(payload).as_deref(),
                Some(json.as_bytes()),
                "{payload}"
            );
        }
        for payload in ["e30=", "e30", "7b7d"] {
            assert_eq!(decode(payload).as_deref(), Some(&b"{}"[..]), "{payload}");
        }
        for payload in [
            "", "e3", "7b7", "7b 7d", "e30==", "IjEi", "3131", "é", "e3 0=",
        ] {
            assert_eq!(decode(payload), None, "{payload}");
        }
    }

    #[test]
    fn hex_is_never_taken_for_base64() {
        // What matters is the first byte that is not white space.
        for first in ["7b", "7B", "20", "09", "0a", "0d"] {
            let decoded = decode_base64(&format!("{first}7b7d7d")).unwrap();
            assert!(!decoded.trim_ascii_start().starts_with(b"{"));
        }
    }
}
