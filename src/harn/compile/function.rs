//! A function while it is compiled: registers, instructions, jumps, scopes.

use std::collections::HashSet;
use std::sync::Arc;

use crate::code::{Insn, Op, Slot};
use crate::diagnostic::Span;
use crate::harn::builtins::method;
use crate::harn::module::{Captured, Function, Handler, NameUse};

use super::captures::Site;

/// A register.
pub(super) type Reg = u8;

/// Functions have fewer registers.
const MAX_REGISTERS: usize = 250;

/// Jumps have 16 bits for their targets.
const MAX_INSNS: usize = u16::MAX as usize;

/// A variable of a function.
#[derive(Clone, Copy, Debug)]
pub(super) struct Local<'a> {
    pub(super) name: &'a str,
    pub(super) site: Site,
    pub(super) register: Reg,
    pub(super) is_mutable: bool,
    pub(super) is_cell: bool,
    /// Declared further down in its block: only functions of the block see it.
    pub(super) is_pending: bool,
    /// The number of the constant that it is.
    pub(super) constant: Option<u16>,
}

/// A loop around.
pub(super) struct Loop {
    pub(super) breaks: Vec<usize>,
    pub(super) continues: Vec<usize>,
    /// How many `try` were around it.
    pub(super) tries: usize,
}

/// A `try` around, while its body or its `catch` is compiled.
pub(super) struct Try<'a> {
    pub(super) finally: Option<&'a crate::harn::syntax::ast::Block<'a>>,
    /// Ranges of instructions that its handler is for.
    pub(super) ranges: Vec<(usize, usize)>,
    pub(super) from: usize,
}

/// A function that is being compiled.
pub(super) struct Building<'a> {
    pub(super) code: Function,
    next: usize,
    pub(super) locals: Vec<Local<'a>>,
    /// Where each scope begins in `locals`.
    pub(super) scopes: Vec<usize>,
    pub(super) loops: Vec<Loop>,
    pub(super) tries: Vec<Try<'a>>,
    pub(super) captured: Vec<(Local<'a>, usize)>,
    pub(super) overflowed: bool,
    pub(super) span: Span,
    /// Names declared in this function that nobody may assign.
    pub(super) yields_last: bool,
}

impl<'a> Building<'a> {
    pub(super) fn new(name: &str, span: Span) -> Self {
        Self {
            code: Function {
                name: name.into(),
                ..Function::default()
            },
            next: 0,
            locals: Vec::new(),
            scopes: vec![0],
            loops: Vec::new(),
            tries: Vec::new(),
            captured: Vec::new(),
            overflowed: false,
            span,
            yields_last: false,
        }
    }

    pub(super) fn alloc(&mut self) -> Reg {
        if self.next >= MAX_REGISTERS {
            self.overflowed = true;
            return 0;
        }
        let register = self.next;
        self.next += 1;
        let register = Reg::try_from(register).unwrap_or(0);
        self.code.registers = self.code.registers.max(register + 1);
        register
    }

    pub(super) const fn mark(&self) -> usize {
        self.next
    }

    pub(super) fn release(&mut self, mark: usize) {
        self.next = mark;
    }

    pub(super) fn emit(&mut self, insn: Insn) -> usize {
        self.code.insns.push(insn);
        self.code.spans.push(self.span);
        self.overflowed |= self.code.insns.len() > MAX_INSNS;
        self.code.insns.len() - 1
    }

    pub(super) fn abc(&mut self, op: Op, a: Reg, b: u8, c: u8) -> usize {
        self.emit(Insn::abc(op, a, b, c))
    }

    pub(super) fn wide(&mut self, op: Op, a: Reg, bc: usize) -> usize {
        let bc = u16::try_from(bc).unwrap_or_else(|_| {
            self.overflowed = true;
            0
        });
        self.emit(Insn::wide(op, a, bc))
    }

    pub(super) fn here(&self) -> usize {
        self.code.insns.len()
    }

    /// A jump whose target comes later.
    pub(super) fn jump(&mut self, op: Op, a: Reg) -> usize {
        self.wide(op, a, 0)
    }

    /// Lets a jump go to the next instruction.
    pub(super) fn land(&mut self, jump: usize) {
        let here = self.here();
        self.aim(jump, here);
    }

    pub(super) fn aim(&mut self, jump: usize, target: usize) {
        let Ok(target) = u16::try_from(target) else {
            self.overflowed = true;
            return;
        };
        let insn = self.code.insns[jump];
        if let Some(op) = insn.op() {
            self.code.insns[jump] = Insn::wide(op, insn.a(), target);
        }
    }

    pub(super) fn name(&mut self, text: &str) -> u8 {
        let known = self.code.names.iter().position(|name| *name.text == *text);
        let number = known.unwrap_or_else(|| {
            self.code.names.push(NameUse {
                text: Arc::from(text),
                method: method(text),
            });
            self.code.names.len() - 1
        });
        u8::try_from(number).unwrap_or_else(|_| {
            self.overflowed = true;
            0
        })
    }

    pub(super) fn pattern(&mut self, number: u32) -> u8 {
        let known = self.code.patterns.iter().position(|it| *it == number);
        let place = known.unwrap_or_else(|| {
            self.code.patterns.push(number);
            self.code.patterns.len() - 1
        });
        u8::try_from(place).unwrap_or_else(|_| {
            self.overflowed = true;
            0
        })
    }

    pub(super) fn open(&mut self) {
        self.scopes.push(self.locals.len());
    }

    /// Closes a scope; its registers are free again.
    pub(super) fn close(&mut self, mark: usize) {
        if let Some(start) = self.scopes.pop() {
            self.locals.truncate(start);
        }
        self.release(mark);
    }

    /// The variable of a name, as seen from this function itself or from one in it.
    pub(super) fn local(&self, name: &str, from_inside: bool) -> Option<&Local<'a>> {
        let mut known = self.locals.iter().rev();
        known.find(|local| local.name == name && (from_inside || !local.is_pending))
    }

    pub(super) fn in_scope(&self, name: &str) -> Option<&Local<'a>> {
        let start = self.scopes.last().copied().unwrap_or(0);
        let mut known = self.locals[start..].iter();
        known.find(|local| local.name == name && !local.is_pending)
    }

    /// The number of a captured variable, which is captured now if it was not.
    pub(super) fn capture(&mut self, local: Local<'a>, from: Captured) -> u8 {
        let known = self.captured.iter().find(|(it, _)| it.site == local.site);
        if let Some((_, number)) = known {
            return u8::try_from(*number).unwrap_or(0);
        }
        let number = self.code.captures.len();
        self.code.captures.push(from);
        self.captured.push((local, number));
        u8::try_from(number).unwrap_or_else(|_| {
            self.overflowed = true;
            0
        })
    }

    /// Ends the ranges of handlers for a piece of code that they are not for.
    pub(super) fn interrupt(&mut self, from: usize) {
        let here = self.here();
        for attempt in &mut self.tries[from..] {
            attempt.ranges.push((attempt.from, here));
        }
    }

    pub(super) fn resume(&mut self, from: usize) {
        let here = self.here();
        for attempt in &mut self.tries[from..] {
            attempt.from = here;
        }
    }

    pub(super) fn handle(
        &mut self,
        ranges: &[(usize, usize)],
        target: usize,
        register: Reg,
        is_passing: bool,
    ) {
        let number = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        for &(start, end) in ranges.iter().filter(|(start, end)| start < end) {
            self.code.handlers.push(Handler {
                start: number(start),
                end: number(end),
                target: number(target),
                register,
                is_passing,
            });
        }
    }

    /// The function with the instructions that pay for the others.
    pub(super) fn finish(mut self) -> (Function, bool) {
        pay(&mut self.code, &mut self.overflowed);
        (self.code, self.overflowed)
    }
}

/// The target of a jump.
fn target(insn: Insn) -> Option<usize> {
    let operands = insn.op()?.info().operands;
    let is_jump = operands
        .iter()
        .any(|operand| operand.kind == crate::code::Kind::Target);
    is_jump.then(|| usize::from(insn.operand(Slot::Bc)))
}

/// Puts a `fuel` instruction at the start of each stretch that is run as a whole, or
/// left early: each loop passes one.
fn pay(code: &mut Function, overflowed: &mut bool) {
    let mut starts: HashSet<usize> = code.insns.iter().filter_map(|insn| target(*insn)).collect();
    starts.insert(0);
    starts.extend(code.handlers.iter().map(|handler| handler.target as usize));
    let mut moved = Vec::with_capacity(code.insns.len() + 1);
    let mut insns = Vec::with_capacity(code.insns.len() + starts.len());
    let mut spans = Vec::with_capacity(insns.capacity());
    let mut payment = None;
    for (at, (insn, span)) in code.insns.iter().zip(&code.spans).enumerate() {
        moved.push(insns.len());
        if starts.contains(&at) {
            payment = Some(insns.len());
            insns.push(Insn::wide(Op::Fuel, 0, 0));
            spans.push(*span);
        }
        let cost = insn.op().map_or(0, |op| op.info().cost);
        if let Some(place) = payment {
            let paid: &mut Insn = &mut insns[place];
            let sum = u32::from(paid.bc()) + cost;
            *paid = Insn::wide(Op::Fuel, 0, u16::try_from(sum).unwrap_or(u16::MAX));
        }
        insns.push(*insn);
        spans.push(*span);
    }
    moved.push(insns.len());
    for insn in &mut insns {
        if let Some(old) = target(*insn)
            && let Some(op) = insn.op()
        {
            match moved.get(old).map(|new| u16::try_from(*new)) {
                Some(Ok(new)) => *insn = Insn::wide(op, insn.a(), new),
                _ => *overflowed = true,
            }
        }
    }
    let place = |at: u32| {
        let new = moved.get(at as usize).copied().unwrap_or(insns.len());
        u32::try_from(new).unwrap_or(u32::MAX)
    };
    for handler in &mut code.handlers {
        handler.start = place(handler.start);
        handler.end = place(handler.end);
        handler.target = place(handler.target);
    }
    code.insns = insns;
    code.spans = spans;
}
