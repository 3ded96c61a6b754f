//! Register bytecode: instructions, programs, the verifier, the listing and
//! the codec.

mod arena;
mod codec;
mod constant;
mod listing;
mod op;
mod program;
mod verify;

pub use arena::{Arena, ProgramRef};
pub use codec::{DecodeError, FORMAT_VERSION, decode, encode};
pub use constant::{Const, Needle, TextRegex};
pub(crate) use listing::instruction;
pub use listing::{instruction_table, listing};
pub use op::{Insn, Kind, Op, OpInfo, Operand, Slot, TABLE};
pub use program::{FactSpec, MAX_FACTS, Parts, Program};
pub use verify::{VerifyError, verify};

pub(crate) use program::HEADER_WORDS;
