//! `probity flow evaluate`: one predicate file over one slice. (flow.md, section 10.)

use std::path::{Path, PathBuf};

use clap::{Args, ValueHint};
use serde_json::{Value as Json, json};

use crate::budget::CancelToken;
use crate::cli::error::CliError;
use crate::cli::options::TargetOptions;
use crate::cli::output::Output;
use crate::cli::{Exit, harn};
use crate::files::take_text;
use crate::flow::{Context, Patterns, Prepared, Slice, Verdict, evaluate};
use crate::harn::{FallbackPolicy, Kind, Limits, Predicate};

/// Most bytes of a slice or of `ctx`.
const MOST_JSON: usize = 256 << 20;

/// Evaluate one predicate file over a slice and print the report as JSON
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  probity flow evaluate invariants.harn --slice slice.json
  probity flow evaluate invariants.harn --slice slice.json --root .
  probity flow evaluate invariants.harn --slice - --predicate no_unwrap < slice.json

Exit status:
  0    no predicate blocks
  1    a predicate blocks
  2    usage or I/O error
  3    the predicate file is invalid, or no predicate was evaluated")]
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
    /// The workspace that `grep` and `exists` look into [default: none, and a predicate
    /// that calls them blocks]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    root: Option<PathBuf>,
    /// Fuel of each predicate [default: 20000000]
    #[arg(long, value_name = "N")]
    fuel: Option<u64>,
    #[command(flatten)]
    judge: super::JudgeOptions,
    #[command(flatten)]
    target: TargetOptions,
}

pub(super) fn run(args: &EvaluateArgs) -> Result<Exit, CliError> {
    let slice = json_of(&args.slice)?;
    let slice = Slice::from_json(&slice)
        .map_err(|error| CliError::Usage(format!("`{}`: {error}", args.slice.display())))?;
    let ctx = args.ctx.as_deref().map(json_of).transpose()?;
    let Some(module) = harn::compile(&args.file)? else {
        return Ok(Exit::Undecided);
    };
    let known = |name: &String| module.predicates().iter().any(|it| *it.name == **name);
    if let Some(unknown) = args.predicates.iter().find(|name| !known(name)) {
        return Err(CliError::Usage(format!(
            "`{}` has no predicate `{unknown}`",
            args.file.display()
        )));
    }
    let mut limits = Limits::default();
    limits.fuel = args.fuel.unwrap_or(limits.fuel);
    let workspace = super::workspace(args.root.as_deref())?;
    if let Some(workspace) = &workspace {
        workspace.look_ahead([&module], limits.fuel, &CancelToken::new());
    }
    let patterns = Patterns::new(std::slice::from_ref(&module));
    let prepared = Prepared::sift(&slice, &patterns);
    let context = Context {
        ctx: ctx.as_ref(),
        workspace: workspace.as_ref(),
        ..Context::default()
    };
    let is_wanted = |predicate: &Predicate| {
        args.predicates.is_empty() || args.predicates.iter().any(|name| **name == *predicate.name)
    };
    let (mut records, mut skipped) = (Vec::new(), Vec::new());
    let mut blocks = false;
    for predicate in module.predicates().iter().filter(|it| is_wanted(it)) {
        if let Kind::Semantic { fallback, .. } = &predicate.kind {
            // There is no judge here: its fallback speaks for it.
            skipped.push(json!({
                "name": predicate.name,
                "hash": predicate.hash(module.source()),
                "kind": "semantic",
                "reason": format!("no judge; `{fallback}` stands in"),
            }));
            continue;
        }
        let evaluated = evaluate(&module, predicate, &prepared, &context, &limits);
        blocks |= matches!(evaluated.result.verdict, Verdict::Block { .. });
        records.push(json!({
            "name": predicate.name,
            "hash": predicate.hash(module.source()),
            "kind": "deterministic",
            "fallback_policy": policy(predicate),
            "result": evaluated.result,
            "raw_result": evaluated.raw,
            "enforced": true,
            "attempts": 1,
            "replayable": true,
            "fuel": evaluated.usage.fuel,
            "memory_bytes": evaluated.usage.memory,
            "scanned_bytes": evaluated.usage.bytes,
        }));
    }
    records.sort_by_key(|record| record["hash"].to_string());
    let is_empty = records.is_empty();
    let report = json!({
        "ok": !blocks && !is_empty,
        "status": if blocks { "fail" } else if is_empty { "nothing_evaluated" } else { "pass" },
        "diagnostics": module.warnings().iter().map(|warning| json!({
            "severity": warning.severity.name(),
            "code": warning.code.name(),
            "message": warning.message,
            "span": {"start": warning.span.start, "end": warning.span.end},
        })).collect::<Vec<_>>(),
        "records": records,
        "skipped": skipped,
    });
    let mut text = serde_json::to_string_pretty(&report).unwrap_or_default();
    text.push('\n');
    Output::open(&args.target)?.write(text.as_bytes())?;
    Ok(match (blocks, is_empty) {
        (true, _) => Exit::Failed,
        (false, true) => Exit::Undecided,
        (false, false) => Exit::Passed,
    })
}

const fn policy(predicate: &Predicate) -> &'static str {
    match predicate.kind {
        Kind::Semantic {
            policy: FallbackPolicy::Advisory,
            ..
        } => "advisory",
        _ => "enforce",
    }
}

fn json_of(path: &Path) -> Result<Json, CliError> {
    let input = |source| CliError::Input {
        path: path.to_owned(),
        source,
    };
    let text = if path.as_os_str() == "-" {
        take_text(std::io::stdin(), MOST_JSON as u64).map_err(input)?
    } else {
        harn::read(path, MOST_JSON)?
    };
    serde_json::from_str(&text)
        .map_err(|error| CliError::Usage(format!("`{}`: {error}", path.display())))
}
