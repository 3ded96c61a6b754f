//! One predicate over one slice. (flow.md, sections 3.4 and 11; harn.md, section 7.)

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value as Json;

use crate::budget::{CancelToken, ThreadClock, timed};
use crate::flow::result::InvariantResult;
use crate::flow::slice::Slice;
use crate::harn::{
    Fault, Given, Heap, Kind, Limit, Limits, Machine, Module, Predicate, Sifted, Usage, Value,
    Workspace,
};
use crate::scan::{Sieve, Sieved, Sought};
use rayon::prelude::*;

/// Answers a semantic predicate: from what it asks, a verdict.
pub type Judge = dyn Fn(&Json) -> Result<Json, String> + Send + Sync;

/// What predicates get besides the slice.
#[derive(Clone, Default)]
pub struct Context<'c> {
    /// The fields of `ctx`.
    pub ctx: Option<&'c Json>,
    /// `repo_at_base`, of which each predicate that takes it gets its own.
    pub base: Option<&'c Given>,
    /// Who answers `ctx.semantic_judge`, which only semantic predicates have.
    pub judge: Option<Arc<Judge>>,
    /// What `grep` and `exists` look into. Without it their calls fail, and so block.
    pub workspace: Option<&'c Workspace>,
    /// Stops evaluations.
    pub cancel: Option<&'c CancelToken>,
}

/// What one evaluation came to.
#[derive(Clone, Debug)]
pub struct Evaluated {
    /// The result.
    pub result: InvariantResult,
    /// What the predicate returned, before it was read.
    pub raw: Option<Json>,
    /// What it used.
    pub usage: Usage,
    /// CPU time of the thread, and of what it asked of the workspace, in nanoseconds.
    pub cpu_ns: u64,
}

/// CPU time for the patterns of all modules. What is not prepared by then is searched for
/// as if there were no sieve.
const MOST_CPU: Duration = Duration::from_secs(1);

/// Most texts of all modules that are looked for because they may be patterns.
const MOST_GUESSES: usize = 1 << 14;

/// Of what only may be a pattern, literals below so many bytes are not looked for: there
/// would be too many of them in too many files.
const SHORTEST_GUESS: usize = 4;

/// The patterns of several modules, to be searched for in one pass over each file of a
/// slice: those that calls name, and all texts that may be patterns of others. It is made
/// once for many slices.
#[derive(Debug)]
pub struct Patterns {
    sieve: Sieve,
    /// The first pattern of each module.
    first: Vec<(Module, usize)>,
}

impl Patterns {
    /// The patterns of modules.
    #[must_use]
    pub fn new(modules: &[Module]) -> Self {
        let mut next = 0;
        let first = modules.iter().map(|module| {
            let first = next;
            next += module.patterns().len();
            (module.clone(), first)
        });
        let first = first.collect();
        let clock = ThreadClock::start();
        let mut guesses = 0;
        let sought = modules.iter().flat_map(Module::patterns).map(|pattern| {
            let is_guess = pattern.span.is_none();
            guesses += usize::from(is_guess);
            if (is_guess && guesses > MOST_GUESSES) || clock.elapsed() > MOST_CPU {
                return None;
            }
            Some(Sought {
                hir: pattern.sound()?,
                shortest: if is_guess { SHORTEST_GUESS } else { 0 },
            })
        });
        Self {
            sieve: Sieve::new(sought),
            first,
        }
    }
}

/// A slice that many predicates are to judge.
#[derive(Debug)]
pub struct Prepared<'s> {
    slice: &'s Slice,
    sifted: Option<(&'s Patterns, Vec<Sieved>)>,
}

impl<'s> Prepared<'s> {
    /// A slice as it is.
    #[must_use]
    pub const fn new(slice: &'s Slice) -> Self {
        Self {
            slice,
            sifted: None,
        }
    }

    /// Goes over each file once, so that predicates need not search for patterns of which
    /// nothing is in a file. What they come to, and what fuel they
    /// take, stays the same.
    #[must_use]
    pub fn sift(slice: &'s Slice, patterns: &'s Patterns) -> Self {
        let files = slice.files().par_iter();
        let sieved = files.map(|file| patterns.sieve.sift(file.text.as_bytes()));
        Self {
            slice,
            sifted: Some((patterns, sieved.collect())),
        }
    }

    /// The slice.
    pub(super) const fn slice(&self) -> &'s Slice {
        self.slice
    }

    fn of(&self, module: &Module) -> Option<Sifted<'_>> {
        let (patterns, files) = self.sifted.as_ref()?;
        let found = patterns.first.iter().find(|(known, _)| known.is(module));
        found.map(|(_, first)| Sifted {
            sieve: &patterns.sieve,
            files,
            first: *first,
        })
    }
}

/// Evaluates a predicate of a module. Nothing of one evaluation is seen by the next, and
/// whatever goes wrong blocks.
#[must_use]
pub fn evaluate(
    module: &Module,
    predicate: &Predicate,
    slice: &Prepared<'_>,
    context: &Context<'_>,
    limits: &Limits,
) -> Evaluated {
    let (mut evaluated, cpu_ns) = timed(|| run(module, predicate, slice, context, limits));
    evaluated.cpu_ns = evaluated.cpu_ns.saturating_add(cpu_ns);
    evaluated
}

fn run(
    module: &Module,
    predicate: &Predicate,
    slice: &Prepared<'_>,
    context: &Context<'_>,
    limits: &Limits,
) -> Evaluated {
    let mut machine = Machine::new(module, limits).sifted(slice.of(module));
    if let Some(workspace) = context.workspace {
        machine = machine.workspace(workspace);
    }
    if let Some(cancel) = context.cancel {
        machine = machine.cancel(cancel.clone());
    }
    let done = call(&mut machine, predicate, slice, context, limits);
    let usage = machine.usage();
    let (result, raw) = match done {
        Ok((value, json)) => (InvariantResult::normalise(&value, &json), Some(json)),
        Err((step, fault)) => {
            let code = match (&fault, step) {
                (Fault::Limit(Limit::Cancelled), _) => "cancelled",
                (Fault::Limit(_), _) => "budget_exceeded",
                (_, Step::Load) => "predicate_load_error",
                (_, Step::Run) => "predicate_runtime_error",
            };
            let place = machine
                .place()
                .map(|span| line_of(module.source(), span.start))
                .map_or_else(String::new, |line| format!(" (line {line})"));
            (
                InvariantResult::block(code, format!("{fault}{place}")),
                None,
            )
        }
    };
    Evaluated {
        result,
        raw,
        usage,
        cpu_ns: machine.facts_cpu_ns(),
    }
}

/// Where an evaluation failed.
enum Step {
    Load,
    Run,
}

fn call(
    machine: &mut Machine<'_>,
    predicate: &Predicate,
    slice: &Prepared<'_>,
    context: &Context<'_>,
    limits: &Limits,
) -> Result<(Value, Json), (Step, Fault)> {
    machine.start().map_err(|fault| (Step::Load, fault))?;
    let heap = machine.heap().clone();
    let at_run = |fault| (Step::Run, fault);
    let mut args = Vec::with_capacity(4);
    if predicate.wants_harness {
        args.push(Value::Harness);
    }
    args.push(slice.slice.value(&heap).map_err(at_run)?);
    args.push(ctx(predicate, context, &heap).map_err(at_run)?);
    if let Some(base) = context.base
        && machine.takes(&predicate.name) > args.len()
    {
        args.push(base.value(&heap).map_err(at_run)?);
    } else {
        args.push(Value::Nil);
    }
    let value = machine.run(&predicate.name, &args).map_err(at_run)?;
    let json = value.to_json_within(limits.result).map_err(at_run)?;
    Ok((value, json))
}

/// What the predicate gets as `ctx`. Only semantic ones get the judge.
fn ctx(predicate: &Predicate, context: &Context<'_>, heap: &Heap) -> Result<Value, Fault> {
    let empty = Json::Object(serde_json::Map::new());
    let ctx = Value::from_json(context.ctx.unwrap_or(&empty), heap)?;
    let is_semantic = matches!(predicate.kind, Kind::Semantic { .. });
    let Some(judge) = context.judge.clone().filter(|_| is_semantic) else {
        return ctx.without("semantic_judge");
    };
    let host = Value::host(move |args, heap| {
        let asked = args.first().map_or(Ok(Json::Null), Value::to_json)?;
        match judge(&asked) {
            Ok(answer) => Value::from_json(&answer, heap),
            Err(reason) => Err(Fault::Thrown(Value::text(reason, heap)?)),
        }
    });
    ctx.with("semantic_judge", host, heap)
}

/// The line of an offset, from 1 on.
fn line_of(source: &str, offset: u32) -> usize {
    let before = source.as_bytes().get(..offset as usize).unwrap_or_default();
    memchr::memchr_iter(b'\n', before).count() + 1
}
