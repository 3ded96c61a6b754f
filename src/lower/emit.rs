//! Instructions for each node. Registers are a stack: the value of a node ends
//! up in the register its parent names, and operands use the ones above.

use std::sync::Arc;

use crate::check::Checked;
use crate::check::typed::{
    CompareOp, Stream, SubstringOp, TBool, TBoolKind, TInt, TIntKind, TPattern, TStr, TStrKind,
};
use crate::code::{Const, Insn, Needle, Op, Parts, TextRegex};
use crate::diagnostic::{Code, Diagnostic, Span};
use crate::facts::Pattern;
use crate::language::Language;
use crate::lower::facts::{Call, Facts, Need};
use crate::lower::fold::{constant, int_constant};

/// Boxed, since the error is rare and large.
type Emitted<T = ()> = Result<T, Box<Diagnostic>>;

/// Compiles a checked predicate.
///
/// # Errors
/// `nested_too_deep` if it needs more registers, constants, facts or jumps than
/// an instruction can name; the language's own limits keep all but contrived
/// sources far from that.
pub(super) fn emit(language: Language, source: Arc<str>, checked: Checked<'_>) -> Emitted<Parts> {
    let mut emitter = Emitter {
        insns: Vec::with_capacity(8),
        spans: Vec::with_capacity(8),
        ..Emitter::default()
    };
    let span = checked.root.span;
    emitter.bool(checked.root, 0)?;
    emitter.push(Insn::abc(Op::Ret, 0, 0, 0), span);
    Ok(Parts {
        language,
        source,
        registers: emitter.registers,
        insns: emitter.insns,
        facts: emitter.facts.into_vec(),
        consts: emitter.consts,
        spans: emitter.spans,
        warnings: checked.warnings,
    })
}

#[derive(Default)]
struct Emitter {
    insns: Vec<Insn>,
    spans: Vec<Span>,
    facts: Facts,
    consts: Vec<Const>,
    registers: u16,
}

fn too_deep(span: Span) -> Box<Diagnostic> {
    Box::new(
        Diagnostic::error(
            Code::NestedTooDeep,
            span,
            "the predicate needs more than 256 registers or constants, or 65536 instructions",
        )
        .help("split it into several claims"),
    )
}

impl Emitter {
    fn push(&mut self, insn: Insn, span: Span) {
        self.insns.push(insn);
        self.spans.push(span);
    }

    /// Emits an instruction that writes `register`.
    fn set(&mut self, op: Op, register: u8, b: u8, c: u8, span: Span) {
        self.registers = self.registers.max(u16::from(register) + 1);
        self.push(Insn::abc(op, register, b, c), span);
    }

    fn fact(&mut self, call: Call<'_>, span: Span, need: Need) -> Emitted<u8> {
        self.facts
            .intern(call, span, need)
            .ok_or_else(|| too_deep(span))
    }

    fn constant(&mut self, value: Const, span: Span) -> Emitted<u8> {
        let number = u8::try_from(self.consts.len()).map_err(|_| too_deep(span))?;
        self.consts.push(value);
        Ok(number)
    }

    fn text(&mut self, text: &str, span: Span) -> Emitted<u8> {
        self.constant(Const::Str(Arc::new(Needle::new(text))), span)
    }

    fn regex(&mut self, pattern: TPattern<'_>) -> Emitted<u8> {
        let regex = TextRegex::new(Pattern {
            text: pattern.text.into(),
            flags: pattern.flags,
        });
        self.constant(Const::Regex(Arc::new(regex)), pattern.span)
    }

    /// Leaves the value of `node` in `register`.
    fn bool(&mut self, node: &TBool<'_>, register: u8) -> Emitted {
        let span = node.span;
        if let Some(value) = constant(node) {
            self.registers = self.registers.max(u16::from(register) + 1);
            self.push(Insn::wide(Op::ConstBool, register, u16::from(value)), span);
            return Ok(());
        }
        match node.kind {
            // Folded above.
            TBoolKind::Const(_) => {}
            TBoolKind::Not(inner) => {
                self.bool(inner, register)?;
                self.set(Op::Not, register, register, 0, span);
            }
            TBoolKind::And(parts) => self.connect(parts, Op::And, Op::JumpFalse, register, span)?,
            TBoolKind::Or(parts) => self.connect(parts, Op::Or, Op::JumpTrue, register, span)?,
            TBoolKind::Exists(path) => {
                let fact = self.fact(Call::Exists(path), span, Need::Exact)?;
                self.set(Op::LoadBool, register, fact, 0, span);
            }
            TBoolKind::Passed(name) => {
                let fact = self.fact(Call::Test(name), span, Need::Exact)?;
                self.set(Op::LoadBool, register, fact, 0, span);
            }
            TBoolKind::CompareInt(op, left, right) => {
                self.compare(op, &left, &right, register, span)?;
            }
            TBoolKind::EqualBool {
                negated,
                left,
                right,
            } => self.equal_bool(negated, left, right, register, span)?,
            TBoolKind::EqualStr {
                negated,
                left,
                right,
            } => {
                let above = next(register, span)?;
                self.string(&left, register)?;
                self.string(&right, above)?;
                let op = if negated { Op::NeStr } else { Op::EqStr };
                self.set(op, register, register, above, span);
            }
            TBoolKind::Substring(op, text, needle) => {
                self.substring(op, &text, needle, register, span)?;
            }
            TBoolKind::Matches(text, pattern) => {
                self.string(&text, register)?;
                let regex = self.regex(pattern)?;
                self.set(Op::Matches, register, register, regex, span);
            }
        }
        Ok(())
    }

    /// `&&` and `||`: each part but the last jumps to the end once it decides.
    /// An unknown part decides nothing, so the next one is tried and joined.
    fn connect(
        &mut self,
        parts: &[TBool<'_>],
        join: Op,
        jump: Op,
        register: u8,
        span: Span,
    ) -> Emitted {
        let mut jumps = Vec::new();
        let mut open = parts.iter().filter(|part| constant(part).is_none());
        if let Some(first) = open.next() {
            self.bool(first, register)?;
        }
        for part in open {
            let above = next(register, part.span)?;
            jumps.push(self.insns.len());
            self.push(Insn::wide(jump, register, 0), span);
            self.bool(part, above)?;
            self.set(join, register, register, above, span);
        }
        let end = u16::try_from(self.insns.len()).map_err(|_| too_deep(span))?;
        for at in jumps {
            self.insns[at] = Insn::wide(jump, register, end);
        }
        Ok(())
    }

    fn compare(
        &mut self,
        op: CompareOp,
        left: &TInt<'_>,
        right: &TInt<'_>,
        register: u8,
        span: Span,
    ) -> Emitted {
        if let Some(value) = int_constant(left) {
            return self.compare_const(op.mirrored(), right, value, register, span);
        }
        if let Some(value) = int_constant(right) {
            return self.compare_const(op, left, value, register, span);
        }
        let above = next(register, span)?;
        self.int(left, register, Need::Exact)?;
        self.int(right, above, Need::Exact)?;
        self.set(compare_op(op), register, register, above, span);
        Ok(())
    }

    fn compare_const(
        &mut self,
        op: CompareOp,
        left: &TInt<'_>,
        right: i64,
        register: u8,
        span: Span,
    ) -> Emitted {
        let need = Need::UpTo(op.deciding_count(right));
        if let Ok(immediate) = u8::try_from(right) {
            let call = match (left.kind, op) {
                (TIntKind::Grep(pattern, path), _) => {
                    Some((Call::Grep(pattern, path), count_op(op)))
                }
                (TIntKind::Count(pattern, path), _) => {
                    Some((Call::Count(pattern, path), count_op(op)))
                }
                (TIntKind::Exit(command), CompareOp::Eq) => Some((Call::Run(command), Op::ExitEq)),
                (TIntKind::Exit(command), CompareOp::Ne) => Some((Call::Run(command), Op::ExitNe)),
                _ => None,
            };
            if let Some((call, fused)) = call {
                let need = if matches!(call, Call::Run(_)) {
                    Need::Exact
                } else {
                    need
                };
                let fact = self.fact(call, left.span, need)?;
                self.set(fused, register, fact, immediate, span);
                return Ok(());
            }
        }
        let above = next(register, span)?;
        self.int(left, register, need)?;
        self.int_const(right, above, span)?;
        self.set(compare_op(op), register, register, above, span);
        Ok(())
    }

    fn int_const(&mut self, value: i64, register: u8, span: Span) -> Emitted {
        if let Ok(small) = i16::try_from(value) {
            self.registers = self.registers.max(u16::from(register) + 1);
            self.push(
                Insn::wide(Op::ConstInt, register, small.cast_unsigned()),
                span,
            );
        } else {
            let number = self.constant(Const::Int(value), span)?;
            self.set(Op::ConstWide, register, number, 0, span);
        }
        Ok(())
    }

    fn int(&mut self, node: &TInt<'_>, register: u8, need: Need) -> Emitted {
        let span = node.span;
        match node.kind {
            TIntKind::Const(value) => self.int_const(value, register, span)?,
            TIntKind::Grep(pattern, path) => {
                let fact = self.fact(Call::Grep(pattern, path), span, need)?;
                self.set(Op::LoadCount, register, fact, 0, span);
            }
            TIntKind::Count(pattern, path) => {
                let fact = self.fact(Call::Count(pattern, path), span, need)?;
                self.set(Op::LoadCount, register, fact, 0, span);
            }
            TIntKind::Exit(command) => {
                let fact = self.fact(Call::Run(command), span, Need::Exact)?;
                self.set(Op::LoadExit, register, fact, 0, span);
            }
            TIntKind::Lines(command, stream) => {
                self.output(command, stream, register, span)?;
                self.set(Op::Lines, register, register, 0, span);
            }
        }
        Ok(())
    }

    fn string(&mut self, node: &TStr<'_>, register: u8) -> Emitted {
        match node.kind {
            TStrKind::Const(text) => {
                let number = self.text(text, node.span)?;
                self.set(Op::ConstStr, register, number, 0, node.span);
                Ok(())
            }
            TStrKind::Output(command, stream) => self.output(command, stream, register, node.span),
        }
    }

    fn output(&mut self, command: &str, stream: Stream, register: u8, span: Span) -> Emitted {
        let fact = self.fact(Call::Run(command), span, Need::Exact)?;
        let op = match stream {
            Stream::Stdout => Op::LoadStdout,
            Stream::Stderr => Op::LoadStderr,
        };
        self.set(op, register, fact, 0, span);
        Ok(())
    }

    fn substring(
        &mut self,
        op: SubstringOp,
        text: &TStr<'_>,
        needle: &str,
        register: u8,
        span: Span,
    ) -> Emitted {
        if let (SubstringOp::Contains, TStrKind::Output(command, Stream::Stdout)) = (op, text.kind)
        {
            let fact = self.fact(Call::Run(command), text.span, Need::Exact)?;
            let needle = self.text(needle, span)?;
            self.set(Op::StdoutContains, register, fact, needle, span);
            return Ok(());
        }
        self.string(text, register)?;
        let needle = self.text(needle, span)?;
        let op = match op {
            SubstringOp::Contains => Op::Contains,
            SubstringOp::StartsWith => Op::Starts,
            SubstringOp::EndsWith => Op::Ends,
        };
        self.set(op, register, register, needle, span);
        Ok(())
    }

    fn equal_bool(
        &mut self,
        negated: bool,
        left: &TBool<'_>,
        right: &TBool<'_>,
        register: u8,
        span: Span,
    ) -> Emitted {
        let folded = match (constant(left), constant(right)) {
            (Some(value), None) => Some((right, value)),
            (None, Some(value)) => Some((left, value)),
            _ => None,
        };
        if let Some((open, value)) = folded {
            self.bool(open, register)?;
            if value == negated {
                self.set(Op::Not, register, register, 0, span);
            }
            return Ok(());
        }
        let above = next(register, span)?;
        self.bool(left, register)?;
        self.bool(right, above)?;
        let op = if negated { Op::NeBool } else { Op::EqBool };
        self.set(op, register, register, above, span);
        Ok(())
    }
}

fn next(register: u8, span: Span) -> Emitted<u8> {
    register.checked_add(1).ok_or_else(|| too_deep(span))
}

const fn compare_op(op: CompareOp) -> Op {
    match op {
        CompareOp::Eq => Op::EqInt,
        CompareOp::Ne => Op::NeInt,
        CompareOp::Lt => Op::LtInt,
        CompareOp::Le => Op::LeInt,
        CompareOp::Gt => Op::GtInt,
        CompareOp::Ge => Op::GeInt,
    }
}

const fn count_op(op: CompareOp) -> Op {
    match op {
        CompareOp::Eq => Op::CountEq,
        CompareOp::Ne => Op::CountNe,
        CompareOp::Lt => Op::CountLt,
        CompareOp::Le => Op::CountLe,
        CompareOp::Gt => Op::CountGt,
        CompareOp::Ge => Op::CountGe,
    }
}
