//! Expressions.

use std::collections::BTreeMap;
use std::rc::Rc;

use probity::harn::syntax::ast::{BinaryOp, Else, Entry, Expr, ExprKind, LogicOp};

use super::failure::{Exit, Failure};
use super::machine::Machine;
use super::scope::Scope;
use super::text::text;
use super::value::Value;
use super::{builtins, ops};

impl<'a> Machine<'a> {
    pub(super) fn expr(&mut self, expr: &Expr<'a>, scope: &Rc<Scope>) -> Result<Value, Exit> {
        self.burn(1)?;
        Ok(match &expr.kind {
            ExprKind::Nil => Value::Nil,
            ExprKind::Bool(value) => Value::Bool(*value),
            ExprKind::Int(value) => Value::Int(*value),
            ExprKind::Float(value) => Value::Float(*value),
            ExprKind::Str(value) => Value::text(value),
            ExprKind::Interpolated(parts) => {
                let mut all = String::new();
                for part in *parts {
                    all += &text(&self.expr(part, scope)?);
                }
                self.text(all)?
            }
            ExprKind::Name(name) => scope
                .get(name)
                .or_else(|| builtins::find(name))
                .ok_or_else(|| Failure::check(format!("`{name}` is not known")))?,
            ExprKind::List(items) => {
                let items = self.args(items, scope)?;
                self.list(items)?
            }
            ExprKind::Dict(entries) => self.dict_literal(entries, scope)?,
            ExprKind::Closure(function) => self.closure(function, "", scope),
            ExprKind::Not(operand) => Value::Bool(!self.expr(operand, scope)?.is_truthy()),
            ExprKind::Negate(operand) => ops::negate(&self.expr(operand, scope)?)?,
            ExprKind::Binary(op, left, right) => {
                let left = self.expr(left, scope)?;
                let right = self.expr(right, scope)?;
                self.binary(*op, &left, &right)?
            }
            ExprKind::Logic(op, left, right) => self.logic(*op, (left, right), scope)?,
            ExprKind::Ternary(condition, then, otherwise) => {
                let chosen = if self.expr(condition, scope)?.is_truthy() {
                    then
                } else {
                    otherwise
                };
                self.expr(chosen, scope)?
            }
            ExprKind::Pipe(value, target) => self.pipe(value, target, scope)?,
            ExprKind::Property {
                object,
                name,
                optional,
            } => {
                let object = self.expr(object, scope)?;
                property(&object, name.text, *optional)?
            }
            ExprKind::Index {
                object,
                index,
                optional,
            } => {
                let object = self.expr(object, scope)?;
                let index = self.expr(index, scope)?;
                if *optional && object.is_nil() {
                    Value::Nil
                } else {
                    item(&object, &index)?
                }
            }
            ExprKind::Slice { object, from, to } => {
                let object = self.expr(object, scope)?;
                let from = from.map(|from| self.expr(from, scope)).transpose()?;
                let to = to.map(|to| self.expr(to, scope)).transpose()?;
                self.slice(&object, from.as_ref(), to.as_ref())?
            }
            ExprKind::Call(callee, args) => self.call_expr(callee, args, scope)?,
            ExprKind::If { .. } | ExprKind::Match(..) | ExprKind::Try { .. } => {
                self.branching(expr, scope, true)?
            }
            ExprKind::Broken => return Err(Failure::check("a broken expression").into()),
        })
    }

    /// Expressions that have blocks.
    pub(super) fn branching(
        &mut self,
        expr: &Expr<'a>,
        scope: &Rc<Scope>,
        wanted: bool,
    ) -> Result<Value, Exit> {
        match &expr.kind {
            ExprKind::If {
                condition,
                then,
                otherwise,
            } => {
                if self.expr(condition, scope)?.is_truthy() {
                    return self.block(then, scope, wanted);
                }
                match otherwise {
                    Some(Else::If(other)) => self.branching(other, scope, wanted),
                    Some(Else::Block(block)) => self.block(block, scope, wanted),
                    None => Ok(Value::Nil),
                }
            }
            ExprKind::Match(value, arms) => {
                let value = self.expr(value, scope)?;
                for arm in *arms {
                    for pattern in arm.patterns {
                        let inner = Scope::new(Some(scope));
                        if !self.matches(pattern, &value, &inner)? {
                            continue;
                        }
                        if let Some(guard) = &arm.guard
                            && !self.expr(guard, &inner)?.is_truthy()
                        {
                            continue;
                        }
                        return self.block(&arm.body, &inner, wanted);
                    }
                }
                let message = format!("nothing matches {}", text(&value));
                Err(Failure::throw_text(message).into())
            }
            ExprKind::Try {
                body,
                catch,
                finally,
            } => self.try_block(body, catch.as_ref(), *finally, (scope, wanted)),
            _ => self.expr(expr, scope),
        }
    }

    fn logic(
        &mut self,
        op: LogicOp,
        (left, right): (&Expr<'a>, &Expr<'a>),
        scope: &Rc<Scope>,
    ) -> Result<Value, Exit> {
        let left = self.expr(left, scope)?;
        Ok(match op {
            LogicOp::And if !left.is_truthy() => Value::Bool(false),
            LogicOp::Or if left.is_truthy() => Value::Bool(true),
            LogicOp::And | LogicOp::Or => Value::Bool(self.expr(right, scope)?.is_truthy()),
            LogicOp::Coalesce if left.is_nil() => self.expr(right, scope)?,
            LogicOp::Coalesce => left,
        })
    }

    /// Two values that are there.
    pub(super) fn binary(
        &mut self,
        op: BinaryOp,
        left: &Value,
        right: &Value,
    ) -> Result<Value, Failure> {
        let size = |value: &Value| match value {
            Value::Str(text) => text.len(),
            Value::List(items) => items.len() * size_of::<Value>(),
            Value::Dict(entries) => entries.len() * 4 * size_of::<Value>(),
            _ => 0,
        };
        match op {
            BinaryOp::Add => self.allocate(size(left) + size(right))?,
            _ => self.burn((size(left) + size(right)) / 64)?,
        }
        match (op, left, right) {
            (BinaryOp::Mul, Value::Str(text), Value::Int(times))
            | (BinaryOp::Mul, Value::Int(times), Value::Str(text)) => self.repeat(text, *times),
            _ => ops::binary(op, left, right),
        }
    }

    fn dict_literal(&mut self, entries: &[Entry<'a>], scope: &Rc<Scope>) -> Result<Value, Exit> {
        let mut dict = BTreeMap::new();
        for entry in entries {
            match entry {
                Entry::Named(key, value) => {
                    dict.insert(key.text.to_owned(), self.expr(value, scope)?);
                }
                Entry::Computed(key, value) => {
                    let key = text(&self.expr(key, scope)?);
                    dict.insert(key, self.expr(value, scope)?);
                }
                Entry::Spread(other) => match self.expr(other, scope)? {
                    Value::Dict(more) => {
                        let more = more.iter().map(|(key, value)| (key.clone(), value.clone()));
                        dict.extend(more);
                    }
                    other => {
                        let message = format!("{} is no dict to spread", other.type_name());
                        return Err(Failure::ty(message).into());
                    }
                },
            }
        }
        self.allocate(dict.len() * 4 * size_of::<Value>())?;
        Ok(Value::dict(dict)?)
    }

    fn pipe(
        &mut self,
        value: &Expr<'a>,
        target: &Expr<'a>,
        scope: &Rc<Scope>,
    ) -> Result<Value, Exit> {
        let value = self.expr(value, scope)?;
        if has_hole(target) {
            let inner = Scope::new(Some(scope));
            inner.declare_hole(value);
            return self.expr(target, &inner);
        }
        let target = self.expr(target, scope)?;
        Ok(self.call(&target, vec![value])?)
    }

    fn slice(
        &mut self,
        object: &Value,
        from: Option<&Value>,
        to: Option<&Value>,
    ) -> Result<Value, Failure> {
        match object {
            Value::List(items) => {
                let (from, to) = bounds(items.len(), from, to)?;
                self.list(items[from..to].to_vec())
            }
            Value::Str(text) => {
                let chars: Vec<char> = text.chars().collect();
                let (from, to) = bounds(chars.len(), from, to)?;
                self.text(chars[from..to].iter().collect::<String>())
            }
            other => {
                let name = other.type_name();
                Err(Failure::ty(format!(
                    "{name} has no parts from one to another"
                )))
            }
        }
    }
}

/// The clamped bounds of a slice; negative ones count from the end.
pub(super) fn bounds(
    len: usize,
    from: Option<&Value>,
    to: Option<&Value>,
) -> Result<(usize, usize), Failure> {
    let bound = |value: Option<&Value>, default: usize| match value {
        None => Ok(default),
        Some(Value::Int(at)) if *at < 0 => {
            let back = usize::try_from(at.unsigned_abs()).unwrap_or(usize::MAX);
            Ok(len.saturating_sub(back))
        }
        Some(Value::Int(at)) => Ok(usize::try_from(*at).unwrap_or(usize::MAX).min(len)),
        Some(other) => {
            let message = format!("{} is no bound of a slice", other.type_name());
            Err(Failure::ty(message))
        }
    };
    let (from, to) = (bound(from, 0)?, bound(to, len)?);
    Ok((from, to.max(from)))
}

/// Where an index points, if that is in range.
pub(super) fn position(len: usize, index: i64) -> Option<usize> {
    let at = if index < 0 {
        len.checked_sub(usize::try_from(index.unsigned_abs()).ok()?)?
    } else {
        usize::try_from(index).ok()?
    };
    (at < len).then_some(at)
}

/// `x.name`
fn property(object: &Value, name: &str, optional: bool) -> Result<Value, Failure> {
    Ok(match (object, name) {
        (Value::Nil, _) if optional => Value::Nil,
        (Value::Dict(entries), _) => entries.get(name).cloned().unwrap_or(Value::Nil),
        (Value::List(items), "count") => Value::int(items.len()),
        (Value::List(items), "empty") => Value::Bool(items.is_empty()),
        (Value::List(items), "first") => items.first().cloned().unwrap_or(Value::Nil),
        (Value::List(items), "last") => items.last().cloned().unwrap_or(Value::Nil),
        (Value::Str(text), "count") => Value::int(text.chars().count()),
        (Value::Str(text), "empty") => Value::Bool(text.is_empty()),
        (Value::List(_) | Value::Str(_), _) => {
            let message = format!("{} has no `{name}`", object.type_name());
            return Err(Failure::ty(message));
        }
        _ if optional => Value::Nil,
        _ => {
            let message = format!("{} has no properties", object.type_name());
            return Err(Failure::ty(message));
        }
    })
}

/// `x[i]`
fn item(object: &Value, index: &Value) -> Result<Value, Failure> {
    Ok(match (object, index) {
        (Value::List(items), Value::Int(at)) => position(items.len(), *at)
            .and_then(|at| items.get(at).cloned())
            .unwrap_or(Value::Nil),
        (Value::Str(text), Value::Int(at)) => position(text.chars().count(), *at)
            .and_then(|at| text.chars().nth(at))
            .map_or(Value::Nil, |found| Value::text(found.to_string())),
        (Value::Dict(entries), key) => entries.get(&text(key)).cloned().unwrap_or(Value::Nil),
        _ => {
            let (object, index) = (object.type_name(), index.type_name());
            let message = format!("{object} has no items at {index}");
            return Err(Failure::ty(message));
        }
    })
}

/// Whether `_` stands for a value in an expression.
fn has_hole(expr: &Expr<'_>) -> bool {
    let any =
        |args: &[probity::harn::syntax::ast::Arg<'_>]| args.iter().any(|arg| has_hole(&arg.value));
    match &expr.kind {
        ExprKind::Name(name) => *name == "_",
        ExprKind::Interpolated(parts) => parts.iter().any(has_hole),
        ExprKind::List(items) => any(items),
        ExprKind::Dict(entries) => entries.iter().any(|entry| match entry {
            Entry::Named(_, value) | Entry::Spread(value) => has_hole(value),
            Entry::Computed(key, value) => has_hole(key) || has_hole(value),
        }),
        ExprKind::Not(inner) | ExprKind::Negate(inner) => has_hole(inner),
        ExprKind::Binary(_, left, right)
        | ExprKind::Logic(_, left, right)
        | ExprKind::Pipe(left, right) => has_hole(left) || has_hole(right),
        ExprKind::Ternary(condition, then, otherwise) => {
            has_hole(condition) || has_hole(then) || has_hole(otherwise)
        }
        ExprKind::Property { object, .. } => has_hole(object),
        ExprKind::Index { object, index, .. } => has_hole(object) || has_hole(index),
        ExprKind::Slice { object, from, to } => {
            has_hole(object) || from.iter().chain(to).any(|bound| has_hole(bound))
        }
        ExprKind::Call(callee, args) => has_hole(callee) || any(args),
        _ => false,
    }
}
