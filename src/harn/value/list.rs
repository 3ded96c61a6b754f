//! Lists: shared until they are changed.

use std::rc::Rc;

use crate::harn::fault::{Fault, Limit};
use crate::harn::value::heap::{Charge, Heap};
use crate::harn::value::{MAX_VALUE_DEPTH, MAX_VALUE_WEIGHT, Value};

const OVERHEAD: usize = 64;

/// Values in order. A copy is a pointer.
#[derive(Clone, Debug)]
pub struct List(Rc<Inner>);

#[derive(Debug)]
struct Inner {
    items: Vec<Value>,
    shape: Shape,
    charge: Charge,
}

/// How deep a value is nested, and how many values it holds, each counted as often as
/// it is reached: what walks over it takes so many steps.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Shape {
    pub(super) depth: u16,
    pub(super) weight: u32,
}

impl Shape {
    pub(super) fn of<'a>(values: impl IntoIterator<Item = &'a Value>) -> Result<Self, Fault> {
        let mut shape = Self {
            depth: 1,
            weight: 1,
        };
        for value in values {
            shape = shape.with(value)?;
        }
        Ok(shape)
    }

    /// With one value more.
    pub(super) fn with(self, value: &Value) -> Result<Self, Fault> {
        let depth = self.depth.max(value.depth() + 1);
        let weight = self.weight.saturating_add(value.weight());
        if depth > MAX_VALUE_DEPTH || weight > MAX_VALUE_WEIGHT {
            return Err(Fault::Limit(Limit::Depth));
        }
        Ok(Self { depth, weight })
    }

    /// With one value less. The depth stays.
    pub(super) fn without(mut self, value: &Value) -> Self {
        self.weight = self.weight.saturating_sub(value.weight());
        self
    }
}

impl List {
    pub(crate) fn new(items: Vec<Value>, heap: &Heap) -> Result<Self, Fault> {
        let shape = Shape::of(&items)?;
        let charge = heap.charge(OVERHEAD + items.capacity() * size_of::<Value>())?;
        Ok(Self(Rc::new(Inner {
            items,
            shape,
            charge,
        })))
    }

    pub(crate) fn items(&self) -> &[Value] {
        &self.0.items
    }

    pub(super) fn is_shared(&self) -> bool {
        Rc::strong_count(&self.0) > 1
    }

    pub(super) fn shape(&self) -> Shape {
        self.0.shape
    }

    /// The list for changes, copied if somebody else has it.
    fn own(&mut self) -> Result<&mut Inner, Fault> {
        if Rc::get_mut(&mut self.0).is_none() {
            let heap = self.0.charge.heap().clone();
            heap.has_room(self.0.items.len() * size_of::<Value>())?;
            *self = Self::new(self.0.items.clone(), &heap)?;
        }
        // Nobody else has it now.
        Rc::get_mut(&mut self.0).ok_or(Fault::Limit(Limit::Memory))
    }

    pub(crate) fn push(&mut self, value: Value) -> Result<(), Fault> {
        let inner = self.own()?;
        inner.reserve(1)?;
        inner.shape = inner.shape.with(&value)?;
        inner.items.push(value);
        Ok(())
    }

    pub(crate) fn extend(&mut self, more: &[Value]) -> Result<(), Fault> {
        let inner = self.own()?;
        inner.reserve(more.len())?;
        for value in more {
            inner.shape = inner.shape.with(value)?;
        }
        inner.items.extend_from_slice(more);
        Ok(())
    }

    /// Puts a value in the place of another.
    pub(crate) fn set(&mut self, at: usize, value: Value) -> Result<(), Fault> {
        let inner = self.own()?;
        if let Some(item) = inner.items.get_mut(at) {
            inner.shape = inner.shape.without(item).with(&value)?;
            *item = value;
        }
        Ok(())
    }

    /// Takes an item out and leaves nil.
    pub(crate) fn take(&mut self, at: usize) -> Result<Value, Fault> {
        let inner = self.own()?;
        let Some(item) = inner.items.get_mut(at) else {
            return Ok(Value::Nil);
        };
        let taken = std::mem::take(item);
        inner.shape = inner.shape.without(&taken).with(&Value::Nil)?;
        Ok(taken)
    }
}

impl Inner {
    fn reserve(&mut self, more: usize) -> Result<(), Fault> {
        let needed = self.items.len() + more;
        let capacity = self.items.capacity();
        if needed > capacity {
            let grown = needed.max(capacity * 2).max(4);
            self.charge.grow((grown - capacity) * size_of::<Value>())?;
            self.items.reserve_exact(grown - self.items.len());
        }
        Ok(())
    }
}
