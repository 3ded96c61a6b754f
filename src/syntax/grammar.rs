//! The parser that the build script generates.

lalrpop_util::lalrpop_mod!(claims);

pub(super) use claims::PredicateParser;
