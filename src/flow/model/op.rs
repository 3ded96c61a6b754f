//! Changes of one text. (flow.md, section 1.2.)

use serde::{Deserialize, Serialize};

/// What an op does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OpKind {
    /// Puts its content in.
    Insert,
    /// Takes its content out.
    Delete,
}

/// One change of a text. Which text that is, the op does not say.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct TextOp {
    /// What it does.
    pub kind: OpKind,
    /// Where, in bytes from the start of the text as the ops before have left it.
    pub offset: u64,
    /// What is put in, or what is taken out and has to be there.
    pub content: String,
}

impl TextOp {
    /// Puts a text in at an offset.
    pub fn insert(offset: u64, content: impl Into<String>) -> Self {
        Self {
            kind: OpKind::Insert,
            offset,
            content: content.into(),
        }
    }

    /// Takes a text out at an offset.
    pub fn delete(offset: u64, content: impl Into<String>) -> Self {
        Self {
            kind: OpKind::Delete,
            offset,
            content: content.into(),
        }
    }

    /// The op that undoes this one: the other kind at the same place.
    #[must_use]
    pub fn inverse(&self) -> Self {
        Self {
            kind: match self.kind {
                OpKind::Insert => OpKind::Delete,
                OpKind::Delete => OpKind::Insert,
            },
            offset: self.offset,
            content: self.content.clone(),
        }
    }
}
