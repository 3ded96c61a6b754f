//! The integration tests, one binary: the TOML suites of `tests/data` and
//! properties over generated input, each held against the reference.

#[path = "../reference/mod.rs"]
mod reference;

mod bin;
mod case;
mod cli;
mod generate;
mod judge;
mod layers;
mod limits;
mod properties;
mod suites;
mod threats;
mod workspace;
