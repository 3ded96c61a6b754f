//! Assignments.

use crate::code::Op;
use crate::diagnostic::Span;
use crate::harn::problem::HarnCode;
use crate::harn::syntax::ast::{BinaryOp, Expr, ExprKind};

use super::function::{Local, Reg};
use super::holds::{has_calls, has_statements};
use super::names::Found;
use super::top::Global;
use super::unit::Compiler;

/// A step from a place to one in it.
#[derive(Clone, Copy)]
enum Step {
    Key(u8),
    Index(Reg),
}

/// The variable at the root of a place.
#[derive(Clone, Copy)]
enum Root<'a> {
    Register(Reg),
    /// A cell in a register.
    Cell(Reg),
    Global(u16, std::marker::PhantomData<&'a ()>),
}

/// A call of `push` on a place.
#[derive(Clone, Copy)]
struct Push {
    span: Span,
    /// `x = x.push(v)`, not a statement of its own.
    is_assignment: bool,
}

impl<'a> Compiler<'a, '_> {
    /// The variable that a place changes, if it may be changed.
    fn root(&mut self, name: &'a str, span: Span) -> Option<Root<'a>> {
        let Some(found) = self.find(name) else {
            self.unknown(name, span, HarnCode::UnknownName);
            return None;
        };
        let is_init = self.stack.len() == 1;
        let refuse = |local: Local<'_>| !local.is_mutable;
        match found {
            Found::Local(local) if refuse(local) => {}
            Found::Local(local) if local.is_cell => return Some(Root::Cell(local.register)),
            Found::Local(local) => return Some(Root::Register(local.register)),
            Found::Captured(local, _) if refuse(local) => {}
            Found::Captured(_, number) => {
                let register = self.top().alloc();
                self.top().abc(Op::Capture, register, number, 0);
                return Some(Root::Cell(register));
            }
            Found::Global(Global::Binding(number, true, _)) if is_init => {
                self.reach.changes();
                return Some(Root::Global(number, std::marker::PhantomData));
            }
            Found::Global(Global::Binding(_, true, _)) => {
                let message = format!("`{name}` of the file cannot be changed in a function");
                let help = "nothing survives from one predicate to the next: return the value";
                self.error(HarnCode::Immutable, span, message, help);
                return None;
            }
            Found::Global(_) | Found::Builtin(_) => {}
        }
        let message = format!("`{name}` cannot be changed");
        self.error(
            HarnCode::Immutable,
            span,
            message,
            "declare it with `let` to change it",
        );
        None
    }

    /// `place = value`, `place += value`.
    pub(super) fn assign(
        &mut self,
        place: &'a Expr<'a>,
        op: Option<BinaryOp>,
        value: &'a Expr<'a>,
    ) {
        let mark = self.top().mark();
        if let ExprKind::Name(name) = place.kind {
            self.assign_name(name, place.span, op, value);
            self.top().release(mark);
            return;
        }
        let span = self.top().span;
        let mut new = self.top().alloc();
        if op.is_none() {
            self.expr(value, new);
        }
        let mut steps = Vec::new();
        let Some((name, name_span)) = self.steps(place, &mut steps) else {
            return;
        };
        let Some(root) = self.root(name, name_span) else {
            self.top().release(mark);
            return;
        };
        let object = self.open_root(root, false);
        if let Some(op) = op {
            // Read, then written back.
            let mut current = object;
            for step in &steps {
                let next = self.top().alloc();
                self.read_step(next, current, *step);
                current = next;
            }
            let operand = self.operand(value);
            new = self.top().alloc();
            self.top().span = span;
            self.top().abc(binary(op), new, current, operand);
            // So that nobody else has what is changed.
            if current != object {
                self.top().abc(Op::Nil, current, 0, 0);
            }
        }
        self.top().span = span;
        self.write(object, &steps, new);
        self.close_root(root, object);
        self.top().release(mark);
    }

    fn assign_name(
        &mut self,
        name: &'a str,
        span: Span,
        op: Option<BinaryOp>,
        value: &'a Expr<'a>,
    ) {
        let stmt = self.top().span;
        let Some(root) = self.root(name, span) else {
            // What is wrong with the value is told as well.
            let register = self.top().alloc();
            self.expr(value, register);
            return;
        };
        // `x = x.push(v)` changes the list itself where nobody else has it, unless `v` may
        // change `x` before: what is pushed to is read first.
        if op.is_none()
            && let ExprKind::Call(callee, args) = value.kind
            && let ExprKind::Property {
                object,
                name: method,
                optional: false,
            } = callee.kind
            && method.text == "push"
            && object.kind == ExprKind::Name(name)
            && let [arg] = args
            && !arg.is_spread
            && !has_statements(&arg.value)
            && !(matches!(root, Root::Cell(_)) && has_calls(&arg.value))
        {
            let how = Push {
                span: stmt,
                is_assignment: true,
            };
            self.push(root, &[], &arg.value, how);
            return;
        }
        // `x = x + e` and `x += e` likewise.
        let sum = match (op, value.kind) {
            (Some(op), _) => Some((op, value)),
            (None, ExprKind::Binary(op, left, right))
                if left.kind == ExprKind::Name(name)
                    && is_arithmetic(op)
                    && !has_statements(right) =>
            {
                Some((op, right))
            }
            _ => None,
        };
        if let Some((op, right)) = sum {
            // The left operand is read first; the right one cannot change a register,
            // only a cell.
            let object = self.open_root(root, false);
            let operand = self.operand(right);
            self.top().span = stmt;
            let target = match root {
                Root::Register(register) => register,
                _ => object,
            };
            self.top().abc(binary(op), target, object, operand);
            self.close_root(root, target);
            return;
        }
        let register = self.top().alloc();
        self.expr(value, register);
        self.close_root(root, register);
    }

    /// `place.push(value)` as a statement.
    pub(super) fn push_statement(&mut self, place: &'a Expr<'a>, value: &'a Expr<'a>) {
        let mark = self.top().mark();
        let span = self.top().span;
        let mut steps = Vec::new();
        if let Some((name, name_span)) = self.steps(place, &mut steps)
            && let Some(root) = self.root(name, name_span)
        {
            let how = Push {
                span,
                is_assignment: false,
            };
            self.push(root, &steps, value, how);
        }
        self.top().release(mark);
    }

    /// Appends to what is at a place. The result is written back if that is a list; what
    /// it is otherwise has its own `push`, or none. An assignment is always written back.
    fn push(&mut self, root: Root<'a>, steps: &[Step], value: &'a Expr<'a>, how: Push) {
        if !steps.is_empty() {
            // The receiver comes before the argument, with what may be wrong with it.
            let mark = self.top().mark();
            let read = self.read_place(root, steps);
            self.forget(root, &read);
            self.top().release(mark);
        }
        let item = self.top().alloc();
        self.expr(value, item);
        self.top().span = how.span;
        // A variable of the function itself is gone if its assignment fails, and nobody
        // else sees it.
        let is_certain = how.is_assignment && matches!(root, Root::Register(_));
        let other = (!is_certain).then(|| {
            let read = self.read_place(root, steps);
            let is_list = self.top().alloc();
            let found = read.last().copied().unwrap_or(is_list);
            self.top().abc(Op::IsLonger, is_list, found, 0);
            let jump = self.top().jump(Op::IfFalsy, is_list);
            self.forget(root, &read);
            (found, jump)
        });
        self.push_to_list(root, steps, item);
        if let Some((found, jump)) = other {
            let end = self.top().jump(Op::Goto, 0);
            self.top().land(jump);
            let (base, arg) = (self.top().alloc(), self.top().alloc());
            self.top().abc(Op::Move, base, found, 0);
            self.call_push(base, arg, item);
            if how.is_assignment {
                self.close_root(root, base);
            }
            self.top().land(end);
        }
    }

    fn call_push(&mut self, base: Reg, arg: Reg, item: Reg) {
        let name = self.top().name("push");
        self.top().abc(Op::Take, arg, item, 0);
        self.top().abc(Op::CallMethod, base, 1, name);
    }

    fn push_to_list(&mut self, root: Root<'a>, steps: &[Step], item: Reg) {
        let can_take = self.can_take();
        let Some((last, path)) = steps.split_last() else {
            let object = match root {
                Root::Register(_) => None,
                _ if can_take => None,
                _ => Some(self.open_root(root, false)),
            };
            let (base, arg) = (self.top().alloc(), self.top().alloc());
            match (root, object) {
                (Root::Register(register), _) if can_take => {
                    self.top().abc(Op::Take, base, register, 0);
                }
                (Root::Register(object), _) | (_, Some(object)) => {
                    self.top().abc(Op::Move, base, object, 0);
                }
                (Root::Cell(cell), None) => {
                    self.top().abc(Op::CellTake, base, cell, 0);
                }
                (Root::Global(number, _), None) => {
                    self.top().wide(Op::Global, base, number.into());
                }
            }
            self.call_push(base, arg, item);
            self.close_root(root, base);
            return;
        };
        let object = self.open_root(root, true);
        let parts = self.descend(object, path);
        let innermost = parts.last().copied().unwrap_or(object);
        let (base, arg) = (self.top().alloc(), self.top().alloc());
        self.part_step(base, innermost, *last);
        self.call_push(base, arg, item);
        self.put_step(innermost, *last, base);
        self.ascend(object, path, &parts);
        self.close_root(root, object);
    }

    /// Reads what is at a place: the registers of the variable and of each part.
    fn read_place(&mut self, root: Root<'a>, steps: &[Step]) -> Vec<Reg> {
        let mut read = vec![self.open_root(root, false)];
        for step in steps {
            let next = self.top().alloc();
            let object = read.last().copied().unwrap_or(next);
            self.read_step(next, object, *step);
            read.push(next);
        }
        read
    }

    /// Empties what was read, so that nobody else has what is changed.
    fn forget(&mut self, root: Root<'a>, read: &[Reg]) {
        let own = usize::from(matches!(root, Root::Register(_)));
        for register in &read[own..] {
            self.top().abc(Op::Nil, *register, 0, 0);
        }
    }

    /// Whether a variable may be empty for a moment: a fault then ends the function.
    fn can_take(&mut self) -> bool {
        self.top().tries.is_empty()
    }

    /// The steps of a place, with its indices in registers, and the name at its root.
    fn steps(&mut self, place: &'a Expr<'a>, steps: &mut Vec<Step>) -> Option<(&'a str, Span)> {
        match &place.kind {
            ExprKind::Name(name) => Some((name, place.span)),
            ExprKind::Property { object, name, .. } => {
                let found = self.steps(object, steps)?;
                let name = self.top().name(name.text);
                steps.push(Step::Key(name));
                Some(found)
            }
            ExprKind::Index { object, index, .. } => {
                let found = self.steps(object, steps)?;
                let register = self.top().alloc();
                self.expr(index, register);
                steps.push(Step::Index(register));
                Some(found)
            }
            _ => None,
        }
    }

    /// The register in which the variable can be changed.
    fn open_root(&mut self, root: Root<'a>, for_change: bool) -> Reg {
        let can_take = for_change && self.can_take();
        match root {
            Root::Register(register) => register,
            Root::Cell(cell) => {
                let register = self.top().alloc();
                let op = if can_take { Op::CellTake } else { Op::CellGet };
                self.top().abc(op, register, cell, 0);
                register
            }
            Root::Global(number, _) => {
                let register = self.top().alloc();
                self.top().wide(Op::Global, register, number.into());
                register
            }
        }
    }

    /// Puts what was changed back.
    fn close_root(&mut self, root: Root<'a>, value: Reg) {
        match root {
            Root::Register(register) => {
                if register != value {
                    self.top().abc(Op::Take, register, value, 0);
                }
            }
            Root::Cell(cell) => {
                self.top().abc(Op::CellSet, cell, value, 0);
                self.top().abc(Op::Nil, value, 0, 0);
            }
            Root::Global(number, _) => {
                self.top().wide(Op::GlobalSet, value, number.into());
                self.top().abc(Op::Nil, value, 0, 0);
            }
        }
    }

    fn write(&mut self, object: Reg, steps: &[Step], value: Reg) {
        let Some((last, path)) = steps.split_last() else {
            return;
        };
        let parts = self.descend(object, path);
        let innermost = parts.last().copied().unwrap_or(object);
        self.put_step(innermost, *last, value);
        self.ascend(object, path, &parts);
    }

    /// Takes the parts of a place out, one in the other.
    fn descend(&mut self, object: Reg, path: &[Step]) -> Vec<Reg> {
        let mut parts: Vec<Reg> = Vec::with_capacity(path.len());
        for step in path {
            let outer = parts.last().copied().unwrap_or(object);
            let part = self.top().alloc();
            self.part_step(part, outer, *step);
            parts.push(part);
        }
        parts
    }

    /// Puts the parts of a place back.
    fn ascend(&mut self, object: Reg, path: &[Step], parts: &[Reg]) {
        for (at, step) in path.iter().enumerate().rev() {
            let outer = match at.checked_sub(1) {
                Some(outer) => parts[outer],
                None => object,
            };
            self.put_step(outer, *step, parts[at]);
            self.top().abc(Op::Nil, parts[at], 0, 0);
        }
    }

    fn part_step(&mut self, dst: Reg, object: Reg, step: Step) {
        if !self.can_take() {
            self.read_step(dst, object, step);
            return;
        }
        match step {
            Step::Key(name) => self.top().abc(Op::PartProp, dst, object, name),
            Step::Index(index) => self.top().abc(Op::Part, dst, object, index),
        };
    }

    fn read_step(&mut self, dst: Reg, object: Reg, step: Step) {
        match step {
            Step::Key(name) => self.top().abc(Op::Prop, dst, object, name),
            Step::Index(index) => self.top().abc(Op::Index, dst, object, index),
        };
    }

    fn put_step(&mut self, object: Reg, step: Step, value: Reg) {
        match step {
            Step::Key(name) => self.top().abc(Op::PutProp, object, name, value),
            Step::Index(index) => self.top().abc(Op::Put, object, index, value),
        };
    }
}

const fn is_arithmetic(op: BinaryOp) -> bool {
    matches!(
        op,
        BinaryOp::Add
            | BinaryOp::Sub
            | BinaryOp::Mul
            | BinaryOp::Div
            | BinaryOp::Rem
            | BinaryOp::Pow
    )
}

pub(super) const fn binary(op: BinaryOp) -> Op {
    match op {
        BinaryOp::Add => Op::Add,
        BinaryOp::Sub => Op::Sub,
        BinaryOp::Mul => Op::Mul,
        BinaryOp::Div => Op::Div,
        BinaryOp::Rem => Op::Rem,
        BinaryOp::Pow => Op::Pow,
        BinaryOp::Eq => Op::Eq,
        BinaryOp::Ne => Op::Ne,
        BinaryOp::Lt => Op::Lt,
        BinaryOp::Le => Op::Le,
        BinaryOp::Gt => Op::Gt,
        BinaryOp::Ge => Op::Ge,
        BinaryOp::In => Op::In,
        BinaryOp::NotIn => Op::NotIn,
        BinaryOp::Range => Op::Range,
        BinaryOp::RangeThrough => Op::RangeThrough,
    }
}
