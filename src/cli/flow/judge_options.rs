//! Who answers semantic predicates.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, ValueHint};

use crate::cli::error::CliError;
use crate::flow::executor::{CheapJudge, ExecutorConfig};
use crate::flow::judges::FixtureJudge;

/// Whether semantic predicates are evaluated, and by whom.
#[derive(Args, Debug)]
#[command(next_help_heading = "Semantic predicates")]
pub(in crate::cli) struct JudgeOptions {
    /// Evaluate semantic predicates too; without a judge those that ask one block
    #[arg(long)]
    include_semantic: bool,
    /// The command that answers semantic predicates, split by the quoting rules of POSIX
    /// shells and executed without one: a request on standard input, a reply on standard
    /// output, one process for each. Implies --include-semantic
    #[arg(
        long,
        value_name = "LINE",
        conflicts_with = "judge_fixture",
        value_hint = ValueHint::CommandString,
        value_parser = NonEmptyStringValueParser::new()
    )]
    judge_command: Option<String>,
    /// Answers that were written down before, a file of JSON. Implies --include-semantic
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    judge_fixture: Option<PathBuf>,
    /// The policy whose `[judge]` bounds the command of the judge; it takes the place of
    /// the workspace's own policy altogether [default: `probity.toml` in the workspace]
    #[arg(
        long,
        value_name = "FILE",
        requires = "judge_command",
        value_hint = ValueHint::FilePath
    )]
    policy: Option<PathBuf>,
    /// Tokens that one semantic predicate may use
    #[arg(
        long,
        value_name = "N",
        default_value_t = ExecutorConfig::default().semantic_token_cap,
        value_parser = clap::value_parser!(u64).range(1..)
    )]
    token_cap: u64,
}

impl JudgeOptions {
    /// Whether semantic predicates are evaluated.
    pub(in crate::cli) const fn includes_semantic(&self) -> bool {
        self.include_semantic || self.judge_command.is_some() || self.judge_fixture.is_some()
    }

    /// Tokens that one semantic predicate may use.
    pub(in crate::cli) const fn token_cap(&self) -> u64 {
        self.token_cap
    }

    /// The judge that is named. `root` is the workspace, which holds the policy if none is
    /// named.
    pub(in crate::cli) fn judge(
        &self,
        root: &Path,
    ) -> Result<Option<Arc<dyn CheapJudge>>, CliError> {
        if let Some(path) = &self.judge_fixture {
            let judge = FixtureJudge::read(path);
            let judge = judge.map_err(|error| CliError::Usage(error.to_string()))?;
            return Ok(Some(Arc::new(judge)));
        }
        let line = self.judge_command.as_deref();
        line.map(|line| self.command(line, root)).transpose()
    }

    /// A judge whose helper is this program.
    #[cfg(target_os = "linux")]
    fn command(&self, line: &str, root: &Path) -> Result<Arc<dyn CheapJudge>, CliError> {
        use crate::cli::setup;
        use crate::flow::judges::CommandJudge;

        let helper = std::env::current_exe()
            .map_err(|error| CliError::Usage(format!("cannot execute commands: {error}")))?;
        let policy = setup::policy(self.policy.as_deref(), root)?;
        let judge = CommandJudge::new(line, policy, root, helper);
        let judge = judge.map_err(|error| CliError::Usage(error.to_string()))?;
        Ok(Arc::new(judge))
    }

    #[cfg(not(target_os = "linux"))]
    fn command(&self, _: &str, _: &Path) -> Result<Arc<dyn CheapJudge>, CliError> {
        let message = "the commands of judges are executed on Linux only";
        Err(CliError::Usage(message.into()))
    }
}
