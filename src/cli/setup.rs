//! The engine that options describe.

use std::path::{Path, PathBuf};

use etcetera::BaseStrategy as _;

use crate::cache::DiskCache;
use crate::cli::error::CliError;
use crate::cli::message;
use crate::cli::options::{CacheOptions, CommitOptions, LanguageOptions, WorldOptions};
use crate::cli::progress::Progress;
use crate::counts::{DEFAULT_MAX_BYTES, Store};
use crate::engine::{Engine, EngineBuilder};
use crate::facts::CancelToken;
use crate::git::Repository;
use crate::policy::{self, Policy};

/// The engine over a workspace.
pub(super) fn engine(
    world: &WorldOptions,
    language: &LanguageOptions,
    cache: &CacheOptions,
    at: &CommitOptions,
    cancel: CancelToken,
    progress: &Progress,
) -> Result<Engine, CliError> {
    let mut builder = Engine::builder(&world.root)
        .allow_vacuous(language.allow_vacuous)
        .cancel_token(cancel);
    if let Some(revision) = &at.at {
        builder = builder.at(revision);
    } else if let Some(policy) = policy(world.policy.as_deref(), &world.root)? {
        builder = executing(builder, policy, world.reuse_runs, progress)?;
    }
    if let Some(jobs) = world.jobs {
        builder = builder.jobs(jobs.into());
    }
    Ok(cached(builder, cache).build()?)
}

/// The policy that is named, else that of the workspace. Says which it is: one in the
/// workspace is in the hands of whoever is judged.
pub(super) fn policy(named: Option<&Path>, root: &Path) -> Result<Option<Policy>, CliError> {
    if let Some(path) = named {
        let policy = Policy::read(path)?;
        message::note(format_args!("policy `{}`", path.display()));
        return Ok(Some(policy));
    }
    let policy = Policy::of_workspace(root)?;
    if policy.is_some() {
        message::note(format_args!(
            "policy `{}`, a file of the workspace that is judged; --policy names another",
            root.join(policy::FILE_NAME).display()
        ));
    }
    Ok(policy)
}

/// An engine whose helper is this program.
#[cfg(target_os = "linux")]
fn executing(
    builder: EngineBuilder,
    policy: Policy,
    reuse: bool,
    progress: &Progress,
) -> Result<EngineBuilder, CliError> {
    let helper = std::env::current_exe()
        .map_err(|error| CliError::Usage(format!("cannot execute commands: {error}")))?;
    let builder = builder.policy(policy, helper).reuse_runs(reuse);
    Ok(match progress.observer() {
        Some(observer) => builder.observe_runs(observer),
        None => builder,
    })
}

#[cfg(not(target_os = "linux"))]
fn executing(
    builder: EngineBuilder,
    _: Policy,
    _: bool,
    _: &Progress,
) -> Result<EngineBuilder, CliError> {
    message::warning("commands are executed on Linux only");
    Ok(builder)
}

/// What was counted in the files of a repository by earlier runs.
pub(super) fn counts(
    options: &CacheOptions,
    repository: &Repository,
) -> Result<Option<Store>, CliError> {
    let Some(dir) = usable(options) else {
        return Ok(None);
    };
    let store = Store::open(&dir, &repository.space(), DEFAULT_MAX_BYTES);
    Ok(Some(store?))
}

fn cached(builder: EngineBuilder, options: &CacheOptions) -> EngineBuilder {
    match usable(options) {
        Some(dir) => builder.disk_cache(dir),
        None => builder,
    }
}

/// The cache directory to use. One that was named must be usable; the default one may
/// not be, and then the run goes on without.
fn usable(options: &CacheOptions) -> Option<PathBuf> {
    if options.no_cache {
        return None;
    }
    if let Some(dir) = &options.cache_dir {
        return Some(dir.clone());
    }
    let usable = default_cache_dir().and_then(|dir| match DiskCache::open(&dir) {
        Ok(_) => Ok(dir),
        Err(error) => Err(error.to_string()),
    });
    usable
        .inspect_err(|error| {
            message::warning(format_args!("going on without a cache on disk: {error}"));
        })
        .ok()
}

/// The cache directory that is named, else the default one.
pub(super) fn cache_dir(named: Option<&PathBuf>) -> Result<PathBuf, CliError> {
    match named {
        Some(dir) => Ok(dir.clone()),
        None => default_cache_dir().map_err(CliError::Usage),
    }
}

fn default_cache_dir() -> Result<PathBuf, String> {
    match etcetera::choose_base_strategy() {
        Ok(user) => Ok(user.cache_dir().join("probity")),
        Err(error) => Err(format!(
            "the user's cache directory is not known ({error}); name one with --cache-dir"
        )),
    }
}
