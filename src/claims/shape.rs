//! The parts of a record that the reader looks at, as they were found.
//!
//! Reading a shape accepts every JSON value: what is missing, doubled or of
//! another type is kept as such, so that judging it can name all faults at once.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

use super::skip::{Key, Skip, SnakeKeys, Watch};

/// Doubled keys that are named in one record.
const NAMED_DOUBLES: usize = 8;

/// One field of an object.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) enum Field<T> {
    /// The key is not there.
    #[default]
    Absent,
    /// `null`, which counts as absent.
    Null,
    /// A value of the wanted type.
    Value(T),
    /// A value of another type, which is named.
    Wrong(&'static str),
}

impl<T> Field<T> {
    /// True if the key is there, whatever its value.
    pub(super) fn is_given(&self) -> bool {
        !matches!(self, Self::Absent)
    }

    /// The value, if there is one of the wanted type.
    pub(super) fn into_value(self) -> Option<T> {
        match self {
            Self::Value(value) => Some(value),
            _ => None,
        }
    }
}

/// What was seen besides the values.
#[derive(Default)]
pub(super) struct Notes {
    /// Keys in snake_case.
    pub(super) snake: SnakeKeys,
    /// Paths of the first keys that were given twice.
    pub(super) doubled: Vec<String>,
}

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

/// What a field can hold: an object, unless `from_text` says otherwise.
pub(super) trait Shape<'de>: Sized {
    /// The wanted type, with its article.
    const WANTED: &'static str = "an object";

    fn from_text(_text: Cow<'de, str>) -> Field<Self> {
        Field::Wrong("a string")
    }

    fn from_map<A: MapAccess<'de>>(map: A, notes: &mut Notes) -> Result<Field<Self>, A::Error> {
        let snake = &mut notes.snake;
        Skip {
            watch: Watch::Nothing,
            snake,
        }
        .map(map)?;
        Ok(Field::Wrong("an object"))
    }
}

impl<'de> Shape<'de> for Cow<'de, str> {
    const WANTED: &'static str = "a string";

    fn from_text(text: Cow<'de, str>) -> Field<Self> {
        Field::Value(text)
    }
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

/// Calls `take` for each key of an object. `take` reads the value of a key that
/// it knows and gives the bit that stands for the key in this object; other
/// values are stepped over. Keys that come twice are noted.
fn each_key<'de, A, F>(
    mut map: A,
    path: &str,
    notes: &mut Notes,
    mut take: F,
) -> Result<(), A::Error>
where
    A: MapAccess<'de>,
    F: FnMut(&str, &mut A, &mut Notes) -> Result<Option<u8>, A::Error>,
{
    let mut known = 0_u32;
    let mut others = HashSet::new();
    while let Some(Key(key)) = map.next_key()? {
        let is_new = if let Some(bit) = take(&key, &mut map, notes)? {
            let before = known;
            known |= 1 << bit;
            before != known
        } else {
            skip(&mut map, notes, Watch::Nothing)?;
            others.insert(key.clone())
        };
        if !is_new && notes.doubled.len() < NAMED_DOUBLES {
            notes.doubled.push(format!("{path}{key}"));
        }
    }
    Ok(())
}

fn next<'de, A: MapAccess<'de>, T: Shape<'de>>(
    map: &mut A,
    notes: &mut Notes,
) -> Result<Field<T>, A::Error> {
    map.next_value_seed(FieldSeed::new(notes))
}

fn skip<'de, A: MapAccess<'de>>(
    map: &mut A,
    notes: &mut Notes,
    watch: Watch,
) -> Result<(), A::Error> {
    let snake = &mut notes.snake;
    map.next_value_seed(Skip { watch, snake })
}

/// Reads a field of any JSON type.
struct FieldSeed<'n, T> {
    notes: &'n mut Notes,
    shape: PhantomData<T>,
}

impl<'n, T> FieldSeed<'n, T> {
    fn new(notes: &'n mut Notes) -> Self {
        Self {
            notes,
            shape: PhantomData,
        }
    }
}

impl<'de, T: Shape<'de>> DeserializeSeed<'de> for FieldSeed<'_, T> {
    type Value = Field<T>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Field<T>, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, T: Shape<'de>> Visitor<'de> for FieldSeed<'_, T> {
    type Value = Field<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_unit<E>(self) -> Result<Field<T>, E> {
        Ok(Field::Null)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Field<T>, E> {
        Ok(Field::Wrong("a bool"))
    }

    fn visit_i64<E>(self, _: i64) -> Result<Field<T>, E> {
        Ok(Field::Wrong("a number"))
    }

    fn visit_u64<E>(self, _: u64) -> Result<Field<T>, E> {
        Ok(Field::Wrong("a number"))
    }

    fn visit_f64<E>(self, _: f64) -> Result<Field<T>, E> {
        Ok(Field::Wrong("a number"))
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Field<T>, E> {
        Ok(T::from_text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Field<T>, E> {
        Ok(T::from_text(Cow::Owned(text.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Field<T>, A::Error> {
        let snake = &mut self.notes.snake;
        Skip {
            watch: Watch::Nothing,
            snake,
        }
        .seq(seq)?;
        Ok(Field::Wrong("an array"))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Field<T>, A::Error> {
        T::from_map(map, self.notes)
    }
}
