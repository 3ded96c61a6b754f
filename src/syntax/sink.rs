//! Where the front end collects its diagnostics.

use crate::diagnostic::{Diagnostic, Span};

use super::limits::MAX_DIAGNOSTICS;

/// Diagnostics of one source, at most [`MAX_DIAGNOSTICS`] errors and as many
/// warnings. Allocates nothing until there is one.
#[derive(Debug, Default)]
pub(crate) struct Sink {
    diagnostics: Vec<Diagnostic>,
    errors: usize,
}

impl Sink {
    pub(crate) fn push(&mut self, diagnostic: Diagnostic) {
        let kept = if diagnostic.is_error() {
            self.errors += 1;
            self.errors
        } else {
            self.diagnostics.len() + 1 - self.errors.min(MAX_DIAGNOSTICS)
        };
        if kept <= MAX_DIAGNOSTICS {
            self.diagnostics.push(diagnostic);
        }
    }

    pub(crate) fn has_errors(&self) -> bool {
        self.errors > 0
    }

    /// True if something was said about a place that overlaps or touches this.
    pub(crate) fn covers(&self, span: Span) -> bool {
        self.diagnostics
            .iter()
            .any(|known| known.span.start <= span.end && span.start <= known.span.end)
    }

    /// Everything, in the order of the source.
    pub(crate) fn into_sorted(mut self) -> Vec<Diagnostic> {
        self.diagnostics
            .sort_by_key(|known| (known.span, known.severity, known.code));
        self.diagnostics
    }
}

impl From<Vec<Diagnostic>> for Sink {
    fn from(diagnostics: Vec<Diagnostic>) -> Self {
        let errors = diagnostics.iter().filter(|known| known.is_error()).count();
        Self {
            diagnostics,
            errors,
        }
    }
}
