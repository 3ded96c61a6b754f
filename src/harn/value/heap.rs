//! How much memory the values of an evaluation take.

use std::cell::Cell;
use std::rc::Rc;

use crate::harn::fault::{Fault, Limit};

/// Counts the bytes of living values, up to a limit.
#[derive(Clone, Debug)]
pub struct Heap(Rc<Meter>);

#[derive(Debug)]
struct Meter {
    live: Cell<usize>,
    peak: Cell<usize>,
    most: usize,
}

impl Heap {
    /// A heap of at most so many bytes.
    #[must_use]
    pub fn new(most: usize) -> Self {
        Self(Rc::new(Meter {
            live: Cell::new(0),
            peak: Cell::new(0),
            most,
        }))
    }

    /// The most bytes that were alive at a time.
    #[must_use]
    pub fn peak(&self) -> usize {
        self.0.peak.get()
    }

    /// How many bytes more there may be.
    pub(crate) fn room(&self) -> usize {
        self.0.most.saturating_sub(self.0.live.get())
    }

    /// Accounts for bytes until the charge is dropped.
    pub(crate) fn charge(&self, bytes: usize) -> Result<Charge, Fault> {
        let mut charge = Charge {
            heap: self.clone(),
            bytes: 0,
        };
        charge.grow(bytes)?;
        Ok(charge)
    }

    /// Fails if so many bytes more would be too many.
    pub(crate) fn has_room(&self, bytes: usize) -> Result<(), Fault> {
        if self.0.live.get().saturating_add(bytes) > self.0.most {
            return Err(Fault::Limit(Limit::Memory));
        }
        Ok(())
    }
}

/// Bytes of one value.
#[derive(Debug)]
pub(crate) struct Charge {
    heap: Heap,
    bytes: usize,
}

impl Charge {
    pub(crate) fn grow(&mut self, bytes: usize) -> Result<(), Fault> {
        self.heap.has_room(bytes)?;
        let meter = &self.heap.0;
        let live = meter.live.get() + bytes;
        meter.live.set(live);
        meter.peak.set(meter.peak.get().max(live));
        self.bytes += bytes;
        Ok(())
    }

    pub(crate) fn heap(&self) -> &Heap {
        &self.heap
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        let meter = &self.heap.0;
        meter.live.set(meter.live.get() - self.bytes);
    }
}
