//! Types, vacuity and lints.

pub mod typed;

use crate::diagnostic::Diagnostic;
use crate::language::Language;
use bumpalo::Bump;
/// x
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /** x */
    pub allow_vacuous: bool,
}
/// x
#[derive(Debug)]
pub struct Checked<'a> {
    /** x */
    pub root: &'a typed::TBool<'a>,
    /** x */
    pub warnings: Vec<Diagnostic>,
}
/// x
pub fn check<'a>(
    _l: Language,
    _s: &'a str,
    _a: &'a Bump,
    _o: Options,
) -> Result<Checked<'a>, Vec<Diagnostic>> {
    Err(vec![])
}
