//! How one file is evaluated. (flow.md, section 10.1.)

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value as Json;

use crate::budget::CancelToken;
use crate::flow::executor::{CheapJudge, ExecutorConfig};
use crate::harn::{Given, Workspace};

/// A longer budget is cut to a day.
const MOST_BUDGET: Duration = Duration::from_secs(24 * 60 * 60);

/// How one predicate file is evaluated. The first fields are those that
/// [`EvaluateOptions::from_json`] reads, the others what only a host can give.
#[derive(Clone, Default)]
pub struct EvaluateOptions {
    /// The file; what is given as source is then not looked at.
    pub path: Option<PathBuf>,
    /// What the source is called in messages if there is no path.
    pub source_key: Option<String>,
    /// A directory: if the file lies below it, fallbacks are also looked for in the
    /// `invariants.harn` files of the directories from there up to this one.
    pub root: Option<PathBuf>,
    /// The fields of `ctx`.
    pub ctx: Option<Json>,
    /// `repo_at_base`.
    pub repo_at_base: Option<Given>,
    /// The predicates to evaluate, by their names; all if there are none.
    pub predicates: Vec<String>,
    /// Whether semantic predicates are evaluated.
    pub include_semantic: bool,
    /// The budget of one predicate, of either kind, at most a day. Without it 50 ms of CPU
    /// time for deterministic ones, and 2 s on the wall for semantic ones.
    pub budget: Option<Duration>,
    /// Options that nobody knows. The report warns of each.
    pub unknown: Vec<String>,
    /// Who answers semantic predicates. Without one there is no `ctx.semantic_judge`.
    pub judge: Option<Arc<dyn CheapJudge>>,
    /// Tokens of one semantic predicate, 1024 if `None`.
    pub token_cap: Option<u64>,
    /// What `grep` and `exists` look into. Without it their calls block.
    pub workspace: Option<Arc<Workspace>>,
    /// Fuel of each predicate; 40,000 for each millisecond of its budget if `None`.
    pub fuel: Option<u64>,
    /// Ends everything.
    pub cancel: CancelToken,
}

/// An option that is of another type than it has to be.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
#[error("the options of an evaluation {0}")]
pub struct OptionsError(String);

impl EvaluateOptions {
    /// Reads options: `path` (`module_path`), `source_key`, `root`, `ctx`
    /// (`predicate_ctx`), `repo_at_base`, `predicate_names` or else `predicates`,
    /// `include_semantic` and `budget_ms`; nil is the default. An empty path is none,
    /// names that are no strings are dropped, and a budget that is no int, or a negative
    /// one, is the default. Keys that are not known are kept, for the report to warn of.
    ///
    /// # Errors
    /// [`OptionsError`] if a value is of another type.
    pub fn from_json(json: &Json) -> Result<Self, OptionsError> {
        let mut options = Self::default();
        let fields = match json {
            Json::Null => return Ok(options),
            Json::Object(fields) => fields,
            _ => return Err(OptionsError("have to be a dict".into())),
        };
        let given = |key: &str| fields.get(key).filter(|value| !value.is_null());
        let either = |key: &'static str, alias: &'static str| {
            let value = given(key).map(|value| (key, value));
            value.or_else(|| given(alias).map(|value| (alias, value)))
        };
        if let Some((key, value)) = either("path", "module_path") {
            let path = text(key, value)?;
            options.path = (!path.is_empty()).then(|| path.into());
        }
        if let Some(value) = given("source_key") {
            options.source_key = Some(text("source_key", value)?.into());
        }
        if let Some(value) = given("root") {
            let root = text("root", value)?;
            options.root = (!root.is_empty()).then(|| root.into());
        }
        if let Some((key, value)) = either("ctx", "predicate_ctx") {
            if !value.is_object() {
                return Err(wrong(key, "a dict"));
            }
            options.ctx = Some(value.clone());
        }
        options.repo_at_base = given("repo_at_base").map(Given::new);
        if let Some((key, value)) = either("predicate_names", "predicates") {
            let names = value.as_array().ok_or_else(|| wrong(key, "a list"))?;
            let names = names.iter().filter_map(Json::as_str).map(Into::into);
            options.predicates = names.collect();
        }
        if let Some(value) = given("include_semantic") {
            let is_wanted = value.as_bool();
            options.include_semantic =
                is_wanted.ok_or_else(|| wrong("include_semantic", "a bool"))?;
        }
        let budget = given("budget_ms").and_then(Json::as_u64);
        options.budget = budget.map(|ms| Duration::from_millis(ms.max(1)));
        let unknown = fields.keys().filter(|key| !KEYS.contains(&key.as_str()));
        options.unknown = unknown.cloned().collect();
        Ok(options)
    }

    /// What the executor keeps to: one attempt each.
    pub(super) fn executor(&self) -> ExecutorConfig {
        let defaults = ExecutorConfig::default();
        let budget = self.budget.map(|budget| budget.min(MOST_BUDGET));
        ExecutorConfig {
            deterministic_budget: budget.unwrap_or(defaults.deterministic_budget),
            semantic_budget: budget.unwrap_or(defaults.semantic_budget),
            semantic_token_cap: self.token_cap.unwrap_or(defaults.semantic_token_cap),
            replay_deterministic: false,
            ..defaults
        }
    }

    /// What the source is called in messages.
    pub(super) fn name(&self) -> String {
        match (&self.path, &self.source_key) {
            (Some(path), _) => path.display().to_string(),
            (None, Some(key)) => key.clone(),
            (None, None) => "invariants.harn".into(),
        }
    }
}

/// The keys that are known.
const KEYS: [&str; 11] = [
    "path",
    "module_path",
    "source_key",
    "root",
    "ctx",
    "predicate_ctx",
    "repo_at_base",
    "predicates",
    "predicate_names",
    "include_semantic",
    "budget_ms",
];

fn wrong(key: &str, wanted: &str) -> OptionsError {
    OptionsError(format!("have to have {wanted} as `{key}`"))
}

fn text<'j>(key: &str, value: &'j Json) -> Result<&'j str, OptionsError> {
    value.as_str().ok_or_else(|| wrong(key, "a string"))
}
