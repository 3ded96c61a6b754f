//! Fuzz targets of the engine, and what drives them without a fuzzer.
//!
//! Every target takes arbitrary bytes and panics if a promise is broken. Inputs
//! worth keeping lie in `seeds/<target>`, inputs that once broke a promise in
//! `regressions/<target>`.

mod dictionary;
mod mutate;
#[expect(unused_imports, reason = "targets read no workspace")]
#[path = "../../tests/reference/mod.rs"]
mod reference;
mod targets;

pub use dictionary::Dictionary;
pub use mutate::{Mutator, Rng};

/// The names of the targets.
pub fn names() -> impl Iterator<Item = &'static str> {
    targets::TARGETS.iter().map(|(name, _)| *name)
}

/// Runs a target on one input.
///
/// # Panics
/// If the target breaks a promise, or if there is none of that name.
pub fn run(name: &str, data: &[u8]) {
    let target = targets::TARGETS.iter().find(|(known, _)| *known == name);
    let (_, run) = target.unwrap_or_else(|| panic!("no target is called `{name}`"));
    run(data);
}
