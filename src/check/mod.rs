//! Types, vacuity and lints.

pub mod typed;
