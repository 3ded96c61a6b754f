//! Dicts: ordered by key, shared until they are changed.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::harn::fault::{Fault, Limit};
use crate::harn::value::heap::{Charge, Heap};
use crate::harn::value::list::Shape;
use crate::harn::value::{Str, Value};

const OVERHEAD: usize = 80;

/// What an entry takes, on the average of a tree.
const ENTRY: usize = 48;

/// Values by key. A copy is a pointer.
#[derive(Clone, Debug)]
pub struct Dict(Rc<Inner>);

#[derive(Debug)]
struct Inner {
    entries: BTreeMap<Str, Value>,
    shape: Shape,
    charge: Charge,
}

impl Dict {
    pub(crate) fn new(heap: &Heap) -> Result<Self, Fault> {
        Self::of(BTreeMap::new(), heap)
    }

    pub(crate) fn of(entries: BTreeMap<Str, Value>, heap: &Heap) -> Result<Self, Fault> {
        let shape = Shape::of(entries.values())?;
        let charge = heap.charge(OVERHEAD + entries.len() * ENTRY)?;
        Ok(Self(Rc::new(Inner {
            entries,
            shape,
            charge,
        })))
    }

    /// A dict of names that are known.
    pub(crate) fn from_pairs<const N: usize>(
        pairs: [(&'static str, Value); N],
        heap: &Heap,
    ) -> Result<Self, Fault> {
        let mut entries = BTreeMap::new();
        for (key, value) in pairs {
            entries.insert(Str::name(key, heap)?, value);
        }
        Self::of(entries, heap)
    }

    pub(crate) fn entries(&self) -> &BTreeMap<Str, Value> {
        &self.0.entries
    }

    pub(super) fn is_shared(&self) -> bool {
        Rc::strong_count(&self.0) > 1
    }

    pub(super) fn shape(&self) -> Shape {
        self.0.shape
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.entries.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.0.entries.len()
    }

    pub(crate) fn get(&self, key: &str) -> Option<&Value> {
        self.0.entries.get(key)
    }

    fn own(&mut self) -> Result<&mut Inner, Fault> {
        if Rc::get_mut(&mut self.0).is_none() {
            let heap = self.0.charge.heap().clone();
            heap.has_room(self.0.entries.len() * ENTRY)?;
            *self = Self::of(self.0.entries.clone(), &heap)?;
        }
        // Nobody else has it now.
        Rc::get_mut(&mut self.0).ok_or(Fault::Limit(Limit::Memory))
    }

    pub(crate) fn set(&mut self, key: Str, value: Value) -> Result<(), Fault> {
        let inner = self.own()?;
        if let Some(known) = inner.entries.get_mut(&key) {
            inner.shape = inner.shape.without(known).with(&value)?;
            *known = value;
            return Ok(());
        }
        inner.charge.grow(ENTRY)?;
        inner.shape = inner.shape.with(&value)?;
        inner.entries.insert(key, value);
        Ok(())
    }

    pub(crate) fn merge(&mut self, more: &Self) -> Result<(), Fault> {
        for (key, value) in more.entries() {
            self.set(key.clone(), value.clone())?;
        }
        Ok(())
    }

    pub(crate) fn remove(&mut self, key: &str) -> Result<(), Fault> {
        let inner = self.own()?;
        if let Some(removed) = inner.entries.remove(key) {
            inner.shape = inner.shape.without(&removed);
        }
        Ok(())
    }

    /// Takes a value out and leaves nil, if the key is there.
    pub(crate) fn take(&mut self, key: &str) -> Result<Value, Fault> {
        let inner = self.own()?;
        let Some(value) = inner.entries.get_mut(key) else {
            return Ok(Value::Nil);
        };
        let taken = std::mem::take(value);
        inner.shape = inner.shape.without(&taken).with(&Value::Nil)?;
        Ok(taken)
    }
}
