//! Values that hosts make and read.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value as Json;

use crate::harn::fault::Fault;
use crate::harn::value::{Dict, Heap, List, Str, Value, json};

/// What a value takes as JSON at most where nothing is said, in bytes of memory.
pub const MAX_JSON: usize = 16 << 20;

/// Names that many dicts have as keys, and share.
pub(crate) struct Keys<const N: usize>(Vec<Str>);

impl<const N: usize> Keys<N> {
    pub(crate) fn new(names: [&'static str; N], heap: &Heap) -> Result<Self, Fault> {
        let keys = names.into_iter().map(|name| Str::name(name, heap));
        keys.collect::<Result<_, _>>().map(Self)
    }

    /// A dict with these keys, and others.
    pub(crate) fn dict(
        &self,
        values: [Value; N],
        others: Vec<(&str, Value)>,
        heap: &Heap,
    ) -> Result<Value, Fault> {
        let mut entries = BTreeMap::new();
        for (key, value) in self.0.iter().zip(values) {
            entries.insert(key.clone(), value);
        }
        for (key, value) in others {
            entries.insert(Str::new(key.into(), heap)?, value);
        }
        Ok(Value::Dict(Dict::of(entries, heap)?))
    }
}

impl Value {
    /// The value of a JSON text.
    ///
    /// # Errors
    /// [`Fault::Limit`] if the heap has no room or it is nested too deep.
    pub fn from_json(json: &Json, heap: &Heap) -> Result<Self, Fault> {
        json::from_json(json, heap)
    }

    /// The value as JSON: what JSON does not have is `null`, functions are their text.
    ///
    /// # Errors
    /// [`Fault::Limit`] if it would take over [`MAX_JSON`] bytes of memory.
    pub fn to_json(&self) -> Result<Json, Fault> {
        self.to_json_within(MAX_JSON)
    }

    /// The same with a limit, in bytes of memory.
    ///
    /// # Errors
    /// [`Fault::Limit`] if it would take more.
    pub fn to_json_within(&self, most: usize) -> Result<Json, Fault> {
        json::to_json(self, most)
    }

    pub(crate) fn list(items: Vec<Self>, heap: &Heap) -> Result<Self, Fault> {
        Ok(Self::List(List::new(items, heap)?))
    }

    #[cfg(feature = "ast")]
    pub(crate) fn dict(fields: Vec<(&str, Self)>, heap: &Heap) -> Result<Self, Fault> {
        let mut entries = BTreeMap::new();
        for (key, value) in fields {
            entries.insert(Str::new(key.into(), heap)?, value);
        }
        Ok(Self::Dict(Dict::of(entries, heap)?))
    }

    /// A text that is not counted, as others have it as well.
    pub(crate) fn shared(text: Arc<str>, heap: &Heap) -> Result<Self, Fault> {
        Ok(Self::Str(Str::shared(text, heap)?))
    }

    /// The whole text of a file of the slice, by its number.
    pub(crate) fn file_text(text: Arc<str>, file: u32, heap: &Heap) -> Result<Self, Fault> {
        Ok(Self::Str(Str::of_file(text, file, heap)?))
    }

    /// A dict with a key set; what is no dict becomes one.
    pub(crate) fn with(self, key: &str, value: Self, heap: &Heap) -> Result<Self, Fault> {
        let mut dict = match self {
            Self::Dict(dict) => dict,
            _ => Dict::new(heap)?,
        };
        dict.set(Str::new(key.into(), heap)?, value)?;
        Ok(Self::Dict(dict))
    }

    /// A dict without a key.
    pub(crate) fn without(self, key: &str) -> Result<Self, Fault> {
        match self {
            Self::Dict(mut dict) if dict.get(key).is_some() => {
                dict.remove(key)?;
                Ok(Self::Dict(dict))
            }
            other => Ok(other),
        }
    }
}
