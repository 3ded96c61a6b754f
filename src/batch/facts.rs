//! The facts of a batch: each once, with what is known, what is asked and who
//! pays.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use crate::batch::BatchError;
use crate::code::FactSpec;
use crate::facts::{
    CancelToken, Cell, Cost, Demand, FactKey, FactSource, FactTable, FetchStats, Place, Primitive,
};

/// All facts met so far and the table that the machine reads.
///
/// What was fetched for an earlier window is hidden from the table until a
/// program of this window asks for it, so that a program sees the same facts
/// whatever was judged before it.
#[derive(Default)]
pub(super) struct Facts {
    numbers: HashMap<FactKey, u32, RandomState>,
    states: Vec<State>,
    pub(super) table: FactTable,
}

struct State {
    key: FactKey,
    /// What was fetched; pending if nothing was.
    cell: Cell,
    places: Vec<Place>,
    /// Programs of this stage that asked.
    asking: Vec<u32>,
    /// The largest count that one of them needs; `None` for the exact one.
    limit: Option<u64>,
}

/// A program's share of what a fact cost.
pub(super) struct Charge {
    pub(super) program: u32,
    pub(super) cost: Cost,
}

impl Facts {
    /// The number of a fact, new or met before.
    pub(super) fn intern(&mut self, key: &FactKey) -> u32 {
        if let Some(&number) = self.numbers.get(key) {
            return number;
        }
        let number = u32::try_from(self.states.len()).unwrap_or(u32::MAX);
        self.numbers.insert(key.clone(), number);
        self.states.push(State {
            key: key.clone(),
            cell: Cell::Pending,
            places: Vec::new(),
            asking: Vec::new(),
            limit: None,
        });
        self.table.grow(self.states.len());
        number
    }

    pub(super) fn len(&self) -> usize {
        self.states.len()
    }

    pub(super) fn primitive(&self, number: u32) -> Option<Primitive> {
        self.states
            .get(number as usize)
            .map(|state| state.key.primitive())
    }

    pub(super) fn places(&self, number: u32) -> &[Place] {
        self.states
            .get(number as usize)
            .map_or(&[], |state| &state.places)
    }

    /// Starts a window: nothing is seen until it is asked for.
    pub(super) fn hide_all(&mut self) {
        self.table.hide_all();
    }

    /// Notes that a program needs a fact. Returns true the first time in a stage.
    pub(super) fn ask(&mut self, number: u32, program: u32, spec: &FactSpec, exact: bool) -> bool {
        let Some(state) = self.states.get_mut(number as usize) else {
            return false;
        };
        let limit = if exact { None } else { spec.limit };
        let first = state.asking.is_empty();
        state.limit = if first {
            limit
        } else {
            state.limit.zip(limit).map(|(left, right)| left.max(right))
        };
        state.asking.push(program);
        first
    }

    /// Fetches what was asked for and is not known well enough, and shows all of
    /// it. The numbers are those for which [`Facts::ask`] returned true.
    ///
    /// # Errors
    /// [`BatchError::FactCount`] if the source breaks its contract.
    pub(super) fn fetch(
        &mut self,
        asked: &[u32],
        source: &dyn FactSource,
        places: usize,
        cancel: &CancelToken,
    ) -> Result<(Vec<Charge>, FetchStats), BatchError> {
        let missing: Vec<u32> = asked
            .iter()
            .copied()
            .filter(|&number| !self.suffices(number))
            .collect();
        let demands: Vec<Demand<'_>> = missing
            .iter()
            .filter_map(|&number| self.states.get(number as usize))
            .map(|state| Demand {
                key: &state.key,
                limit: state.limit,
                places,
            })
            .collect();
        let (fetched, stats) = if demands.is_empty() {
            (Vec::new(), FetchStats::default())
        } else {
            source.fetch(&demands, cancel)
        };
        if fetched.len() != missing.len() {
            return Err(BatchError::FactCount {
                demanded: missing.len(),
                answered: fetched.len(),
            });
        }
        let mut charges = Vec::new();
        for (&number, fetched) in missing.iter().zip(fetched) {
            self.table.set(number as usize, fetched.value);
            let state = &mut self.states[number as usize];
            state.cell = self.table.cell(number);
            state.places = fetched.places;
            share(fetched.cost, &state.asking, &mut charges);
        }
        for &number in asked {
            let state = &mut self.states[number as usize];
            self.table.show(number, state.cell);
            state.asking.clear();
        }
        Ok((charges, stats))
    }

    /// True if what was fetched before answers everyone who asks now.
    fn suffices(&self, number: u32) -> bool {
        let Some(state) = self.states.get(number as usize) else {
            return false;
        };
        match (state.cell, state.limit) {
            (Cell::Pending, _) | (Cell::AtLeast(_), None) => false,
            (Cell::AtLeast(bound), Some(limit)) => u64::try_from(bound).unwrap_or(0) >= limit,
            _ => true,
        }
    }
}

/// Splits a cost into equal shares; what does not divide goes to the first.
fn share(cost: Cost, programs: &[u32], charges: &mut Vec<Charge>) {
    let count = u64::try_from(programs.len()).unwrap_or(1).max(1);
    for (position, &program) in (0_u64..).zip(programs) {
        let part = |whole: u64| whole / count + u64::from(position < whole % count);
        charges.push(Charge {
            program,
            cost: Cost {
                fuel: part(cost.fuel),
                cpu_ns: part(cost.cpu_ns),
                bytes: part(cost.bytes),
            },
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_add_up_to_the_cost() {
        let cost = Cost {
            fuel: 10,
            cpu_ns: 7,
            bytes: 2,
        };
        let mut charges = Vec::new();
        share(cost, &[4, 5, 6], &mut charges);
        let mut total = Cost::default();
        for charge in &charges {
            total += charge.cost;
        }
        assert_eq!(total, cost);
        assert_eq!(charges[0].cost.fuel, 4);
        assert_eq!(charges[2].cost.fuel, 3);
    }
}
