//! `probity cache`: what compiled predicates are kept on disk.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};

use crate::cache::{DiskCache, DiskStats};
use crate::cli::error::CliError;
use crate::cli::options::TargetOptions;
use crate::cli::output::Output;
use crate::cli::{Exit, setup};
use crate::report::escape;

/// Most characters of a path that are shown.
const WIDTH: usize = 4096;

/// Count or remove compiled predicates on disk
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  probity cache stats
  probity cache clear --cache-dir /var/cache/probity")]
pub(super) struct CacheArgs {
    #[command(subcommand)]
    action: Action,
    /// The directory [default: `probity` in the user's cache directory]
    #[arg(long, global = true, value_name = "DIR", value_hint = ValueHint::DirPath)]
    cache_dir: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Subcommand)]
enum Action {
    /// Count the entries
    Stats,
    /// Remove the entries and nothing else
    Clear,
}

pub(super) fn run(args: &CacheArgs) -> Result<Exit, CliError> {
    let dir = setup::cache_dir(args.cache_dir.as_ref())?;
    let outcome = match args.action {
        Action::Stats => DiskCache::stats(&dir),
        Action::Clear => DiskCache::clear(&dir),
    };
    let DiskStats { entries, bytes } = outcome.map_err(|source| CliError::CacheAccess {
        dir: dir.clone(),
        source,
    })?;
    let done = match args.action {
        Action::Stats => "",
        Action::Clear => "removed ",
    };
    let dir = dir.to_string_lossy();
    let text = format!(
        "{}: {done}{entries} entries, {bytes} bytes\n",
        escape(&dir, WIDTH)
    );
    Output::open(&TargetOptions { output: None })?.write(text.as_bytes())?;
    Ok(Exit::Passed)
}
