//! The policy: which programs claims may run, and within which bounds.
//!
//! It is read from `probity.toml`. Without a policy nothing is ever executed.

mod file;
mod units;

pub use file::{
    Allowed, Bounds, Confinement, FILE_NAME, MAX_POLICY_BYTES, Policy, PolicyError, Runner,
    TestPolicy,
};
