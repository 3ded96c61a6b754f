//! The machine that runs modules: calls, closures, loops, exceptions, under fuel, CPU
//! time, memory and depth. (harn.md, sections 2, 3 and 7.)

mod access;
mod arithmetic;
mod calls;
mod facts;
mod interpret;
mod machine;
mod regexes;
mod slot;
mod types;

pub use machine::{Limits, Machine, Usage};
pub(crate) use regexes::Sifted;
