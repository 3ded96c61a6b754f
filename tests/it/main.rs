//! The integration tests, one binary: the TOML suites of `tests/data` and
//! properties over generated input, each held against the reference.

#[path = "../reference/mod.rs"]
mod reference;

mod case;
mod generate;
mod judge;
mod limits;
mod properties;
mod suites;
mod workspace;
