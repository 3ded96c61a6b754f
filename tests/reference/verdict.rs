//! From a source to a verdict.

use std::path::Path;

use super::eval::{FactValue, Tri, evaluate};
use super::tree::{Expr, Fact};
use super::{files, lex, parse as parser, types, vacuity};

/// Which step refused a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    Parse,
    Type,
    Vacuous,
}

/// Why a source is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Error {
    pub(crate) stage: Stage,
    pub(crate) message: String,
}

/// What became of a predicate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Pass,
    Fail,
    Unevaluated(String),
    Invalid(Error),
}

/// A well-typed expression of the language; it may be vacuous.
pub(crate) fn parse(v2: bool, source: &str) -> Result<Expr, Error> {
    let expr = parser::expression(v2, &lex::lex(v2, source)?)?;
    types::check(&expr)?;
    Ok(expr)
}

/// One primitive call by itself, as fact tables of tests write it.
pub(crate) fn parse_call(v2: bool, source: &str) -> Option<Fact> {
    let tokens = lex::lex(v2, source).ok()?;
    match parser::expression(v2, &tokens).ok()? {
        Expr::Call(fact) => Some(fact),
        _ => None,
    }
}

/// The verdict over facts that somebody supplies.
pub(crate) fn eval_with(
    v2: bool,
    source: &str,
    facts: &mut dyn FnMut(&Fact) -> FactValue,
) -> Verdict {
    let expr = match parse(v2, source) {
        Ok(expr) => expr,
        Err(error) => return Verdict::Invalid(error),
    };
    if vacuity::constant(&expr).is_some() {
        return Verdict::Invalid(Error {
            stage: Stage::Vacuous,
            message: "asserts nothing".to_owned(),
        });
    }
    match evaluate(&expr, facts) {
        Tri::True => Verdict::Pass,
        Tri::False => Verdict::Fail,
        Tri::Unknown(code) => Verdict::Unevaluated(code),
    }
}

/// The verdict over a workspace in which nothing may run.
pub(crate) fn eval_in(root: &Path, v2: bool, source: &str) -> Verdict {
    eval_with(v2, source, &mut |fact| files::fact_in(root, fact))
}
