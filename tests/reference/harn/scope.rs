//! Where names live.

use std::cell::RefCell;
use std::rc::Rc;

use super::failure::Failure;
use super::value::Value;

/// The names of a block, and the blocks around it.
pub(super) struct Scope {
    names: RefCell<Vec<Binding>>,
    outer: Option<Rc<Scope>>,
}

struct Binding {
    name: String,
    value: Value,
    mutable: bool,
}

impl Scope {
    pub(super) fn new(outer: Option<&Rc<Self>>) -> Rc<Self> {
        Rc::new(Self {
            names: RefCell::default(),
            outer: outer.cloned(),
        })
    }

    /// Binds a name; one that may not change is not bound again.
    pub(super) fn declare(&self, name: &str, value: Value, mutable: bool) -> Result<(), Failure> {
        if name == "_" {
            return Ok(());
        }
        let mut names = self.names.borrow_mut();
        let is_taken = |known: &Binding| known.name == name && !known.mutable;
        if names.iter().any(is_taken) {
            return Err(Failure::check(format!("`{name}` is there already")));
        }
        names.push(Binding {
            name: name.into(),
            value,
            mutable,
        });
        Ok(())
    }

    /// Binds a name even if it is `_`: that of a pipe.
    pub(super) fn declare_hole(&self, value: Value) {
        self.names.borrow_mut().push(Binding {
            name: "_".into(),
            value,
            mutable: false,
        });
    }

    pub(super) fn get(&self, name: &str) -> Option<Value> {
        let here = self.names.borrow();
        let found = here.iter().rfind(|known| known.name == name);
        match (found, &self.outer) {
            (Some(found), _) => Some(found.value.clone()),
            (None, outer) => outer.as_ref()?.get(name),
        }
    }

    /// Assigns to a name. What lies in `frozen` only its own code changes.
    pub(super) fn set(
        &self,
        name: &str,
        value: Value,
        frozen: Option<&Self>,
    ) -> Result<(), Failure> {
        let mut here = self.names.borrow_mut();
        match (
            here.iter_mut().rfind(|known| known.name == name),
            &self.outer,
        ) {
            (Some(found), _) => {
                if !found.mutable || frozen.is_some_and(|frozen| std::ptr::eq(frozen, self)) {
                    return Err(Failure::check(format!("`{name}` may not change")));
                }
                found.value = value;
                Ok(())
            }
            (None, Some(outer)) => outer.set(name, value, frozen),
            (None, None) => Err(Failure::check(format!("`{name}` is not known"))),
        }
    }

    /// Forgets all names, here and around: closures and scopes hold each other.
    pub(super) fn clear(&self) {
        let names = std::mem::take(&mut *self.names.borrow_mut());
        drop(names);
        if let Some(outer) = &self.outer {
            outer.clear();
        }
    }
}
