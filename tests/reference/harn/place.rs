//! Assignments. What is assigned to in a list or dict is a copy, which then takes its
//! place: up to the name.

use std::rc::Rc;

use probity::harn::syntax::ast::{Arg, BinaryOp, Expr, ExprKind};

use super::expr::position;
use super::failure::{Class, Exit, Failure};
use super::machine::Machine;
use super::scope::Scope;
use super::text::text;
use super::value::Value;

/// What leads from a value to a part of it.
enum Step {
    Key(String),
    Index(Value),
}

impl<'a> Machine<'a> {
    pub(super) fn assign(
        &mut self,
        place: &Expr<'a>,
        op: Option<BinaryOp>,
        value: &Expr<'a>,
        scope: &Rc<Scope>,
    ) -> Result<(), Exit> {
        let value = self.expr(value, scope)?;
        let (root, steps) = self.path(place, scope)?;
        let all = self.known(root, scope)?;
        let changed = self.change(&all, &steps, &mut |machine, old| match op {
            Some(op) => machine.binary(op, old, &value),
            None => Ok(value.clone()),
        })?;
        Ok(scope.set(root, changed, self.frozen().as_deref())?)
    }

    /// `place.push(value)` as a statement, if it is that.
    pub(super) fn push_in_place(
        &mut self,
        callee: &Expr<'a>,
        args: &[Arg<'a>],
        scope: &Rc<Scope>,
    ) -> Result<bool, Exit> {
        let ExprKind::Property {
            object: place,
            name,
            optional: false,
        } = &callee.kind
        else {
            return Ok(false);
        };
        if name.text != "push" || !is_place(place) {
            return Ok(false);
        }
        let (root, steps) = self.path(place, scope)?;
        let all = self.known(root, scope)?;
        let mut found = Value::Nil;
        self.change(&all, &steps, &mut |_, old| {
            found = old.clone();
            Ok(old.clone())
        })?;
        let args = self.args(args, scope)?;
        let result = self.method(&found, "push", args)?;
        if matches!(found, Value::List(_)) {
            // The arguments may have changed it.
            let all = self.known(root, scope)?;
            let changed = self.change(&all, &steps, &mut |_, _| Ok(result.clone()))?;
            scope.set(root, changed, self.frozen().as_deref())?;
        }
        Ok(true)
    }

    fn known(&self, name: &str, scope: &Rc<Scope>) -> Result<Value, Failure> {
        scope
            .get(name)
            .ok_or_else(|| Failure::check(format!("`{name}` is not known")))
    }

    /// The name at the root of a place, and the steps from there.
    fn path(&mut self, place: &Expr<'a>, scope: &Rc<Scope>) -> Result<(&'a str, Vec<Step>), Exit> {
        match &place.kind {
            ExprKind::Name(name) => Ok((name, Vec::new())),
            ExprKind::Property { object, name, .. } => {
                let (root, mut steps) = self.path(object, scope)?;
                steps.push(Step::Key(name.text.into()));
                Ok((root, steps))
            }
            ExprKind::Index { object, index, .. } => {
                let (root, mut steps) = self.path(object, scope)?;
                steps.push(Step::Index(self.expr(index, scope)?));
                Ok((root, steps))
            }
            _ => Err(Failure::check("this is no place").into()),
        }
    }

    /// A copy of a value with one part changed.
    fn change(
        &mut self,
        value: &Value,
        steps: &[Step],
        new: &mut dyn FnMut(&mut Self, &Value) -> Result<Value, Failure>,
    ) -> Result<Value, Failure> {
        let Some((step, rest)) = steps.split_first() else {
            return new(self, value);
        };
        let key = match (value, step) {
            (Value::List(items), Step::Index(Value::Int(at))) => {
                let at = position(items.len(), *at).ok_or_else(|| {
                    Failure::new(Class::Bounds, format!("there is no item at {at}"))
                })?;
                let mut copy = items.inner.clone();
                copy[at] = self.change(&items[at], rest, new)?;
                return self.list(copy);
            }
            (Value::Dict(_), Step::Key(key)) => key.clone(),
            (Value::Dict(_), Step::Index(key)) => text(key),
            _ => {
                let message = format!("nothing in {} can be assigned to", value.type_name());
                return Err(Failure::ty(message));
            }
        };
        let Value::Dict(entries) = value else {
            return Err(Failure::ty("no dict"));
        };
        let old = entries.get(&key).cloned().unwrap_or(Value::Nil);
        let mut copy = entries.inner.clone();
        copy.insert(key, self.change(&old, rest, new)?);
        self.allocate(copy.len() * 4 * size_of::<Value>())?;
        Value::dict(copy)
    }
}

fn is_place(expr: &Expr<'_>) -> bool {
    match &expr.kind {
        ExprKind::Name(_) => true,
        ExprKind::Property {
            object,
            optional: false,
            ..
        }
        | ExprKind::Index {
            object,
            optional: false,
            ..
        } => is_place(object),
        _ => false,
    }
}
