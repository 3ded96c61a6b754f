//! Atoms: the smallest signed changes. (flow.md, section 1.2.)

use serde::{Deserialize, Serialize, Serializer};

use crate::flow::model::apply::{ApplyError, apply};
use crate::flow::model::canonical::{self, BinaryError};
use crate::flow::model::ids::{AtomId, hash_parts};
use crate::flow::model::op::TextOp;
use crate::flow::model::signature::{AtomSignature, AtomSigner, SignatureError};
use crate::flow::model::timestamp::Timestamp;

/// Who made an atom, and in which run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provenance {
    /// Whom it was made for.
    pub principal: String,
    /// The persona that made it.
    pub persona: String,
    /// The run of the agent.
    pub agent_run_id: String,
    /// The call of a tool that it came from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// The trace of the run.
    pub trace_id: String,
    /// The transcript of the run.
    pub transcript_ref: String,
    /// When it was made.
    pub timestamp: Timestamp,
}

/// What an atom says, without its id and its signatures: all that its id is a hash of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AtomBody {
    /// The changes, one after the other.
    pub ops: Vec<TextOp>,
    /// The atoms that it builds on.
    pub parents: Vec<AtomId>,
    /// Who made it.
    pub provenance: Provenance,
    /// The atom that it undoes.
    pub inverse_of: Option<AtomId>,
}

/// An atom whose id is that of what it says. Whether its signatures hold is another
/// question, which [`Atom::verify`] answers.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Wire<Vec<TextOp>, Vec<AtomId>, Provenance, AtomSignature>")]
pub struct Atom {
    id: AtomId,
    body: AtomBody,
    signature: AtomSignature,
}

/// An atom that cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AtomError {
    /// A list or a text of it is too long for the canonical form.
    #[error("an atom holds at most {} {what}, and there are {count}", u32::MAX)]
    TooLarge {
        /// Of what there is too much.
        what: &'static str,
        /// How much there is.
        count: usize,
    },
    /// The id that came with it is another than that of its content.
    #[error("atom {stated}: its content has the id {found}")]
    Id {
        /// The id that came with it.
        stated: AtomId,
        /// The id of what it says.
        found: AtomId,
    },
    /// It could not be signed, or a signature does not hold.
    #[error(transparent)]
    Signature(#[from] SignatureError),
}

impl AtomBody {
    /// The body of an atom that undoes another: its ops inverted, the last one first.
    #[must_use]
    pub fn inverse_of(target: &Atom, provenance: Provenance) -> Self {
        Self {
            ops: target.ops().iter().rev().map(TextOp::inverse).collect(),
            parents: vec![target.id],
            provenance,
            inverse_of: Some(target.id),
        }
    }

    /// The canonical body: the bytes that the id is the SHA-256 of.
    ///
    /// # Errors
    /// [`AtomError::TooLarge`]: counts have 32 bits.
    pub fn canonical(&self) -> Result<Vec<u8>, AtomError> {
        canonical::encode(self)
    }

    /// The id of an atom that says this.
    ///
    /// # Errors
    /// [`AtomError::TooLarge`].
    pub fn id(&self) -> Result<AtomId, AtomError> {
        Ok(AtomId::from_bytes(hash_parts([&*self.canonical()?])))
    }

    /// Signs it. What the signer answers is verified.
    ///
    /// # Errors
    /// [`AtomError::TooLarge`]; [`AtomError::Signature`] if the signer refuses or its
    /// signatures do not hold.
    pub fn sign(self, signer: &dyn AtomSigner) -> Result<Atom, AtomError> {
        let atom = self.id()?;
        let signature = signer
            .sign(&atom)
            .map_err(|reason| SignatureError::Unsigned { atom, reason })?;
        signature.verify(&atom)?;
        Ok(Atom {
            id: atom,
            body: self,
            signature,
        })
    }
}

impl Atom {
    /// An atom of a body and signatures, which are not verified.
    ///
    /// # Errors
    /// [`AtomError::TooLarge`].
    pub fn new(body: AtomBody, signature: AtomSignature) -> Result<Self, AtomError> {
        Ok(Self {
            id: body.id()?,
            body,
            signature,
        })
    }

    /// An atom whose id the caller has computed from these very bytes.
    pub(super) const fn with_id(id: AtomId, body: AtomBody, signature: AtomSignature) -> Self {
        Self {
            id,
            body,
            signature,
        }
    }

    /// Its id.
    #[must_use]
    pub const fn id(&self) -> AtomId {
        self.id
    }

    /// What it says.
    #[must_use]
    pub const fn body(&self) -> &AtomBody {
        &self.body
    }

    /// Its changes.
    #[must_use]
    pub fn ops(&self) -> &[TextOp] {
        &self.body.ops
    }

    /// The atoms that it builds on.
    #[must_use]
    pub fn parents(&self) -> &[AtomId] {
        &self.body.parents
    }

    /// Who made it.
    #[must_use]
    pub const fn provenance(&self) -> &Provenance {
        &self.body.provenance
    }

    /// Its signatures.
    #[must_use]
    pub const fn signature(&self) -> &AtomSignature {
        &self.signature
    }

    /// Checks both signatures, strictly.
    ///
    /// # Errors
    /// [`SignatureError`] with the first that does not hold.
    pub fn verify(&self) -> Result<(), SignatureError> {
        self.signature.verify(&self.id)
    }

    /// The text after its ops. Ops count bytes and the text may be any bytes.
    ///
    /// # Errors
    /// [`ApplyError`] with the first op that does not fit; nothing is then changed.
    pub fn apply(&self, text: &[u8]) -> Result<Vec<u8>, ApplyError> {
        apply(&self.body.ops, text)
    }

    /// The form that stores keep: canonical body, id, keys and signatures.
    ///
    /// # Errors
    /// [`AtomError::TooLarge`].
    pub fn to_binary(&self) -> Result<Vec<u8>, AtomError> {
        canonical::to_binary(self)
    }

    /// Reads the form that stores keep. The id is checked against the content, the
    /// signatures are not verified.
    ///
    /// # Errors
    /// [`BinaryError`] with the offset of what is wrong.
    pub fn from_binary(bytes: &[u8]) -> Result<Self, BinaryError> {
        canonical::from_binary(bytes)
    }
}

/// An atom in JSON, with parts that are borrowed where it is written.
#[derive(Serialize, Deserialize)]
struct Wire<O, A, P, S> {
    id: AtomId,
    ops: O,
    parents: A,
    provenance: P,
    signature: S,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    inverse_of: Option<AtomId>,
}

impl TryFrom<Wire<Vec<TextOp>, Vec<AtomId>, Provenance, AtomSignature>> for Atom {
    type Error = AtomError;

    fn try_from(
        wire: Wire<Vec<TextOp>, Vec<AtomId>, Provenance, AtomSignature>,
    ) -> Result<Self, AtomError> {
        let body = AtomBody {
            ops: wire.ops,
            parents: wire.parents,
            provenance: wire.provenance,
            inverse_of: wire.inverse_of,
        };
        let atom = Self::new(body, wire.signature)?;
        if atom.id != wire.id {
            let (stated, found) = (wire.id, atom.id);
            return Err(AtomError::Id { stated, found });
        }
        Ok(atom)
    }
}

impl Serialize for Atom {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let wire = Wire {
            id: self.id,
            ops: self.ops(),
            parents: self.parents(),
            provenance: self.provenance(),
            signature: &self.signature,
            inverse_of: self.body.inverse_of,
        };
        wire.serialize(serializer)
    }
}
