//! What threads reuse, lent to them for the length of a task.

use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

use crate::scan::file::Scratch;

/// As many as threads worked at once.
#[derive(Debug, Default)]
pub(super) struct Scratches(Mutex<Vec<Scratch>>);

impl Scratches {
    /// Lends a thread its buffers.
    pub(super) fn lend<R>(&self, work: impl FnOnce(&mut Scratch) -> R) -> R {
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut scratch = lock().pop().unwrap_or_default();
        let result = work(&mut scratch);
        lock().push(scratch);
        result
    }

    /// Lets go of everything, on all threads: it is much.
    pub(super) fn dismantle(self) {
        let all = self.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        all.into_par_iter().for_each(drop);
    }
}
