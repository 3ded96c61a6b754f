//! Calls.

use std::rc::Rc;

use probity::harn::syntax::ast::{Arg, Expr, ExprKind, Function};

use super::failure::{Class, Exit, Failure};
use super::machine::Machine;
use super::scope::Scope;
use super::value::{Closure, Value};

/// How many arguments a function takes at most.
pub(super) fn most(function: &Function<'_>) -> usize {
    if function.params.iter().any(|param| param.is_rest) {
        usize::MAX
    } else {
        function.params.len()
    }
}

impl<'a> Machine<'a> {
    /// `f(args)`, `x.m(args)`, `x?.m(args)`
    pub(super) fn call_expr(
        &mut self,
        callee: &Expr<'a>,
        args: &[Arg<'a>],
        scope: &Rc<Scope>,
    ) -> Result<Value, Exit> {
        let ExprKind::Property {
            object,
            name,
            optional,
        } = &callee.kind
        else {
            let callee = self.expr(callee, scope)?;
            let args = self.args(args, scope)?;
            return Ok(self.call(&callee, args)?);
        };
        let object = self.expr(object, scope)?;
        let args = self.args(args, scope)?;
        if *optional && object.is_nil() {
            return Ok(Value::Nil);
        }
        Ok(self.method(&object, name.text, args)?)
    }

    /// Arguments or items, what is spread among them.
    pub(super) fn args(&mut self, args: &[Arg<'a>], scope: &Rc<Scope>) -> Result<Vec<Value>, Exit> {
        let mut values = Vec::new();
        for arg in args {
            let value = self.expr(&arg.value, scope)?;
            match value {
                Value::List(items) if arg.is_spread => values.extend(items.iter().cloned()),
                other if arg.is_spread => {
                    let message = format!("{} is no list to spread", other.type_name());
                    return Err(Failure::ty(message).into());
                }
                value => values.push(value),
            }
        }
        Ok(values)
    }

    /// Calls whatever can be called.
    pub(super) fn call(&mut self, callee: &Value, args: Vec<Value>) -> Result<Value, Failure> {
        let (mut callee, mut args) = (callee.clone(), args);
        if self.frames >= self.limits.frames {
            return Err(Failure::new(Class::Limit, "calls are nested too deep"));
        }
        self.frames += 1;
        let tries = std::mem::take(&mut self.tries);
        let result = loop {
            match self.call_once(&callee, args) {
                Ok(value) | Err(Exit::Return(value)) => break Ok(value),
                Err(Exit::Tail(next, values)) => (callee, args) = (next, values),
                Err(Exit::Fail(failure)) => break Err(failure),
                Err(Exit::Break | Exit::Continue) => break Err(Failure::check("no loop")),
            }
        };
        self.tries = tries;
        self.frames -= 1;
        result
    }

    fn call_once(&mut self, callee: &Value, args: Vec<Value>) -> Result<Value, Exit> {
        self.burn(1)?;
        match callee {
            Value::Closure(closure) => self.enter_closure(closure, args),
            Value::Builtin(name) => Ok(self.builtin(name, args)?),
            other => Err(Failure::ty(format!("{} cannot be called", other.type_name())).into()),
        }
    }

    fn enter_closure(&mut self, closure: &Closure, args: Vec<Value>) -> Result<Value, Exit> {
        let function = self.function(closure.function);
        let scope = Scope::new(Some(&closure.scope));
        let mut args = args.into_iter();
        for param in function.params {
            let value = if param.is_rest {
                self.list(args.by_ref().collect())?
            } else {
                match (args.next(), &param.default) {
                    (Some(value), _) => value,
                    (None, Some(default)) => self.expr(default, &scope)?,
                    (None, None) => return Err(Failure::arity(&closure.name).into()),
                }
            };
            if let Some(ty) = &param.ty {
                self.demand(&value, ty, param.name.text)?;
            }
            scope.declare(param.name.text, value, false)?;
        }
        let value = self.block(&function.body, &scope, function.yields_last)?;
        Ok(if function.yields_last {
            value
        } else {
            Value::Nil
        })
    }
}
