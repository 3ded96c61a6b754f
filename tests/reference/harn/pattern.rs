//! What bindings take apart and `match` compares.

use std::collections::BTreeMap;
use std::rc::Rc;

use probity::harn::syntax::ast::{Entry, Expr, ExprKind, Part, Pattern, PatternKind};

use super::failure::{Exit, Failure};
use super::machine::Machine;
use super::scope::Scope;
use super::value::{Value, equal};

impl<'a> Machine<'a> {
    /// Binds the names of a pattern.
    pub(super) fn bind(
        &mut self,
        pattern: &Pattern<'a>,
        value: Value,
        scope: &Rc<Scope>,
        mutable: bool,
    ) -> Result<(), Exit> {
        match (&pattern.kind, &value) {
            (PatternKind::Name(name), _) => scope.declare(name.text, value, mutable)?,
            (PatternKind::List(parts), Value::List(items)) => {
                for (at, part) in parts.iter().enumerate() {
                    let found = if part.is_rest {
                        let rest = items.get(at..).unwrap_or_default();
                        self.list(rest.to_vec())?
                    } else {
                        items.get(at).cloned().unwrap_or(Value::Nil)
                    };
                    self.bind_part(part, found, scope, mutable)?;
                }
            }
            (PatternKind::Dict(parts), Value::Dict(entries)) => {
                let mut left: BTreeMap<String, Value> = entries.inner.clone();
                for part in *parts {
                    let key = part.key.filter(|_| !part.is_rest);
                    let found = match key {
                        Some(key) => left.remove(key.text).unwrap_or(Value::Nil),
                        None => Value::dict(std::mem::take(&mut left))?,
                    };
                    // A key may be listed twice.
                    let found = match key.and_then(|key| entries.get(key.text)) {
                        Some(again) => again.clone(),
                        None => found,
                    };
                    self.bind_part(part, found, scope, mutable)?;
                }
            }
            (_, other) => {
                let message = format!("{} cannot be taken apart so", other.type_name());
                return Err(Failure::ty(message).into());
            }
        }
        Ok(())
    }

    fn bind_part(
        &mut self,
        part: &Part<'a>,
        found: Value,
        scope: &Rc<Scope>,
        mutable: bool,
    ) -> Result<(), Exit> {
        let value = match &part.default {
            Some(default) if found.is_nil() => self.expr(default, scope)?,
            _ => found,
        };
        Ok(scope.declare(part.name.text, value, mutable)?)
    }

    /// Whether a value is what the pattern of an arm says; binds its names.
    pub(super) fn matches(
        &mut self,
        pattern: &Expr<'a>,
        value: &Value,
        scope: &Rc<Scope>,
    ) -> Result<bool, Exit> {
        match &pattern.kind {
            ExprKind::Name(name) => {
                scope.declare(name, value.clone(), false)?;
                Ok(true)
            }
            ExprKind::List(parts) => {
                let Value::List(items) = value else {
                    return Ok(false);
                };
                let rest = parts.last().filter(|last| last.is_spread);
                let fixed = parts.len() - usize::from(rest.is_some());
                if items.len() < fixed || (rest.is_none() && items.len() > fixed) {
                    return Ok(false);
                }
                for (part, item) in parts[..fixed].iter().zip(items.iter()) {
                    if part.is_spread {
                        return Err(Failure::check("the rest stands at the end").into());
                    }
                    if !self.matches(&part.value, item, scope)? {
                        return Ok(false);
                    }
                }
                match rest {
                    Some(rest) => {
                        let left = self.list(items[fixed..].to_vec())?;
                        self.matches(&rest.value, &left, scope)
                    }
                    None => Ok(true),
                }
            }
            ExprKind::Dict(parts) => {
                let Value::Dict(entries) = value else {
                    return Ok(false);
                };
                for part in *parts {
                    let Entry::Named(key, pattern) = part else {
                        return Err(Failure::check("a pattern of a dict lists keys").into());
                    };
                    match entries.get(key.text) {
                        Some(found) if self.matches(pattern, found, scope)? => {}
                        _ => return Ok(false),
                    }
                }
                Ok(true)
            }
            _ => Ok(equal(&self.expr(pattern, scope)?, value)),
        }
    }
}
