//! Variables: declared, found, read and set.

use crate::code::Op;
use crate::diagnostic::Span;
use crate::harn::builtins::{Builtin, FUNCTIONS};
use crate::harn::module::Captured;
use crate::harn::problem::HarnCode;
use crate::harn::syntax::ast::Name;

use super::function::{Local, Reg};
use super::top::Global;
use super::unit::Compiler;

/// What a name stands for at a place.
#[derive(Clone, Copy, Debug)]
pub(super) enum Found<'a> {
    /// A variable of this function.
    Local(Local<'a>),
    /// A variable of a function around, by the number of the capture.
    Captured(Local<'a>, u8),
    Global(Global<'a>),
    Builtin(Builtin),
}

impl<'a> Compiler<'a, '_> {
    /// Declares a variable, whose register is new. What it is to hold is then put into
    /// it with `store`.
    pub(super) fn declare_local(&mut self, name: Name<'a>, is_mutable: bool) -> Local<'a> {
        let site = name.span.start;
        let is_cell = self.cells.contains(&site);
        let top = self.top();
        // It was made at the start of the block.
        let pending = top.locals.iter_mut().rev();
        if name.text != "_"
            && let Some(local) = pending
                .into_iter()
                .find(|local| local.site == site && local.is_pending)
        {
            local.is_pending = false;
            return *local;
        }
        let known = top.in_scope(name.text).copied();
        if let Some(known) = known
            && name.text != "_"
            && !(known.is_mutable && is_mutable)
        {
            let message = format!("`{}` is declared in this scope already", name.text);
            let help = "give it another name, or use `let` for what changes";
            self.error(HarnCode::Redeclared, name.span, message, help);
        }
        self.new_local(name, is_mutable, is_cell, false)
    }

    pub(super) fn new_local(
        &mut self,
        name: Name<'a>,
        is_mutable: bool,
        is_cell: bool,
        is_pending: bool,
    ) -> Local<'a> {
        let top = self.top();
        let register = top.alloc();
        let local = Local {
            // No program can write this name.
            name: if name.text == "_" { "" } else { name.text },
            site: name.span.start,
            register,
            is_mutable,
            is_cell,
            is_pending,
            constant: None,
        };
        if is_cell {
            top.abc(Op::Cell, register, 0, 0);
        }
        top.locals.push(local);
        local
    }

    /// Makes a parameter or the like, which is in its register already, a variable.
    pub(super) fn adopt(&mut self, name: Name<'a>, register: Reg, is_mutable: bool) {
        let is_cell = self.cells.contains(&name.span.start);
        let top = self.top();
        if is_cell {
            let mark = top.mark();
            let value = top.alloc();
            top.abc(Op::Take, value, register, 0);
            top.abc(Op::Cell, register, 0, 0);
            top.abc(Op::CellSet, register, value, 0);
            top.release(mark);
        }
        top.locals.push(Local {
            name: if name.text == "_" { "" } else { name.text },
            site: name.span.start,
            register,
            is_mutable,
            is_cell,
            is_pending: false,
            constant: None,
        });
    }

    /// Puts a value into a variable of this function.
    pub(super) fn store(&mut self, local: Local<'a>, value: Reg) {
        let top = self.top();
        if local.is_cell {
            top.abc(Op::CellSet, local.register, value, 0);
        } else if local.register != value {
            top.abc(Op::Take, local.register, value, 0);
        }
    }

    pub(super) fn find(&mut self, name: &str) -> Option<Found<'a>> {
        let innermost = self.stack.len().checked_sub(1)?;
        for level in (0..=innermost).rev() {
            let found = self.stack[level].local(name, level < innermost).copied();
            let Some(local) = found else { continue };
            if level == innermost {
                return Some(Found::Local(local));
            }
            // Each function between hands it on.
            let mut from = Captured::Register(local.register);
            let mut number = 0;
            for inner in level + 1..=innermost {
                number = self.stack[inner].capture(local, from);
                from = Captured::Capture(number);
            }
            return Some(Found::Captured(local, number));
        }
        if let Some(global) = self.global(name) {
            return Some(Found::Global(global));
        }
        let builtin = Builtin::of(name)?;
        (name != "ast_search").then_some(Found::Builtin(builtin))
    }

    /// Puts what a name stands for into a register.
    pub(super) fn load(&mut self, name: &'a str, span: Span, dst: Reg) {
        let Some(found) = self.find(name) else {
            self.unknown(name, span, HarnCode::UnknownName);
            return;
        };
        let top = self.top();
        match found {
            Found::Local(local) if local.is_cell => {
                top.abc(Op::CellGet, dst, local.register, 0);
            }
            Found::Local(local) => {
                if local.register != dst {
                    top.abc(Op::Move, dst, local.register, 0);
                }
            }
            Found::Captured(local, number) => {
                top.abc(Op::Capture, dst, number, 0);
                if local.is_cell {
                    top.abc(Op::CellGet, dst, dst, 0);
                }
            }
            Found::Global(Global::Function(number, _)) => {
                top.wide(Op::Function, dst, number as usize);
            }
            Found::Global(Global::Binding(_, false, Some(constant))) => {
                top.wide(Op::Value, dst, constant.into());
            }
            Found::Global(Global::Binding(number, ..)) => {
                top.wide(Op::Global, dst, number.into());
            }
            Found::Global(Global::Builtin(number)) => {
                top.wide(Op::Builtin, dst, number.into());
            }
            Found::Builtin(builtin) => {
                top.wide(Op::Builtin, dst, builtin.0.into());
                self.note_function(builtin.name());
            }
        }
    }

    pub(super) fn unknown(&mut self, name: &str, span: Span, code: HarnCode) {
        let what = match code {
            HarnCode::UnknownFunction => "function",
            _ => "name",
        };
        let help = match name {
            "ast_search" => "write `import { ast_search } from \"std/ast\"`".to_owned(),
            "run" | "test" => {
                "a predicate executes nothing, so that it comes to the same each time: \
                 `run` and `test` are for claims, `grep` and `exists` are there"
                    .to_owned()
            }
            "print" | "println" | "log" => "predicates print nothing: return findings".to_owned(),
            _ => self
                .nearest(name)
                .map_or_else(String::new, |near| format!("is `{near}` meant?")),
        };
        let message = format!("there is no {what} `{name}`");
        self.error(code, span, message, &help);
    }

    fn nearest(&self, name: &str) -> Option<String> {
        let locals = self.stack.iter().flat_map(|building| &building.locals);
        let known = locals
            .map(|local| local.name)
            .chain(self.names.all())
            .chain(FUNCTIONS.iter().map(|function| function.name));
        let near = known
            .map(|known| (strsim::osa_distance(known, name), known))
            .filter(|(distance, known)| *distance <= 2 && *distance < known.len());
        near.min().map(|(_, known)| known.to_owned())
    }
}
