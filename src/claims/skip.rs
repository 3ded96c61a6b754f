//! Steps over JSON values that pass through unread, with an eye on their keys.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// The keys that the first implementation writes in snake_case and loses when it
/// reads them back, with the spelling of the schema.
const SNAKE_KEYS: [(&str, &str); 6] = [
    ("depends_on", "dependsOn"),
    ("session_id", "sessionId"),
    ("content_digest", "contentDigest"),
    ("exit_code", "exitCode"),
    ("payload_type", "payloadType"),
    ("predicate_type", "predicateType"),
];

/// A set of snake_case keys.
#[derive(Clone, Copy, Default)]
pub(super) struct SnakeKeys(u8);

impl SnakeKeys {
    /// Adds the key if it is one.
    pub(super) fn note(&mut self, key: &str) {
        if let Some(index) = SNAKE_KEYS.iter().position(|(snake, _)| *snake == key) {
            self.0 |= 1 << index;
        }
    }

    /// The keys seen, each with the spelling of the schema.
    pub(super) fn iter(self) -> impl Iterator<Item = (&'static str, &'static str)> {
        let seen = SNAKE_KEYS.into_iter().enumerate();
        seen.filter_map(move |(index, pair)| (self.0 >> index & 1 == 1).then_some(pair))
    }
}

/// An object key, borrowed where it holds no escapes.
pub(super) struct Key<'de>(pub(super) Cow<'de, str>);

impl<'de> Deserialize<'de> for Key<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct KeyVisitor;

        impl<'de> Visitor<'de> for KeyVisitor {
            type Value = Key<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a key")
            }

            fn visit_borrowed_str<E: Error>(self, key: &'de str) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Borrowed(key)))
            }

            fn visit_str<E: Error>(self, key: &str) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Owned(key.to_owned())))
            }
        }

        deserializer.deserialize_str(KeyVisitor)
    }
}

/// Which object is stepped over, for the keys that matter in it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Watch {
    /// Nothing in it matters.
    Nothing,
    /// The claim's `origin`.
    Origin,
    /// `origin.producer`.
    Producer,
    /// The claim's `anchor`.
    Anchor,
    /// The claim's `evidence`, the list as well as its items.
    Evidence,
}

impl Watch {
    fn inside(self, key: &str) -> Self {
        match (self, key) {
            (Self::Origin, "producer") => Self::Producer,
            _ => Self::Nothing,
        }
    }

    fn minds(self, key: &str) -> bool {
        matches!(
            (self, key),
            (Self::Producer, "session_id")
                | (Self::Anchor, "content_digest")
                | (Self::Evidence, "exit_code")
        )
    }
}

/// Steps over one value.
///
/// Unlike serde's own `IgnoredAny` it keeps to the parser's nesting limit, so
/// that what a record may hold does not depend on where it holds it.
pub(super) struct Skip<'n> {
    pub(super) watch: Watch,
    pub(super) snake: &'n mut SnakeKeys,
}

impl Skip<'_> {
    /// Steps over the rest of an object.
    pub(super) fn map<'de, A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(Key(key)) = map.next_key()? {
            if self.watch.minds(&key) {
                self.snake.note(&key);
            }
            map.next_value_seed(Skip {
                watch: self.watch.inside(&key),
                snake: self.snake,
            })?;
        }
        Ok(())
    }

    /// Steps over the rest of an array.
    pub(super) fn seq<'de, A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        let Skip { watch, snake } = self;
        while seq.next_element_seed(Skip { watch, snake })?.is_some() {}
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for Skip<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Skip<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<(), A::Error> {
        self.seq(seq)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<(), A::Error> {
        self.map(map)
    }
}
