//! The distinct programs of a batch and what they came to.

use std::collections::HashMap;
use std::sync::Arc;

use foldhash::fast::RandomState;
use rayon::prelude::*;

use crate::batch::facts::Facts;
use crate::batch::{BatchError, Evaluation, Settings, judge};
use crate::code::{Arena, Program, ProgramRef};
use crate::digest::Digest;
use crate::facts::{CancelToken, Cost, FactSource, FetchStats, Primitive};
use crate::language::Language;
use crate::lower::CompileError;
use crate::reason::{Reason, ReasonCode};
use crate::vm::{Trace, Truth, evaluate_traced};

/// What makes two claims state the same program.
type Identity = (Digest, Language);

/// Every program met so far.
#[derive(Default)]
pub(super) struct Programs {
    numbers: HashMap<Identity, u32, RandomState>,
    entries: Vec<Entry>,
    arena: Arena,
    /// Programs of this window that are not decided.
    open: Vec<Open>,
}

struct Entry {
    /// `None` until the window that brought the program is resolved.
    evaluation: Option<Arc<Evaluation>>,
    cost: Cost,
}

struct Open {
    number: u32,
    program: Program,
    at: ProgramRef,
    /// For each fact of the program the number in the table.
    facts: Vec<u32>,
    /// The facts asked for so far.
    asked: Vec<u32>,
}

impl Programs {
    pub(super) fn number(&self, digest: Digest, language: Language) -> Option<u32> {
        self.numbers.get(&(digest, language)).copied()
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// What a program came to, once its window is resolved.
    pub(super) fn evaluation(&self, number: u32) -> Option<&Arc<Evaluation>> {
        self.entries.get(number as usize)?.evaluation.as_ref()
    }

    /// Adds a program that was not met before.
    pub(super) fn add(
        &mut self,
        program: Program,
        facts: &mut Facts,
        exact: bool,
    ) -> Result<u32, BatchError> {
        let identity = (program.digest(), program.language());
        if let Some(number) = self.number(identity.0, identity.1) {
            return Ok(number);
        }
        let number = self.push(identity, None);
        let numbers: Vec<u32> = program
            .facts()
            .iter()
            .map(|fact| facts.intern(fact, exact))
            .collect();
        let at = self
            .arena
            .link(&program, |fact| numbers[fact])
            .ok_or(BatchError::TooManyPrograms)?;
        self.open.push(Open {
            number,
            program,
            at,
            facts: numbers,
            asked: Vec::new(),
        });
        Ok(number)
    }

    /// Adds a source that does not compile.
    pub(super) fn refuse(&mut self, identity: Identity, source: &str, error: CompileError) -> u32 {
        match self.number(identity.0, identity.1) {
            Some(number) => number,
            None => self.push(identity, Some(Arc::new(judge::refused(source, error)))),
        }
    }

    fn push(&mut self, identity: Identity, evaluation: Option<Arc<Evaluation>>) -> u32 {
        let number = u32::try_from(self.entries.len()).unwrap_or(u32::MAX);
        self.numbers.insert(identity, number);
        self.entries.push(Entry {
            evaluation,
            cost: Cost::default(),
        });
        number
    }

    /// Decides the programs that were added since the last call: stage by stage,
    /// each fact once, a later stage only for what is still open.
    pub(super) fn resolve(
        &mut self,
        facts: &mut Facts,
        source: &dyn FactSource,
        settings: &Settings,
        cancel: &CancelToken,
    ) -> Result<(FetchStats, Cost), BatchError> {
        let mut stats = FetchStats::default();
        let mut total = Cost::default();
        let mut open = std::mem::take(&mut self.open);
        facts.hide_all();
        let mut decided = Vec::new();
        for stage in 0..=Primitive::STAGES {
            let traces: Vec<Trace> = open
                .par_iter()
                .with_min_len(256)
                .map(|open| evaluate_traced(&self.arena, open.at, &facts.table))
                .collect();
            let mut asked = Vec::new();
            let mut still = Vec::new();
            for (mut program, trace) in open.into_iter().zip(traces) {
                let needed = trace.needed();
                // Facts of a later stage keep an undecided program open.
                if !matches!(trace.truth, Truth::Unknown(_)) || needed.is_empty() {
                    decided.push((program, trace));
                    continue;
                }
                for number in needed {
                    if facts.primitive(number).map(Primitive::stage) == Some(stage) {
                        program.ask(number, facts, &mut asked);
                    }
                }
                still.push(program);
            }
            open = still;
            if open.is_empty() {
                break;
            }
            let bill = facts.fetch(&asked, source, settings.places, cancel)?;
            stats.files += bill.stats.files;
            stats.bytes += bill.stats.bytes;
            total += bill.total;
            for charge in bill.charges {
                self.entries[charge.program as usize].cost += charge.cost;
            }
        }
        debug_assert!(open.is_empty(), "every stage was fetched");
        let evaluations: Vec<Evaluation> = decided
            .par_iter()
            .with_min_len(256)
            .map(|(open, trace)| {
                judge::judge(
                    &open.program,
                    &open.facts,
                    &open.asked,
                    trace,
                    facts,
                    settings.exact,
                )
            })
            .collect();
        for ((open, _), mut evaluation) in decided.iter().zip(evaluations) {
            let entry = &mut self.entries[open.number as usize];
            total.fuel += evaluation.cost.fuel;
            evaluation.cost += entry.cost;
            let fuel = open.fuel(facts);
            if let Some(limit) = settings.fuel
                && fuel > limit
            {
                let reason = out_of_fuel(fuel, limit);
                judge::over_budget(&mut evaluation, reason);
            }
            entry.evaluation = Some(Arc::new(evaluation));
        }
        // What is decided is never run again.
        self.arena.clear();
        Ok((stats, total))
    }
}

impl Open {
    fn ask(&mut self, number: u32, facts: &mut Facts, asked: &mut Vec<u32>) {
        if facts.ask(number, self.number) {
            asked.push(number);
        }
        self.asked.push(number);
    }

    /// What the program costs by itself, nothing shared: a limit on it does not
    /// depend on who else is in the batch.
    fn fuel(&self, facts: &Facts) -> u64 {
        let fetched = self.asked.iter().map(|&number| facts.cost(number).fuel);
        fetched.fold(self.program.fuel(), u64::saturating_add)
    }
}

fn out_of_fuel(used: u64, limit: u64) -> Reason {
    Reason::new(
        ReasonCode::BudgetExceeded,
        format!(
            "the predicate took {used} units of fuel and its limit is {limit}; raise --fuel or narrow what it scans"
        ),
    )
}
