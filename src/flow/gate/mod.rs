//! The gate: the predicates that apply to a change decide whether it ships.
//! (flow.md, sections 2 to 5.)
//!
//! - **What applies** is the union of the predicates of every directory that the slice
//!   touches, root first. Their number is checked before any is evaluated.
//! - **What counts** is, for each predicate, the strictest result of those of its name on
//!   the way to the root: a child tightens what an ancestor says and never relaxes it.
//! - **What cannot be judged blocks**: predicate files with errors, predicates that fail
//!   or run out of their budget, files too large to be read.
//! - **Nothing is allowed in silence**: a slice without files, or without a predicate that
//!   counts, is not judged.

mod approvals;
mod report;
mod rules;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use serde_json::Value as Json;

use crate::budget::{CancelToken, StopCause};
use crate::digest::Digest;
use crate::flow::ceiling::{CeilingLevel, CeilingOutcome, PredicateCeiling};
use crate::flow::compose::{PredicateEvaluation, ResolvedPredicate, compose_predicate_results};
use crate::flow::discovery::{Discovery, Union};
use crate::flow::evaluate::{Patterns, Prepared};
use crate::flow::executor::{CheapJudge, Executor, ExecutorConfig, Record, Runner, SliceJob};
use crate::flow::result::{InvariantResult, Verdict};
use crate::flow::runner::{PredicateRunner, World, fuel_of, modules, result_of};
use crate::flow::slice::Slice;
use crate::harn::{FallbackPolicy, Given, Mode, Workspace};

pub use approvals::{Approvals, ApproverError};
pub use report::{
    GateApproval, GateCost, GateDiagnostic, GateEntry, GateFinding, GateOutcome, GatePlace,
    GateRecord, GateReport, GateSkip, GateSlice,
};
pub use rules::changed_rules;

/// Why a semantic predicate was left out.
const NOT_INCLUDED: &str = "semantic predicates require an explicit include_semantic option";

/// How slices are judged. The default is that of the decision record, without semantic
/// predicates.
#[derive(Clone, Default)]
pub struct Gate {
    /// Budgets, lanes and envelopes.
    pub executor: ExecutorConfig,
    /// How many predicates there may be.
    pub ceiling: PredicateCeiling,
    /// Fuel of each attempt; 40,000 for each millisecond of the budget if `None`, which
    /// is 2,000,000.
    pub fuel: Option<u64>,
    /// Whether semantic predicates are evaluated.
    pub include_semantic: bool,
    /// Who answers them. Without one they block (`llm_unavailable`).
    pub judge: Option<Arc<dyn CheapJudge>>,
    /// The fields of `ctx`.
    pub ctx: Option<Json>,
    /// Whether a slice without files may pass; else it is not judged.
    pub allow_empty: bool,
    /// Ends everything.
    pub cancel: CancelToken,
}

/// A slice that is to be judged.
#[derive(Clone, Debug)]
pub struct GateJob<'j> {
    /// The slice.
    pub slice: &'j Slice,
    /// `repo_at_base`.
    pub base: Option<Given>,
    /// What reports say of it.
    pub about: GateSlice,
    /// The directories that it touches, see [`crate::flow::touched_directories`].
    pub touched: Vec<Box<str>>,
    /// What is known to be wrong with it already.
    pub diagnostics: Vec<GateDiagnostic>,
    /// The approvals that came with it.
    pub approvals: Approvals,
}

impl<'j> GateJob<'j> {
    /// A slice that touches directories.
    #[must_use]
    pub fn new(slice: &'j Slice, touched: Vec<Box<str>>) -> Self {
        Self {
            slice,
            base: None,
            about: GateSlice {
                files: slice.files().len(),
                ..GateSlice::default()
            },
            touched,
            diagnostics: Vec::new(),
            approvals: Approvals::default(),
        }
    }
}

impl Gate {
    /// Judges a slice by the predicate files of a tree.
    #[must_use]
    pub fn judge(
        &self,
        discovery: &mut Discovery<'_>,
        workspace: Option<&Workspace>,
        job: &GateJob<'_>,
    ) -> GateReport {
        let mut reports = self.judge_all(discovery, workspace, std::slice::from_ref(job));
        match reports.pop() {
            Some(report) => report,
            // There is one report for each job.
            None => empty(job, CeilingOutcome::Within { count: 0 }),
        }
    }

    /// Judges many slices at once; reports come in the order of the slices. `workspace`
    /// is what `grep` and `exists` look into; without it their calls block.
    #[must_use]
    pub fn judge_all(
        &self,
        discovery: &mut Discovery<'_>,
        workspace: Option<&Workspace>,
        jobs: &[GateJob<'_>],
    ) -> Vec<GateReport> {
        let started = Instant::now();
        let plans: Vec<Plan> = jobs
            .iter()
            .map(|job| self.plan(discovery.union(&job.touched)))
            .collect();
        let chosen = plans.iter().flat_map(Plan::chosen);
        let modules = modules(chosen);
        let result = result_of(plans.iter().map(|plan| plan.chosen.len()).sum());
        if let Some(workspace) = workspace {
            let budget = self.executor.deterministic_budget;
            let fuel = self.fuel.unwrap_or_else(|| fuel_of(budget));
            workspace.look_ahead(&modules, fuel, &self.cancel);
        }
        let patterns = Patterns::new(&modules);
        let prepared = jobs.iter().zip(&plans).map(|(job, plan)| {
            let is_empty = plan.chosen.is_empty();
            match is_empty {
                true => Prepared::new(job.slice),
                false => Prepared::sift(job.slice, &patterns),
            }
        });
        let prepared: Vec<Prepared<'_>> = prepared.collect();
        let worlds = jobs.iter().zip(&prepared).map(|(job, slice)| World {
            ctx: self.ctx.as_ref(),
            base: job.base.as_ref(),
            workspace,
            fuel: self.fuel,
            result,
            ..World::new(slice)
        });
        let worlds: Vec<World<'_>> = worlds.collect();
        let runners = plans.iter().zip(&worlds).map(|(plan, world)| {
            plan.chosen()
                .map(|predicate| PredicateRunner::new(predicate, world))
                .collect()
        });
        let runners: Vec<Vec<PredicateRunner<'_>>> = runners.collect();
        let slices = jobs.iter().zip(&runners).map(|(job, runners)| SliceJob {
            slice: job.slice,
            runners: runners.iter().map(|runner| runner as &dyn Runner).collect(),
        });
        let slices: Vec<SliceJob<'_>> = slices.collect();
        let mut executor = Executor::new(self.executor.clone()).cancel(self.cancel.clone());
        if let Some(judge) = &self.judge {
            executor = executor.judge(judge.clone());
        }
        let executed = executor.execute_slices(&slices);
        let is_interrupted = self.cancel.stop() == Some(StopCause::Cancelled);
        let wall_ns = u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX);
        jobs.iter()
            .zip(plans)
            .zip(executed)
            .map(|((job, plan), executed)| {
                let mut report = self.report(job, plan, executed.records);
                report.wall_ns = wall_ns;
                report.allow_empty = self.allow_empty;
                report.interrupted = is_interrupted;
                report
            })
            .collect()
    }

    /// What is evaluated, and what is not.
    fn plan(&self, union: Union) -> Plan {
        let ceiling = self.ceiling.check(&union.predicates);
        let is_refused = matches!(
            &ceiling,
            CeilingOutcome::Exceeded(violation) if violation.level == CeilingLevel::Block
        );
        let (mut chosen, mut left) = (Vec::new(), Vec::new());
        for (at, predicate) in union.predicates.iter().enumerate() {
            let is_semantic = predicate
                .declaration()
                .is_some_and(|it| it.mode == Mode::Semantic);
            if is_refused {
                continue;
            } else if is_semantic && !self.include_semantic {
                left.push(at);
            } else {
                chosen.push(at);
            }
        }
        Plan {
            union,
            ceiling,
            chosen,
            left,
        }
    }

    fn report(&self, job: &GateJob<'_>, plan: Plan, executed: Vec<Record>) -> GateReport {
        let mut report = empty(job, plan.ceiling);
        let found = plan.union.diagnostics();
        report
            .diagnostics
            .extend(found.map(|(file, diagnostic)| GateDiagnostic {
                path: file.path().into(),
                diagnostic: diagnostic.clone(),
            }));
        if let CeilingOutcome::Exceeded(violation) = &report.ceiling
            && violation.level == CeilingLevel::RequireApproval
        {
            let approver = &self.ceiling.approver;
            report.ceiling_approval = Some(GateApproval {
                wanted: approvals::shown(approver).into(),
                given_by: job.approvals.of(approver).map(Into::into),
            });
        }
        let predicates = &plan.union.predicates;
        let mut by_name: HashMap<String, Record> = executed
            .into_iter()
            .map(|record| (record.name.clone(), record))
            .collect();
        let records = plan.chosen.iter().map(|at| {
            let predicate = &predicates[*at];
            record(predicate, by_name.remove(&*predicate.qualified_name))
        });
        report.records = records.collect();
        let evaluations = plan.chosen.iter().zip(&report.records);
        let evaluations: Vec<PredicateEvaluation> = evaluations
            .map(|(at, record)| PredicateEvaluation::new(&predicates[*at], record.own.clone()))
            .collect();
        let composed = compose_predicate_results(&evaluations);
        for (record, composed) in report.records.iter_mut().zip(composed) {
            if let Verdict::RequireApproval { approver } = &composed.result.verdict {
                record.approved_by = job.approvals.of(approver).map(Into::into);
            }
            record.result = composed.result;
            record.selected = composed.selected_qualified_name;
        }
        report.skipped = plan.left.iter().map(|at| skip(&predicates[*at])).collect();
        report
    }
}

/// What applies to a slice.
struct Plan {
    union: Union,
    ceiling: CeilingOutcome,
    /// Numbers of predicates that are evaluated.
    chosen: Vec<usize>,
    /// And of those that are left out.
    left: Vec<usize>,
}

impl Plan {
    fn chosen(&self) -> impl Iterator<Item = &ResolvedPredicate> {
        self.chosen.iter().map(|at| &self.union.predicates[*at])
    }
}

fn empty(job: &GateJob<'_>, ceiling: CeilingOutcome) -> GateReport {
    GateReport {
        slice: job.about.clone(),
        touched: job.touched.clone(),
        diagnostics: job.diagnostics.clone(),
        ceiling,
        ceiling_approval: None,
        records: Vec::new(),
        skipped: Vec::new(),
        approvals: job.approvals.given().to_vec(),
        wall_ns: 0,
        allow_empty: false,
        interrupted: false,
    }
}

fn place(predicate: &ResolvedPredicate) -> GatePlace {
    GatePlace {
        path: predicate.file.path().into(),
        line: predicate.file.line(predicate.index),
    }
}

fn record(predicate: &ResolvedPredicate, executed: Option<Record>) -> GateRecord {
    let declaration = predicate.declaration();
    let mut record = GateRecord {
        qualified_name: predicate.qualified_name.clone(),
        logical_name: predicate.logical_name.clone(),
        hash: declaration.map_or_else(|| Digest::of(b""), |it| it.hash),
        closure_hash: declaration.and_then(|it| it.closure),
        mode: declaration.map_or(Mode::Deterministic, |it| it.mode),
        fallback_hash: predicate.fallback_hash(),
        fallback_policy: declaration.map_or(FallbackPolicy::Enforce, |it| it.policy),
        declared: place(predicate),
        // Whatever was not executed must not pass.
        own: InvariantResult::block("cancelled", "it was not evaluated"),
        result: InvariantResult::block("cancelled", "it was not evaluated"),
        selected: predicate.qualified_name.clone(),
        enforced: true,
        approved_by: None,
        raw: None,
        attempts: 0,
        first_result_hash: None,
        second_result_hash: None,
        semantic_replay_audit: None,
        cost: GateCost::default(),
    };
    if let Some(executed) = executed {
        let audit = executed.semantic_replay_audit;
        record.own = executed.result;
        record.enforced = executed.enforced;
        record.raw = executed.raw_result;
        record.attempts = executed.attempts.into();
        record.first_result_hash = executed.first_result_hash.map(Into::into);
        record.second_result_hash = executed.second_result_hash.map(Into::into);
        record.semantic_replay_audit = audit.and_then(|audit| serde_json::to_value(audit).ok());
        record.cost = GateCost {
            fuel: executed.fuel.unwrap_or(0),
            cpu_ns: executed.cpu_ns,
            elapsed_ns: executed.elapsed_ms.saturating_mul(1_000_000),
            memory: executed.memory_bytes.unwrap_or(0),
        };
    }
    record
}

fn skip(predicate: &ResolvedPredicate) -> GateSkip {
    let declaration = predicate.declaration();
    GateSkip {
        qualified_name: predicate.qualified_name.clone(),
        hash: declaration.map_or_else(|| Digest::of(b""), |it| it.hash),
        mode: declaration.map_or(Mode::Semantic, |it| it.mode),
        declared: place(predicate),
        reason: NOT_INCLUDED.into(),
    }
}
