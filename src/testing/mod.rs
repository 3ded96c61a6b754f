//! Answers `test`: finds the tests that a name means and runs all that are needed in as
//! few processes as the runner allows.

mod cargo;
mod custom;
mod go;
mod junit;
mod names;
mod nextest;
mod plan;
mod pytest;
mod runner;

pub(crate) use plan::{Answer, answer, program};
