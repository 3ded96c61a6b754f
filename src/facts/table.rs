//! The fact table: what the machine reads.

use crate::facts::{FactValue, RunOutput};
use crate::reason::Reason;

/// One fact as the machine reads it: 16 bytes, no pointers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Cell {
    /// Not fetched yet.
    #[default]
    Pending,
    /// Could not be established; the number of the reason.
    Unknown(u32),
    /// Of `exists` and `test`.
    Bool(bool),
    /// An exact count.
    Int(i64),
    /// A count that is at least this.
    AtLeast(i64),
    /// Of `run`; the number of the output.
    Run(u32),
}

/// The facts of a batch, or of one program, by number.
///
/// A table that is filled again with bools and counts allocates nothing.
///
/// ```
/// use probity::facts::{Cell, FactTable, FactValue};
///
/// let mut table = FactTable::with_len(1);
/// assert_eq!(table.cell(0), Cell::Pending);
/// table.set(0, FactValue::Bool(true));
/// assert_eq!(table.cell(0), Cell::Bool(true));
/// ```
#[derive(Clone, Debug, Default)]
pub struct FactTable {
    cells: Vec<Cell>,
    reasons: Vec<Reason>,
    runs: Vec<RunOutput>,
}

impl FactTable {
    /// An empty table.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A table of pending facts.
    #[must_use]
    pub fn with_len(len: usize) -> Self {
        let mut table = Self::new();
        table.grow(len);
        table
    }

    /// Makes room for facts up to the number `len`; new ones are pending.
    pub fn grow(&mut self, len: usize) {
        if len > self.cells.len() {
            self.cells.resize(len, Cell::Pending);
        }
    }

    /// How many facts the table has room for.
    #[must_use]
    pub fn len(&self) -> usize {
        self.cells.len()
    }

    /// True if the table has no fact.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// Makes every fact pending and keeps the memory.
    pub fn reset(&mut self) {
        self.cells.fill(Cell::Pending);
        self.reasons.clear();
        self.runs.clear();
    }

    /// Sets a fact; numbers past the end make the table grow. Counts past
    /// 2^63-1 saturate.
    pub fn set(&mut self, number: usize, value: FactValue) {
        self.grow(number + 1);
        self.cells[number] = match value {
            FactValue::Bool(value) => Cell::Bool(value),
            FactValue::Count { count, exact } => {
                let count = i64::try_from(count).unwrap_or(i64::MAX);
                if exact {
                    Cell::Int(count)
                } else {
                    Cell::AtLeast(count)
                }
            }
            FactValue::Run(output) => Cell::Run(push(&mut self.runs, output)),
            FactValue::Unknown(reason) => Cell::Unknown(push(&mut self.reasons, reason)),
        };
    }

    /// Puts back a cell that was read from this table before it was hidden.
    pub(crate) fn show(&mut self, number: u32, cell: Cell) {
        if let Some(slot) = self.cells.get_mut(number as usize) {
            *slot = cell;
        }
    }

    /// Makes every fact pending and keeps what cells refer to, so that
    /// [`FactTable::show`] can put them back.
    pub(crate) fn hide_all(&mut self) {
        self.cells.fill(Cell::Pending);
    }

    /// The fact of a number; one that the table does not have is pending.
    #[must_use]
    pub fn cell(&self, number: u32) -> Cell {
        self.cells.get(number as usize).copied().unwrap_or_default()
    }

    /// The reason of a [`Cell::Unknown`].
    #[must_use]
    pub fn reason(&self, number: u32) -> Option<&Reason> {
        self.reasons.get(number as usize)
    }

    /// The output of a [`Cell::Run`].
    #[must_use]
    pub fn run(&self, number: u32) -> Option<&RunOutput> {
        self.runs.get(number as usize)
    }
}

fn push<T>(items: &mut Vec<T>, item: T) -> u32 {
    let number = u32::try_from(items.len()).unwrap_or(u32::MAX);
    items.push(item);
    number
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_is_sixteen_bytes() {
        assert_eq!(size_of::<Cell>(), 16);
    }
}
