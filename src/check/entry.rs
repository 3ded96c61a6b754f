//! The one entry of the compiler into the front end.

use bumpalo::Bump;

use crate::diagnostic::Diagnostic;
use crate::language::Language;
use crate::syntax::{self, Sink};

use super::typed::TBool;
use super::types::Checker;
use super::vacuity;

/// What the host lets through.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Predicates that assert nothing are warned about instead of refused.
    pub allow_vacuous: bool,
}

/// A source that is well formed, well typed and not vacuous.
#[derive(Debug)]
pub struct Checked<'a> {
    /// The predicate.
    pub root: &'a TBool<'a>,
    /// Remarks that cost nothing to find, in the order of the source. `lint`
    /// finds the rest.
    pub warnings: Vec<Diagnostic>,
}

/// Parses and checks a source. The tree lives in `arena`, which the caller may
/// reset once it is done with it.
///
/// # Errors
///
/// The diagnostics in the order of the source, at least one of them an error;
/// warnings are among them.
///
/// ```
/// use bumpalo::Bump;
/// use probity::Language;
/// use probity::check::{Options, check};
///
/// let arena = Bump::new();
/// let source = r#"grep(/fn main/, "src/main.rs") >= 1"#;
/// assert!(check(Language::ElenchV1, source, &arena, Options::default()).is_ok());
///
/// let errors = check(Language::ElenchV1, "all is well", &arena, Options::default());
/// assert_eq!(errors.unwrap_err()[0].code.name(), "prose");
/// ```
pub fn check<'a>(
    language: Language,
    source: &'a str,
    arena: &'a Bump,
    options: Options,
) -> Result<Checked<'a>, Vec<Diagnostic>> {
    let parsed = syntax::parse(language, source, arena);
    let mut sink = Sink::from(parsed.diagnostics);
    let root = parsed
        .expr
        .and_then(|expr| Checker::new(language, source, arena, &mut sink).predicate(&expr));
    let Some(root) = root.filter(|_| !sink.has_errors()) else {
        return Err(sink.into_sorted());
    };
    let root: &TBool<'a> = arena.alloc(root);
    vacuity::examine(root, source, arena, options, &mut sink);
    if sink.has_errors() {
        return Err(sink.into_sorted());
    }
    Ok(Checked {
        root,
        warnings: sink.into_sorted(),
    })
}
