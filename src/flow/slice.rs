//! What predicates see of a candidate change. (flow.md, section 1.6.)

use std::sync::Arc;

use serde_json::{Map, Value as Json};

use crate::harn::{Fault, Heap, Keys, Value};

/// A slice: files with their whole texts, and whatever else the host puts into it.
#[derive(Clone, Debug, Default)]
pub struct Slice {
    files: Vec<SliceFile>,
    /// Other fields.
    rest: Vec<(String, Json)>,
}

/// A file of a slice.
#[derive(Clone, Debug)]
pub struct SliceFile {
    /// Relative, with `/` between its parts.
    pub path: Arc<str>,
    /// Its whole text.
    pub text: Arc<str>,
    /// Whether it is not there; its text is then empty.
    pub missing: bool,
    /// Other fields.
    rest: Vec<(String, Json)>,
}

/// A slice that cannot be read.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("{place}: {problem}")]
pub struct SliceError {
    /// Which part of it.
    pub place: String,
    /// What is wrong.
    pub problem: String,
}

fn wrong(place: impl Into<String>, problem: impl Into<String>) -> SliceError {
    SliceError {
        place: place.into(),
        problem: problem.into(),
    }
}

impl Slice {
    /// A slice of files.
    #[must_use]
    pub fn new(files: Vec<SliceFile>) -> Self {
        Self {
            files,
            rest: Vec::new(),
        }
    }

    /// Reads `{"files": [{"path", "text"}, …], …}`; `name` and `content` are taken for
    /// `path` and `text`.
    ///
    /// # Errors
    /// [`SliceError`] with the place of what is missing or of another type.
    pub fn from_json(json: &Json) -> Result<Self, SliceError> {
        let fields = json
            .as_object()
            .ok_or_else(|| wrong("slice", "an object is wanted"))?;
        let files = fields
            .get("files")
            .ok_or_else(|| wrong("slice", "`files` is missing"))?
            .as_array()
            .ok_or_else(|| wrong("slice.files", "a list is wanted"))?;
        let files: Result<Vec<SliceFile>, SliceError> = files
            .iter()
            .enumerate()
            .map(|(at, file)| SliceFile::from_json(file, at))
            .collect();
        let rest = fields.iter().filter(|(key, _)| *key != "files");
        Ok(Self {
            files: files?,
            rest: rest
                .map(|(key, value)| (key.clone(), value.clone()))
                .collect(),
        })
    }

    /// Its files.
    #[must_use]
    pub fn files(&self) -> &[SliceFile] {
        &self.files
    }

    /// What [`Slice::from_json`] reads.
    #[must_use]
    pub fn to_json(&self) -> Json {
        let files = self.files.iter().map(SliceFile::to_json).collect();
        let mut fields: Map<String, Json> = self.rest.iter().cloned().collect();
        fields.insert("files".into(), files);
        fields.into()
    }

    /// The value that predicates get.
    pub(super) fn value(&self, heap: &Heap) -> Result<Value, Fault> {
        let keys = Keys::new(["path", "text"], heap)?;
        let files: Result<Vec<Value>, Fault> = self
            .files
            .iter()
            .enumerate()
            .map(|(at, file)| file.value(at, &keys, heap))
            .collect();
        let files = Value::list(files?, heap)?;
        let mut others = Vec::new();
        for (key, value) in &self.rest {
            others.push((&**key, Value::from_json(value, heap)?));
        }
        Keys::new(["files"], heap)?.dict([files], others, heap)
    }
}

impl SliceFile {
    /// A file with its text.
    pub fn new(path: impl Into<Arc<str>>, text: impl Into<Arc<str>>) -> Self {
        Self {
            path: path.into(),
            text: text.into(),
            missing: false,
            rest: Vec::new(),
        }
    }

    /// Another field that it has.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Json> {
        let field = self.rest.iter().find(|(name, _)| name == key);
        field.map(|(_, value)| value)
    }

    /// The same with another field, which it does not have yet.
    #[must_use]
    pub(super) fn with(mut self, key: &str, value: impl Into<Json>) -> Self {
        self.rest.push((key.into(), value.into()));
        self
    }

    fn to_json(&self) -> Json {
        let mut fields: Map<String, Json> = self.rest.iter().cloned().collect();
        fields.insert("path".into(), (*self.path).into());
        fields.insert("text".into(), (*self.text).into());
        if self.missing {
            fields.insert("missing".into(), true.into());
        }
        fields.into()
    }

    fn from_json(json: &Json, at: usize) -> Result<Self, SliceError> {
        let place = format!("slice.files[{at}]");
        let fields = json
            .as_object()
            .ok_or_else(|| wrong(&place, "an object is wanted"))?;
        let text = |keys: [&str; 2]| {
            let found = keys.iter().find_map(|key| fields.get(*key));
            found
                .ok_or_else(|| wrong(&place, format!("`{}` is missing", keys[0])))?
                .as_str()
                .ok_or_else(|| wrong(format!("{place}.{}", keys[0]), "a string is wanted"))
        };
        let known = ["path", "name", "text", "content", "missing"];
        Ok(Self {
            path: text(["path", "name"])?.into(),
            text: text(["text", "content"])?.into(),
            missing: fields.get("missing") == Some(&Json::Bool(true)),
            rest: fields
                .iter()
                .filter(|(key, _)| !known.contains(&key.as_str()))
                .map(|(key, value)| (key.clone(), value.clone()))
                .collect(),
        })
    }

    fn value(&self, at: usize, keys: &Keys<2>, heap: &Heap) -> Result<Value, Fault> {
        let number = u32::try_from(at).unwrap_or(u32::MAX);
        let path = Value::shared(self.path.clone(), heap)?;
        let text = Value::file_text(self.text.clone(), number, heap)?;
        let mut others = Vec::new();
        if self.missing {
            others.push(("missing", Value::Bool(true)));
        }
        for (key, value) in &self.rest {
            others.push((key, Value::from_json(value, heap)?));
        }
        keys.dict([path, text], others, heap)
    }
}
