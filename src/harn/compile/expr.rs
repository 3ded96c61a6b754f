//! Expressions.

use crate::code::Op;
use crate::diagnostic::Span;
use crate::harn::problem::{HarnCode, Problem};
use crate::harn::syntax::ast::Block;
use crate::harn::syntax::ast::{
    Arg, BinaryOp, Catch, Else, Entry, Expr, ExprKind, Function, LogicOp, Name,
};

use super::function::{Reg, Try};
use super::holds::{has_statements, mentions_placeholder};
use super::names::Found;
use super::place::binary;
use super::unit::Compiler;
use crate::harn::module::Constant;

impl<'a> Compiler<'a, '_> {
    /// The register of an expression: that of a variable as it is, or a new one.
    pub(super) fn operand(&mut self, expr: &'a Expr<'a>) -> Reg {
        if let ExprKind::Name(name) = expr.kind
            && let Some(Found::Local(local)) = self.find(name)
            && !local.is_cell
        {
            return local.register;
        }
        let register = self.top().alloc();
        self.expr(expr, register);
        register
    }

    /// Likewise, with a register that may be used. A chain that is deep on the left then
    /// needs no more registers than a short one.
    fn into(&mut self, expr: &'a Expr<'a>, dst: Reg) -> Reg {
        if let ExprKind::Name(_) = expr.kind {
            return self.operand(expr);
        }
        self.expr(expr, dst);
        dst
    }

    /// Likewise for what is used only after `next` was evaluated: a variable that its
    /// statements may assign is copied.
    fn before(&mut self, expr: &'a Expr<'a>, next: &Expr<'a>, dst: Reg) -> Reg {
        if has_statements(next) {
            self.expr(expr, dst);
            return dst;
        }
        self.into(expr, dst)
    }

    /// A string constant.
    pub(super) fn text(&mut self, text: &str, dst: Reg) {
        let number = self.intern(Constant::Str(text.into()));
        self.top().wide(Op::Value, dst, number.into());
    }

    /// Evaluates for its effect.
    pub(super) fn effect(&mut self, expr: &'a Expr<'a>) {
        let mark = self.top().mark();
        match &expr.kind {
            ExprKind::If {
                condition,
                then,
                otherwise,
            } => self.if_else(condition, then, *otherwise, None),
            ExprKind::Match(value, arms) => self.match_value(value, arms, None),
            ExprKind::Try {
                body,
                catch,
                finally,
            } => self.attempt(body, catch.as_ref(), *finally, None),
            ExprKind::Call(callee, args) => {
                if let ExprKind::Property {
                    object,
                    name,
                    optional: false,
                } = callee.kind
                    && name.text == "push"
                    && let [arg] = args
                    && !arg.is_spread
                    && object.is_place()
                {
                    self.push_statement(object, &arg.value);
                } else {
                    let register = self.top().alloc();
                    self.expr(expr, register);
                }
            }
            _ => {
                let register = self.top().alloc();
                self.expr(expr, register);
            }
        }
        self.top().release(mark);
    }

    /// Evaluates into a register, which nothing in the expression reads.
    pub(super) fn expr(&mut self, expr: &'a Expr<'a>, dst: Reg) {
        if self.top().overflowed {
            return;
        }
        self.top().span = expr.span;
        let mark = self.top().mark();
        match &expr.kind {
            ExprKind::Nil => {
                self.top().abc(Op::Nil, dst, 0, 0);
            }
            ExprKind::Bool(value) => {
                self.top().wide(Op::Truth, dst, usize::from(*value));
            }
            ExprKind::Int(value) => match i16::try_from(*value) {
                Ok(small) => {
                    self.top()
                        .wide(Op::Number, dst, small.cast_unsigned().into());
                }
                Err(_) => {
                    let number = self.intern(Constant::Int(*value));
                    self.top().wide(Op::Value, dst, number.into());
                }
            },
            ExprKind::Float(value) => {
                let number = self.intern(Constant::Float(*value));
                self.top().wide(Op::Value, dst, number.into());
            }
            ExprKind::Str(text) => {
                self.note_texts(expr);
                self.text(text, dst);
            }
            ExprKind::Interpolated(parts) => self.interpolated(parts, dst),
            ExprKind::Name(name) => self.load(name, expr.span, dst),
            ExprKind::List(items) => self.list(expr, items, dst),
            ExprKind::Dict(entries) => self.dict(entries, dst),
            ExprKind::Closure(function) => self.closure("(closure)", function, expr.span, dst),
            ExprKind::Not(operand) => {
                let register = self.into(operand, dst);
                self.top().abc(Op::Invert, dst, register, 0);
            }
            ExprKind::Negate(operand) => {
                let register = self.into(operand, dst);
                self.top().span = expr.span;
                self.top().abc(Op::Negate, dst, register, 0);
            }
            ExprKind::Binary(op, left, right) => self.binary(expr.span, *op, left, right, dst),
            ExprKind::Logic(op, left, right) => self.logic(*op, left, right, dst),
            ExprKind::Ternary(condition, then, otherwise) => {
                let holds = self.operand(condition);
                let skip = self.top().jump(Op::IfFalsy, holds);
                self.top().release(mark);
                self.expr(then, dst);
                let end = self.top().jump(Op::Goto, 0);
                self.top().land(skip);
                self.expr(otherwise, dst);
                self.top().land(end);
            }
            ExprKind::Pipe(value, callee) => self.pipe(value, callee, dst),
            ExprKind::Property {
                object,
                name,
                optional,
            } => {
                let register = self.into(object, dst);
                let op = if *optional { Op::PropSafe } else { Op::Prop };
                let number = self.top().name(name.text);
                self.top().span = name.span;
                self.top().abc(op, dst, register, number);
            }
            ExprKind::Index {
                object,
                index,
                optional,
            } => {
                let object = self.before(object, index, dst);
                let index = self.operand(index);
                self.top().span = expr.span;
                if *optional {
                    let is_nil = self.top().jump(Op::IfNil, object);
                    self.top().abc(Op::Index, dst, object, index);
                    let end = self.top().jump(Op::Goto, 0);
                    self.top().land(is_nil);
                    self.top().abc(Op::Nil, dst, 0, 0);
                    self.top().land(end);
                } else {
                    self.top().abc(Op::Index, dst, object, index);
                }
            }
            ExprKind::Slice { object, from, to } => {
                let mut bounds = from.iter().chain(to);
                let object = match bounds.find(|bound| has_statements(bound)) {
                    Some(bound) => self.before(object, bound, dst),
                    None => self.into(object, dst),
                };
                let (first, last) = (self.top().alloc(), self.top().alloc());
                match from {
                    Some(from) => self.expr(from, first),
                    None => {
                        self.top().wide(Op::Number, first, 0);
                    }
                }
                match to {
                    Some(to) => self.expr(to, last),
                    None => {
                        let number = self.intern(Constant::Int(i64::MAX));
                        self.top().wide(Op::Value, last, number.into());
                    }
                }
                self.top().span = expr.span;
                self.top().abc(Op::Slice, dst, object, first);
            }
            ExprKind::Call(callee, args) => self.call(callee, args, expr.span, dst),
            ExprKind::If {
                condition,
                then,
                otherwise,
            } => self.if_else(condition, then, *otherwise, Some(dst)),
            ExprKind::Match(value, arms) => self.match_value(value, arms, Some(dst)),
            ExprKind::Try {
                body,
                catch,
                finally,
            } => self.attempt(body, catch.as_ref(), *finally, Some(dst)),
            ExprKind::Broken => {}
        }
        self.top().release(mark);
    }

    fn interpolated(&mut self, parts: &'a [Expr<'a>], dst: Reg) {
        let registers: Vec<Reg> = parts.iter().map(|_| self.top().alloc()).collect();
        for (part, register) in parts.iter().zip(&registers) {
            self.expr(part, *register);
            if !matches!(part.kind, ExprKind::Str(_)) {
                self.top().abc(Op::Text, *register, *register, 0);
            }
        }
        let count = self.small(parts.len());
        let first = registers.first().copied().unwrap_or(dst);
        self.top().abc(Op::Concat, dst, first, count);
    }

    /// The most items that are put into a list at once.
    const AT_ONCE: usize = 32;

    fn list(&mut self, expr: &'a Expr<'a>, items: &'a [Arg<'a>], dst: Reg) {
        if !items.is_empty()
            && let Some(number) = self.constant_of(expr)
        {
            self.top().wide(Op::Value, dst, number.into());
            return;
        }
        let is_plain = items.iter().all(|item| !item.is_spread);
        if is_plain && items.len() <= Self::AT_ONCE {
            let registers: Vec<Reg> = items.iter().map(|_| self.top().alloc()).collect();
            for (item, register) in items.iter().zip(&registers) {
                self.expr(&item.value, *register);
            }
            let first = registers.first().copied().unwrap_or(dst);
            let count = self.small(items.len());
            self.top().abc(Op::List, dst, first, count);
            return;
        }
        let list = self.top().alloc();
        self.gather(items, list);
        self.top().abc(Op::Take, dst, list, 0);
    }

    /// Makes a list of arguments or items, some of which may be spread.
    pub(super) fn gather(&mut self, items: &'a [Arg<'a>], list: Reg) {
        self.top().abc(Op::List, list, list, 0);
        for item in items {
            let mark = self.top().mark();
            let register = self.operand(&item.value);
            self.top().span = item.value.span;
            let op = if item.is_spread {
                Op::ListExtend
            } else {
                Op::ListPush
            };
            self.top().abc(op, list, register, 0);
            self.top().release(mark);
        }
    }

    fn dict(&mut self, entries: &'a [Entry<'a>], dst: Reg) {
        let dict = self.top().alloc();
        self.top().abc(Op::Dict, dict, 0, 0);
        for entry in entries {
            let mark = self.top().mark();
            match entry {
                Entry::Named(name, value) => {
                    let key = self.top().alloc();
                    self.text(name.text, key);
                    let value = self.operand(value);
                    self.top().abc(Op::DictSet, dict, key, value);
                }
                Entry::Computed(key, value) => {
                    let made = self.top().alloc();
                    let key = self.before(key, value, made);
                    let value = self.operand(value);
                    self.top().abc(Op::DictSet, dict, key, value);
                }
                Entry::Spread(value) => {
                    let register = self.operand(value);
                    self.top().span = value.span;
                    self.top().abc(Op::DictMerge, dict, register, 0);
                }
            }
            self.top().release(mark);
        }
        self.top().abc(Op::Take, dst, dict, 0);
    }

    /// A closure of a function that is written here.
    pub(super) fn closure(&mut self, name: &str, function: &'a Function<'a>, span: Span, dst: Reg) {
        let built = self.function(name, function, span);
        let captures = !built.captures.is_empty();
        self.functions.push(built);
        let number = self.functions.len() - 1;
        let op = if captures { Op::Closure } else { Op::Function };
        self.top().span = span;
        self.top().wide(op, dst, number);
    }

    fn binary(
        &mut self,
        span: Span,
        op: BinaryOp,
        left: &'a Expr<'a>,
        right: &'a Expr<'a>,
        dst: Reg,
    ) {
        if let BinaryOp::Eq | BinaryOp::Ne = op {
            let call = match (&left.kind, &right.kind) {
                (ExprKind::Nil, _) => Some(right),
                (_, ExprKind::Nil) => Some(left),
                _ => None,
            };
            // Whether there is a match is all that is asked.
            if let Some((pattern, text)) = call.and_then(|call| self.constant_match(call)) {
                let text = self.operand(text);
                self.top().span = span;
                let pattern = self.top().pattern(pattern);
                self.top().abc(Op::RegexTest, dst, text, pattern);
                if op == BinaryOp::Eq {
                    self.top().abc(Op::Invert, dst, dst, 0);
                }
                return;
            }
        }
        if let (Some(left_type), Some(right_type)) = (plain_type(left), plain_type(right))
            && !fits(op, left_type, right_type)
        {
            let message = format!("`{}` does not take {left_type} and {right_type}", op.text());
            let help = match op {
                BinaryOp::Add => "`to_string(…)` makes a string of a value",
                _ => "",
            };
            let problem = Problem::warning(HarnCode::OperandTypes, span, message);
            self.problems.push(match help {
                "" => problem,
                help => problem.help(help),
            });
        }
        let left = self.before(left, right, dst);
        let right = self.operand(right);
        self.top().span = span;
        self.top().abc(binary(op), dst, left, right);
    }

    fn logic(&mut self, op: LogicOp, left: &'a Expr<'a>, right: &'a Expr<'a>, dst: Reg) {
        self.expr(left, dst);
        let skip = self.top().jump(
            match op {
                LogicOp::And => Op::IfFalsy,
                LogicOp::Or => Op::IfTruthy,
                LogicOp::Coalesce => Op::IfValue,
            },
            dst,
        );
        self.expr(right, dst);
        self.top().land(skip);
        if op != LogicOp::Coalesce {
            self.top().abc(Op::Truthy, dst, dst, 0);
        }
    }

    fn if_else(
        &mut self,
        condition: &'a Expr<'a>,
        then: &'a Block<'a>,
        otherwise: Option<Else<'a>>,
        dst: Option<Reg>,
    ) {
        let mark = self.top().mark();
        let holds = self.operand(condition);
        let skip = self.top().jump(Op::IfFalsy, holds);
        self.top().release(mark);
        self.block(then, dst);
        if otherwise.is_none() && dst.is_none() {
            self.top().land(skip);
            return;
        }
        let end = self.top().jump(Op::Goto, 0);
        self.top().land(skip);
        match (otherwise, dst) {
            (Some(Else::If(other)), Some(dst)) => self.expr(other, dst),
            (Some(Else::If(other)), None) => self.effect(other),
            (Some(Else::Block(block)), dst) => self.block(block, dst),
            (None, Some(dst)) => {
                self.top().abc(Op::Nil, dst, 0, 0);
            }
            (None, None) => {}
        }
        self.top().land(end);
    }

    fn attempt(
        &mut self,
        body: &'a Block<'a>,
        catch: Option<&Catch<'a>>,
        finally: Option<&'a Block<'a>>,
        dst: Option<Reg>,
    ) {
        let mark = self.top().mark();
        // The value is set when all is well only.
        let value = dst.map(|_| self.top().alloc());
        let from = self.top().here();
        if finally.is_some() {
            self.top().tries.push(Try {
                finally,
                ranges: Vec::new(),
                from,
            });
        }
        if let Some(catch) = catch {
            self.top().tries.push(Try {
                finally: None,
                ranges: Vec::new(),
                from,
            });
            self.block(body, value);
            let ranges = self.end_try();
            let end = self.top().jump(Op::Goto, 0);
            let inner = self.top().mark();
            let thrown = self.top().alloc();
            let here = self.top().here();
            self.top().handle(&ranges, here, thrown, catch.ty.is_some());
            if catch.ty.is_some() {
                // Only the enums of the full language have types to be caught by.
                self.top().abc(Op::Throw, thrown, 0, 0);
            }
            self.top().open();
            if let Some(name) = catch.name {
                self.adopt(name, thrown, false);
            }
            self.block(catch.body, value);
            self.top().close(inner);
            self.top().land(end);
        } else {
            self.block(body, value);
        }
        if let Some(block) = finally {
            let ranges = self.end_try();
            self.block(block, None);
            let end = self.top().jump(Op::Goto, 0);
            let inner = self.top().mark();
            let thrown = self.top().alloc();
            let here = self.top().here();
            self.top().handle(&ranges, here, thrown, true);
            self.block(block, None);
            self.top().abc(Op::Throw, thrown, 0, 0);
            self.top().release(inner);
            self.top().land(end);
        }
        if let (Some(dst), Some(value)) = (dst, value) {
            self.top().abc(Op::Take, dst, value, 0);
        }
        self.top().release(mark);
    }

    fn end_try(&mut self) -> Vec<(usize, usize)> {
        let here = self.top().here();
        let Some(mut attempt) = self.top().tries.pop() else {
            return Vec::new();
        };
        attempt.ranges.push((attempt.from, here));
        attempt.ranges
    }

    /// `value |> callee`
    fn pipe(&mut self, value: &'a Expr<'a>, callee: &'a Expr<'a>, dst: Reg) {
        let base = self.top().alloc();
        let arg = self.top().alloc();
        // The value comes first.
        let held = self.top().alloc();
        self.expr(value, held);
        if mentions_placeholder(callee) {
            self.top().open();
            let mark = self.top().mark();
            let name = Name {
                text: "_",
                span: callee.span,
            };
            self.top().locals.push(super::function::Local {
                name: "_",
                site: name.span.start,
                register: held,
                is_mutable: false,
                is_cell: false,
                is_pending: false,
                constant: None,
            });
            self.expr(callee, dst);
            self.top().close(mark);
            return;
        }
        self.expr(callee, base);
        self.top().abc(Op::Take, arg, held, 0);
        self.top().abc(Op::Call, base, 1, 0);
        self.top().abc(Op::Take, dst, base, 0);
    }
}

/// The type of a literal.
fn plain_type(expr: &Expr<'_>) -> Option<&'static str> {
    Some(match expr.kind {
        ExprKind::Nil => "nil",
        ExprKind::Bool(_) => "bool",
        ExprKind::Int(_) => "int",
        ExprKind::Float(_) => "float",
        ExprKind::Str(_) | ExprKind::Interpolated(_) => "string",
        ExprKind::List(_) => "list",
        ExprKind::Dict(_) => "dict",
        _ => return None,
    })
}

fn fits(op: BinaryOp, left: &str, right: &str) -> bool {
    let are_numbers = [left, right]
        .iter()
        .all(|name| matches!(*name, "int" | "float"));
    match op {
        BinaryOp::Add => {
            are_numbers || (left == right && matches!(left, "string" | "list" | "dict"))
        }
        BinaryOp::Mul => {
            are_numbers || matches!((left, right), ("string", "int") | ("int", "string"))
        }
        BinaryOp::Sub | BinaryOp::Div | BinaryOp::Rem | BinaryOp::Pow => are_numbers,
        BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge => {
            are_numbers || (left == right && matches!(left, "string" | "list"))
        }
        BinaryOp::Range | BinaryOp::RangeThrough => left == "int" && right == "int",
        BinaryOp::Eq | BinaryOp::Ne | BinaryOp::In | BinaryOp::NotIn => true,
    }
}
