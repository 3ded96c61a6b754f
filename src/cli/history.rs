//! `probity history` and `probity blame`: verdicts along commits.

use std::io;
use std::path::PathBuf;

use clap::{Args, ValueHint};

use crate::batch::{ClaimResult, Settings, Sink, Verdict};
use crate::cli::error::CliError;
use crate::cli::interrupt::Interrupt;
use crate::cli::options::{
    CacheOptions, Format, LanguageOptions, OutputOptions, RepositoryOptions,
};
use crate::cli::output::Output;
use crate::cli::{Exit, input, logs, message, setup};
use crate::engine::Engine;
use crate::git::Repository;
use crate::history::{History, Tracked};
use crate::report::{HistoryFormat, Question, write_history};

const HISTORY: &str = "\
Examples:
  probity history claims.jsonl --range v1.0..HEAD
  probity history claims.jsonl --range main --format jsonl

Exit status, by the verdicts at the last commit:
  0    all pass
  1    at least one fails
  2    usage, I/O or configuration error
  3    none fails, but something is unevaluated or invalid, or nothing was judged
  130  interrupted";

const BLAME: &str = "\
Examples:
  probity blame cl_0123 claims.jsonl
  probity blame cl_0123 claims.jsonl --range v1.0..main

Exit status:
  0    it was never false
  1    it became false
  2    usage, I/O or configuration error, or no claim has the id
  3    it was never false, and at the last commit it is unevaluated or invalid
  130  interrupted";

/// Show at which commits verdicts change
///
/// Follows the first parents of a range of commits and reads their files from the
/// git repository, without a checkout. `run` and `test` are unevaluated
/// (`needs_checkout`).
#[derive(Args, Debug)]
#[command(after_help = HISTORY)]
pub(super) struct HistoryArgs {
    /// Claim logs, `-` for standard input
    #[arg(value_name = "LOG", required = true, value_hint = ValueHint::FilePath)]
    logs: Vec<PathBuf>,
    #[command(flatten)]
    common: CommonArgs,
}

/// Find the first commit at which a claim became false
///
/// Commits are read as `probity history` does.
#[derive(Args, Debug)]
#[command(after_help = BLAME)]
pub(super) struct BlameArgs {
    /// The id of the claim
    #[arg(value_name = "ID")]
    id: String,
    /// Claim logs, `-` for standard input
    #[arg(value_name = "LOG", required = true, value_hint = ValueHint::FilePath)]
    logs: Vec<PathBuf>,
    #[command(flatten)]
    common: CommonArgs,
}

#[derive(Args, Debug)]
struct CommonArgs {
    /// The commits: `A..B` for those that led from A to B, after the verdict at A, or
    /// B alone for all that led to it
    #[arg(
        long,
        value_name = "RANGE",
        default_value = "HEAD",
        help_heading = "Evaluation"
    )]
    range: String,
    #[command(flatten)]
    repository: RepositoryOptions,
    #[command(flatten)]
    language: LanguageOptions,
    #[command(flatten)]
    cache: CacheOptions,
    #[command(flatten)]
    output: OutputOptions,
}

pub(super) fn history(args: &HistoryArgs) -> Result<Exit, CliError> {
    run(&args.common, &args.logs, Question::Changes, None)
}

pub(super) fn blame(args: &BlameArgs) -> Result<Exit, CliError> {
    run(&args.common, &args.logs, Question::Blame, Some(&args.id))
}

fn run(
    args: &CommonArgs,
    logs: &[PathBuf],
    question: Question,
    id: Option<&str>,
) -> Result<Exit, CliError> {
    let logs = input::named(logs)?;
    let output = Output::open(&args.output.target)?;
    let format = match args.output.format {
        Format::Text => HistoryFormat::Text {
            colour: output.colour(),
        },
        Format::Json => HistoryFormat::Json,
        Format::Jsonl => HistoryFormat::JsonLines,
        Format::Sarif | Format::Junit | Format::Github => {
            let message = "a history has no such format: text, json and jsonl there are";
            return Err(CliError::Usage(message.into()));
        }
    };
    let interrupt = Interrupt::watch(args.repository.deadline);
    let repository = Repository::open(&args.repository.root)?;
    let counts = setup::counts(&args.cache, &repository)?;
    let token = interrupt.token();
    let history = History::new(repository, counts, token.clone(), |facts| {
        let builder = Engine::with_facts(facts)
            .allow_vacuous(args.language.allow_vacuous)
            .cancel_token(token);
        builder.build()
    })?;
    let mut claims = Claims {
        id,
        found: Vec::new(),
    };
    let language = args.language.language;
    let engine = history.engine();
    let read = logs::judge(engine, &logs, language, Settings::default(), &mut claims)?;
    message::failures(&read.failures);
    if let Some(id) = id
        && claims.found.is_empty()
    {
        return Err(CliError::Usage(format!(
            "no claim of the log has the id {id:?}; `probity lint --format jsonl` shows those there are"
        )));
    }
    let follow = || history.follow(claims.found, &args.range);
    let tracked = match args.repository.pool()? {
        Some(pool) => pool.install(follow),
        None => follow(),
    }?;
    let mut text = Vec::new();
    let timings = !args.output.no_timings;
    write_history(&mut text, &tracked, question, format, timings)
        .map_err(|error| output.error(error))?;
    output.write(&text)?;
    let exit = if read.failures.is_empty() {
        exit(&tracked, question)
    } else {
        Exit::Error
    };
    Ok(interrupt.exit(exit))
}

fn exit(tracked: &Tracked, question: Question) -> Exit {
    let records = || tracked.records.iter();
    let last = |verdict: Verdict| {
        records().any(|record| {
            let last = record.changes.last();
            last.is_some_and(|change| change.verdict == verdict)
        })
    };
    let ever_false = records().any(|record| {
        let mut changes = record.changes.iter();
        changes.any(|change| change.verdict == Verdict::Fail)
    });
    let is_failed = match question {
        Question::Changes => last(Verdict::Fail),
        Question::Blame => ever_false,
    };
    if is_failed {
        Exit::Failed
    } else if last(Verdict::Unevaluated)
        || last(Verdict::Invalid)
        || tracked.summary.interrupted
        || !last(Verdict::Pass)
    {
        Exit::Undecided
    } else {
        Exit::Passed
    }
}

/// Keeps the claims of a log, or those with an id.
struct Claims<'a> {
    id: Option<&'a str>,
    found: Vec<ClaimResult>,
}

impl Sink for Claims<'_> {
    fn result(&mut self, result: &ClaimResult) -> io::Result<()> {
        if self.id.is_none() || result.id.as_deref() == self.id {
            self.found.push(result.clone());
        }
        Ok(())
    }
}
