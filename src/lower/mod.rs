//! From the typed AST to bytecode.

mod emit;
mod facts;
mod fold;

use std::cell::RefCell;
use std::fmt;
use std::sync::Arc;

use bumpalo::Bump;

use crate::check::{Options, check};
use crate::code::Program;
use crate::diagnostic::Diagnostic;
use crate::digest::Digest;
use crate::language::Language;

/// The source is invalid: what is wrong with it, in source order. Warnings may
/// stand among the errors; there is at least one error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompileError {
    /// Every independent error that was found, and the warnings.
    pub diagnostics: Vec<Diagnostic>,
}

impl fmt::Display for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut errors = self.diagnostics.iter().filter(|found| found.is_error());
        match errors.next() {
            None => f.write_str("invalid predicate"),
            Some(first) => {
                write!(
                    f,
                    "{} at byte {}: {}",
                    first.code, first.span.start, first.message
                )?;
                match errors.count() {
                    0 => Ok(()),
                    more => write!(f, ", and {more} more"),
                }
            }
        }
    }
}

impl std::error::Error for CompileError {}

thread_local! {
    /// The arena of the syntax tree: one for each thread, emptied after each
    /// source.
    static ARENA: RefCell<Bump> = RefCell::new(Bump::with_capacity(4096));
}

/// Parses, checks and compiles a source. No regex is built.
///
/// # Errors
/// [`CompileError`] with every independent error that was found.
///
/// ```
/// use probity::{Language, check::Options, lower::compile};
///
/// let source = r#"grep(/fn main/, "src/main.rs") == 1"#;
/// let program = compile(Language::ElenchV1, source, Options::default()).unwrap();
/// assert_eq!(program.facts().len(), 1);
/// ```
pub fn compile(
    language: Language,
    source: &str,
    options: Options,
) -> Result<Program, CompileError> {
    compile_digested(language, source, Digest::of(source.as_bytes()), options)
}

/// The same for a source whose digest is known. The digest is trusted.
pub(crate) fn compile_digested(
    language: Language,
    source: &str,
    digest: Digest,
    options: Options,
) -> Result<Program, CompileError> {
    ARENA.with(|arena| {
        // A tree that is being built already on this thread keeps its arena.
        match arena.try_borrow_mut() {
            Ok(mut arena) => {
                let outcome = compile_in(language, source, digest, options, &arena);
                arena.reset();
                outcome
            }
            Err(_) => compile_in(language, source, digest, options, &Bump::new()),
        }
    })
}

fn compile_in(
    language: Language,
    source: &str,
    digest: Digest,
    options: Options,
    arena: &Bump,
) -> Result<Program, CompileError> {
    let checked = check(language, source, arena, options)
        .map_err(|diagnostics| CompileError { diagnostics })?;
    let parts =
        emit::emit(language, Arc::from(source), checked).map_err(|diagnostic| CompileError {
            diagnostics: vec![*diagnostic],
        })?;
    Ok(Program::assemble(parts, digest))
}
