//! Predicates of files as the executor runs them. (flow.md, sections 4.2, 4.3 and 11.)

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use serde_json::{Value as Json, json};

use crate::digest::Digest;
use crate::flow::compose::ResolvedPredicate;
use crate::flow::evaluate::{Context, Evaluated, Judge, Prepared, evaluate};
use crate::flow::executor::{JudgeGate, Ran, RunContext, Runner, RunnerKind};
use crate::flow::result::BlockError;
use crate::flow::slice::Slice;
use crate::harn::{FallbackPolicy, Given, Limits, MAX_JSON, Mode, Module, Workspace};

/// Fuel for each millisecond of a deterministic budget. It is so little that the fuel of
/// a predicate without end is used up before its CPU time is, also on a slow machine: the
/// first says so in every run, the second not.
const FUEL_PER_MS: u64 = 40_000;

/// What the results of a run may take together, which are kept until its end, in bytes of
/// memory.
const MOST_RESULTS: usize = 256 << 20;

/// What each may take however many there are.
const LEAST_RESULT: usize = 64 << 10;

/// The key of what a predicate's `@archivist` names as evidence.
const ARCHIVIST: &str = "archivist";

/// The key of the files of the slice.
const FILES: &str = "files";

/// What all predicates of a slice get.
pub struct World<'w> {
    /// The slice.
    pub slice: &'w Prepared<'w>,
    /// The fields of `ctx`.
    pub ctx: Option<&'w Json>,
    /// `repo_at_base`.
    pub base: Option<&'w Given>,
    /// What `grep` and `exists` look into.
    pub workspace: Option<&'w Workspace>,
    /// Fuel of each attempt; by the budget of deterministic predicates if `None`.
    pub fuel: Option<u64>,
    /// Bytes of memory of what each predicate returns, as JSON.
    pub(super) result: usize,
    /// Whether semantic predicates find a judge in `ctx`, be there one or not.
    pub(super) lends_judge: bool,
    /// Its files as a judge may read them, once one wants to.
    pub(super) files: OnceLock<Arc<str>>,
}

impl<'w> World<'w> {
    /// A slice alone.
    #[must_use]
    pub const fn new(slice: &'w Prepared<'w>) -> Self {
        Self {
            slice,
            ctx: None,
            base: None,
            workspace: None,
            fuel: None,
            result: MAX_JSON,
            lends_judge: true,
            files: OnceLock::new(),
        }
    }

    /// Its files as a judge may read them.
    fn files(&self) -> &Arc<str> {
        self.files.get_or_init(|| {
            let files = self.slice.slice().files().iter();
            let files = files.map(|file| json!({"path": *file.path, "text": *file.text}));
            Json::Array(files.collect()).to_string().into()
        })
    }
}

/// Fuel for a budget.
pub(super) fn fuel_of(budget: Duration) -> u64 {
    let ms = u64::try_from(budget.as_millis()).unwrap_or(u64::MAX);
    ms.max(1).saturating_mul(FUEL_PER_MS)
}

/// What each of so many results may take: the more there are the less, so that predicates
/// cannot fill the memory together. It is the same in every run.
pub(super) fn result_of(count: usize) -> usize {
    let share = MOST_RESULTS / count.max(1);
    share.clamp(LEAST_RESULT, MAX_JSON)
}

/// The modules of predicates, each once.
pub(super) fn modules<'p>(
    predicates: impl IntoIterator<Item = &'p ResolvedPredicate>,
) -> Vec<Module> {
    let mut known: HashMap<Digest, Vec<usize>> = HashMap::new();
    let mut modules: Vec<Module> = Vec::new();
    let evaluable = predicates.into_iter();
    for (module, _) in evaluable.filter_map(ResolvedPredicate::evaluable) {
        let same = known.entry(module.digest()).or_default();
        if !same.iter().any(|known| modules[*known].is(module)) {
            same.push(modules.len());
            modules.push(module.clone());
        }
    }
    modules
}

/// A predicate with the slice that it is to judge.
pub struct PredicateRunner<'r> {
    predicate: &'r ResolvedPredicate,
    world: &'r World<'r>,
    name: Box<str>,
    hash: String,
    fallback_hash: Option<String>,
    fallback_diagnostic: Option<BlockError>,
    is_selectable: bool,
}

impl<'r> PredicateRunner<'r> {
    /// A predicate under its qualified name, with the fallback that discovery found.
    #[must_use]
    pub fn new(predicate: &'r ResolvedPredicate, world: &'r World<'r>) -> Self {
        let hash = predicate.declaration().map(|it| it.hash.to_string());
        Self {
            predicate,
            world,
            name: predicate.qualified_name.clone(),
            hash: hash.unwrap_or_default(),
            fallback_hash: predicate.fallback_hash().map(|hash| hash.to_string()),
            fallback_diagnostic: fallback_diagnostic(predicate),
            is_selectable: true,
        }
    }

    /// The same under the name of its function.
    #[must_use]
    pub(super) fn under_its_logical_name(mut self) -> Self {
        self.name = self.predicate.logical_name.clone();
        self
    }

    /// The same with a fallback of which the executor is to see that it is not
    /// deterministic.
    #[must_use]
    pub(super) fn with_semantic_fallback(mut self, hash: String) -> Self {
        self.fallback_hash = Some(hash);
        self.fallback_diagnostic = None;
        self
    }

    /// The same that only runs as the fallback of another one.
    #[must_use]
    pub(super) const fn only_as_fallback(mut self) -> Self {
        self.is_selectable = false;
        self
    }

    /// The predicate.
    #[must_use]
    pub const fn predicate(&self) -> &'r ResolvedPredicate {
        self.predicate
    }

    fn run(&self, context: &RunContext<'_>) -> Ran {
        if let Some(refusal) = self.predicate.refusal() {
            return refusal.into();
        }
        let Some((module, predicate)) = self.predicate.evaluable() else {
            let message = "it cannot be evaluated";
            return crate::flow::InvariantResult::block("predicate_load_error", message).into();
        };
        let is_semantic = self.kind() == RunnerKind::Semantic;
        let limits = Limits {
            fuel: self.world.fuel.unwrap_or_else(|| fuel_of(context.budget())),
            // A semantic one waits for its judge, and ends when its time on the wall is up.
            cpu: (!is_semantic).then(|| context.budget()),
            result: self.world.result,
            ..Limits::default()
        };
        let has_judge = is_semantic && self.world.lends_judge;
        let judge = has_judge.then(|| judge(context.judge().clone(), context.slice()));
        let given = Context {
            ctx: self.world.ctx,
            base: self.world.base,
            judge,
            workspace: self.world.workspace,
            cancel: Some(context.cancel()),
        };
        let Evaluated {
            result, raw, usage, ..
        } = evaluate(module, predicate, self.world.slice, &given, &limits);
        Ran {
            result,
            raw,
            usage: Some(usage),
        }
    }
}

/// Why a semantic predicate has no fallback, if discovery said so.
fn fallback_diagnostic(predicate: &ResolvedPredicate) -> Option<BlockError> {
    let declaration = predicate.declaration()?;
    if declaration.mode != Mode::Semantic || predicate.fallback().is_some() {
        return None;
    }
    let remarks = predicate.file.diagnostics().iter();
    let mut own = remarks.filter(|it| it.predicate.as_ref() == Some(&declaration.name));
    let own = own.find(|it| it.code().starts_with("fallback_") && it.is_error())?;
    Some(BlockError {
        code: own.code().into(),
        message: own.message.to_string(),
    })
}

impl Runner for PredicateRunner<'_> {
    fn hash(&self) -> &str {
        &self.hash
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn kind(&self) -> RunnerKind {
        match self.predicate.declaration().map(|it| it.mode) {
            Some(Mode::Semantic) => RunnerKind::Semantic,
            Some(Mode::Deterministic) | None => RunnerKind::Deterministic,
        }
    }

    fn fallback_hash(&self) -> Option<&str> {
        self.fallback_hash.as_deref()
    }

    fn fallback_policy(&self) -> FallbackPolicy {
        let declaration = self.predicate.declaration();
        declaration.map_or(FallbackPolicy::Enforce, |it| it.policy)
    }

    fn fallback_diagnostic(&self) -> Option<&BlockError> {
        self.fallback_diagnostic.as_ref()
    }

    fn is_selectable(&self) -> bool {
        self.is_selectable
    }

    /// What its `@archivist` names, one line for each, and the files of the slice.
    fn evidence(&self) -> Arc<BTreeMap<String, String>> {
        if self.kind() == RunnerKind::Deterministic {
            return Arc::default();
        }
        let archivist = self.predicate.declaration();
        let archivist = archivist.and_then(|it| it.archivist.as_ref());
        let mut evidence = BTreeMap::new();
        if let Some(archivist) = archivist
            && !archivist.evidence.is_empty()
        {
            evidence.insert(ARCHIVIST.into(), archivist.evidence.join("\n"));
        }
        evidence.insert(FILES.into(), self.world.files().to_string());
        Arc::new(evidence)
    }

    /// One that asks no judge is held to its CPU time.
    fn waits(&self) -> bool {
        self.kind() == RunnerKind::Semantic
    }

    fn evaluate(&self, context: &RunContext<'_>) -> Ran {
        self.run(context)
    }
}

/// `ctx.semantic_judge`: one call, about evidence that was there before.
///
/// It takes `{rubric, files}`, of which the files are those of the slice or some of them,
/// or `{prompt, evidence_key}`.
fn judge(gate: JudgeGate, slice: &Slice) -> Arc<Judge> {
    let files = slice.files().iter();
    let known: BTreeMap<Arc<str>, Arc<str>> = files
        .map(|file| (file.path.clone(), file.text.clone()))
        .collect();
    Arc::new(move |asked: &Json| {
        let text = |key: &str| asked.get(key).and_then(Json::as_str);
        let prompt = text("rubric")
            .or_else(|| text("prompt"))
            .unwrap_or_default();
        let reply = match (text("evidence_key"), asked.get("files")) {
            (Some(key), _) => gate.ask(prompt, key),
            (None, Some(files)) => gate.ask_with(prompt, FILES, shown(files, &known).as_deref()),
            (None, None) => gate.ask_with(prompt, "", None),
        };
        match reply {
            Ok(reply) => Ok(reply.to_json()),
            Err(error) => Err(format!("{}: {}", error.code, error.message)),
        }
    })
}

/// Files as a judge reads them; `None` if one is not of the slice, or is not what it is
/// there.
fn shown(files: &Json, known: &BTreeMap<Arc<str>, Arc<str>>) -> Option<String> {
    let shown = files.as_array()?.iter().map(|file| {
        let path = file.get("path")?.as_str()?;
        let text = file.get("text")?.as_str()?;
        (**known.get(path)? == *text).then(|| json!({"path": path, "text": text}))
    });
    let shown: Option<Vec<Json>> = shown.collect();
    Some(Json::Array(shown?).to_string())
}
