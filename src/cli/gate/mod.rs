//! `probity gate`: the predicates that apply to a change decide whether it ships.

mod change;

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use clap::builder::NonEmptyStringValueParser;
use clap::{ArgGroup, Args, ValueEnum, ValueHint};

use crate::cli::error::CliError;
use crate::cli::flow::JudgeOptions;
use crate::cli::interrupt::Interrupt;
use crate::cli::options::{Format, OutputOptions};
use crate::cli::output::Output;
use crate::cli::{Exit, duration, json};
use crate::facts::WorkspaceSource;
use crate::files::Limits as FileLimits;
use crate::flow::executor::{ExecutorConfig, SchedulerConfig};
use crate::flow::{Approvals, Approver, Discovery, Gate, PredicateCeiling, changed_rules};
use crate::harn::Workspace;
use crate::report::{GateFormat, write_gate};

use self::change::Change;

/// Judge a change by the `invariants.harn` files that apply to it
///
/// What applies is the union of the predicates on the way from the root to every
/// directory that the change touches. Each predicate gets the changed files with their
/// whole texts and comes to Allow, Warn, RequireApproval or Block; of those with one
/// name, the strictest on the way to the root counts.
#[derive(Args, Debug)]
#[command(
    group = ArgGroup::new("what").required(true).multiple(true).args(["base", "staged", "slice"]),
    after_help = "\
Examples:
  probity gate --base origin/main
  probity gate --base origin/main --head HEAD --format sarif --output gate.sarif
  probity gate --staged
  probity gate --base origin/main --approved-by role:security
  probity gate --slice slice.json --root .

Exit status:
  0    it may ship
  1    a predicate blocks, or an approval is asked for and not given
  2    usage, I/O or configuration error
  3    nothing blocks, but a predicate file has an error, a file could not be judged, or
       nothing was judged: no predicate applies, or the change is empty
  130  interrupted"
)]
pub(super) struct GateArgs {
    /// The revision that the change is to be merged into; the change starts where the
    /// histories meet
    #[arg(long, value_name = "REV", value_parser = NonEmptyStringValueParser::new())]
    base: Option<String>,
    /// The revision with the change [default: the files on disk, whether or not they are
    /// committed]
    #[arg(
        long,
        value_name = "REV",
        requires = "base",
        conflicts_with = "staged",
        value_parser = NonEmptyStringValueParser::new()
    )]
    head: Option<String>,
    /// Judge what is staged, as `git commit` would commit it [default base: HEAD]
    #[arg(long)]
    staged: bool,
    /// A slice, `{"files": [{"path", "text"}]}`, `-` for standard input
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["base", "staged"],
        value_hint = ValueHint::FilePath
    )]
    slice: Option<PathBuf>,
    /// What the predicates of a slice get as `repo_at_base`, a file of JSON
    #[arg(long, value_name = "FILE", requires = "slice", value_hint = ValueHint::FilePath)]
    repo_at_base: Option<PathBuf>,
    /// Where the predicate files are looked for: paths of the change are relative to it,
    /// and nothing outside of it is read
    #[arg(long, value_name = "DIR", default_value = ".", value_hint = ValueHint::DirPath)]
    root: PathBuf,
    /// Whose predicate files judge. Those of the head may have been changed by the very
    /// change; the report then says so
    #[arg(
        long,
        value_enum,
        value_name = "STATE",
        default_value_t = Rules::Head,
        conflicts_with = "slice"
    )]
    rules: Rules,
    /// An approval that was given, `user:NAME` or `role:NAME`; may be given many times
    #[arg(long, value_name = "WHO")]
    approved_by: Vec<Approver>,
    /// Let a change without files pass
    #[arg(long)]
    allow_empty: bool,
    /// The fields of `ctx`, a file of JSON
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    ctx: Option<PathBuf>,
    #[command(flatten)]
    judges: JudgeOptions,
    #[command(flatten)]
    limits: LimitOptions,
    #[command(flatten)]
    output: OutputOptions,
}

/// How much predicates may use, and how many there may be.
#[derive(Args, Debug)]
#[command(next_help_heading = "Limits")]
struct LimitOptions {
    /// CPU time of one attempt of a deterministic predicate
    #[arg(long, value_name = "DURATION", default_value = "50ms", value_parser = duration::parse)]
    predicate_cpu: Duration,
    /// Fuel of one attempt; a predicate over it blocks (`budget_exceeded`), in every run
    /// [default: 40000 for each millisecond of --predicate-cpu]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    fuel: Option<u64>,
    /// CPU time of all deterministic predicates together; 0 is no limit
    #[arg(long, value_name = "DURATION", default_value = "5s", value_parser = duration::parse)]
    cpu_budget: Duration,
    /// Wall-clock time after which the run stops; what is open then blocks
    /// (`cancelled`) [default: no limit]
    #[arg(long, value_name = "DURATION", value_parser = duration::parse)]
    deadline: Option<Duration>,
    /// Evaluate deterministic predicates once, not twice to see that they are
    #[arg(long)]
    no_replay: bool,
    /// Predicates that are evaluated at the same time, at most 256 [default: as many as
    /// there are cores, at most 16]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    jobs: Option<u16>,
    /// From so many predicates on the change is refused; 0 for never
    #[arg(long, value_name = "N", default_value_t = 1024)]
    block_threshold: usize,
    /// From so many predicates on somebody has to approve; 0 for never
    #[arg(long, value_name = "N", default_value_t = 256)]
    approval_threshold: usize,
    /// Who that is
    #[arg(long, value_name = "WHO", default_value = "role:flow-platform")]
    approver: Approver,
}

/// The state of the repository whose predicate files judge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Rules {
    /// With the change
    Head,
    /// Without it
    Base,
}

pub(super) fn run(args: &GateArgs) -> Result<Exit, CliError> {
    let interrupt = Interrupt::watch(args.limits.deadline);
    let change = Change::read(args)?;
    let ctx = args.ctx.as_deref().map(json::read).transpose()?;
    let gate = Gate {
        executor: ExecutorConfig {
            semantic_token_cap: args.judges.token_cap(),
            ..args.limits.executor()
        },
        include_semantic: args.judges.includes_semantic(),
        judge: args.judges.judge(&args.root)?,
        ceiling: args.limits.ceiling(),
        fuel: args.limits.fuel,
        ctx,
        allow_empty: args.allow_empty,
        cancel: interrupt.token(),
    };
    let mut job = change.job()?;
    job.approvals = args.approvals();
    let mut head = Discovery::new(&*change.tree);
    let mut base = change.base.as_ref().map(|tree| Discovery::new(&**tree));
    if let Some(base) = base.as_mut().filter(|_| change.touches_rules()) {
        let changed = changed_rules(base, &mut head, &job.touched);
        job.diagnostics.extend(changed);
    }
    let rules = match (args.rules, &mut base) {
        (Rules::Base, Some(base)) => base,
        _ => &mut head,
    };
    let source = WorkspaceSource::over(change.tree.clone(), FileLimits::default());
    let workspace = Workspace::new(source);
    let output = Output::open(&args.output.target)?;
    let report = gate.judge(rules, Some(&workspace), &job);
    let format = match args.output.format {
        Format::Text => GateFormat::Text {
            colour: output.colour(),
        },
        Format::Json => GateFormat::Json,
        Format::Jsonl => GateFormat::JsonLines,
        Format::Sarif => GateFormat::Sarif,
        Format::Junit => GateFormat::JUnit,
        Format::Github => GateFormat::GitHub,
    };
    let mut text = Vec::new();
    write_gate(&mut text, &report, format, !args.output.no_timings)
        .map_err(|error| output.error(error))?;
    output.write(&text)?;
    Ok(interrupt.exit(match report.exit_status() {
        0 => Exit::Passed,
        1 => Exit::Failed,
        130 => Exit::Interrupted,
        _ => Exit::Undecided,
    }))
}

impl GateArgs {
    fn approvals(&self) -> Approvals {
        let now = match self.output.no_timings {
            true => String::new(),
            false => humantime::format_rfc3339_seconds(SystemTime::now()).to_string(),
        };
        let mut approvals = Approvals::default();
        for approver in &self.approved_by {
            approvals.add(approver.clone(), now.clone());
        }
        approvals
    }
}

impl LimitOptions {
    fn executor(&self) -> ExecutorConfig {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let defaults = ExecutorConfig::default();
        let most = defaults.scheduler.max_deterministic_lanes;
        ExecutorConfig {
            deterministic_budget: self.predicate_cpu,
            replay_deterministic: !self.no_replay,
            scheduler: SchedulerConfig {
                max_deterministic_lanes: self.jobs.map_or(cores.min(most), usize::from),
                slice_deterministic_envelope: self.cpu_budget,
                ..defaults.scheduler
            },
            ..defaults
        }
    }

    fn ceiling(&self) -> PredicateCeiling {
        PredicateCeiling {
            block_threshold: self.block_threshold,
            require_approval_threshold: self.approval_threshold,
            approver: self.approver.clone(),
        }
    }
}
