//! Statements and blocks.

use std::rc::Rc;

use probity::harn::syntax::ast::{Block, Catch, Expr, ExprKind, Pattern, Stmt, StmtKind};

use super::failure::{Exit, Failure};
use super::machine::Machine;
use super::scope::Scope;
use super::value::Value;

impl<'a> Machine<'a> {
    /// A block in a scope of its own. Only if its value is wanted is its last statement
    /// in value position.
    pub(super) fn block(
        &mut self,
        block: &Block<'a>,
        outer: &Rc<Scope>,
        wanted: bool,
    ) -> Result<Value, Exit> {
        self.stmts(block.stmts, &Scope::new(Some(outer)), wanted)
    }

    /// Statements in a scope: first its functions, then one after the other.
    pub(super) fn stmts(
        &mut self,
        stmts: &[Stmt<'a>],
        scope: &Rc<Scope>,
        wanted: bool,
    ) -> Result<Value, Exit> {
        for stmt in stmts {
            if let StmtKind::Function { name, function, .. } = &stmt.kind {
                let closure = self.closure(function, name.text, scope);
                scope.declare(name.text, closure, false)?;
            }
        }
        let mut last = Value::Nil;
        for (at, stmt) in stmts.iter().enumerate() {
            last = self.stmt(stmt, scope, wanted && at + 1 == stmts.len())?;
        }
        Ok(last)
    }

    fn stmt(&mut self, stmt: &Stmt<'a>, scope: &Rc<Scope>, wanted: bool) -> Result<Value, Exit> {
        self.burn(1)?;
        match &stmt.kind {
            StmtKind::Expr(expr) if wanted => return self.expr(expr, scope),
            StmtKind::Expr(expr) => self.discarded(expr, scope)?,
            StmtKind::Bind {
                mutable,
                pattern,
                ty,
                value,
            } => {
                let value = self.expr(value, scope)?;
                if let Some(ty) = ty {
                    self.demand(&value, ty, "the value")?;
                }
                self.bind(pattern, value, scope, *mutable)?;
            }
            StmtKind::Assign { place, op, value } => self.assign(place, *op, value, scope)?,
            StmtKind::While(condition, body) => self.while_loop(condition, body, scope)?,
            StmtKind::For(pattern, source, body) => self.for_loop(pattern, source, body, scope)?,
            StmtKind::Return(value) => return Err(self.leave(value.as_ref(), scope)?),
            StmtKind::Throw(value) => {
                let value = self.expr(value, scope)?;
                return Err(Failure::thrown(value).into());
            }
            StmtKind::Break => return Err(Exit::Break),
            StmtKind::Continue => return Err(Exit::Continue),
            StmtKind::Guard(condition, body) => {
                if !self.expr(condition, scope)?.is_truthy() {
                    self.block(body, scope, false)?;
                }
            }
            StmtKind::Function { .. } | StmtKind::Type { .. } => {}
            StmtKind::Broken => return Err(Failure::check("a broken statement").into()),
        }
        Ok(Value::Nil)
    }

    /// An expression whose value nobody wants: so nobody wants that of its blocks, and
    /// a `push` is a change of the place.
    fn discarded(&mut self, expr: &Expr<'a>, scope: &Rc<Scope>) -> Result<(), Exit> {
        match &expr.kind {
            ExprKind::If { .. } | ExprKind::Match(..) | ExprKind::Try { .. } => {
                self.branching(expr, scope, false)?;
            }
            ExprKind::Call(callee, args) => {
                if !self.push_in_place(callee, args, scope)? {
                    self.expr(expr, scope)?;
                }
            }
            _ => {
                self.expr(expr, scope)?;
            }
        }
        Ok(())
    }

    /// How `return` leaves: a call outside of any `try` is left to the caller.
    fn leave(&mut self, value: Option<&Expr<'a>>, scope: &Rc<Scope>) -> Result<Exit, Exit> {
        Ok(match value {
            None => Exit::Return(Value::Nil),
            Some(Expr {
                kind: ExprKind::Call(callee, args),
                ..
            }) if self.tries == 0 && !matches!(callee.kind, ExprKind::Property { .. }) => {
                let callee = self.expr(callee, scope)?;
                Exit::Tail(callee, self.args(args, scope)?)
            }
            Some(value) => Exit::Return(self.expr(value, scope)?),
        })
    }

    fn while_loop(
        &mut self,
        condition: &Expr<'a>,
        body: &Block<'a>,
        scope: &Rc<Scope>,
    ) -> Result<(), Exit> {
        while self.expr(condition, scope)?.is_truthy() {
            if self.round(body, &Scope::new(Some(scope)))? {
                break;
            }
        }
        Ok(())
    }

    fn for_loop(
        &mut self,
        pattern: &Pattern<'a>,
        source: &Expr<'a>,
        body: &Block<'a>,
        scope: &Rc<Scope>,
    ) -> Result<(), Exit> {
        match self.expr(source, scope)? {
            Value::List(items) => {
                for item in items.iter() {
                    if self.round_with(pattern, item.clone(), body, scope)? {
                        break;
                    }
                }
            }
            Value::Dict(entries) => {
                for (key, value) in entries.iter() {
                    let entry = [("key", Value::text(key)), ("value", value.clone())];
                    if self.round_with(pattern, Value::record(entry)?, body, scope)? {
                        break;
                    }
                }
            }
            Value::Range(from, to) => {
                for at in from..to {
                    if self.round_with(pattern, Value::Int(at), body, scope)? {
                        break;
                    }
                }
            }
            other => {
                let message = format!("there are no items in {}", other.type_name());
                return Err(Failure::ty(message).into());
            }
        }
        Ok(())
    }

    fn round_with(
        &mut self,
        pattern: &Pattern<'a>,
        item: Value,
        body: &Block<'a>,
        scope: &Rc<Scope>,
    ) -> Result<bool, Exit> {
        let inner = Scope::new(Some(scope));
        self.bind(pattern, item, &inner, true)?;
        self.round(body, &inner)
    }

    /// One round of a loop. True if it was the last.
    fn round(&mut self, body: &Block<'a>, scope: &Rc<Scope>) -> Result<bool, Exit> {
        self.burn(1)?;
        match self.block(body, scope, false) {
            Ok(_) | Err(Exit::Continue) => Ok(false),
            Err(Exit::Break) => Ok(true),
            Err(other) => Err(other),
        }
    }

    pub(super) fn try_block(
        &mut self,
        body: &Block<'a>,
        catch: Option<&Catch<'a>>,
        finally: Option<&Block<'a>>,
        (scope, wanted): (&Rc<Scope>, bool),
    ) -> Result<Value, Exit> {
        self.tries += 1;
        let frames = self.frames;
        let mut result = self.block(body, scope, wanted);
        self.frames = frames;
        // A type in a `catch` matches nothing that is in the subset.
        let catch = catch.filter(|catch| catch.ty.is_none());
        if let (Err(Exit::Fail(failure)), Some(catch)) = (&result, catch)
            && let Some(value) = failure.caught()
        {
            let inner = Scope::new(Some(scope));
            result = match &catch.name {
                Some(name) => inner.declare(name.text, value, false).map_err(Exit::from),
                None => Ok(()),
            }
            .and_then(|()| self.block(catch.body, &inner, wanted));
        }
        self.tries -= 1;
        let is_over = matches!(&result, Err(Exit::Fail(failure)) if failure.caught().is_none());
        if let (Some(finally), false) = (finally, is_over) {
            self.block(finally, scope, false)?;
        }
        result
    }
}
