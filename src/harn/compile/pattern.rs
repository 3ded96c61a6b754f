//! Patterns: of bindings and of `match`.

use crate::code::Op;
use crate::harn::problem::HarnCode;
use crate::harn::syntax::ast::{Arm, Entry, Expr, ExprKind, Name, Part, Pattern, PatternKind};

use super::function::Reg;
use super::unit::Compiler;

impl<'a> Compiler<'a, '_> {
    /// Binds the parts of what is in a register. The register has to stay.
    pub(super) fn take_apart(&mut self, pattern: &'a Pattern<'a>, source: Reg, mutable: bool) {
        self.top().span = pattern.span;
        match pattern.kind {
            PatternKind::Name(name) => {
                let mark = self.top().mark();
                let value = self.top().alloc();
                self.top().abc(Op::Move, value, source, 0);
                self.bind_part(name, value, mutable, mark);
            }
            PatternKind::List(parts) => {
                self.top().abc(Op::WantList, source, 0, 0);
                for (at, part) in parts.iter().enumerate() {
                    let mark = self.top().mark();
                    let value = self.top().alloc();
                    let op = if part.is_rest { Op::Rest } else { Op::Item };
                    let at = self.small(at);
                    self.top().abc(op, value, source, at);
                    self.or_default(part, value);
                    self.bind_part(part.name, value, mutable, mark);
                }
            }
            PatternKind::Dict(parts) => {
                self.top().abc(Op::WantDict, source, 0, 0);
                for part in parts {
                    let mark = self.top().mark();
                    let value = self.top().alloc();
                    if part.is_rest {
                        self.top().abc(Op::Move, value, source, 0);
                        let key = self.top().alloc();
                        for taken in parts.iter().filter_map(|part| part.key) {
                            self.text(taken.text, key);
                            self.top().abc(Op::DictDrop, value, key, 0);
                        }
                    } else if let Some(key) = part.key {
                        let name = self.top().name(key.text);
                        self.top().abc(Op::Prop, value, source, name);
                    }
                    self.or_default(part, value);
                    self.bind_part(part.name, value, mutable, mark);
                }
            }
        }
    }

    /// A number of items that fits an operand.
    pub(super) fn small(&mut self, number: usize) -> u8 {
        u8::try_from(number).unwrap_or_else(|_| {
            self.top().overflowed = true;
            0
        })
    }

    fn or_default(&mut self, part: &'a Part<'a>, value: Reg) {
        if let Some(default) = &part.default {
            let given = self.top().jump(Op::IfValue, value);
            self.expr(default, value);
            self.top().land(given);
        }
    }

    /// Gives a value, which is in the register after `mark`, a name.
    fn bind_part(&mut self, name: Name<'a>, value: Reg, mutable: bool, mark: usize) {
        let is_of_module = self.stack.len() == 1 && self.top().scopes.len() == 1;
        if is_of_module {
            self.set_global(name, value);
            self.top().release(mark);
        } else if self.cells.contains(&name.span.start) {
            let local = self.declare_local(name, mutable);
            self.store(local, value);
        } else {
            self.top().release(mark);
            let local = self.declare_local(name, mutable);
            self.store(local, value);
        }
    }

    pub(super) fn match_value(
        &mut self,
        value: &'a Expr<'a>,
        arms: &'a [Arm<'a>],
        dst: Option<Reg>,
    ) {
        let mark = self.top().mark();
        let subject = self.top().alloc();
        self.expr(value, subject);
        let mut ends = Vec::new();
        for arm in arms {
            let inner = self.top().mark();
            self.top().open();
            let mut matched = Vec::new();
            let mut missed = Vec::new();
            for (at, pattern) in arm.patterns.iter().enumerate() {
                let mut missed_this = Vec::new();
                self.test(pattern, subject, &mut missed_this);
                if at + 1 < arm.patterns.len() {
                    matched.push(self.top().jump(Op::Goto, 0));
                    for jump in missed_this {
                        self.top().land(jump);
                    }
                } else {
                    missed = missed_this;
                }
            }
            for jump in matched {
                self.top().land(jump);
            }
            if let Some(guard) = &arm.guard {
                let mark = self.top().mark();
                let holds = self.operand(guard);
                missed.push(self.top().jump(Op::IfFalsy, holds));
                self.top().release(mark);
            }
            self.block(&arm.body, dst);
            ends.push(self.top().jump(Op::Goto, 0));
            self.top().close(inner);
            for jump in missed {
                self.top().land(jump);
            }
        }
        self.top().span = value.span;
        self.top().abc(Op::Unmatched, subject, 0, 0);
        for jump in ends {
            self.top().land(jump);
        }
        self.top().release(mark);
    }

    /// Tests a pattern against a register; jumps are added for when it does not match.
    fn test(&mut self, pattern: &'a Expr<'a>, subject: Reg, missed: &mut Vec<usize>) {
        self.top().span = pattern.span;
        match &pattern.kind {
            ExprKind::Name("_") => {}
            ExprKind::Name(text) => {
                let span = pattern.span;
                let known = self.top().in_scope(text).copied();
                let local = match known {
                    Some(local) => local,
                    None => self.declare_local(Name { text, span }, false),
                };
                let mark = self.top().mark();
                let value = self.top().alloc();
                self.top().abc(Op::Move, value, subject, 0);
                self.store(local, value);
                self.top().release(mark);
            }
            ExprKind::List(items) => {
                let has_rest = items.last().is_some_and(|item| item.is_spread);
                let fixed = items.len() - usize::from(has_rest);
                if items[..fixed].iter().any(|item| item.is_spread) {
                    let message = "the rest stands at the end of a pattern";
                    self.error(HarnCode::ParameterOrder, pattern.span, message, "");
                    return;
                }
                let is = self.top().alloc();
                let len = self.small(fixed);
                let op = if has_rest { Op::IsLonger } else { Op::IsList };
                self.top().abc(op, is, subject, len);
                missed.push(self.top().jump(Op::IfFalsy, is));
                for (at, item) in items.iter().enumerate() {
                    let value = self.top().alloc();
                    let op = if item.is_spread { Op::Rest } else { Op::Item };
                    let at = self.small(at);
                    self.top().abc(op, value, subject, at);
                    self.test(&item.value, value, missed);
                }
            }
            ExprKind::Dict(entries) => {
                let is = self.top().alloc();
                self.top().abc(Op::IsDict, is, subject, 0);
                missed.push(self.top().jump(Op::IfFalsy, is));
                for entry in *entries {
                    let Entry::Named(key, value) = entry else {
                        let message = "a pattern has plain keys only";
                        self.error(HarnCode::NotInSubset, pattern.span, message, "");
                        return;
                    };
                    let name = self.top().name(key.text);
                    self.top().abc(Op::Has, is, subject, name);
                    missed.push(self.top().jump(Op::IfFalsy, is));
                    let part = self.top().alloc();
                    self.top().abc(Op::Prop, part, subject, name);
                    self.test(value, part, missed);
                }
            }
            _ => {
                let mark = self.top().mark();
                let wanted = self.operand(pattern);
                let is = self.top().alloc();
                self.top().abc(Op::Eq, is, subject, wanted);
                missed.push(self.top().jump(Op::IfFalsy, is));
                self.top().release(mark);
            }
        }
    }
}
