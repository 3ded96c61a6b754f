//! `probity check`: every claim of the logs against the workspace.

use std::mem::ManuallyDrop;
use std::path::PathBuf;

use clap::{Args, ValueHint};

use crate::batch::Settings;
use crate::cli::error::CliError;
use crate::cli::interrupt::Interrupt;
use crate::cli::options::{
    CacheOptions, CommitOptions, Format, LanguageOptions, OutputOptions, When, WorldOptions,
};
use crate::cli::output::Output;
use crate::cli::progress::{Progress, Watched};
use crate::cli::{Exit, exit, input, logs, message, setup};
use crate::report::{Counts, Job, Totals};

const EXAMPLES: &str = "\
Examples:
  probity check claims.jsonl
  probity check --root ../service --format json --output report.json claims.jsonl
  probity check --format sarif --output claims.sarif claims.jsonl
  zcat claims.jsonl.gz | probity check --language elench-predicate-v1 -
  probity check --deadline 30s --no-timings --format jsonl a.jsonl b.jsonl";

/// Places shown with a fact where people read it.
const SHOWN_PLACES: u16 = 3;

/// Evaluate every claim of the logs
///
/// A log is JSON Lines, a JSON array, a single claim, or in-toto Statements bare
/// or in DSSE envelopes, compressed with gzip or zstd or not at all.
#[derive(Args, Debug)]
#[command(after_help = format!("{EXAMPLES}\n\n{}", exit::HELP))]
pub(super) struct CheckArgs {
    /// Claim logs, `-` for standard input [default: standard input, if it is no
    /// terminal]
    #[arg(value_name = "LOG", value_hint = ValueHint::FilePath)]
    pub(super) logs: Vec<PathBuf>,
    #[command(flatten)]
    pub(super) world: WorldOptions,
    #[command(flatten)]
    commit: CommitOptions,
    #[command(flatten)]
    language: LanguageOptions,
    #[command(flatten)]
    cache: CacheOptions,
    #[command(flatten)]
    output: OutputOptions,
    /// Places `path:line` to find for each fact, at most 1000 [default: 0 in
    /// json and jsonl, else 3]
    #[arg(
        long,
        value_name = "N",
        value_parser = clap::value_parser!(u16).range(0..=1000),
        help_heading = "Output"
    )]
    places: Option<u16>,
    /// Progress on standard error
    #[arg(
        long,
        value_enum,
        value_name = "WHEN",
        default_value_t = When::Auto,
        help_heading = "Output"
    )]
    progress: When,
}

pub(super) fn run(args: &CheckArgs) -> Result<Exit, CliError> {
    let logs = input::named(&args.logs)?;
    let interrupt = Interrupt::watch(args.world.deadline);
    let progress = Progress::new(args.progress);
    // The process ends with it, so its memory need not be given back piece by piece.
    let engine = ManuallyDrop::new(setup::engine(
        &args.world,
        &args.language,
        &args.cache,
        &args.commit,
        interrupt.token(),
        &progress,
    )?);
    let output = Output::open(&args.output.target)?;
    progress.begin();
    let report = output.report(&args.output, Job::Check, progress.bar())?;
    let mut report = Watched::new(report, progress);
    let places = args.places.unwrap_or(match args.output.format {
        Format::Json | Format::Jsonl => 0,
        Format::Text | Format::Sarif | Format::Junit | Format::Github => SHOWN_PLACES,
    });
    let settings = Settings {
        places: places.into(),
        exact: false,
        budgets: args.world.budgets(),
        cancel: None,
    };
    let run = logs::judge(
        &engine,
        &logs,
        args.language.language,
        settings,
        &mut report,
    )?;
    let totals = Totals {
        counts: Counts::Check(&run.summary),
        failures: &run.failures,
    };
    report
        .finish(&totals)
        .map_err(|error| output.error(error))?;
    output.keep()?;
    message::failures(&run.failures);
    Ok(interrupt.exit(if run.failures.is_empty() {
        Exit::of_summary(&run.summary)
    } else {
        Exit::Error
    }))
}
