//! What predicates get to see of a change. (flow.md, section 1.6.)

use serde_json::{Map, Value as Json, json};

use crate::flow::changes::{ChangeStatus, ChangedFile, Changes, Content};
use crate::flow::discovery::{TouchedError, touched_directories};
use crate::flow::slice::{Slice, SliceFile};

impl Changes {
    /// The slice: every changed file by its path now, or, of those that are gone, before.
    #[must_use]
    pub fn slice(&self) -> Slice {
        Slice::new(self.files.iter().map(file).collect())
    }

    /// The directories that they touch, see [`touched_directories`].
    ///
    /// # Errors
    /// As [`touched_directories`].
    pub fn touched_directories(&self) -> Result<Vec<Box<str>>, TouchedError> {
        touched_directories(&self.slice())
    }

    /// `repo_at_base`: `files`, the texts of the changed files before the change, by the
    /// paths that they had then, and `unread`, the paths of those that were there and have
    /// no text.
    #[must_use]
    pub fn repo_at_base(&self) -> Json {
        let mut texts = Map::new();
        let mut unread = Vec::new();
        for file in &self.files {
            let path = &**file.renamed_from.as_ref().unwrap_or(&file.path);
            match file.base.as_ref().map(|base| base.text()) {
                None => {}
                Some(Some(text)) => {
                    texts.insert(path.into(), (**text).into());
                }
                Some(None) => unread.push(path),
            }
        }
        json!({ "files": texts, "unread": unread })
    }
}

fn file(changed: &ChangedFile) -> SliceFile {
    let head = changed.head.as_ref();
    let text = head.and_then(|head| head.text().cloned());
    let mut file = SliceFile::new(changed.path.clone(), text.unwrap_or_default())
        .with("status", changed.status.name());
    let kind = head.or(changed.base.as_ref()).map(|side| side.kind);
    if let Some(kind) = kind {
        file = file.with("kind", kind.name());
    }
    if let Some(old) = &changed.renamed_from {
        file = file.with("renamed_from", &**old);
    }
    if changed.status == ChangeStatus::Deleted {
        file = file.with("deleted", true);
    }
    match head.map(|head| &head.content) {
        Some(Content::Binary(_)) => file.with("binary", true),
        Some(Content::TooLarge(_)) => file.with("binary", true).with("too_large", true),
        Some(Content::Link(Some(target))) => file.with("target", &**target),
        Some(Content::Submodule(Some(commit))) => file.with("commit", commit.to_string()),
        Some(Content::Text(_) | Content::Link(None) | Content::Submodule(None)) | None => file,
    }
}
