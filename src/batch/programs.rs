//! The distinct programs of a batch and what they came to.

use std::collections::HashMap;
use std::sync::Arc;

use foldhash::fast::RandomState;
use rayon::prelude::*;

use crate::batch::account::Account;
use crate::batch::facts::Facts;
use crate::batch::{BatchError, Evaluation, Settings, Verdict, judge, slice};
use crate::code::{Arena, Program, ProgramRef};
use crate::digest::Digest;
use crate::facts::{Cost, FactKey, FactSource, FetchStats};
use crate::language::Language;
use crate::lower::CompileError;
use crate::reason::Reason;
use crate::vm::{Trace, Truth};

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
    /// The CPU time of evaluating it so far, in nanoseconds.
    cpu_ns: u64,
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

    /// Makes room for so many more.
    pub(super) fn reserve(&mut self, programs: usize) {
        self.numbers.reserve(programs);
        self.entries.reserve(programs);
        self.open.reserve(programs);
    }

    /// Adds a program that was not met before.
    pub(super) fn add(
        &mut self,
        program: Program,
        facts: &mut Facts,
        account: &mut Account,
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
        account.charge_fuel(program.fuel());
        self.open.push(Open {
            number,
            program,
            at,
            facts: numbers,
            asked: Vec::new(),
            cpu_ns: 0,
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
        account: &mut Account,
    ) -> Result<FetchStats, BatchError> {
        let mut stats = FetchStats::default();
        let mut open = std::mem::take(&mut self.open);
        facts.hide_all();
        let mut decided = Vec::new();
        for stage in 0..=FactKey::STAGES {
            let programs: Vec<ProgramRef> = open.iter().map(|open| open.at).collect();
            let slices = slice::evaluate_all(&programs, &self.arena, &facts.table, account);
            let mut asked = Vec::new();
            let mut still = Vec::new();
            let traces = slices.into_iter().flatten();
            for (mut program, (trace, cpu_ns)) in open.into_iter().zip(traces) {
                program.cpu_ns = program.cpu_ns.saturating_add(cpu_ns);
                let needed = trace.needed();
                // Facts of a later stage keep an undecided program open.
                if !matches!(trace.truth, Truth::Unknown(_)) || needed.is_empty() {
                    decided.push((program, trace));
                    continue;
                }
                for number in needed {
                    if facts.stage(number) == Some(stage) {
                        program.ask(number, facts, &mut asked);
                    }
                }
                still.push(program);
            }
            open = still;
            if open.is_empty() {
                break;
            }
            let bill = facts.fetch(&asked, source, settings.places, account)?;
            stats += bill.stats;
            for charge in bill.charges {
                self.entries[charge.program as usize].cost += charge.cost;
            }
        }
        debug_assert!(open.is_empty(), "every stage was fetched");
        let evaluations = judge_all(&decided, facts, settings, account);
        for ((open, _), mut evaluation) in decided.iter().zip(evaluations) {
            let entry = &mut self.entries[open.number as usize];
            evaluation.cost += entry.cost;
            if let Some(reason) = open.over_budget(evaluation.verdict, facts, account) {
                judge::over_budget(&mut evaluation, reason);
            }
            entry.evaluation = Some(Arc::new(evaluation));
        }
        // What is decided is never run again.
        self.arena.clear();
        Ok(stats)
    }
}

fn judge_all(
    decided: &[(Open, Trace)],
    facts: &Facts,
    settings: &Settings,
    account: &Account,
) -> Vec<Evaluation> {
    let is_measured = account.measures(decided.len());
    decided
        .par_iter()
        .with_min_len(64)
        .map_init(
            || is_measured.then(|| account.token().stopwatch()),
            |_stopwatch, (open, trace)| {
                let mut evaluation = judge::judge(
                    &open.program,
                    &open.facts,
                    &open.asked,
                    trace,
                    facts,
                    settings.exact,
                );
                evaluation.cost.cpu_ns = open.cpu_ns;
                evaluation
            },
        )
        .collect()
}

impl Open {
    fn ask(&mut self, number: u32, facts: &mut Facts, asked: &mut Vec<u32>) {
        if facts.ask(number, self.number) {
            asked.push(number);
        }
        self.asked.push(number);
    }

    /// Why the program gets no verdict although it is decided. It is held to what it
    /// costs by itself, nothing shared: that does not depend on who else is in the
    /// batch. What is unevaluated for a deterministic reason keeps it.
    fn over_budget(&self, verdict: Verdict, facts: &Facts, account: &Account) -> Option<Reason> {
        let mut alone = Cost {
            fuel: self.program.fuel(),
            cpu_ns: self.cpu_ns,
            bytes: 0,
        };
        for &number in &self.asked {
            alone += facts.cost(number);
        }
        account.over_fuel(alone.fuel).or_else(|| {
            let is_decided = matches!(verdict, Verdict::Pass | Verdict::Fail);
            account.over_cpu(alone.cpu_ns).filter(|_| is_decided)
        })
    }
}
