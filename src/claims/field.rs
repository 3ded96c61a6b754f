//! Fields of objects of any JSON type, and the walk over an object's keys.

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

/// Calls `take` for each key of an object. `take` reads the value of a key that
/// it knows and gives the bit that stands for the key in this object; other
/// values are stepped over. Keys that come twice are noted.
pub(super) fn each_key<'de, A, F>(
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

/// Reads the value of the key that was read last.
pub(super) fn next<'de, A: MapAccess<'de>, T: Shape<'de>>(
    map: &mut A,
    notes: &mut Notes,
) -> Result<Field<T>, A::Error> {
    map.next_value_seed(FieldSeed::new(notes))
}

/// Steps over the value of the key that was read last.
pub(super) fn skip<'de, A: MapAccess<'de>>(
    map: &mut A,
    notes: &mut Notes,
    watch: Watch,
) -> Result<(), A::Error> {
    let snake = &mut notes.snake;
    map.next_value_seed(Skip { watch, snake })
}

/// Reads a field of any JSON type.
pub(super) struct FieldSeed<'n, T> {
    notes: &'n mut Notes,
    shape: PhantomData<T>,
}

impl<'n, T> FieldSeed<'n, T> {
    pub(super) fn new(notes: &'n mut Notes) -> Self {
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
