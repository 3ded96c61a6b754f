//! Options that several commands share.

use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{NonEmptyStringValueParser, PossibleValuesParser, TypedValueParser as _};
use clap::{Args, ValueEnum, ValueHint};

use crate::budget::{Budget, Budgets};
use crate::cli::duration;
use crate::cli::error::CliError;
use crate::language::{Language, UnknownLanguage};

/// What the claims are about and how much may be spent on them.
#[derive(Args, Debug)]
#[command(next_help_heading = "Evaluation")]
pub(super) struct WorldOptions {
    /// The workspace: paths in predicates are relative to it and stay below it
    #[arg(long, value_name = "DIR", default_value = ".", value_hint = ValueHint::DirPath)]
    pub(super) root: PathBuf,
    /// What `run` and `test` may execute; it takes the place of the workspace's own
    /// policy altogether [default: `probity.toml` in the workspace; nothing is
    /// executed where there is none]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(super) policy: Option<PathBuf>,
    /// Execute no command or test again whose result is in the cache directory, where
    /// the workspace, the environment and the policy are the same
    #[arg(long, conflicts_with = "no_cache")]
    pub(super) reuse_runs: bool,
    /// Threads, at most 256 [default: as many as there are cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(super) jobs: Option<u16>,
    /// Most fuel that one predicate may take with all its scans, whoever shares
    /// them; one over it is unevaluated (`budget_exceeded`) [default: no limit]
    #[arg(long, value_name = "N")]
    fuel: Option<u64>,
    /// Fuel after which nothing more is looked up for the run; what is not known
    /// then is unevaluated (`budget_exceeded`) [default: no limit]
    #[arg(long, value_name = "N")]
    batch_fuel: Option<u64>,
    /// Most CPU time that one predicate may take with all its scans, like `500ms`,
    /// `10s`, `2m`; one over it is unevaluated (`budget_exceeded`). It differs from
    /// run to run: leave room [default: no limit]
    #[arg(long, value_name = "DURATION", value_parser = duration::parse)]
    predicate_cpu: Option<Duration>,
    /// CPU time of all threads after which nothing more is looked up for the run;
    /// what is not known then is unevaluated (`budget_exceeded`) [default: no limit]
    #[arg(long, value_name = "DURATION", value_parser = duration::parse)]
    cpu_budget: Option<Duration>,
    /// Wall-clock time after which the run stops with what it has, like `500ms`,
    /// `10s`, `2m`; what is open then is unevaluated (`cancelled`) [default: no
    /// limit]
    #[arg(long, value_name = "DURATION", value_parser = duration::parse)]
    pub(super) deadline: Option<Duration>,
}

/// Whose commits are read.
#[derive(Args, Debug)]
#[command(next_help_heading = "Evaluation")]
pub(super) struct RepositoryOptions {
    /// The workspace, a directory of a git repository: paths in predicates are
    /// relative to it and stay below it
    #[arg(long, value_name = "DIR", default_value = ".", value_hint = ValueHint::DirPath)]
    pub(super) root: PathBuf,
    /// Threads, at most 256 [default: as many as there are cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    jobs: Option<u16>,
    /// Wall-clock time after which the run stops with what it has, like `500ms`,
    /// `10s`, `2m` [default: no limit]
    #[arg(long, value_name = "DURATION", value_parser = duration::parse)]
    pub(super) deadline: Option<Duration>,
}

impl RepositoryOptions {
    /// The threads that were asked for.
    pub(super) fn pool(&self) -> Result<Option<rayon::ThreadPool>, CliError> {
        let Some(jobs) = self.jobs else {
            return Ok(None);
        };
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(jobs.into())
            .build();
        pool.map(Some)
            .map_err(|error| CliError::Usage(format!("cannot start {jobs} threads: {error}")))
    }
}

/// Which state of the workspace the claims are about.
#[derive(Args, Debug)]
#[command(next_help_heading = "Evaluation")]
pub(super) struct CommitOptions {
    /// Read the files of this commit from the git repository, without a checkout;
    /// `run` and `test` are then unevaluated (`needs_checkout`) [default: the files
    /// on disk]
    #[arg(long, value_name = "REV", value_parser = NonEmptyStringValueParser::new())]
    pub(super) at: Option<String>,
}

impl WorldOptions {
    /// The limits that were given.
    pub(super) fn budgets(&self) -> Budgets {
        Budgets {
            predicate: Budget {
                fuel: self.fuel,
                cpu: self.predicate_cpu,
            },
            batch: Budget {
                fuel: self.batch_fuel,
                cpu: self.cpu_budget,
            },
        }
    }
}

/// Which predicates are accepted.
#[derive(Args, Debug)]
#[command(next_help_heading = "Language")]
pub(super) struct LanguageOptions {
    /// The language of what names none [default: elench-predicate-v1 for
    /// expressions; none for logs, whose claims must name theirs]
    #[arg(long, value_name = "NAME", value_parser = language())]
    pub(super) language: Option<Language>,
    /// Accept predicates that are true or false whatever the workspace holds;
    /// a gate must not
    #[arg(long)]
    pub(super) allow_vacuous: bool,
}

/// The cache of compiled predicates.
#[derive(Args, Debug)]
#[command(next_help_heading = "Cache")]
pub(super) struct CacheOptions {
    /// Where compiled predicates and counts are kept [default: `probity` in the user's
    /// cache directory]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(super) cache_dir: Option<PathBuf>,
    /// Neither read nor write compiled predicates and counts on disk
    #[arg(long, conflicts_with = "cache_dir")]
    pub(super) no_cache: bool,
}

/// Where results go and how they look.
#[derive(Args, Debug)]
#[command(next_help_heading = "Output")]
pub(super) struct OutputOptions {
    /// How results are written
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = Format::Text)]
    pub(super) format: Format,
    #[command(flatten)]
    pub(super) target: TargetOptions,
    /// Leave out everything that differs between two equal runs: CPU and wall
    /// time, cache hits
    #[arg(long)]
    pub(super) no_timings: bool,
}

/// Where results go.
#[derive(Args, Debug)]
pub(super) struct TargetOptions {
    /// Write to a file instead of standard output; it is written whole or not at
    /// all
    #[arg(
        long,
        value_name = "FILE",
        value_hint = ValueHint::FilePath,
        help_heading = "Output"
    )]
    pub(super) output: Option<PathBuf>,
}

/// The formats of results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// For people: what needs attention, then the totals
    Text,
    /// One JSON object: schema, summary, results
    Json,
    /// One JSON object for each claim, the summary on the last line
    Jsonl,
    /// SARIF 2.1.0, for code scanning: what did not pass, and warnings
    Sarif,
    /// JUnit XML, for CI systems: a case for each claim
    Junit,
    /// Annotations of GitHub Actions: the first ten errors and ten warnings
    Github,
}

/// When to do something that suits terminals only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum When {
    /// On a terminal
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

fn language() -> impl clap::builder::TypedValueParser<Value = Language> {
    PossibleValuesParser::new(Language::ALL.map(Language::name))
        .try_map(|name| -> Result<Language, UnknownLanguage> { name.parse() })
}
