//! The policy: which programs claims may run, and within which bounds.
//!
//! It is read from `probity.toml`. Without a policy nothing is ever executed.

mod allow;
mod file;
mod judge;
mod units;
mod words;

pub use allow::Allowed;
pub use file::{
    Bounds, Confinement, FILE_NAME, MAX_POLICY_BYTES, Policy, PolicyError, Runner, TestPolicy,
};
