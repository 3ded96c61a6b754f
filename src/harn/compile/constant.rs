//! Constants and constant patterns.

use std::sync::Arc;

use crate::diagnostic::Span;
use crate::harn::module::Constant;
use crate::harn::patterns::normal_flags;
use crate::harn::syntax::ast::{Arg, Expr, ExprKind};

use super::top::Global;
use super::unit::Compiler;

impl<'a> Compiler<'a, '_> {
    /// The number of a constant, which is added if it is new.
    pub(super) fn intern(&mut self, constant: Constant) -> u16 {
        let number = self.constants.insert_full(constant).0;
        u16::try_from(number).unwrap_or_else(|_| {
            self.top().overflowed = true;
            0
        })
    }

    /// The constant that an expression is, if it is one.
    pub(super) fn constant_of(&mut self, expr: &Expr<'a>) -> Option<u16> {
        let constant = literal(expr)?;
        self.note_texts(expr);
        Some(self.intern(constant))
    }

    /// The text that an expression is known to be.
    pub(super) fn known_text(&mut self, expr: &Expr<'a>) -> Option<Arc<str>> {
        let number = match expr.kind {
            ExprKind::Str(text) => return Some(Arc::from(text)),
            ExprKind::Name(name) => {
                let local = self
                    .stack
                    .iter()
                    .rev()
                    .find_map(|building| building.local(name, true));
                match local {
                    Some(local) => local.constant?,
                    None => match self.global(name)? {
                        Global::Binding(_, false, Some(number)) => number,
                        _ => return None,
                    },
                }
            }
            _ => return None,
        };
        match self.constants.get_index(usize::from(number))? {
            Constant::Str(text) => Some(text.clone()),
            _ => None,
        }
    }

    /// The flags that an argument is known to be; none if there is no argument.
    pub(super) fn known_flags(&mut self, flags: Option<&Arg<'a>>) -> Option<Arc<str>> {
        match flags {
            None => Some(Arc::from("")),
            Some(flags) if flags.value.kind == ExprKind::Nil => Some(Arc::from("")),
            Some(flags) => self.known_text(&flags.value),
        }
    }

    /// The number of a constant pattern that stands at a place.
    pub(super) fn intern_pattern(&mut self, pattern: &str, flags: &str, span: Span) -> u32 {
        let flags = normal_flags(flags);
        let span = self.own(span);
        let entry = self.patterns.entry((pattern.into(), flags.into()));
        let number = entry.index();
        entry.or_insert(span);
        u32::try_from(number).unwrap_or(u32::MAX)
    }
}

/// The constant of a literal, or of a list of them.
pub(super) fn literal(expr: &Expr<'_>) -> Option<Constant> {
    Some(match expr.kind {
        ExprKind::Nil => Constant::Nil,
        ExprKind::Bool(value) => Constant::Bool(value),
        ExprKind::Int(value) => Constant::Int(value),
        ExprKind::Float(value) => Constant::Float(value),
        ExprKind::Str(text) => Constant::Str(Arc::from(text)),
        ExprKind::List(items) if items.iter().all(|item| !item.is_spread) => {
            let items = items.iter().map(|item| literal(&item.value));
            Constant::List(items.collect::<Option<_>>()?)
        }
        ExprKind::Negate(Expr {
            kind: ExprKind::Int(value),
            ..
        }) => Constant::Int(value.checked_neg()?),
        _ => return None,
    })
}
