//! The batch: claims in, results out, window by window.

use std::borrow::Cow;
use std::io;
use std::sync::Arc;
use std::time::Instant;

use crate::batch::account::Account;
use crate::batch::facts::Facts;
use crate::batch::programs::Programs;
use crate::batch::{ClaimResult, Origin, Summary, Verdict};
use crate::budget::{Budgets, CancelToken, Stopwatch};
use crate::cache::{CacheCounts, Compiler};
use crate::code::Program;
use crate::diagnostic::Diagnostic;
use crate::digest::Digest;
use crate::facts::FactSource;
use crate::language::Language;
use crate::lower::CompileError;

/// How a batch is judged.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Places `path:line` to report for each fact.
    pub places: usize,
    /// Count to the end even where fewer matches decide, for people.
    pub exact: bool,
    /// Limits on fuel and CPU time.
    pub budgets: Budgets,
    /// Stops this batch; the engine's own token does so too. A deadline on it is
    /// the deadline of the batch.
    pub cancel: Option<CancelToken>,
}

/// A batch could not go on. What was decided before stays delivered.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BatchError {
    /// The sink refused a result.
    #[error("cannot write a result: {0}")]
    Sink(#[from] io::Error),
    /// The fact source broke its contract.
    #[error("the fact source answered {answered} of {demanded} demands")]
    FactCount {
        /// Facts that were asked for.
        demanded: usize,
        /// Answers that came.
        answered: usize,
    },
    /// A predicate was prepared by another batch.
    #[error("a predicate that another batch prepared")]
    ForeignProgram,
    /// The programs of one batch take more than 16 GiB.
    #[error("too many distinct predicates for one batch; split the log")]
    TooManyPrograms,
}

/// Who takes the results, in input order, as soon as they are known.
pub trait Sink {
    /// Takes one result.
    ///
    /// # Errors
    /// An error ends the batch.
    fn result(&mut self, result: &ClaimResult) -> io::Result<()>;

    /// Called after each window with the totals so far.
    fn progress(&mut self, summary: &Summary) {
        let _ = summary;
    }
}

/// A claim on its way into a batch.
#[derive(Clone, Debug)]
pub struct Submission {
    /// Where it comes from.
    pub origin: Origin,
    /// Its own id.
    pub id: Option<Box<str>>,
    /// The language it names, known or not.
    pub language: Option<Cow<'static, str>>,
    /// What there is to judge.
    pub content: Content,
    /// What is wrong with the record, errors and warnings.
    pub diagnostics: Vec<Diagnostic>,
}

/// What a claim gives to judge.
#[derive(Clone, Debug)]
pub enum Content {
    /// A predicate, from [`Batch::prepare`] of the same batch.
    Predicate(Prepared),
    /// Nothing: the record is malformed, and the first error among its
    /// diagnostics says why.
    Invalid,
    /// Nothing: the claim is an annotation.
    Annotation,
}

/// A predicate that is compiled, or known to the batch already.
#[derive(Clone, Debug)]
pub struct Prepared(State);

#[derive(Clone, Debug)]
enum State {
    Known(Digest, Language),
    New(Program),
    Refused(Digest, Language, Arc<str>, CompileError),
}

/// Claims judged together: each distinct predicate is evaluated once, each
/// distinct fact is fetched once.
pub struct Batch<'e> {
    compiler: &'e Compiler,
    source: &'e dyn FactSource,
    account: Account,
    settings: Settings,
    facts: Facts,
    programs: Programs,
    summary: Summary,
    before: CacheCounts,
    started: Instant,
}

impl<'e> Batch<'e> {
    /// An empty batch, with accounts of its own. It stops when the given token or
    /// that of the settings does.
    pub fn new(
        compiler: &'e Compiler,
        source: &'e dyn FactSource,
        settings: Settings,
        cancel: &CancelToken,
    ) -> Self {
        let token = match &settings.cancel {
            Some(own) => own.joined_with(cancel),
            None => cancel.clone(),
        };
        let summary = Summary {
            budgets: settings.budgets,
            ..Summary::default()
        };
        Self {
            compiler,
            source,
            account: Account::new(settings.budgets, &token),
            settings,
            facts: Facts::default(),
            programs: Programs::default(),
            summary,
            before: compiler.counts(),
            started: Instant::now(),
        }
    }

    /// Compiles a predicate unless the batch knows it. May be called from many
    /// threads at once, for the claims of one window.
    #[must_use]
    pub fn prepare(&self, language: Language, source: &str) -> Prepared {
        self.prepare_digested(language, source, Digest::of(source.as_bytes()))
    }

    /// The same for a source whose digest is known. The digest is trusted.
    pub(crate) fn prepare_digested(
        &self,
        language: Language,
        source: &str,
        digest: Digest,
    ) -> Prepared {
        Prepared(match self.programs.number(digest, language) {
            Some(_) => State::Known(digest, language),
            None => match self.compiler.compile_digested(language, source, digest) {
                Ok(program) => State::New(program),
                Err(error) => State::Refused(digest, language, source.into(), error),
            },
        })
    }

    /// Takes a program that is compiled already.
    #[must_use]
    pub fn prepare_program(&self, program: Program) -> Prepared {
        Prepared(State::New(program))
    }

    /// Judges the claims of one window and hands their results to the sink.
    ///
    /// # Errors
    /// [`BatchError`]; results handed over before stay so.
    pub fn window(
        &mut self,
        claims: impl IntoIterator<Item = Submission>,
        sink: &mut dyn Sink,
    ) -> Result<(), BatchError> {
        let claims = claims.into_iter();
        let (at_least, _) = claims.size_hint();
        self.facts.reserve(at_least);
        self.programs.reserve(at_least);
        let mut placed = Vec::with_capacity(at_least);
        for mut claim in claims {
            let content = std::mem::replace(&mut claim.content, Content::Annotation);
            let placement = match content {
                Content::Predicate(prepared) => self.place(prepared)?,
                Content::Invalid => Placement::Invalid,
                Content::Annotation => Placement::Annotation,
            };
            placed.push((claim, placement));
        }
        let stats = self.programs.resolve(
            &mut self.facts,
            self.source,
            &self.settings,
            &mut self.account,
        )?;
        self.summary.files += stats.files;
        self.summary.bytes += stats.bytes;
        self.summary.scan += stats.scan;
        for (claim, placement) in placed {
            let result = self.result(claim, placement);
            self.count(&result);
            sink.result(&result)?;
        }
        self.refresh();
        sink.progress(&self.summary);
        Ok(())
    }

    /// The totals so far.
    #[must_use]
    pub fn summary(&self) -> &Summary {
        &self.summary
    }

    /// Ends the batch and gives the totals.
    #[must_use]
    pub fn finish(mut self) -> Summary {
        self.compiler.save();
        self.refresh();
        self.summary.interrupted = self.token().is_interrupted();
        // Much to let go of, for which nobody should wait.
        let (facts, programs) = (self.facts, self.programs);
        rayon::spawn(move || drop(facts));
        rayon::spawn(move || drop(programs));
        self.summary
    }

    /// The batch's own token: it stops with those it was made from, and when the
    /// CPU budget is used up. A batch that [`CancelToken::is_interrupted`] needs no
    /// more windows.
    #[must_use]
    pub fn token(&self) -> &CancelToken {
        self.account.token()
    }

    /// Charges the batch for what this thread does for it, reading and preparing
    /// claims, for as long as the stopwatch lives.
    #[must_use]
    pub fn stopwatch(&self) -> Stopwatch<'_> {
        self.token().stopwatch()
    }

    /// Notes an envelope whose signatures nobody checked.
    pub fn note_unchecked_signature(&mut self) {
        self.summary.unchecked_signatures += 1;
    }

    fn place(&mut self, prepared: Prepared) -> Result<Placement, BatchError> {
        Ok(match prepared.0 {
            State::Known(digest, language) => match self.programs.number(digest, language) {
                Some(number) => Placement::Program(digest, number),
                None => return Err(BatchError::ForeignProgram),
            },
            State::New(program) => {
                let exact = self.settings.exact;
                let digest = program.digest();
                let number =
                    self.programs
                        .add(program, &mut self.facts, &mut self.account, exact)?;
                Placement::Program(digest, number)
            }
            State::Refused(digest, language, source, error) => {
                let number = self.programs.refuse((digest, language), &source, error);
                Placement::Program(digest, number)
            }
        })
    }

    fn result(&self, claim: Submission, placement: Placement) -> ClaimResult {
        let mut result = ClaimResult {
            index: self.summary.records,
            source: claim.origin,
            id: claim.id,
            language: claim.language,
            digest: None,
            verdict: Verdict::Invalid,
            code: None,
            detail: None,
            record_diagnostics: claim.diagnostics,
            evaluation: None,
        };
        match placement {
            Placement::Annotation => result.verdict = Verdict::Skipped,
            Placement::Invalid => {
                name_cause(&mut result, &[]);
            }
            Placement::Program(digest, number) => {
                result.digest = Some(digest);
                if let Some(evaluation) = self.programs.evaluation(number) {
                    result.verdict = evaluation.verdict;
                    if let Some(reason) = &evaluation.reason {
                        result.code = Some(reason.code.name());
                        result.detail = Some(reason.detail.clone());
                    } else if evaluation.verdict == Verdict::Invalid {
                        name_cause(&mut result, &evaluation.diagnostics);
                    }
                    result.evaluation = Some(Arc::clone(evaluation));
                }
            }
        }
        result
    }

    fn count(&mut self, result: &ClaimResult) {
        self.summary.records += 1;
        self.summary.verdicts[result.verdict as usize] += 1;
        if let Some(code) = result.code {
            *self.summary.codes.entry(code).or_default() += 1;
        }
    }

    fn refresh(&mut self) {
        let counts = self.compiler.counts();
        self.summary.distinct_programs = count(self.programs.len());
        self.summary.distinct_facts = count(self.facts.len());
        self.summary.fuel = self.account.fuel();
        self.summary.cpu_ns = self.token().cpu_spent_ns();
        self.summary.memory_hits = counts.memory_hits - self.before.memory_hits;
        self.summary.disk_hits = counts.disk_hits - self.before.disk_hits;
        self.summary.compiled = counts.compiled - self.before.compiled;
        self.summary.wall_ns = u64::try_from(self.started.elapsed().as_nanos()).unwrap_or(u64::MAX);
    }
}

enum Placement {
    Program(Digest, u32),
    Invalid,
    Annotation,
}

/// The code and detail of an invalid result are those of its first error.
fn name_cause(result: &mut ClaimResult, diagnostics: &[Diagnostic]) {
    let mut all = result.record_diagnostics.iter().chain(diagnostics);
    if let Some(error) = all.find(|diagnostic| diagnostic.is_error()) {
        result.code = Some(error.code.name());
        result.detail = Some(error.message.clone());
    }
}

fn count(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}
