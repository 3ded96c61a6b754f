//! What goes to standard error.

use std::fmt::Display;
use std::io::Write as _;
use std::path::Path;

use anstyle::{AnsiColor, Effects};

use crate::diagnostic::Diagnostic;
use crate::harn::Problem;
use crate::report::{InputFailure, escape, render_diagnostics, render_problems};

/// Most characters of a message.
const WIDTH: usize = 2000;

/// Tells of an error that ends the run with status 2.
pub(super) fn error(message: impl Display) {
    write("error", AnsiColor::Red, &message);
}

/// Tells of something that does not end the run.
pub(super) fn warning(message: impl Display) {
    write("warning", AnsiColor::Yellow, &message);
}

/// Tells of something that may be as it should.
pub(super) fn note(message: impl Display) {
    write("note", AnsiColor::Cyan, &message);
}

/// Tells of inputs that could not be read.
pub(super) fn failures(failures: &[InputFailure]) {
    for failure in failures {
        error(format_args!(
            "cannot read `{}`: {}",
            failure.input, failure.error
        ));
    }
}

/// Tells what is wrong with a source that was to be compiled.
pub(super) fn diagnostics(source: &str, diagnostics: &[Diagnostic]) {
    let colour = anstream::AutoStream::choice(&std::io::stderr()) != anstream::ColorChoice::Never;
    let text = render_diagnostics(source, diagnostics, colour);
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// Tells what is wrong with a predicate file.
pub(super) fn problems(path: &Path, source: &str, problems: &[Problem]) {
    let colour = anstream::AutoStream::choice(&std::io::stderr()) != anstream::ColorChoice::Never;
    let text = render_problems(source, problems, colour);
    let path = path.display().to_string();
    let path = escape(&path, WIDTH);
    let _ = writeln!(std::io::stderr(), "{path}\n{text}");
}

/// Nobody can be told that standard error is closed.
fn write(word: &str, colour: AnsiColor, message: &dyn Display) {
    let style = colour.on_default().effects(Effects::BOLD);
    let message = message.to_string();
    let message = escape(&message, WIDTH);
    let _ = writeln!(anstream::stderr(), "{style}{word}{style:#}: {message}");
}
