//! `probity lint`: reads predicates and runs nothing.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bumpalo::Bump;
use clap::{Args, ValueHint};

use crate::batch::{ClaimResult, Evaluation, Origin, Settings, Sink, Summary, Verdict};
use crate::check::{self, Options};
use crate::cli::error::CliError;
use crate::cli::interrupt::Interrupt;
use crate::cli::options::{LanguageOptions, OutputOptions};
use crate::cli::output::Output;
use crate::cli::{Exit, expression, harn, input, logs, message};
use crate::diagnostic::Diagnostic;
use crate::digest::Digest;
use crate::engine::{ClaimInput, Engine};
use crate::facts::{CancelToken, Demand, FactSource, FactValue, FetchStats, Fetched};
use crate::language::Language;
use crate::reason::{Reason, ReasonCode};
use crate::report::{Counts, Job, LintTotals, Report, Totals};

const EXAMPLES: &str = "\
Examples:
  probity lint claims.jsonl
  probity lint invariants.harn
  probity lint --deny-warnings -e 'grep(/x/, \"f\") >= 0' -e 'exists(\"f\")'

Exit status:
  0    no errors
  1    at least one error, or with --deny-warnings a warning
  2    usage, I/O or configuration error
  3    no predicate was there to be read
  130  interrupted";

/// Find malformed, vacuous and weak predicates; runs nothing
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(super) struct LintArgs {
    /// Claim logs, `-` for standard input, or predicate files, whose names end in `.harn`
    /// [default: standard input, if it is no terminal and no -e is given]
    #[arg(value_name = "LOG", value_hint = ValueHint::FilePath)]
    logs: Vec<PathBuf>,
    /// An expression, `-` to read it from standard input; may be given many times
    #[arg(short = 'e', long = "expression", value_name = "EXPR")]
    expressions: Vec<String>,
    /// Warnings make the exit status 1 too
    #[arg(long)]
    deny_warnings: bool,
    #[command(flatten)]
    language: LanguageOptions,
    #[command(flatten)]
    output: OutputOptions,
}

pub(super) fn run(args: &LintArgs) -> Result<Exit, CliError> {
    let files: Vec<&Path> = args.logs.iter().filter_map(|it| harn::file(it)).collect();
    if !files.is_empty() {
        if files.len() < args.logs.len() || !args.expressions.is_empty() {
            let message = "claims and predicate files are linted one after the other";
            return Err(CliError::Usage(message.into()));
        }
        return harn::lint(&files, args.deny_warnings);
    }
    let logs = if args.expressions.is_empty() {
        input::named(&args.logs)?
    } else {
        args.logs.clone()
    };
    let interrupt = Interrupt::watch(None);
    let engine = Engine::with_facts(Arc::new(NoFacts))
        .allow_vacuous(args.language.allow_vacuous)
        .cancel_token(interrupt.token())
        .build()?;
    let output = Output::open(&args.output.target)?;
    let mut linter = Linter {
        report: output.report(&args.output, Job::Lint, None)?,
        totals: LintTotals::default(),
        options: Options {
            allow_vacuous: args.language.allow_vacuous,
        },
        language: args.language.language.unwrap_or_default(),
        origin: None,
        examined: HashMap::new(),
    };
    linter.expressions(&engine, &args.expressions)?;
    let run = logs::judge(
        &engine,
        &logs,
        args.language.language,
        Settings::default(),
        &mut linter,
    )?;
    let Linter {
        mut report,
        mut totals,
        ..
    } = linter;
    totals.interrupted = run.summary.interrupted;
    report
        .finish(&Totals {
            counts: Counts::Lint(&totals),
            failures: &run.failures,
        })
        .map_err(|error| output.error(error))?;
    output.keep()?;
    message::failures(&run.failures);
    let exit = if !run.failures.is_empty() {
        Exit::Error
    } else if totals.refused > 0 || args.deny_warnings && totals.warned > 0 {
        Exit::Failed
    } else if totals.records == totals.skipped {
        Exit::Undecided
    } else {
        Exit::Passed
    };
    Ok(interrupt.exit(exit))
}

/// Takes what a batch without facts says about its predicates, adds the advice
/// that only `lint` looks for, and counts.
struct Linter {
    report: Box<dyn Report>,
    totals: LintTotals,
    options: Options,
    language: Language,
    /// Where expressions come from; `None` while logs are read.
    origin: Option<Arc<str>>,
    examined: HashMap<(Digest, Language), Arc<Evaluation>>,
}

impl Linter {
    fn expressions(&mut self, engine: &Engine, arguments: &[String]) -> Result<(), CliError> {
        let mut claims = Vec::with_capacity(arguments.len());
        for argument in arguments {
            claims.push(ClaimInput {
                id: None,
                language: self.language,
                source: expression::text(argument)?.into(),
            });
        }
        self.origin = Some(Arc::from("-e"));
        engine.evaluate_batch(claims, Settings::default(), self)?;
        self.origin = None;
        Ok(())
    }

    /// What is to be said about a predicate, worked out once for equal ones.
    fn examine(&mut self, result: &ClaimResult) -> Option<Arc<Evaluation>> {
        let evaluation = result.evaluation.as_ref()?;
        let named = result
            .language
            .as_deref()
            .and_then(|name| name.parse().ok());
        let language = named.unwrap_or(self.language);
        let key = (result.digest?, language);
        if let Some(known) = self.examined.get(&key) {
            return Some(Arc::clone(known));
        }
        let mut evaluation = Evaluation::clone(evaluation);
        if evaluation.verdict != Verdict::Invalid {
            evaluation.diagnostics = advice(language, &evaluation.predicate, self.options);
        }
        let evaluation = Arc::new(evaluation);
        self.examined.insert(key, Arc::clone(&evaluation));
        Some(evaluation)
    }

    fn count(&mut self, result: &ClaimResult) {
        let of_predicate = result
            .evaluation
            .iter()
            .flat_map(|found| &found.diagnostics);
        let (mut errors, mut warnings) = (0, 0);
        for diagnostic in result.record_diagnostics.iter().chain(of_predicate) {
            if diagnostic.is_error() {
                errors += 1;
            } else {
                warnings += 1;
            }
            *self.totals.codes.entry(diagnostic.code.name()).or_default() += 1;
        }
        let totals = &mut self.totals;
        totals.records += 1;
        let kind = match (errors, warnings) {
            (1.., _) => &mut totals.refused,
            (_, 1..) => &mut totals.warned,
            _ if result.verdict == Verdict::Skipped => &mut totals.skipped,
            _ => &mut totals.clean,
        };
        *kind += 1;
    }
}

impl Sink for Linter {
    fn result(&mut self, result: &ClaimResult) -> io::Result<()> {
        let mut result = ClaimResult {
            index: self.totals.records,
            evaluation: self.examine(result),
            ..result.clone()
        };
        if let Some(origin) = &self.origin {
            result.source = Origin {
                input: Arc::clone(origin),
                ..result.source
            };
        }
        self.count(&result);
        self.report.result(&result)
    }

    fn progress(&mut self, summary: &Summary) {
        self.report.progress(summary);
    }
}

/// Everything there is to say about a valid predicate.
fn advice(language: Language, source: &str, options: Options) -> Vec<Diagnostic> {
    let arena = Bump::new();
    match check::check(language, source, &arena, options) {
        Ok(checked) => {
            let mut all = check::lint(language, source, &checked);
            all.extend(checked.warnings);
            all.sort_by_key(|diagnostic| diagnostic.span);
            all
        }
        Err(diagnostics) => diagnostics,
    }
}

/// A world of which nothing is known, so that nothing is read.
struct NoFacts;

impl FactSource for NoFacts {
    fn fetch(&self, demands: &[Demand<'_>], _: &CancelToken) -> (Vec<Fetched>, FetchStats) {
        let unknown = Reason::new(ReasonCode::FactMissing, "nothing is looked up");
        let facts = demands
            .iter()
            .map(|_| Fetched::from(FactValue::Unknown(unknown.clone())))
            .collect();
        (facts, FetchStats::default())
    }
}
