//! `probity eval`: one expression.

use std::sync::Arc;

use clap::Args;

use crate::batch::{ClaimResult, Origin, Settings};
use crate::cli::error::CliError;
use crate::cli::interrupt::Interrupt;
use crate::cli::options::{
    CacheOptions, CommitOptions, Format, LanguageOptions, OutputOptions, WorldOptions,
};
use crate::cli::output::Output;
use crate::cli::progress::Progress;
use crate::cli::{Exit, exit, expression, setup};
use crate::engine::{ClaimInput, Watch};
use crate::report::{Counts, Explanation, Job, Totals};

const EXAMPLES: &str = "\
Examples:
  probity eval 'exists(\"Cargo.toml\")'
  probity eval --explain 'grep(/fn main/, \"src/\") == 1'
  probity eval --language elench-predicate-v2 'count(/unwrap/, \"src/**/*.rs\") < 10'
  probity eval - < predicate.txt";

/// Places shown with each fact.
const PLACES: usize = 5;

/// Evaluate one expression
#[derive(Args, Debug)]
#[command(after_help = format!("{EXAMPLES}\n\n{}", exit::HELP))]
pub(super) struct EvalArgs {
    /// The predicate, `-` to read it from standard input
    #[arg(value_name = "EXPR")]
    expression: String,
    /// Show each fact, its value, up to 5 places where it was found, and the cost
    #[arg(long)]
    explain: bool,
    #[command(flatten)]
    world: WorldOptions,
    #[command(flatten)]
    commit: CommitOptions,
    #[command(flatten)]
    language: LanguageOptions,
    #[command(flatten)]
    cache: CacheOptions,
    #[command(flatten)]
    output: OutputOptions,
}

pub(super) fn run(args: &EvalArgs) -> Result<Exit, CliError> {
    let source = expression::text(&args.expression)?;
    let interrupt = Interrupt::watch(args.world.deadline);
    let engine = setup::engine(
        &args.world,
        &args.language,
        &args.cache,
        &args.commit,
        interrupt.token(),
        &Progress::Hidden,
    )?;
    let output = Output::open(&args.output.target)?;
    let claim = ClaimInput {
        id: None,
        language: args.language.language.unwrap_or_default(),
        source: source.into(),
    };
    let settings = Settings {
        places: PLACES,
        exact: true,
        budgets: args.world.budgets(),
        cancel: None,
    };
    let mut result: Option<ClaimResult> = None;
    let mut sink = Watch(|found: &ClaimResult| {
        let mut found = found.clone();
        found.source = Origin {
            input: Arc::from(expression::origin(&args.expression)),
            line: None,
            element: None,
        };
        result = Some(found);
        Ok(())
    });
    let summary = engine.evaluate_batch([claim], settings, &mut sink)?;
    if args.output.format == Format::Text {
        let explanation = Explanation {
            full: args.explain,
            timings: !args.output.no_timings,
            colour: output.colour(),
        };
        let mut text = Vec::new();
        if let Some(evaluation) = result.as_ref().and_then(|found| found.evaluation.as_ref()) {
            explanation
                .write(&mut text, evaluation, &summary.scan)
                .map_err(|error| output.error(error))?;
        }
        output.write(&text)?;
    } else {
        let mut report = output.report(&args.output, Job::Check, None)?;
        let totals = Totals {
            counts: Counts::Check(&summary),
            failures: &[],
        };
        result
            .iter()
            .try_for_each(|found| report.result(found))
            .and_then(|()| report.finish(&totals))
            .map_err(|error| output.error(error))?;
        output.keep()?;
    }
    Ok(interrupt.exit(Exit::of_summary(&summary)))
}
