//! `probity flow evaluate`: one predicate file over one slice. (flow.md, section 10.)

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::{Args, ValueHint};
use serde_json::Value as Json;

use crate::cli::error::CliError;
use crate::cli::flow::JudgeOptions;
use crate::cli::interrupt::Interrupt;
use crate::cli::options::TargetOptions;
use crate::cli::output::Output;
use crate::cli::{Exit, json, message};
use crate::flow::{
    EvaluateError, EvaluateOptions, Evaluation, EvaluationReport, EvaluationStatus,
    FeedbackOptions, Slice,
};
use crate::harn::Given;

/// Evaluate one predicate file over a slice and print the report as JSON
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  probity flow evaluate invariants.harn --slice slice.json
  probity flow evaluate src/invariants.harn --slice slice.json --root .
  probity flow evaluate invariants.harn --slice - --predicate no_unwrap < slice.json
  probity flow evaluate invariants.harn --slice slice.json --judge-command /opt/judge --feedback

Exit status:
  0    no predicate blocks
  1    a predicate blocks
  2    usage or I/O error
  3    the predicate file is invalid, or no predicate was evaluated
  130  interrupted")]
pub(super) struct EvaluateArgs {
    /// The predicate file
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    file: PathBuf,
    /// The slice, `{"files": [{"path", "text"}]}`, `-` for standard input
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    slice: PathBuf,
    /// A predicate to evaluate; may be given many times [default: all]
    #[arg(long = "predicate", value_name = "NAME")]
    predicates: Vec<String>,
    /// The fields of `ctx`, a file of JSON
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    ctx: Option<PathBuf>,
    /// What predicates get as `repo_at_base`, a file of JSON
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    repo_at_base: Option<PathBuf>,
    /// The workspace that `grep` and `exists` look into. If the file lies below it,
    /// fallbacks may also be declared in the `invariants.harn` files of the directories
    /// from there up to this one [default: none, and a predicate that calls them blocks]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    root: Option<PathBuf>,
    /// Milliseconds of each predicate: CPU time of deterministic ones, time on the wall of
    /// semantic ones [default: 50 for the former, 2000 for the latter]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    budget_ms: Option<u64>,
    /// Fuel of each predicate [default: 40000 for each millisecond of its budget]
    #[arg(long, value_name = "N")]
    fuel: Option<u64>,
    #[command(flatten)]
    judge: JudgeOptions,
    /// Print what an agent is to be told of the report instead of the report; nothing if
    /// nothing needs attention
    #[arg(long, help_heading = "Output")]
    feedback: bool,
    /// How much it is told, JSON like `{"max_items": 3, "include_skipped": true}`
    #[arg(
        long,
        value_name = "JSON",
        requires = "feedback",
        help_heading = "Output"
    )]
    feedback_options: Option<String>,
    /// Leave out everything that differs between two equal runs: the time that they took
    #[arg(long, help_heading = "Output")]
    no_timings: bool,
    #[command(flatten)]
    target: TargetOptions,
}

pub(super) fn run(args: &EvaluateArgs) -> Result<Exit, CliError> {
    let interrupt = Interrupt::watch(None);
    let feedback = args.feedback_options()?;
    let slice = json::read(&args.slice)?;
    let slice = Slice::from_json(&slice)
        .map_err(|error| CliError::Usage(format!("`{}`: {error}", args.slice.display())))?;
    let options = EvaluateOptions {
        cancel: interrupt.token(),
        ..args.options()?
    };
    let evaluation = match Evaluation::load("", &options) {
        Ok(evaluation) => evaluation,
        Err(EvaluateError::Load { text, problems, .. }) => {
            message::problems(&args.file, &text, &problems);
            return Ok(Exit::Undecided);
        }
        Err(EvaluateError::Read { path, source }) => return Err(CliError::Input { path, source }),
        Err(error) => return Err(CliError::Usage(error.to_string())),
    };
    if let Some(unknown) = evaluation.unknown_predicates().first() {
        return Err(CliError::Usage(format!(
            "`{}` has no predicate `{unknown}`",
            args.file.display()
        )));
    }
    let output = Output::open(&args.target)?;
    let report = evaluation.run(&slice);
    output.write(args.shown(&report, feedback.as_ref())?.as_bytes())?;
    Ok(interrupt.exit(match report.status {
        EvaluationStatus::Pass => Exit::Passed,
        EvaluationStatus::Fail => Exit::Failed,
        EvaluationStatus::DiscoveryError | EvaluationStatus::NothingEvaluated => Exit::Undecided,
    }))
}

impl EvaluateArgs {
    fn options(&self) -> Result<EvaluateOptions, CliError> {
        let base = self.repo_at_base.as_deref().map(json::read).transpose()?;
        let workspace = super::workspace(self.root.as_deref())?;
        let root = self.root.as_deref().unwrap_or(Path::new("."));
        Ok(EvaluateOptions {
            path: Some(self.file.clone()),
            root: self.root.clone(),
            ctx: self.ctx.as_deref().map(json::read).transpose()?,
            repo_at_base: base.as_ref().map(Given::new),
            predicates: self.predicates.clone(),
            include_semantic: self.judge.includes_semantic(),
            budget: self.budget_ms.map(Duration::from_millis),
            judge: self.judge.judge(root)?,
            token_cap: Some(self.judge.token_cap()),
            workspace: workspace.map(Arc::new),
            fuel: self.fuel,
            ..EvaluateOptions::default()
        })
    }

    /// How feedback is given, if it is asked for.
    fn feedback_options(&self) -> Result<Option<FeedbackOptions>, CliError> {
        let wrong = |error: &dyn std::fmt::Display| {
            CliError::Usage(format!("`--feedback-options` {error}"))
        };
        let json = match &self.feedback_options {
            None => Json::Null,
            Some(text) => serde_json::from_str(text)
                .map_err(|error| wrong(&format_args!("is no JSON: {error}")))?,
        };
        let options = FeedbackOptions::from_json(&json).map_err(|error| wrong(&error))?;
        Ok(self.feedback.then_some(options))
    }

    /// The report, or what an agent is told of it.
    fn shown(
        &self,
        report: &EvaluationReport,
        feedback: Option<&FeedbackOptions>,
    ) -> Result<String, CliError> {
        let broken = |error: &dyn std::fmt::Display| {
            CliError::Usage(format!("the report cannot be written: {error}"))
        };
        let mut report = serde_json::to_value(report).map_err(|error| broken(&error))?;
        if let Some(feedback) = feedback {
            let mut text = feedback.feedback(&report).map_err(|error| broken(&error))?;
            if !text.is_empty() {
                text.push('\n');
            }
            return Ok(text);
        }
        if self.no_timings {
            let records = report.get_mut("records").and_then(Json::as_array_mut);
            for record in records.into_iter().flatten() {
                let fields = record.as_object_mut();
                fields.and_then(|fields| fields.remove("elapsed_ms"));
            }
        }
        let mut text = serde_json::to_string_pretty(&report).map_err(|error| broken(&error))?;
        text.push('\n');
        Ok(text)
    }
}
