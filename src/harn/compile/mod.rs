//! From the tree to a module: names are resolved, what is not allowed is reported, and
//! instructions are made. (harn.md, sections 3, 6 and 8.)

mod attributes;
mod calls;
mod capability;
mod captures;
mod closure;
mod constant;
mod expr;
mod function;
mod guesses;
mod holds;
mod names;
mod pattern;
mod place;
mod stmt;
mod top;
mod types;
mod unit;

pub(crate) use attributes::Read;
pub(crate) use unit::compile;
