//! The verifier: a program from anywhere but the compiler runs only if this
//! proves it sound.
//!
//! Proved: every opcode is one; every register, constant, fact and jump is in
//! bounds and of the type the instruction wants, on every path; every path ends
//! in a return; and all jumps go forward, so that a run takes at most as many
//! steps as there are instructions. What is proved of the types:
//!
//! ```text
//! state   for each register: unset | tri | int | str
//! join    equal types stay, different ones become unset
//! ```

use crate::code::{Const, FactSpec, Insn, Kind, MAX_FACTS, Op, Parts, Program};
use crate::digest::Digest;
use crate::facts::Primitive;

/// Most instructions of one program; jumps are 16 bits wide.
pub(crate) const MAX_INSNS: usize = 1 << 16;

/// Why a program is refused, with the instruction where there is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum VerifyError {
    /// There is no instruction.
    #[error("the program is empty")]
    Empty,
    /// A table is over its limit or does not fit the others.
    #[error("the {0} table has a size that no program has")]
    TableSize(&'static str),
    /// The byte is no opcode.
    #[error("instruction {0}: no such opcode")]
    Opcode(usize),
    /// An operand is out of bounds.
    #[error("instruction {0}: {1} is out of bounds")]
    Bounds(usize, &'static str),
    /// An operand has another type.
    #[error("instruction {0}: {1} has another type")]
    Type(usize, &'static str),
    /// A jump that does not go forward.
    #[error("instruction {0}: the jump does not go forward")]
    BackwardJump(usize),
    /// A path runs past the end.
    #[error("instruction {0}: a path ends without a return")]
    NoReturn(usize),
    /// A span that does not lie in the source.
    #[error("instruction {0}: the span is outside the source")]
    Span(usize),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Type {
    Unset,
    Tri,
    Int,
    Str,
}

type State = Box<[Type]>;

/// Proves the parts sound and makes a program of them.
///
/// # Errors
/// The first fault found, in order of the instructions.
pub fn verify(parts: Parts) -> Result<Program, VerifyError> {
    check_tables(&parts)?;
    let count = parts.insns.len();
    let registers = usize::from(parts.registers);
    let mut states: Vec<Option<State>> = vec![None; count];
    states[0] = Some(vec![Type::Unset; registers].into_boxed_slice());
    for (at, &insn) in parts.insns.iter().enumerate() {
        let op = insn.op().ok_or(VerifyError::Opcode(at))?;
        // An unreachable instruction is checked for bounds like any other; it
        // starts from nothing.
        let mut state = states[at]
            .take()
            .unwrap_or_else(|| vec![Type::Unset; registers].into_boxed_slice());
        let target = step(&parts, at, insn, op, &mut state)?;
        if let Some(target) = target {
            if target <= at {
                return Err(VerifyError::BackwardJump(at));
            }
            if target >= count {
                return Err(VerifyError::Bounds(at, "the jump target"));
            }
            join(&mut states[target], &state);
        }
        if op == Op::Ret {
            continue;
        }
        match states.get_mut(at + 1) {
            Some(next) => join(next, &state),
            None => return Err(VerifyError::NoReturn(at)),
        }
    }
    let digest = Digest::of(parts.source.as_bytes());
    Ok(Program::assemble(parts, digest))
}

fn check_tables(parts: &Parts) -> Result<(), VerifyError> {
    if parts.insns.is_empty() {
        return Err(VerifyError::Empty);
    }
    let sizes = [
        ("instruction", parts.insns.len() <= MAX_INSNS),
        ("register", parts.registers <= 256),
        ("fact", parts.facts.len() <= MAX_FACTS),
        ("constant", parts.consts.len() <= 256),
        ("span", parts.spans.len() == parts.insns.len()),
    ];
    if let Some((name, _)) = sizes.iter().find(|(_, fits)| !fits) {
        return Err(VerifyError::TableSize(name));
    }
    let spans = parts
        .spans
        .iter()
        .chain(parts.facts.iter().map(|fact| &fact.span));
    for (at, span) in spans.enumerate() {
        if parts.source.get(span.range()).is_none() {
            return Err(VerifyError::Span(at));
        }
    }
    Ok(())
}

/// Checks one instruction against the state before it, moves the state past it
/// and returns the jump target if it has one.
fn step(
    parts: &Parts,
    at: usize,
    insn: Insn,
    op: Op,
    state: &mut State,
) -> Result<Option<usize>, VerifyError> {
    let mut target = None;
    let mut written = None;
    for operand in op.info().operands {
        let number = usize::from(insn.operand(operand.slot));
        let fact = |wanted: &[Primitive]| fact_of(&parts.facts, at, number, wanted);
        let constant = |wanted: fn(&Const) -> bool| const_of(&parts.consts, at, number, wanted);
        match operand.kind {
            Kind::Tri => read(state, at, number, Type::Tri)?,
            Kind::Int => read(state, at, number, Type::Int)?,
            Kind::Str => read(state, at, number, Type::Str)?,
            Kind::DstTri => written = Some((number, Type::Tri)),
            Kind::DstInt => written = Some((number, Type::Int)),
            Kind::DstStr => written = Some((number, Type::Str)),
            Kind::FactBool => fact(&[Primitive::Exists, Primitive::Test])?,
            Kind::FactCount => fact(&[Primitive::Grep, Primitive::Count])?,
            Kind::FactRun => fact(&[Primitive::Run])?,
            Kind::ConstInt => constant(|value| matches!(value, Const::Int(_)))?,
            Kind::ConstStr => constant(|value| matches!(value, Const::Str(_)))?,
            Kind::ConstRegex => constant(|value| matches!(value, Const::Regex(_)))?,
            Kind::Imm | Kind::ImmWide => {}
            Kind::Flag if number > 1 => return Err(VerifyError::Bounds(at, "the flag")),
            Kind::Flag => {}
            Kind::Jump => target = Some(number),
            _ => return Err(VerifyError::Opcode(at)),
        }
    }
    if let Some((register, kind)) = written {
        *state
            .get_mut(register)
            .ok_or(VerifyError::Bounds(at, "the register"))? = kind;
    }
    Ok(target)
}

fn read(state: &State, at: usize, register: usize, wanted: Type) -> Result<(), VerifyError> {
    match state.get(register) {
        None => Err(VerifyError::Bounds(at, "the register")),
        Some(&found) if found != wanted => Err(VerifyError::Type(at, "the register")),
        Some(_) => Ok(()),
    }
}

fn fact_of(
    facts: &[FactSpec],
    at: usize,
    number: usize,
    wanted: &[Primitive],
) -> Result<(), VerifyError> {
    match facts.get(number) {
        None => Err(VerifyError::Bounds(at, "the fact")),
        Some(fact) if !wanted.contains(&fact.key.primitive()) => {
            Err(VerifyError::Type(at, "the fact"))
        }
        Some(_) => Ok(()),
    }
}

fn const_of(
    consts: &[Const],
    at: usize,
    number: usize,
    wanted: fn(&Const) -> bool,
) -> Result<(), VerifyError> {
    match consts.get(number) {
        None => Err(VerifyError::Bounds(at, "the constant")),
        Some(value) if !wanted(value) => Err(VerifyError::Type(at, "the constant")),
        Some(_) => Ok(()),
    }
}

fn join(into: &mut Option<State>, from: &State) {
    match into {
        None => *into = Some(from.clone()),
        Some(into) => {
            for (left, right) in into.iter_mut().zip(from) {
                if left != right {
                    *left = Type::Unset;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::Span;
    use crate::facts::{FactKey, PathSpec};
    use crate::language::Language;

    fn parts(insns: &[Insn]) -> Parts {
        Parts {
            language: Language::ElenchV1,
            source: "x".into(),
            registers: 2,
            insns: insns.to_vec(),
            facts: vec![FactSpec {
                key: FactKey::Exists(PathSpec {
                    text: "x".into(),
                    glob: false,
                }),
                limit: None,
                span: Span::new(0, 1),
            }],
            consts: vec![Const::Int(7)],
            spans: vec![Span::new(0, 1); insns.len()],
            warnings: Vec::new(),
        }
    }

    fn refusal(insns: &[Insn]) -> VerifyError {
        verify(parts(insns)).expect_err("is refused")
    }

    const LOAD: Insn = Insn::abc(Op::LoadBool, 0, 0, 0);
    const RET: Insn = Insn::abc(Op::Ret, 0, 0, 0);

    #[test]
    fn a_sound_program_passes() {
        assert!(verify(parts(&[LOAD, RET])).is_ok());
    }

    #[test]
    fn each_fault_is_named() {
        assert_eq!(refusal(&[]), VerifyError::Empty);
        assert_eq!(refusal(&[Insn(0xff)]), VerifyError::Opcode(0));
        assert_eq!(refusal(&[LOAD]), VerifyError::NoReturn(0));
        assert_eq!(refusal(&[RET]), VerifyError::Type(0, "the register"));
        assert_eq!(
            refusal(&[Insn::abc(Op::LoadBool, 2, 0, 0), RET]),
            VerifyError::Bounds(0, "the register")
        );
        assert_eq!(
            refusal(&[Insn::abc(Op::LoadBool, 0, 1, 0), RET]),
            VerifyError::Bounds(0, "the fact")
        );
        assert_eq!(
            refusal(&[Insn::abc(Op::LoadCount, 0, 0, 0), RET]),
            VerifyError::Type(0, "the fact")
        );
        assert_eq!(
            refusal(&[Insn::abc(Op::ConstStr, 0, 0, 0), RET]),
            VerifyError::Type(0, "the constant")
        );
        assert_eq!(
            refusal(&[LOAD, Insn::wide(Op::JumpTrue, 0, 1), RET]),
            VerifyError::BackwardJump(1)
        );
        assert_eq!(
            refusal(&[LOAD, Insn::wide(Op::JumpTrue, 0, 9), RET]),
            VerifyError::Bounds(1, "the jump target")
        );
        assert_eq!(
            refusal(&[Insn::wide(Op::ConstBool, 0, 2), RET]),
            VerifyError::Bounds(0, "the flag")
        );
        let mut outside = parts(&[LOAD, RET]);
        outside.spans[1] = Span::new(0, 2);
        assert!(matches!(verify(outside), Err(VerifyError::Span(1))));
        let mut short = parts(&[LOAD, RET]);
        short.spans.pop();
        assert!(matches!(verify(short), Err(VerifyError::TableSize("span"))));
    }

    #[test]
    fn a_register_set_on_one_path_only_cannot_be_read() {
        let fault = refusal(&[
            LOAD,
            Insn::wide(Op::JumpTrue, 0, 3),
            Insn::abc(Op::Not, 1, 0, 0),
            Insn::abc(Op::Ret, 1, 0, 0),
        ]);
        assert_eq!(fault, VerifyError::Type(3, "the register"));
    }
}
