//! Compiling and evaluating through an engine.

use std::io;
use std::path::Path;
use std::sync::Arc;

use rayon::prelude::*;

use crate::batch::{
    Batch, BatchError, ClaimResult, Content, Evaluation, Origin, Settings, Sink, Submission,
    Summary,
};
use crate::budget::{Budgets, CancelToken};
use crate::cache::{CacheCounts, Compiler};
use crate::code::Program;
use crate::engine::EngineBuilder;
use crate::facts::FactSource;
use crate::language::Language;
use crate::lower::CompileError;

/// Claims judged in one go by [`Engine::evaluate_batch`].
const WINDOW: usize = 65_536;

/// An evaluation that could not be made at all. What a predicate hangs on being
/// unknown is no error but the verdict *unevaluated*.
pub type EngineError = BatchError;

/// Compiles predicates and evaluates them over one world.
///
/// Cheap to clone; clones share caches and threads. No global state, nothing is
/// printed, and the process is never ended.
///
/// ```
/// use probity::{Engine, Language, batch::Verdict};
///
/// let engine = Engine::builder(".").build()?;
/// let program = engine.compile(Language::ElenchV1, r#"exists("Cargo.toml")"#)?;
/// assert_eq!(engine.evaluate(&program)?.verdict, Verdict::Pass);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Engine(Arc<Inner>);

struct Inner {
    compiler: Compiler,
    source: Arc<dyn FactSource>,
    pool: Option<rayon::ThreadPool>,
    cancel: CancelToken,
    budgets: Budgets,
}

/// One claim for [`Engine::evaluate_batch`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimInput {
    /// The host's own id, handed back with the result.
    pub id: Option<Box<str>>,
    /// The language of the source.
    pub language: Language,
    /// The predicate.
    pub source: Box<str>,
}

/// A sink made of a closure, for hosts that only want the results.
pub struct Watch<F>(pub F);

impl<F: FnMut(&ClaimResult) -> io::Result<()>> Sink for Watch<F> {
    fn result(&mut self, result: &ClaimResult) -> io::Result<()> {
        (self.0)(result)
    }
}

impl Engine {
    /// An engine over the workspace at `root`, a directory.
    pub fn builder(root: impl AsRef<Path>) -> EngineBuilder {
        EngineBuilder::new(root.as_ref())
    }

    /// An engine over facts that the host knows.
    pub fn with_facts(source: Arc<dyn FactSource>) -> EngineBuilder {
        EngineBuilder::host(source)
    }

    pub(super) fn assemble(
        compiler: Compiler,
        source: Arc<dyn FactSource>,
        pool: Option<rayon::ThreadPool>,
        cancel: CancelToken,
        budgets: Budgets,
    ) -> Self {
        Self(Arc::new(Inner {
            compiler,
            source,
            pool,
            cancel,
            budgets,
        }))
    }

    /// The program of a source, cached by its digest. A program is cheap to
    /// clone and may be kept.
    ///
    /// # Errors
    /// [`CompileError`] with every independent error of the source.
    pub fn compile(&self, language: Language, source: &str) -> Result<Program, CompileError> {
        self.0.compiler.compile(language, source)
    }

    /// How the programs so far came about.
    #[must_use]
    pub fn cache_counts(&self) -> CacheCounts {
        self.0.compiler.counts()
    }

    /// Evaluates one program, fetching the facts that it needs.
    ///
    /// # Errors
    /// [`EngineError::FactCount`] if a host's fact source breaks its contract.
    pub fn evaluate(&self, program: &Program) -> Result<Evaluation, EngineError> {
        self.evaluate_with(program, Settings::default())
    }

    /// Evaluates one program with places, exact counts, limits or a token of its
    /// own.
    ///
    /// # Errors
    /// As [`Engine::evaluate`].
    pub fn evaluate_with(
        &self,
        program: &Program,
        settings: Settings,
    ) -> Result<Evaluation, EngineError> {
        self.run(|| {
            let mut batch = self.batch(settings);
            let prepared = batch.prepare_program(program.clone());
            let claim = Submission {
                origin: Origin {
                    input: Arc::from(""),
                    line: None,
                    element: None,
                },
                id: None,
                language: None,
                content: Content::Predicate(prepared),
                diagnostics: Vec::new(),
            };
            let mut evaluation = None;
            let mut sink = Watch(|result: &ClaimResult| {
                evaluation = result.evaluation.as_deref().cloned();
                Ok(())
            });
            batch.window([claim], &mut sink)?;
            evaluation.ok_or_else(|| io::Error::other("the program got no verdict").into())
        })
    }

    /// Evaluates claims as they come and hands each result to the sink, in input
    /// order. Distinct predicates are evaluated once, distinct facts fetched
    /// once; memory is bounded by those, not by the number of claims.
    ///
    /// ```
    /// use probity::{ClaimInput, Engine, Language, Watch, batch::{Settings, Verdict}};
    ///
    /// let engine = Engine::builder(".").build()?;
    /// let claims = [r#"exists("Cargo.toml")"#, r#"exists("no-such-file")"#].map(|source| ClaimInput {
    ///     id: None,
    ///     language: Language::ElenchV1,
    ///     source: source.into(),
    /// });
    /// let mut verdicts = Vec::new();
    /// let mut sink = Watch(|result: &probity::batch::ClaimResult| {
    ///     verdicts.push(result.verdict);
    ///     Ok(())
    /// });
    /// let summary = engine.evaluate_batch(claims, Settings::default(), &mut sink)?;
    /// assert_eq!(summary.records, 2);
    /// assert_eq!(verdicts, [Verdict::Pass, Verdict::Fail]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`EngineError`] if the sink refuses a result or a fact source breaks its
    /// contract; results handed over before stay so.
    pub fn evaluate_batch(
        &self,
        claims: impl IntoIterator<Item = ClaimInput>,
        settings: Settings,
        sink: &mut (dyn Sink + Send),
    ) -> Result<Summary, EngineError> {
        let mut batch = self.batch(settings);
        let input: Arc<str> = Arc::from("");
        let mut claims = claims.into_iter().enumerate().peekable();
        while claims.peek().is_some() && !batch.token().is_interrupted() {
            let window: Vec<(usize, ClaimInput)> = claims.by_ref().take(WINDOW).collect();
            self.run(|| {
                let submissions: Vec<Submission> = window
                    .into_par_iter()
                    .with_min_len(64)
                    .map_init(
                        || batch.stopwatch(),
                        |_stopwatch, (index, claim)| submission(&batch, &input, index, claim),
                    )
                    .collect();
                batch.window(submissions, sink)
            })?;
        }
        Ok(batch.finish())
    }

    /// A batch whose windows the caller fills. Of the engine's limits and those of
    /// the settings the tighter ones hold.
    #[must_use]
    pub fn batch(&self, settings: Settings) -> Batch<'_> {
        let settings = Settings {
            budgets: settings.budgets.tightest(self.0.budgets),
            ..settings
        };
        Batch::new(&self.0.compiler, &*self.0.source, settings, &self.0.cancel)
    }

    /// The token that stops every batch of the engine. For one batch alone there
    /// is [`Settings::cancel`].
    #[must_use]
    pub fn cancel_token(&self) -> &CancelToken {
        &self.0.cancel
    }

    /// Runs work on the engine's own threads, if it has any.
    pub fn run<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        match &self.0.pool {
            Some(pool) => pool.install(work),
            None => work(),
        }
    }
}

fn submission(batch: &Batch<'_>, input: &Arc<str>, index: usize, claim: ClaimInput) -> Submission {
    Submission {
        origin: Origin {
            input: Arc::clone(input),
            line: u64::try_from(index).ok().map(|index| index + 1),
            element: None,
        },
        id: claim.id,
        language: Some(claim.language.name().into()),
        content: Content::Predicate(batch.prepare(claim.language, &claim.source)),
        diagnostics: Vec::new(),
    }
}
