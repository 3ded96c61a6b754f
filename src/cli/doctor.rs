//! `probity doctor`.

use clap::Args;

use crate::budget::CancelToken;
use crate::cli::Exit;
use crate::cli::error::CliError;
use crate::cli::options::TargetOptions;
use crate::cli::output::Output;
use crate::exec::{Executor, Layer};
use crate::policy::Policy;

/// Try which layers of confinement this machine has
///
/// A harmless command is executed with all of them. Exit status 0 if all were active, 1
/// if one was lacking or nothing could be executed.
#[derive(Args, Debug)]
pub(super) struct DoctorArgs {
    #[command(flatten)]
    target: TargetOptions,
}

const TRIAL: &str = "[run]\nallow = [\"true\"]\nconfinement = \"best-effort\"\n";

pub(super) fn run(args: &DoctorArgs) -> Result<Exit, CliError> {
    let (text, is_well) = examine()?;
    Output::open(&args.target)?.write(text.as_bytes())?;
    Ok(if is_well { Exit::Passed } else { Exit::Failed })
}

fn examine() -> Result<(String, bool), CliError> {
    let usage = |error: &dyn std::fmt::Display| CliError::Usage(format!("cannot try: {error}"));
    let policy = Policy::parse(TRIAL).map_err(|error| usage(&error))?;
    let workspace = tempfile::tempdir().map_err(|error| usage(&error))?;
    let helper = std::env::current_exe().map_err(|error| usage(&error))?;
    let executor =
        Executor::new(policy, workspace.path(), helper).map_err(|error| usage(&error))?;
    let execution = match executor.run("true", &CancelToken::new()) {
        Ok(execution) => execution,
        Err(failure) => {
            return Ok((
                format!("nothing can be executed: {}\n", failure.reason.detail),
                false,
            ));
        }
    };
    let mut text = String::new();
    let mut is_well = execution.exit == 0;
    for layer in Layer::ALL {
        let lacking = execution
            .lacking
            .iter()
            .find(|lacking| lacking.layer == layer);
        let found = match lacking {
            None if execution.isolation.contains(layer) => "active".to_owned(),
            None => "not active".to_owned(),
            Some(lacking) if layer.is_optional() => format!("not to be had: {}", lacking.reason),
            Some(lacking) => format!("lacking: {}", lacking.reason),
        };
        is_well &= execution.isolation.contains(layer) || layer.is_optional();
        text.push_str(&format!("{:<18} {found}\n", layer.name()));
    }
    if !is_well {
        text.push_str(
            "commands are executed only where a policy says `confinement = \"best-effort\"`\n",
        );
    }
    Ok((text, is_well))
}
