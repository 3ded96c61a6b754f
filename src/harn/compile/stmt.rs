//! Statements and blocks.

use crate::code::Op;
use crate::harn::problem::HarnCode;
use crate::harn::syntax::ast::{
    Block, Expr, ExprKind, Function, Name, Pattern, PatternKind, Stmt, StmtKind,
};

use super::function::{Loop, Reg};
use super::top::Global;
use super::types;
use super::unit::Compiler;

impl<'a> Compiler<'a, '_> {
    /// The parameters of a function, with their defaults and types.
    pub(super) fn parameters(&mut self, function: &'a Function<'a>) {
        let rest = function.params.iter().filter(|param| param.is_rest).count();
        let params = function.params.len() - rest;
        let least = function
            .params
            .iter()
            .filter(|param| param.default.is_none() && !param.is_rest)
            .count();
        let top = self.top();
        let number = |count: usize| u8::try_from(count).unwrap_or(u8::MAX);
        top.code.least = number(least);
        top.code.params = number(params);
        top.code.has_rest = rest > 0;
        if function.params.len() > 100 {
            top.overflowed = true;
            return;
        }
        let registers: Vec<Reg> = function.params.iter().map(|_| top.alloc()).collect();
        for (at, (param, register)) in function.params.iter().zip(registers).enumerate() {
            if let Some(default) = &param.default {
                let given = self.top().jump(Op::IfGiven, number(at));
                self.expr(default, register);
                self.top().land(given);
            }
            if let Some(ty) = &param.ty {
                self.want_type(register, ty);
            }
            self.adopt(param.name, register, false);
        }
    }

    pub(super) fn want_type(&mut self, register: Reg, ty: &crate::harn::syntax::ast::Type<'a>) {
        let check = types::check(self, ty);
        if check == crate::harn::module::TypeCheck::Any {
            return;
        }
        let number = self.types.insert_full(check).0;
        self.top().span = ty.span;
        self.top().wide(Op::WantType, register, number);
    }

    /// A block with a scope of its own; `dst` gets the value of its last statement.
    pub(super) fn block(&mut self, block: &'a Block<'a>, dst: Option<Reg>) {
        let mark = self.top().mark();
        self.top().open();
        self.body(block, dst);
        self.top().close(mark);
    }

    /// The statements of a block, in the scope that is open.
    pub(super) fn body(&mut self, block: &'a Block<'a>, dst: Option<Reg>) {
        self.hoist(block);
        let mut is_reachable = true;
        let count = block.stmts.len();
        for (at, stmt) in block.stmts.iter().enumerate() {
            if !is_reachable {
                let problem = crate::harn::problem::Problem::warning(
                    HarnCode::Unreachable,
                    stmt.span,
                    "this is never reached",
                );
                self.problems.push(problem);
            }
            match (&stmt.kind, dst) {
                (StmtKind::Expr(value), Some(dst)) if at + 1 == count => self.expr(value, dst),
                _ => {
                    self.stmt(stmt);
                    if let Some(dst) = dst
                        && at + 1 == count
                    {
                        self.top().abc(Op::Nil, dst, 0, 0);
                    }
                }
            }
            is_reachable = !matches!(
                stmt.kind,
                StmtKind::Return(_) | StmtKind::Throw(_) | StmtKind::Break | StmtKind::Continue
            );
        }
        if let Some(dst) = dst
            && count == 0
        {
            self.top().abc(Op::Nil, dst, 0, 0);
        }
    }

    /// Makes the functions of a block, and cells for what they share with it.
    fn hoist(&mut self, block: &'a Block<'a>) {
        let is_function = |stmt: &&Stmt<'a>| matches!(stmt.kind, StmtKind::Function { .. });
        if !block.stmts.iter().any(|stmt| is_function(&stmt)) {
            return;
        }
        for stmt in block.stmts {
            match &stmt.kind {
                StmtKind::Function { name, .. } => {
                    let local = self.declare_local(*name, false);
                    debug_assert!(!local.is_pending);
                }
                StmtKind::Bind {
                    mutable, pattern, ..
                } => match pattern.kind {
                    PatternKind::Name(name) => self.reserve(name, *mutable),
                    PatternKind::List(parts) | PatternKind::Dict(parts) => {
                        for part in parts {
                            self.reserve(part.name, *mutable);
                        }
                    }
                },
                _ => {}
            }
        }
        for stmt in block.stmts.iter().filter(is_function) {
            let StmtKind::Function { name, function, .. } = &stmt.kind else {
                continue;
            };
            let Some(local) = self.top().local(name.text, false).copied() else {
                continue;
            };
            let mark = self.top().mark();
            let made = self.top().alloc();
            self.closure(name.text, function, stmt.span, made);
            self.store(local, made);
            self.top().release(mark);
        }
    }

    fn reserve(&mut self, name: Name<'a>, is_mutable: bool) {
        if self.cells.contains(&name.span.start) {
            self.new_local(name, is_mutable, true, true);
        }
    }

    pub(super) fn stmt(&mut self, stmt: &'a Stmt<'a>) {
        if self.top().overflowed {
            // The function is refused: what else is in it would only grow.
            return;
        }
        self.top().span = stmt.span;
        match &stmt.kind {
            StmtKind::Bind {
                mutable,
                pattern,
                ty,
                value,
            } => self.bind(*mutable, pattern, ty.as_ref(), value),
            StmtKind::Assign { place, op, value } => self.assign(place, *op, value),
            // Made at the start of the block.
            StmtKind::Function { .. } | StmtKind::Broken => {}
            StmtKind::Type { ty, .. } => {
                types::check(self, ty);
            }
            StmtKind::While(condition, body) => self.while_loop(condition, body),
            StmtKind::For(pattern, source, body) => self.for_loop(pattern, source, body),
            StmtKind::Return(value) => self.return_value(value.as_ref()),
            StmtKind::Throw(value) => {
                let mark = self.top().mark();
                let thrown = self.operand(value);
                self.top().span = stmt.span;
                self.top().abc(Op::Throw, thrown, 0, 0);
                self.top().release(mark);
            }
            StmtKind::Break | StmtKind::Continue => self.leave_loop(stmt),
            StmtKind::Guard(condition, body) => {
                let mark = self.top().mark();
                let holds = self.operand(condition);
                let skip = self.top().jump(Op::IfTruthy, holds);
                self.top().release(mark);
                self.block(body, None);
                self.top().land(skip);
            }
            StmtKind::Expr(value) => self.effect(value),
        }
    }

    fn bind(
        &mut self,
        mutable: bool,
        pattern: &'a Pattern<'a>,
        ty: Option<&crate::harn::syntax::ast::Type<'a>>,
        value: &'a Expr<'a>,
    ) {
        let is_of_module = self.stack.len() == 1 && self.top().scopes.len() == 1;
        let mark = self.top().mark();
        let PatternKind::Name(name) = pattern.kind else {
            let source = self.top().alloc();
            self.expr(value, source);
            self.take_apart(pattern, source, mutable);
            if is_of_module {
                self.top().release(mark);
            }
            return;
        };
        if is_of_module {
            let register = self.top().alloc();
            self.expr(value, register);
            if let Some(ty) = ty {
                self.want_type(register, ty);
            }
            self.set_global(name, register);
            self.top().release(mark);
            return;
        }
        let is_cell = self.cells.contains(&name.span.start);
        if is_cell {
            let register = self.top().alloc();
            self.expr(value, register);
            if let Some(ty) = ty {
                self.want_type(register, ty);
            }
            // The register of the value stays below that of the variable.
            let local = self.declare_local(name, mutable);
            self.store(local, register);
            return;
        }
        // Nothing sees the variable before it has its value.
        let register = self.top().alloc();
        self.expr(value, register);
        if let Some(ty) = ty {
            self.want_type(register, ty);
        }
        self.top().release(mark);
        let local = self.declare_local(name, mutable);
        debug_assert!(local.register == register || self.top().overflowed);
        if !mutable {
            let constant = self.constant_of(value);
            if let Some(local) = self.top().locals.last_mut() {
                local.constant = constant;
            }
        }
    }

    pub(super) fn set_global(&mut self, name: Name<'a>, register: Reg) {
        if let Some(Global::Binding(number, ..)) = self.names.get(name.text) {
            self.top().wide(Op::GlobalSet, register, number.into());
        }
    }

    fn while_loop(&mut self, condition: &'a Expr<'a>, body: &'a Block<'a>) {
        let start = self.top().here();
        let mark = self.top().mark();
        let holds = self.operand(condition);
        let end = self.top().jump(Op::IfFalsy, holds);
        self.top().release(mark);
        let tries = self.top().tries.len();
        self.top().loops.push(Loop {
            breaks: vec![end],
            continues: Vec::new(),
            tries,
        });
        self.block(body, None);
        self.end_loop(start);
    }

    fn for_loop(&mut self, pattern: &'a Pattern<'a>, source: &'a Expr<'a>, body: &'a Block<'a>) {
        let mark = self.top().mark();
        let items = self.top().alloc();
        let item = self.top().alloc();
        self.expr(source, items);
        self.top().span = source.span;
        self.top().abc(Op::Iterate, items, 0, 0);
        let start = self.top().here();
        let end = self.top().jump(Op::Next, items);
        let tries = self.top().tries.len();
        self.top().loops.push(Loop {
            breaks: vec![end],
            continues: Vec::new(),
            tries,
        });
        let inner = self.top().mark();
        self.top().open();
        match pattern.kind {
            PatternKind::Name(name) => self.adopt(name, item, true),
            _ => self.take_apart(pattern, item, true),
        }
        self.block(body, None);
        self.top().close(inner);
        self.end_loop(start);
        self.top().release(mark);
    }

    fn end_loop(&mut self, start: usize) {
        let top = self.top();
        let Some(finished) = top.loops.pop() else {
            return;
        };
        for jump in finished.continues {
            top.aim(jump, start);
        }
        top.wide(Op::Goto, 0, start);
        for jump in finished.breaks {
            top.land(jump);
        }
    }

    fn leave_loop(&mut self, stmt: &'a Stmt<'a>) {
        let Some(tries) = self.top().loops.last().map(|it| it.tries) else {
            return;
        };
        self.run_finally(tries);
        let jump = self.top().jump(Op::Goto, 0);
        self.top().resume(tries);
        let is_break = stmt.kind == StmtKind::Break;
        if let Some(around) = self.top().loops.last_mut() {
            if is_break {
                around.breaks.push(jump);
            } else {
                around.continues.push(jump);
            }
        }
    }

    fn return_value(&mut self, value: Option<&'a Expr<'a>>) {
        let mark = self.top().mark();
        let is_plain = self.top().tries.is_empty();
        if let Some(value) = value
            && is_plain
            && let ExprKind::Call(callee, args) = value.kind
            && self.tail_call(callee, args, value.span)
        {
            self.top().release(mark);
            return;
        }
        let register = self.top().alloc();
        match value {
            Some(value) => self.expr(value, register),
            None => {
                self.top().abc(Op::Nil, register, 0, 0);
            }
        }
        self.run_finally(0);
        self.top().abc(Op::Return, register, 0, 0);
        self.top().resume(0);
        self.top().release(mark);
    }

    /// What has to run before the tries from a level on are left. Their handlers are not
    /// for it, until `resume`.
    fn run_finally(&mut self, from: usize) {
        self.top().interrupt(from);
        let left = self.top().tries.split_off(from);
        for attempt in left.iter().rev() {
            if let Some(block) = attempt.finally {
                self.block(block, None);
            }
        }
        self.top().tries.extend(left);
    }
}
