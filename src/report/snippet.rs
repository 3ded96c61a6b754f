//! Sources with the part that matters underlined, notes and helps below.

use annotate_snippets::{AnnotationKind, Element, Group, Level, Renderer, Snippet};

use crate::batch::{Evaluation, ShownValue, Verdict};
use crate::diagnostic::{Diagnostic, Severity, Span};
use crate::harn::Problem;
use crate::report::excerpt::Excerpt;
use crate::report::{escape, facts, hints};

/// Most characters of a message that are shown.
const WIDTH: usize = 1000;

/// Most diagnostics of one predicate that are shown.
const MAX_DIAGNOSTICS: usize = 10;

/// Most facts of one predicate that are shown.
const MAX_FACTS: usize = 20;

/// Columns the renderer may use: excerpts are cut to less.
const COLUMNS: usize = 240;

/// The diagnostics of a source for people, each with its place and its help.
#[must_use]
pub fn render_diagnostics(source: &str, diagnostics: &[Diagnostic], colour: bool) -> String {
    Painter::new(colour).diagnostics(source, diagnostics)
}

/// Renders problems of a predicate file, each with its place in the source.
#[must_use]
pub fn render_problems(source: &str, problems: &[Problem], colour: bool) -> String {
    Painter::new(colour).problems(source, problems)
}

/// A remark on a source of either language.
struct Remark<'d> {
    severity: Severity,
    code: &'static str,
    message: &'d str,
    span: Span,
    help: Option<&'d str>,
}

impl<'d> From<&'d Diagnostic> for Remark<'d> {
    fn from(diagnostic: &'d Diagnostic) -> Self {
        Self {
            severity: diagnostic.severity,
            code: diagnostic.code.name(),
            message: &diagnostic.message,
            span: diagnostic.span,
            help: diagnostic.help.as_deref(),
        }
    }
}

impl<'d> From<&'d Problem> for Remark<'d> {
    fn from(problem: &'d Problem) -> Self {
        Self {
            severity: problem.severity,
            code: problem.code.name(),
            message: &problem.message,
            span: problem.span,
            help: problem.help.as_deref(),
        }
    }
}

/// Draws what [`annotate_snippets`] composes.
pub(super) struct Painter(Renderer);

impl Painter {
    pub(super) fn new(colour: bool) -> Self {
        let renderer = if colour {
            Renderer::styled()
        } else {
            Renderer::plain()
        };
        Self(renderer.term_width(COLUMNS))
    }

    /// Why a predicate failed or has no verdict: the deciding parts, the facts if
    /// they are not shown elsewhere, the reason and what to do.
    pub(super) fn evaluation(&self, evaluation: &Evaluation, with_facts: bool) -> String {
        let level = match evaluation.verdict {
            Verdict::Fail => Level::ERROR,
            Verdict::Unevaluated => Level::WARNING,
            Verdict::Pass | Verdict::Invalid | Verdict::Skipped => Level::INFO,
        };
        let excerpt = Excerpt::new(&evaluation.predicate, evaluation.deciding.iter().copied());
        let mut group = Group::with_level(level).element(source(&excerpt));
        if with_facts {
            let notes = notes(evaluation).into_iter();
            group = group.elements(notes.map(|note| Level::NOTE.message(note)));
        }
        if let Some(reason) = &evaluation.reason {
            let told = evaluation
                .facts
                .iter()
                .any(|fact| matches!(&fact.value, ShownValue::Unknown(shown) if shown == reason));
            if !told {
                let detail = escape(&reason.detail, WIDTH);
                group = group.element(Level::NOTE.message(format!("{}: {detail}", reason.code)));
            }
            group = group.element(Level::HELP.message(hints::hint(reason.code)));
        }
        self.0.render(&[group])
    }

    /// What is wrong with a predicate, each thing with its place.
    pub(super) fn diagnostics<'d>(
        &self,
        predicate: &str,
        diagnostics: impl IntoIterator<Item = &'d Diagnostic>,
    ) -> String {
        let remarks = diagnostics.into_iter().map(Remark::from);
        self.remarks(remarks, |span| Some(Excerpt::new(predicate, [span])))
    }

    fn problems(&self, source: &str, problems: &[Problem]) -> String {
        let remarks = problems.iter().map(Remark::from);
        self.remarks(remarks, |span| Some(Excerpt::new(source, [span])))
    }

    /// What is wrong with a record, of which no source is at hand.
    pub(super) fn record_diagnostics(&self, diagnostics: &[Diagnostic]) -> String {
        self.remarks(diagnostics.iter().map(Remark::from), |_| None)
    }

    fn remarks<'d>(
        &self,
        mut diagnostics: impl Iterator<Item = Remark<'d>>,
        excerpt: impl Fn(Span) -> Option<Excerpt>,
    ) -> String {
        let mut rendered = Vec::new();
        for diagnostic in diagnostics.by_ref().take(MAX_DIAGNOSTICS) {
            let level = match diagnostic.severity {
                Severity::Error => Level::ERROR,
                Severity::Warning => Level::WARNING,
            };
            let title = level
                .primary_title(escape(diagnostic.message, WIDTH))
                .id(diagnostic.code);
            let excerpt = excerpt(diagnostic.span);
            let mut group = Group::with_title(title);
            if let Some(excerpt) = &excerpt {
                group = group.element(source(excerpt));
            }
            if let Some(help) = diagnostic.help {
                group = group.element(Level::HELP.message(escape(help, WIDTH)));
            }
            rendered.push(self.0.render(&[group]));
        }
        match diagnostics.count() {
            0 => {}
            more => rendered.push(format!("and {more} more")),
        }
        rendered.join("\n")
    }
}

fn source(excerpt: &Excerpt) -> Element<'_> {
    let marks = excerpt.marks.iter();
    Snippet::source(excerpt.text.as_str())
        .line_start(excerpt.first_line)
        .line_numbering(excerpt.numbered)
        .annotations(marks.map(|mark| AnnotationKind::Primary.span(mark.clone())))
        .into()
}

fn notes(evaluation: &Evaluation) -> Vec<String> {
    let mut known = evaluation.facts.iter().filter_map(|fact| {
        let mut note = facts::fact(fact)?;
        if !fact.places.is_empty() {
            note.push_str("\nfound at ");
            note.push_str(&facts::places(&fact.places));
        }
        Some(note)
    });
    let mut notes: Vec<String> = known.by_ref().take(MAX_FACTS).collect();
    match known.count() {
        0 => {}
        more => notes.push(format!("and {more} more facts")),
    }
    notes
}
