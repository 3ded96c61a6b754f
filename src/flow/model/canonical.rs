//! The bytes of atoms: the body that is hashed, and the form that stores keep.
//! (flow.md, section 1.2.)
//!
//! Numbers are little endian; a text is its length in bytes, as 32 bits, and its UTF-8.
//! There is exactly one form of each body.

use crate::flow::model::atom::{Atom, AtomBody, AtomError, Provenance};
use crate::flow::model::ids::{AtomId, hash_parts};
use crate::flow::model::op::{OpKind, TextOp};
use crate::flow::model::signature::AtomSignature;
use crate::flow::model::timestamp::{Timestamp, TimestampError};

/// What every body starts with.
const MAGIC: [u8; 4] = *b"FATM";
/// The version of this form.
const VERSION: u8 = 1;
/// The fewest bytes of an op: tag, offset, length.
const LEAST_OP: usize = 1 + 8 + 4;

/// Bytes that are no atom.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("byte {at}: {problem}")]
pub struct BinaryError {
    /// The offset of what is wrong.
    pub at: usize,
    /// What is wrong.
    pub problem: BinaryProblem,
}

/// What is wrong with the bytes of an atom.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BinaryProblem {
    /// They do not start as an atom does.
    #[error("an atom starts with `FATM`")]
    Magic,
    /// They are in a form of another version.
    #[error("version {0} of atoms is not known, only {VERSION}")]
    Version(u8),
    /// They end too early.
    #[error("{needed} more bytes are wanted, and {left} are left")]
    Truncated {
        /// How many are wanted at least.
        needed: u64,
        /// How many there are.
        left: usize,
    },
    /// They go on after the end.
    #[error("{0} bytes too many follow the atom")]
    Trailing(usize),
    /// A tag has no meaning.
    #[error("tag {tag} of {of} is none of 0 and 1")]
    Tag {
        /// What it is the tag of.
        of: &'static str,
        /// The tag.
        tag: u8,
    },
    /// A text is not UTF-8.
    #[error("{0} is not UTF-8")]
    Utf8(&'static str),
    /// The time is none.
    #[error(transparent)]
    Timestamp(#[from] TimestampError),
    /// The id that came with it is another than that of its content.
    #[error("the atom says that it is {stated}, and its content has the id {found}")]
    Id {
        /// The id that came with it.
        stated: AtomId,
        /// The id of what it says.
        found: AtomId,
    },
}

fn count(bytes: &mut Vec<u8>, count: usize, what: &'static str) -> Result<(), AtomError> {
    let number = u32::try_from(count).map_err(|_| AtomError::TooLarge { what, count })?;
    bytes.extend_from_slice(&number.to_le_bytes());
    Ok(())
}

fn text(bytes: &mut Vec<u8>, text: &str) -> Result<(), AtomError> {
    count(bytes, text.len(), "bytes in one text")?;
    bytes.extend_from_slice(text.as_bytes());
    Ok(())
}

/// The canonical body.
pub(super) fn encode(body: &AtomBody) -> Result<Vec<u8>, AtomError> {
    let texts: usize = body.ops.iter().map(|op| op.content.len()).sum();
    let size = texts + LEAST_OP * body.ops.len() + 32 * body.parents.len();
    let mut bytes = Vec::with_capacity(size + 256);
    bytes.extend_from_slice(&MAGIC);
    bytes.push(VERSION);
    count(&mut bytes, body.ops.len(), "ops")?;
    for op in &body.ops {
        bytes.push(match op.kind {
            OpKind::Insert => 0,
            OpKind::Delete => 1,
        });
        bytes.extend_from_slice(&op.offset.to_le_bytes());
        text(&mut bytes, &op.content)?;
    }
    count(&mut bytes, body.parents.len(), "parents")?;
    for parent in &body.parents {
        bytes.extend_from_slice(parent.as_bytes());
    }
    let made = &body.provenance;
    for part in [&made.principal, &made.persona, &made.agent_run_id] {
        text(&mut bytes, part)?;
    }
    bytes.push(u8::from(made.tool_call_id.is_some()));
    if let Some(call) = &made.tool_call_id {
        text(&mut bytes, call)?;
    }
    for part in [&made.trace_id, &made.transcript_ref] {
        text(&mut bytes, part)?;
    }
    text(&mut bytes, made.timestamp.as_str())?;
    bytes.push(u8::from(body.inverse_of.is_some()));
    if let Some(target) = &body.inverse_of {
        bytes.extend_from_slice(target.as_bytes());
    }
    Ok(bytes)
}

/// Body, id, keys and signatures.
pub(super) fn to_binary(atom: &Atom) -> Result<Vec<u8>, AtomError> {
    let mut bytes = encode(atom.body())?;
    bytes.extend_from_slice(atom.id().as_bytes());
    let signature = atom.signature();
    bytes.extend_from_slice(&signature.principal_key);
    bytes.extend_from_slice(&signature.principal_sig);
    bytes.extend_from_slice(&signature.persona_key);
    bytes.extend_from_slice(&signature.persona_sig);
    Ok(bytes)
}

/// Reads what [`to_binary`] wrote.
pub(super) fn from_binary(bytes: &[u8]) -> Result<Atom, BinaryError> {
    let mut reader = Reader { bytes, at: 0 };
    let body = body(&mut reader)?;
    let id_at = reader.at;
    let stated = AtomId::from_bytes(reader.array()?);
    let signature = AtomSignature {
        principal_key: reader.array()?,
        principal_sig: reader.array()?,
        persona_key: reader.array()?,
        persona_sig: reader.array()?,
    };
    if reader.at < bytes.len() {
        return Err(BinaryError {
            at: reader.at,
            problem: BinaryProblem::Trailing(bytes.len() - reader.at),
        });
    }
    // Each body has one form, so the hash of these bytes is that of what they say.
    let found = AtomId::from_bytes(hash_parts([&bytes[..id_at]]));
    if found != stated {
        return Err(BinaryError {
            at: id_at,
            problem: BinaryProblem::Id { stated, found },
        });
    }
    Ok(Atom::with_id(stated, body, signature))
}

fn body(reader: &mut Reader<'_>) -> Result<AtomBody, BinaryError> {
    if reader.bytes.get(..MAGIC.len()) != Some(&MAGIC) {
        return Err(reader.wrong(BinaryProblem::Magic));
    }
    reader.at = MAGIC.len();
    let version_at = reader.at;
    let version = reader.byte()?;
    if version != VERSION {
        return Err(BinaryError {
            at: version_at,
            problem: BinaryProblem::Version(version),
        });
    }
    let count = reader.count(LEAST_OP)?;
    let mut ops = Vec::with_capacity(count);
    for _ in 0..count {
        ops.push(TextOp {
            kind: match reader.tag("an op")? {
                false => OpKind::Insert,
                true => OpKind::Delete,
            },
            offset: u64::from_le_bytes(reader.array()?),
            content: reader.text("the content of an op")?,
        });
    }
    let count = reader.count(32)?;
    let mut parents = Vec::with_capacity(count);
    for _ in 0..count {
        parents.push(AtomId::from_bytes(reader.array()?));
    }
    let principal = reader.text("the principal")?;
    let persona = reader.text("the persona")?;
    let agent_run_id = reader.text("the agent run")?;
    let tool_call_id = match reader.tag("the tool call")? {
        true => Some(reader.text("the tool call")?),
        false => None,
    };
    let trace_id = reader.text("the trace")?;
    let transcript_ref = reader.text("the transcript")?;
    let at = reader.at;
    let timestamp = Timestamp::try_from(reader.text("the time")?).map_err(|error| BinaryError {
        at,
        problem: error.into(),
    })?;
    let inverse_of = match reader.tag("the inverse")? {
        true => Some(AtomId::from_bytes(reader.array()?)),
        false => None,
    };
    let provenance = Provenance {
        principal,
        persona,
        agent_run_id,
        tool_call_id,
        trace_id,
        transcript_ref,
        timestamp,
    };
    Ok(AtomBody {
        ops,
        parents,
        provenance,
        inverse_of,
    })
}

/// Takes bytes from the front. Nothing is reserved for what is not there.
struct Reader<'b> {
    bytes: &'b [u8],
    at: usize,
}

impl<'b> Reader<'b> {
    const fn wrong(&self, problem: BinaryProblem) -> BinaryError {
        BinaryError {
            at: self.at,
            problem,
        }
    }

    fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    fn take(&mut self, count: usize) -> Result<&'b [u8], BinaryError> {
        self.wants(count as u64)?;
        let taken = &self.bytes[self.at..self.at + count];
        self.at += count;
        Ok(taken)
    }

    fn wants(&self, needed: u64) -> Result<(), BinaryError> {
        let left = self.left();
        if needed > left as u64 {
            return Err(self.wrong(BinaryProblem::Truncated { needed, left }));
        }
        Ok(())
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], BinaryError> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        Ok(array)
    }

    fn byte(&mut self) -> Result<u8, BinaryError> {
        Ok(self.array::<1>()?[0])
    }

    /// A byte that is 0 or 1.
    fn tag(&mut self, of: &'static str) -> Result<bool, BinaryError> {
        let at = self.at;
        match self.byte()? {
            0 => Ok(false),
            1 => Ok(true),
            tag => Err(BinaryError {
                at,
                problem: BinaryProblem::Tag { of, tag },
            }),
        }
    }

    /// How many items follow, of which each has at least `least` bytes: no more than can
    /// be there.
    fn count(&mut self, least: usize) -> Result<usize, BinaryError> {
        let count = u32::from_le_bytes(self.array()?);
        self.wants(u64::from(count) * least as u64)?;
        // It is no larger than the number of bytes that are there.
        Ok(count as usize)
    }

    fn text(&mut self, of: &'static str) -> Result<String, BinaryError> {
        let count = self.count(1)?;
        let at = self.at;
        let text = std::str::from_utf8(self.take(count)?);
        let text = text.map_err(|_| BinaryError {
            at,
            problem: BinaryProblem::Utf8(of),
        })?;
        Ok(text.to_owned())
    }
}
