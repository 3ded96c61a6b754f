//! `probity cache`: what is kept on disk, compiled predicates and counts.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand, ValueHint};

use crate::cache::{DiskCache, DiskStats};
use crate::cli::error::CliError;
use crate::cli::options::TargetOptions;
use crate::cli::output::Output;
use crate::cli::{Exit, setup};
use crate::counts::{self, CountStats};
use crate::report::escape;

/// Most characters of a path that are shown.
const WIDTH: usize = 4096;

/// Count or remove what is kept on disk: compiled predicates and counts
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
    /// Say how much there is of each
    Stats,
    /// Remove both and nothing else
    Clear,
}

pub(super) fn run(args: &CacheArgs) -> Result<Exit, CliError> {
    let dir = setup::cache_dir(args.cache_dir.as_ref())?;
    let outcome = match args.action {
        Action::Stats => DiskCache::stats(&dir).and_then(|it| Ok((it, counts::stats(&dir)?))),
        Action::Clear => DiskCache::clear(&dir).and_then(|it| Ok((it, counts::clear(&dir)?))),
    };
    let (programs, counts) = outcome.map_err(|source| CliError::CacheAccess {
        dir: dir.clone(),
        source,
    })?;
    let mut text = text(args.action, &dir, programs, counts);
    #[cfg(target_os = "linux")]
    text.push_str(&runs(args.action, &dir)?);
    Output::open(&TargetOptions { output: None })?.write(text.as_bytes())?;
    Ok(Exit::Passed)
}

fn text(action: Action, dir: &Path, programs: DiskStats, counts: CountStats) -> String {
    let done = match action {
        Action::Stats => "",
        Action::Clear => "removed ",
    };
    let dir = dir.to_string_lossy();
    let dir = escape(&dir, WIDTH);
    let DiskStats { entries, bytes } = programs;
    let CountStats {
        segments,
        bytes: count_bytes,
    } = counts;
    format!(
        "{dir}: {done}{entries} compiled predicates, {bytes} bytes\n\
         {dir}: {done}{segments} files of counts, {count_bytes} bytes\n"
    )
}

/// The same for the results of commands and tests.
#[cfg(target_os = "linux")]
fn runs(action: Action, dir: &Path) -> Result<String, CliError> {
    use crate::exec::{clear_reuse, reuse_stats};

    let (found, done) = match action {
        Action::Stats => (reuse_stats(dir), ""),
        Action::Clear => (clear_reuse(dir), "removed "),
    };
    let found = found.map_err(|source| CliError::CacheAccess {
        dir: dir.to_owned(),
        source,
    })?;
    let dir = dir.to_string_lossy();
    let dir = escape(&dir, WIDTH);
    let (entries, bytes) = (found.entries, found.bytes);
    Ok(format!(
        "{dir}: {done}{entries} results of commands, {bytes} bytes\n"
    ))
}
