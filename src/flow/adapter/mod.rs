//! One predicate file over one slice, for those who run predicates on the way: an agent,
//! a pipeline, a person at a terminal. (flow.md, section 10.)
//!
//! It chooses nothing itself: it makes runners of what discovery found, and leaves the
//! selection, fallbacks, budgets and the judge to the executor, in its serial form and
//! without running anything twice.

mod options;
mod report;
mod source;

use std::collections::HashSet;

use crate::diagnostic::Severity;
use crate::flow::compose::{ResolvedPredicate, resolve_predicates};
use crate::flow::discovery::{DiagnosticKind, DiscoveryDiagnostic, PredicateFile};
use crate::flow::evaluate::{Patterns, Prepared};
use crate::flow::executor::{ExecutionReport, Executor, Runner, SliceJob};
use crate::flow::runner::{PredicateRunner, World, fuel_of, modules, result_of};
use crate::flow::slice::Slice;
use crate::harn::Mode;

use self::source::Source;

pub use options::{EvaluateOptions, OptionsError};
pub use report::{EvaluationDiagnostic, EvaluationReport, EvaluationStatus};
pub use source::EvaluateError;

/// Names that are offered for one that is not known.
const MOST_OFFERED: usize = 3;

/// Longer names are near nothing: comparing them costs their square.
const LONGEST_COMPARED: usize = 64;

/// So many names that are not known get an offer.
const MOST_NAMED: usize = 16;

/// Predicates that a name that is not known is compared with.
const MOST_COMPARED: usize = 1024;

/// Evaluates the predicates of a source, or of the file that the options name, over a
/// slice.
///
/// Semantic predicates are skipped unless they are wanted; then the fallback of each also
/// runs, once, and counts through it. A predicate that is refused, fails or runs out of its
/// budget blocks. Whatever leaves nothing evaluated is not ok.
///
/// ```
/// use probity::flow::{EvaluateOptions, Slice, flow_evaluate_invariants};
/// use serde_json::json;
///
/// let source = "@invariant @deterministic\n\
///               fn no_debugging(slice) {\n\
///               if slice.files.any({ f -> f.text.contains(\"dbg!(\") }) {\n\
///               return flow_invariant_block(\"debugging\", \"remove it\")\n}\n\
///               return flow_invariant_allow()\n}";
/// let slice = Slice::from_json(&json!({"files": [{"path": "a.rs", "text": "dbg!(1)"}]}))?;
/// let options = EvaluateOptions::from_json(&json!({"budget_ms": 1000}))?;
/// let report = flow_evaluate_invariants(source, &slice, &options)?;
/// assert!(!report.ok);
/// assert_eq!(report.records[0].result.verdict.code(), Some("debugging"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`EvaluateError`] if the file cannot be read, or parses and cannot be compiled. What
/// else is wrong with it is in the report.
pub fn flow_evaluate_invariants(
    source: &str,
    slice: &Slice,
    options: &EvaluateOptions,
) -> Result<EvaluationReport, EvaluateError> {
    Ok(Evaluation::load(source, options)?.run(slice))
}

/// A predicate file that is ready to be evaluated.
pub struct Evaluation<'o> {
    source: Source,
    options: &'o EvaluateOptions,
    /// What is wrong with it so that none of its predicates may be evaluated.
    refusal: Option<Vec<EvaluationDiagnostic>>,
}

impl<'o> Evaluation<'o> {
    /// Reads and compiles a source, or the file that the options name.
    ///
    /// # Errors
    /// As [`flow_evaluate_invariants`].
    pub fn load(source: &str, options: &'o EvaluateOptions) -> Result<Self, EvaluateError> {
        let source = Source::read(source, options)?;
        let refusal = refusal(&source);
        if refusal.is_none() && source.file.module().is_none() {
            let diagnostics = source.file.diagnostics().iter();
            let problems = diagnostics.filter_map(|it| it.problem.clone());
            return Err(EvaluateError::Load {
                name: options.name(),
                text: source.file.source().into(),
                problems: problems.collect(),
            });
        }
        Ok(Self {
            source,
            options,
            refusal,
        })
    }

    /// The names that are asked for and are not there, each once. There are none if the
    /// file does not parse: it is not known what it would have.
    #[must_use]
    pub fn unknown_predicates(&self) -> Vec<&'o str> {
        if self.refusal.is_some() {
            return Vec::new();
        }
        let known: HashSet<&str> = names(&self.source.file).collect();
        let mut seen = HashSet::new();
        let asked = self.options.predicates.iter().map(String::as_str);
        asked
            .filter(|name| !known.contains(name) && seen.insert(*name))
            .collect()
    }

    /// Evaluates it over a slice.
    #[must_use]
    pub fn run(&self, slice: &Slice) -> EvaluationReport {
        let (done, mut diagnostics, status) = match &self.refusal {
            Some(refusal) => (
                ExecutionReport::default(),
                refusal.clone(),
                EvaluationStatus::DiscoveryError,
            ),
            None => {
                let done = self.execute(slice);
                let diagnostics = self.remarks(&done);
                let status = self.status(&done);
                (done, diagnostics, status)
            }
        };
        diagnostics.extend(self.options.unknown.iter().map(|key| {
            let shown: String = key.chars().take(LONGEST_COMPARED).collect();
            let message = format!("the option `{shown}` is not known");
            EvaluationDiagnostic::new(Severity::Warning, "unknown_option", message)
        }));
        EvaluationReport {
            ok: status == EvaluationStatus::Pass,
            status,
            diagnostics,
            records: done.records,
            skipped: done.skipped,
        }
    }

    fn execute(&self, slice: &Slice) -> ExecutionReport {
        let options = self.options;
        let own = resolve_predicates(std::slice::from_ref(&self.source.file));
        let behind = match options.include_semantic {
            true => self.behind(),
            false => Vec::new(),
        };
        let config = options.executor();
        let modules = modules(own.iter().chain(&behind));
        if let Some(workspace) = &options.workspace {
            let fuel = fuel_of(config.deterministic_budget);
            workspace.look_ahead(&modules, options.fuel.unwrap_or(fuel), &options.cancel);
        }
        let patterns = Patterns::new(&modules);
        let prepared = Prepared::sift(slice, &patterns);
        let world = World {
            ctx: options.ctx.as_ref(),
            base: options.repo_at_base.as_ref(),
            workspace: options.workspace.as_deref(),
            fuel: options.fuel,
            result: result_of(own.len() + behind.len()),
            lends_judge: options.judge.is_some(),
            ..World::new(&prepared)
        };
        let own = own.iter().map(|predicate| runner(predicate, &world));
        let behind = behind
            .iter()
            .map(|predicate| PredicateRunner::new(predicate, &world).only_as_fallback());
        let runners: Vec<PredicateRunner<'_>> = own.chain(behind).collect();
        let job = SliceJob {
            slice,
            runners: runners.iter().map(|runner| runner as &dyn Runner).collect(),
        };
        let mut executor = Executor::new(config).cancel(options.cancel.clone());
        if let Some(judge) = &options.judge {
            executor = executor.judge(judge.clone());
        }
        let names: Vec<&str> = options.predicates.iter().map(String::as_str).collect();
        executor.execute_named_slice_serial(&job, &names, options.include_semantic)
    }

    /// The fallbacks of the file that ancestors declare.
    fn behind(&self) -> Vec<ResolvedPredicate> {
        let file = &self.source.file;
        let fallbacks = (0..file.predicates().len()).filter_map(|at| file.fallback(at));
        let fallbacks: HashSet<_> = fallbacks
            .map(|it| (&*it.relative_dir, &*it.name, it.hash))
            .collect();
        let mut behind = resolve_predicates(&self.source.ancestors);
        behind.retain(|predicate| {
            predicate.declaration().is_some_and(|it| {
                let directory = predicate.file.relative_dir();
                fallbacks.contains(&(directory, &*it.name, it.hash))
            })
        });
        behind
    }

    fn status(&self, done: &ExecutionReport) -> EvaluationStatus {
        if !self.unknown_predicates().is_empty() || !done.is_allowed() {
            EvaluationStatus::Fail
        } else if done.records.is_empty() {
            EvaluationStatus::NothingEvaluated
        } else {
            EvaluationStatus::Pass
        }
    }

    /// What is to be said of a file whose predicates were evaluated.
    fn remarks(&self, done: &ExecutionReport) -> Vec<EvaluationDiagnostic> {
        let file = &self.source.file;
        // Ancestors may have predicates of the same name.
        let own = file.predicates().iter();
        let own: HashSet<String> = own.map(|it| it.hash.to_string()).collect();
        let ran = done.records.iter().filter(|it| own.contains(&it.hash));
        let ran: HashSet<&str> = ran.map(|it| &*it.name).collect();
        let found = file.diagnostics().iter().filter_map(|it| {
            let mut remark = EvaluationDiagnostic::found(it);
            if is_of_one(it) {
                // The record says it, if there is one.
                let has_record = it.predicate.as_deref().is_some_and(|it| ran.contains(it));
                remark.severity = Severity::Warning;
                return (!has_record).then_some(remark);
            }
            Some(remark)
        });
        let mut remarks: Vec<EvaluationDiagnostic> = found.collect();
        let error =
            |code: &str, message: String| EvaluationDiagnostic::new(Severity::Error, code, message);
        let unknown = self.unknown_predicates().into_iter().enumerate();
        remarks.extend(unknown.map(|(at, name)| {
            let known = names(file).take(if at < MOST_NAMED { MOST_COMPARED } else { 0 });
            let message = not_found(name, known);
            error("predicate_not_found", message).of(name)
        }));
        remarks.extend(done.records.iter().filter_map(|record| {
            let code = record.result.verdict.code()?;
            let crate::flow::Verdict::Block { error: block } = &record.result.verdict else {
                return None;
            };
            let is_of_fallback = code.starts_with("fallback_");
            is_of_fallback.then(|| error(code, block.message.clone()).of(&record.name))
        }));
        if done.records.is_empty() {
            let message = match (file.predicates().len(), done.skipped.len()) {
                (0, _) => "the file has no predicate: no function carries `@invariant`".into(),
                (_, skipped) => format!("no predicate was evaluated, and {skipped} were skipped"),
            };
            remarks.push(error("nothing_evaluated", message));
        }
        remarks
    }
}

/// A predicate of the file. A fallback of the same file that is semantic is left to the
/// executor, which refuses it and what is behind it.
fn runner<'r>(predicate: &'r ResolvedPredicate, world: &'r World<'r>) -> PredicateRunner<'r> {
    let runner = PredicateRunner::new(predicate, world).under_its_logical_name();
    let named = predicate.declaration().and_then(|it| it.fallback.as_ref());
    let Some(named) = named.filter(|_| predicate.fallback().is_none()) else {
        return runner;
    };
    let mut semantic = predicate.file.predicates().iter();
    let semantic = semantic.find(|it| it.mode == Mode::Semantic && it.name == *named);
    match semantic {
        Some(semantic) => runner.with_semantic_fallback(semantic.hash.to_string()),
        None => runner,
    }
}

/// What keeps all predicates of a file from being evaluated.
fn refusal(source: &Source) -> Option<Vec<EvaluationDiagnostic>> {
    let own = source.file.diagnostics();
    let refuses = |it: &DiscoveryDiagnostic| {
        it.is_error() && !is_of_one(it) && it.kind != DiagnosticKind::Load
    };
    let mut broken = source.broken().peekable();
    if !own.iter().any(refuses) && broken.peek().is_none() {
        return None;
    }
    let mut told: Vec<EvaluationDiagnostic> = own.iter().map(EvaluationDiagnostic::found).collect();
    told.extend(broken.map(|(path, diagnostic)| {
        let mut remark = EvaluationDiagnostic::found(diagnostic);
        remark.message = format!("`{path}`: {}", remark.message);
        // It would be taken for a place of this file.
        remark.place = None;
        remark
    }));
    Some(told)
}

/// Whether it refuses one predicate, which blocks when it is evaluated.
const fn is_of_one(diagnostic: &DiscoveryDiagnostic) -> bool {
    matches!(
        diagnostic.kind,
        DiagnosticKind::UnresolvedFallback
            | DiagnosticKind::SemanticFallback
            | DiagnosticKind::Capability
    )
}

/// The names of the predicates of a file.
fn names(file: &PredicateFile) -> impl Iterator<Item = &str> {
    file.predicates().iter().map(|it| &*it.name)
}

/// What to say of a name that is not there, with those that are near it.
fn not_found<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> String {
    let shown: String = name.chars().take(LONGEST_COMPARED).collect();
    let mut message = format!("there is no predicate `{shown}`");
    if name.len() > LONGEST_COMPARED {
        return message;
    }
    let known = known.filter(|it| it.len() <= LONGEST_COMPARED);
    let mut near: Vec<(usize, &str)> = known
        .map(|it| (strsim::damerau_levenshtein(name, it), it))
        .filter(|(distance, it)| distance * 2 <= it.len())
        .collect();
    near.sort_unstable();
    near.truncate(MOST_OFFERED);
    if !near.is_empty() {
        let near: Vec<String> = near.iter().map(|(_, it)| format!("`{it}`")).collect();
        message.push_str("; near it: ");
        message.push_str(&near.join(", "));
    }
    message
}
