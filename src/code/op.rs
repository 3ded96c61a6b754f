//! Opcodes and the 32-bit instruction word. The enum and its table are
//! generated from `grammar/ops.in`.

use std::fmt;

include!(concat!(env!("OUT_DIR"), "/ops.rs"));

/// Everything the encoder, the verifier, the listing and the docs know of an
/// opcode.
#[derive(Clone, Copy, Debug)]
pub struct OpInfo {
    /// The opcode.
    pub op: Op,
    /// The name in listings.
    pub name: &'static str,
    /// The operands, in the order of the listing.
    pub operands: &'static [Operand],
    /// Fuel for each execution.
    pub cost: u32,
    /// What it does, one sentence.
    pub doc: &'static str,
}

/// One operand of an opcode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operand {
    /// Where it is in the word.
    pub slot: Slot,
    /// What it means.
    pub kind: Kind,
}

/// The part of the word that holds an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    /// Bits 8 to 15.
    A,
    /// Bits 16 to 23.
    B,
    /// Bits 24 to 31.
    C,
    /// Bits 16 to 31.
    Bc,
}

/// What the number in an operand means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A register that is read as a truth value.
    Tri,
    /// A register that is read as an int.
    Int,
    /// A register that is read as a string.
    Str,
    /// A register that gets a truth value.
    DstTri,
    /// A register that gets an int.
    DstInt,
    /// A register that gets a string.
    DstStr,
    /// A fact of `exists` or `test`.
    FactBool,
    /// A fact of `grep` or `count`.
    FactCount,
    /// A fact of `run`.
    FactRun,
    /// An int of the constant pool.
    ConstInt,
    /// A string of the constant pool.
    ConstStr,
    /// A regex of the constant pool.
    ConstRegex,
    /// An unsigned byte.
    Imm,
    /// A signed 16-bit number.
    ImmWide,
    /// 0 or 1.
    Flag,
    /// An instruction index.
    Jump,
    /// A register of any type that is read.
    Reg,
    /// A register that gets a value of any type.
    Dst,
    /// A constant of a module.
    Value,
    /// A function of a module.
    Fn,
    /// A name of a function.
    Name,
    /// The number of a parameter.
    Slot,
    /// Something that a closure captured.
    Capture,
    /// A binding of a module.
    Global,
    /// A builtin function.
    Builtin,
    /// A type that is looked at when the program runs.
    Type,
    /// A regex of a function.
    Pattern,
    /// A number of items.
    Size,
    /// An instruction index in either direction.
    Target,
}

impl Kind {
    /// Whether only modules have such operands.
    #[must_use]
    pub const fn is_of_modules(self) -> bool {
        self as u8 >= Self::Reg as u8
    }
}

impl Op {
    /// The row of the table.
    #[must_use]
    pub const fn info(self) -> &'static OpInfo {
        &TABLE[self as usize]
    }

    /// The opcode of a byte, if it is one.
    #[must_use]
    pub const fn from_byte(byte: u8) -> Option<Self> {
        decode(byte)
    }
}

/// One instruction: opcode in the low byte, then operands a, b and c.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
#[repr(transparent)]
pub struct Insn(pub u32);

impl Insn {
    /// An instruction with three byte operands.
    #[must_use]
    pub const fn abc(op: Op, a: u8, b: u8, c: u8) -> Self {
        Self(u32::from_le_bytes([op as u8, a, b, c]))
    }

    /// An instruction with a byte and a 16-bit operand.
    #[must_use]
    pub const fn wide(op: Op, a: u8, bc: u16) -> Self {
        let [b, c] = bc.to_le_bytes();
        Self::abc(op, a, b, c)
    }

    /// The opcode byte, whether or not it is an opcode.
    #[must_use]
    pub const fn byte(self) -> u8 {
        self.0.to_le_bytes()[0]
    }

    /// The opcode, if the byte is one.
    #[must_use]
    pub const fn op(self) -> Option<Op> {
        Op::from_byte(self.byte())
    }

    /// Operand a.
    #[must_use]
    pub const fn a(self) -> u8 {
        self.0.to_le_bytes()[1]
    }

    /// Operand b.
    #[must_use]
    pub const fn b(self) -> u8 {
        self.0.to_le_bytes()[2]
    }

    /// Operand c.
    #[must_use]
    pub const fn c(self) -> u8 {
        self.0.to_le_bytes()[3]
    }

    /// Operands b and c as one number.
    #[must_use]
    pub const fn bc(self) -> u16 {
        u16::from_le_bytes([self.b(), self.c()])
    }

    /// The number in a slot.
    #[must_use]
    pub const fn operand(self, slot: Slot) -> u16 {
        match slot {
            Slot::A => self.a() as u16,
            Slot::B => self.b() as u16,
            Slot::C => self.c() as u16,
            Slot::Bc => self.bc(),
        }
    }
}

impl fmt::Debug for Insn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.op() {
            Some(op) => write!(
                f,
                "{}({}, {}, {})",
                op.info().name,
                self.a(),
                self.b(),
                self.c()
            ),
            None => write!(f, "Insn({:#010x})", self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instruction_is_four_bytes() {
        assert_eq!(size_of::<Insn>(), 4);
        assert_eq!(size_of::<Op>(), 1);
    }

    #[test]
    fn every_opcode_decodes_to_itself() {
        for (code, info) in TABLE.iter().enumerate() {
            assert_eq!(info.op as usize, code);
            assert_eq!(Insn::abc(info.op, 1, 2, 3).op(), Some(info.op));
        }
        assert_eq!(Op::from_byte(255), None);
    }

    #[test]
    fn operands_sit_where_the_slots_say() {
        let insn = Insn::abc(Op::And, 1, 2, 3);
        assert_eq!((insn.a(), insn.b(), insn.c(), insn.bc()), (1, 2, 3, 0x0302));
        assert_eq!(
            Insn::wide(Op::JumpFalse, 7, 0xabcd).operand(Slot::Bc),
            0xabcd
        );
    }
}
