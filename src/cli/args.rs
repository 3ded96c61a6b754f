//! The command line as a whole.

use clap::{Parser, Subcommand};

use crate::cli::options::When;
use crate::cli::{
    cache::CacheArgs,
    check::CheckArgs,
    completions::CompletionsArgs,
    digest::DigestArgs,
    disasm::DisasmArgs,
    eval::EvalArgs,
    exit,
    flow::FlowArgs,
    gate::GateArgs,
    history::{BlameArgs, HistoryArgs},
    lint::LintArgs,
    man::ManArgs,
};

const EXAMPLES: &str = "\
Examples:
  probity check claims.jsonl
  probity check --format jsonl - < claims.jsonl
  probity eval --explain 'grep(/fn main/, \"src/main.rs\") == 1'
  probity lint claims.jsonl
  probity gate --base origin/main";

/// Checks claims about a repository.
///
/// A claim carries a predicate about the files of a workspace. Probity compiles
/// it, establishes the facts it needs and says whether it holds; what cannot be
/// established is unevaluated and never passes.
#[derive(Debug, Parser)]
#[command(
    name = "probity",
    version,
    max_term_width = 100,
    subcommand_required = true,
    arg_required_else_help = true,
    after_help = format!("{EXAMPLES}\n\n{}", exit::HELP)
)]
pub struct Cli {
    #[command(subcommand)]
    pub(super) command: Command,
    /// Colours; `auto` heeds NO_COLOR
    #[arg(
        long,
        global = true,
        value_enum,
        value_name = "WHEN",
        default_value_t = When::Auto,
        help_heading = "Output"
    )]
    pub(super) color: When,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    Check(CheckArgs),
    Eval(EvalArgs),
    Lint(LintArgs),
    History(HistoryArgs),
    Blame(BlameArgs),
    Gate(GateArgs),
    Flow(FlowArgs),
    Disasm(DisasmArgs),
    Digest(DigestArgs),
    Cache(CacheArgs),
    #[cfg(target_os = "linux")]
    Policy(crate::cli::policy::PolicyArgs),
    #[cfg(target_os = "linux")]
    Doctor(crate::cli::doctor::DoctorArgs),
    Completions(CompletionsArgs),
    Man(ManArgs),
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_definition_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_option_is_documented() {
        fn walk(command: &clap::Command) {
            assert!(command.get_about().is_some(), "{}", command.get_name());
            for argument in command.get_arguments() {
                let id = argument.get_id();
                assert!(argument.get_help().is_some(), "{} {id}", command.get_name());
            }
            command.get_subcommands().for_each(walk);
        }
        walk(&Cli::command());
    }

    #[test]
    fn options_are_read() {
        let cli = Cli::try_parse_from([
            "probity",
            "check",
            "--root=r",
            "--jobs=2",
            "--deadline=500ms",
            "--fuel=1000",
            "--batch-fuel=100000",
            "--predicate-cpu=20ms",
            "--cpu-budget=2m",
            "--no-timings",
            "--format=jsonl",
            "--language=elench-predicate-v2",
            "--color=never",
            "a.jsonl",
            "-",
        ]);
        let Command::Check(check) = cli.unwrap().command else {
            panic!("another command")
        };
        assert_eq!(check.logs.len(), 2);
        assert_eq!(check.world.jobs.map(usize::from), Some(2));
        let budgets = check.world.budgets();
        assert_eq!(budgets.predicate.fuel, Some(1000));
        assert_eq!(budgets.batch.fuel, Some(100_000));
        assert_eq!(budgets.predicate.cpu, Some(Duration::from_millis(20)));
        assert_eq!(budgets.batch.cpu, Some(Duration::from_secs(120)));
    }

    #[test]
    fn bad_options_are_usage_errors() {
        for arguments in [
            &["check", "--jobs=0"][..],
            &["check", "--deadline=10"],
            &["check", "--fuel=-1"],
            &["check", "--batch-fuel=many"],
            &["check", "--predicate-cpu=0ms"],
            &["check", "--cpu-budget=10"],
            &["check", "--format=xml"],
            &["check", "--language=v1"],
            &["check", "--no-cache", "--cache-dir=x"],
            &["check", "--policy"],
            &["eval"],
            &["cache"],
        ] {
            let all = [&["probity"], arguments].concat();
            let error = Cli::try_parse_from(all).unwrap_err();
            assert_eq!(error.exit_code(), 2, "{arguments:?}");
        }
    }
}
