//! The parts of a record that the reader looks at, as they were found.
//!
//! Reading a shape accepts every JSON value: what is missing, doubled or of
//! another type is kept as such, so that judging it can name all faults at once.

use std::borrow::Cow;

use serde::de::{DeserializeSeed as _, MapAccess};

use super::field::{Field, FieldSeed, Notes, Shape, each_key, next, skip};
use super::skip::Watch;

/// A record, whatever it turns out to be.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct RecordShape<'a> {
    pub(super) claim: ClaimShape<'a>,
    pub(super) payload: Field<Cow<'a, str>>,
    pub(super) payload_type: Field<Cow<'a, str>>,
    pub(super) has_signatures: bool,
    pub(super) statement_type: Field<Cow<'a, str>>,
    pub(super) predicate_type: Field<Cow<'a, str>>,
    pub(super) predicate: Field<Box<ClaimShape<'a>>>,
}

/// A claim.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ClaimShape<'a> {
    pub(super) id: Field<Cow<'a, str>>,
    pub(super) kind: Field<Cow<'a, str>>,
    pub(super) assertion: Field<AssertionShape<'a>>,
}

/// `assertion`.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct AssertionShape<'a> {
    pub(super) form: Field<Cow<'a, str>>,
    pub(super) text: Field<Cow<'a, str>>,
    pub(super) expression: Field<ExpressionShape<'a>>,
}

/// `assertion.expression`.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ExpressionShape<'a> {
    pub(super) language: Field<Cow<'a, str>>,
    pub(super) source: Field<Cow<'a, str>>,
    pub(super) digest: Field<Cow<'a, str>>,
}

/// Reads the one JSON value that the text must be.
///
/// # Errors
/// The text is not one JSON value, or it is nested more than 127 deep.
pub(super) fn read(text: &str) -> serde_json::Result<(Field<RecordShape<'_>>, Notes)> {
    let mut notes = Notes::default();
    let mut json = serde_json::Deserializer::from_str(text);
    let shape = FieldSeed::new(&mut notes).deserialize(&mut json)?;
    json.end()?;
    Ok((shape, notes))
}

impl<'de> Shape<'de> for RecordShape<'de> {
    fn from_map<A: MapAccess<'de>>(map: A, notes: &mut Notes) -> Result<Field<Self>, A::Error> {
        let mut shape = Self::default();
        each_key(map, "", notes, |key, map, notes| {
            if let Some(bit) = shape.claim.take(key, map, notes)? {
                return Ok(Some(bit));
            }
            notes.snake.note(key);
            Ok(Some(match key {
                "payload" => {
                    shape.payload = next(map, notes)?;
                    16
                }
                "payloadType" | "payload_type" => {
                    shape.payload_type = next(map, notes)?;
                    17
                }
                "signatures" => {
                    shape.has_signatures = true;
                    skip(map, notes, Watch::Nothing)?;
                    18
                }
                "_type" | "type" => {
                    shape.statement_type = next(map, notes)?;
                    19
                }
                "predicateType" | "predicate_type" => {
                    shape.predicate_type = next(map, notes)?;
                    20
                }
                "predicate" => {
                    shape.predicate = next(map, notes)?;
                    21
                }
                _ => return Ok(None),
            }))
        })?;
        Ok(Field::Value(shape))
    }
}

impl<'de> Shape<'de> for Box<ClaimShape<'de>> {
    fn from_map<A: MapAccess<'de>>(map: A, notes: &mut Notes) -> Result<Field<Self>, A::Error> {
        let mut shape = Self::default();
        each_key(map, "predicate.", notes, |key, map, notes| {
            shape.take(key, map, notes)
        })?;
        Ok(Field::Value(shape))
    }
}

impl<'de> ClaimShape<'de> {
    /// Reads the value if the key is a claim's; gives the key's bit.
    fn take<A: MapAccess<'de>>(
        &mut self,
        key: &str,
        map: &mut A,
        notes: &mut Notes,
    ) -> Result<Option<u8>, A::Error> {
        let (bit, watch) = match key {
            "id" => {
                self.id = next(map, notes)?;
                return Ok(Some(0));
            }
            "kind" => {
                self.kind = next(map, notes)?;
                return Ok(Some(1));
            }
            "assertion" => {
                self.assertion = next(map, notes)?;
                return Ok(Some(2));
            }
            "target" => (3, Watch::Nothing),
            "origin" => (4, Watch::Origin),
            "anchor" => (5, Watch::Anchor),
            "timestamp" => (6, Watch::Nothing),
            "evidence" => (7, Watch::Evidence),
            "dependsOn" => (8, Watch::Nothing),
            "depends_on" => {
                notes.snake.note(key);
                (8, Watch::Nothing)
            }
            _ => return Ok(None),
        };
        skip(map, notes, watch)?;
        Ok(Some(bit))
    }
}

impl<'de> Shape<'de> for AssertionShape<'de> {
    fn from_map<A: MapAccess<'de>>(map: A, notes: &mut Notes) -> Result<Field<Self>, A::Error> {
        let mut shape = Self::default();
        each_key(map, "assertion.", notes, |key, map, notes| {
            Ok(Some(match key {
                "form" => {
                    shape.form = next(map, notes)?;
                    0
                }
                "text" => {
                    shape.text = next(map, notes)?;
                    1
                }
                "expression" => {
                    shape.expression = next(map, notes)?;
                    2
                }
                _ => return Ok(None),
            }))
        })?;
        Ok(Field::Value(shape))
    }
}

impl<'de> Shape<'de> for ExpressionShape<'de> {
    fn from_map<A: MapAccess<'de>>(map: A, notes: &mut Notes) -> Result<Field<Self>, A::Error> {
        let mut shape = Self::default();
        each_key(map, "assertion.expression.", notes, |key, map, notes| {
            let (bit, field) = match key {
                "language" => (0, &mut shape.language),
                "source" => (1, &mut shape.source),
                "digest" => (2, &mut shape.digest),
                _ => return Ok(None),
            };
            *field = next(map, notes)?;
            Ok(Some(bit))
        })?;
        Ok(Field::Value(shape))
    }
}
