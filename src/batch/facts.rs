//! The facts of a batch: each once, with what is known, what is asked and who
//! pays.

use foldhash::fast::RandomState;
use indexmap::IndexMap;

use crate::batch::BatchError;
use crate::batch::account::Account;
use crate::code::FactSpec;
use crate::facts::{
    Cell, Cost, Demand, FactKey, FactSource, FactTable, FactValue, FetchStats, Fetched, Place,
    TestRun,
};

/// All facts met so far and the table that the machine reads.
///
/// What was fetched for an earlier window is hidden from the table until a
/// program of this window asks for it, so that a program sees the same facts
/// whatever was judged before it.
#[derive(Default)]
pub(super) struct Facts {
    /// By number. A count up to another limit is another fact: what one program makes
    /// the source look at must not change what another one gets.
    states: IndexMap<(FactKey, Limit), State, RandomState>,
    pub(super) table: FactTable,
}

/// How many decide; `None` for the exact count.
type Limit = Option<u64>;

#[derive(Default)]
struct State {
    /// What was fetched; pending if nothing was.
    cell: Cell,
    places: Vec<Place>,
    tests: Vec<TestRun>,
    reused: bool,
    /// What it cost.
    cost: Cost,
    /// Programs of this stage that asked.
    asking: Vec<u32>,
}

/// A program's share of what a fact cost.
pub(super) struct Charge {
    pub(super) program: u32,
    pub(super) cost: Cost,
}

/// Whom one stage is charged to, and its totals.
pub(super) struct Bill {
    pub(super) charges: Vec<Charge>,
    pub(super) stats: FetchStats,
}

impl Facts {
    /// The number of a fact, new or met before; with `exact` of the exact count.
    pub(super) fn intern(&mut self, spec: &FactSpec, exact: bool) -> u32 {
        let limit = if exact { None } else { spec.limit };
        let entry = self.states.entry((spec.key.clone(), limit));
        let number = u32::try_from(entry.index()).unwrap_or(u32::MAX);
        entry.or_default();
        self.table.grow(self.states.len());
        number
    }

    /// Makes room for so many more.
    pub(super) fn reserve(&mut self, facts: usize) {
        self.states.reserve(facts);
    }

    pub(super) fn len(&self) -> usize {
        self.states.len()
    }

    /// The stage in which a fact is fetched.
    pub(super) fn stage(&self, number: u32) -> Option<usize> {
        let ((key, _), _) = self.states.get_index(number as usize)?;
        Some(key.stage())
    }

    pub(super) fn places(&self, number: u32) -> &[Place] {
        self.state(number).map_or(&[], |state| &state.places)
    }

    pub(super) fn tests(&self, number: u32) -> &[TestRun] {
        self.state(number).map_or(&[], |state| &state.tests)
    }

    pub(super) fn is_reused(&self, number: u32) -> bool {
        self.state(number).is_some_and(|state| state.reused)
    }

    /// Starts a window: nothing is seen until it is asked for.
    pub(super) fn hide_all(&mut self) {
        self.table.hide_all();
    }

    /// What a fact cost, whoever paid for it.
    pub(super) fn cost(&self, number: u32) -> Cost {
        self.state(number)
            .map_or(Cost::default(), |state| state.cost)
    }

    fn state(&self, number: u32) -> Option<&State> {
        Some(self.states.get_index(number as usize)?.1)
    }

    /// Notes that a program needs a fact. Returns true the first time in a stage.
    pub(super) fn ask(&mut self, number: u32, program: u32) -> bool {
        let Some((_, state)) = self.states.get_index_mut(number as usize) else {
            return false;
        };
        state.asking.push(program);
        state.asking.len() == 1
    }

    /// Fetches what was asked for and is not known yet, and shows all of it. The
    /// numbers are those for which [`Facts::ask`] returned true. Once a budget is
    /// used up or somebody asked to stop, what is not known stays unknown.
    ///
    /// # Errors
    /// [`BatchError::FactCount`] if the source breaks its contract.
    pub(super) fn fetch(
        &mut self,
        asked: &[u32],
        source: &dyn FactSource,
        places: usize,
        account: &mut Account,
    ) -> Result<Bill, BatchError> {
        let missing: Vec<u32> = asked
            .iter()
            .copied()
            .filter(|&number| self.is_pending(number))
            .collect();
        let (fetched, stats) = match account.refusal() {
            _ if missing.is_empty() => (Vec::new(), FetchStats::default()),
            Some(reason) => {
                let unknown = Fetched::from(FactValue::Unknown(reason));
                (vec![unknown; missing.len()], FetchStats::default())
            }
            None => self.demand(&missing, source, places, account),
        };
        if fetched.len() != missing.len() {
            return Err(BatchError::FactCount {
                demanded: missing.len(),
                answered: fetched.len(),
            });
        }
        let mut charges = Vec::new();
        for (&number, fetched) in missing.iter().zip(fetched) {
            account.charge_fuel(fetched.cost.fuel);
            self.table.set(number as usize, fetched.value);
            let state = &mut self.states[number as usize];
            state.cell = self.table.cell(number);
            state.places = fetched.places;
            state.tests = fetched.tests;
            state.reused = fetched.reused;
            state.cost = fetched.cost;
            share(fetched.cost, &state.asking, &mut charges);
        }
        for &number in asked {
            let state = &mut self.states[number as usize];
            self.table.show(number, state.cell);
            state.asking.clear();
        }
        Ok(Bill { charges, stats })
    }

    fn demand(
        &self,
        missing: &[u32],
        source: &dyn FactSource,
        places: usize,
        account: &Account,
    ) -> (Vec<Fetched>, FetchStats) {
        let fuel = account.fuel_for_a_fact();
        let demands: Vec<Demand<'_>> = missing
            .iter()
            .filter_map(|&number| self.states.get_index(number as usize))
            .map(|((key, limit), _)| Demand {
                key,
                limit: *limit,
                places,
                fuel,
            })
            .collect();
        let token = account.token();
        let before = token.cpu_spent_ns();
        let (fetched, stats) = source.fetch(&demands, token);
        // What the source did not charge while it worked.
        let charged = token.cpu_spent_ns().saturating_sub(before);
        let times = fetched.iter().map(|fetched| fetched.cost.cpu_ns);
        let reported = times.fold(0, u64::saturating_add);
        token.charge_cpu(reported.saturating_sub(charged));
        (fetched, stats)
    }

    fn is_pending(&self, number: u32) -> bool {
        self.state(number)
            .is_some_and(|state| state.cell == Cell::Pending)
    }
}

/// Splits a cost into equal shares, rounded up: who comes first in a log must
/// make no difference to anybody's account.
fn share(cost: Cost, programs: &[u32], charges: &mut Vec<Charge>) {
    let count = u64::try_from(programs.len()).unwrap_or(1).max(1);
    let cost = Cost {
        fuel: cost.fuel.div_ceil(count),
        cpu_ns: cost.cpu_ns.div_ceil(count),
        bytes: cost.bytes.div_ceil(count),
    };
    charges.extend(programs.iter().map(|&program| Charge { program, cost }));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_equal_and_cover_the_cost() {
        let cost = Cost {
            fuel: 10,
            cpu_ns: 7,
            bytes: 2,
        };
        let mut charges = Vec::new();
        share(cost, &[4, 5, 6], &mut charges);
        let share = Cost {
            fuel: 4,
            cpu_ns: 3,
            bytes: 1,
        };
        assert_eq!(charges.len(), 3);
        assert!(charges.iter().all(|charge| charge.cost == share));
    }
}
