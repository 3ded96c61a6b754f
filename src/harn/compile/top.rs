//! The names at the top of a file, and which item uses which.

use std::collections::HashMap;

use crate::harn::syntax::ast;

use super::closure::ItemId;
use super::unit::Compiler;

/// What a name at the top of a file stands for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Global<'a> {
    Function(u32, Option<&'a ast::Function<'a>>),
    /// A binding: its number, whether it may change, and the constant that it is.
    Binding(u16, bool, Option<u16>),
    /// A builtin that has to be imported.
    Builtin(u8),
}

/// A name at the top of a file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known<'a> {
    pub(super) global: Global<'a>,
    /// The item that declares it; a builtin has none.
    pub(super) item: Option<ItemId>,
}

/// The names of one file.
#[derive(Clone, Debug, Default)]
pub(super) struct Names<'a> {
    known: HashMap<&'a str, Known<'a>>,
    types: HashMap<&'a str, (ast::Type<'a>, ItemId)>,
}

impl<'a> Names<'a> {
    /// A name with its item, to import it.
    pub(super) fn get_known(&self, name: &str) -> Option<Known<'a>> {
        self.known.get(name).copied()
    }

    /// What a name stands for, for the item that declares it. Every other one asks
    /// [`Compiler::global`], which notes that it uses it.
    pub(super) fn get(&self, name: &str) -> Option<Global<'a>> {
        self.get_known(name).map(|known| known.global)
    }

    /// The type that a name stands for, for whoever reads what another one uses.
    pub(super) fn stands_for(&self, name: &str) -> Option<ast::Type<'a>> {
        self.types.get(name).map(|(ty, _)| *ty)
    }

    /// Every name, in no order.
    pub(super) fn all(&self) -> impl Iterator<Item = &'a str> {
        self.known.keys().copied()
    }

    /// The functions that the file itself declares, in no order.
    pub(super) fn functions(&self) -> impl Iterator<Item = (&'a str, u32)> {
        let known = self.known.iter();
        known.filter_map(|(name, known)| match known.global {
            Global::Function(number, Some(_)) => Some((*name, number)),
            _ => None,
        })
    }

    /// Adds a name. False if it is there already.
    pub(super) fn add(&mut self, name: &'a str, known: Known<'a>) -> bool {
        let is_new = !self.known.contains_key(name);
        if is_new {
            self.known.insert(name, known);
        }
        is_new
    }

    /// Adds a type. False if it was there already.
    pub(super) fn add_type(&mut self, name: &'a str, ty: ast::Type<'a>, item: ItemId) -> bool {
        self.types.insert(name, (ty, item)).is_none()
    }
}

impl<'a> Compiler<'a, '_> {
    /// What a name at the top of the file stands for. The item that is compiled uses it
    /// from now on: its closure hash depends on it.
    pub(super) fn global(&mut self, name: &str) -> Option<Global<'a>> {
        let known = self.names.get_known(name)?;
        if let Some(item) = known.item {
            self.reach.uses(item);
        }
        Some(known.global)
    }

    /// The type that a name stands for, used likewise.
    pub(super) fn alias(&mut self, name: &str) -> Option<ast::Type<'a>> {
        let (ty, item) = self.names.types.get(name).copied()?;
        self.reach.uses(item);
        Some(ty)
    }
}
