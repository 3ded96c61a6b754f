//! Text for people: what needs attention as it comes, the totals last.

use std::io::{self, Write};

use anstyle::{AnsiColor, Effects, Style};

use crate::batch::{ClaimResult, Sink, Summary, Verdict};
use crate::diagnostic::Diagnostic;
use crate::report::block::Blocks;
use crate::report::snippet::Painter;
use crate::report::{Job, Report, Totals, closing, escape};

/// Most characters of an origin or an id that are shown.
const WIDTH: usize = 200;

/// The text writer.
pub struct TextReport<W> {
    out: Blocks<W>,
    painter: Painter,
    job: Job,
    timings: bool,
    colour: bool,
    passed_with_warnings: u64,
}

impl<W: Write + Send> TextReport<W> {
    /// A writer; without `timings` everything that differs between two equal
    /// runs is left out.
    pub fn new(out: W, job: Job, timings: bool, colour: bool) -> Self {
        Self {
            out: Blocks::new(out),
            painter: Painter::new(colour),
            job,
            timings,
            colour,
            passed_with_warnings: 0,
        }
    }

    fn judged(&mut self, result: &ClaimResult) -> io::Result<()> {
        match result.verdict {
            Verdict::Pass => {
                if diagnostics(result).next().is_some() {
                    self.passed_with_warnings += 1;
                }
                Ok(())
            }
            Verdict::Skipped => Ok(()),
            Verdict::Fail => self.entry("FAIL", AnsiColor::Red, result),
            Verdict::Unevaluated => self.entry("UNEVALUATED", AnsiColor::Yellow, result),
            Verdict::Invalid => self.entry("INVALID", AnsiColor::Magenta, result),
        }
    }

    fn linted(&mut self, result: &ClaimResult) -> io::Result<()> {
        if diagnostics(result).any(Diagnostic::is_error) {
            self.entry("ERROR", AnsiColor::Red, result)
        } else if diagnostics(result).next().is_some() {
            self.entry("WARNING", AnsiColor::Yellow, result)
        } else {
            Ok(())
        }
    }

    fn entry(&mut self, word: &str, colour: AnsiColor, result: &ClaimResult) -> io::Result<()> {
        let record = self.out.record();
        heading(record, word, style(colour, self.colour), result)?;
        if let Some(evaluation) = result.evaluation.as_deref() {
            if self.job == Job::Check && evaluation.verdict != Verdict::Invalid {
                writeln!(record, "{}", self.painter.evaluation(evaluation, true))?;
            }
            if !evaluation.diagnostics.is_empty() {
                let remarks = self
                    .painter
                    .diagnostics(&evaluation.predicate, &evaluation.diagnostics);
                writeln!(record, "{remarks}")?;
            }
        }
        if !result.record_diagnostics.is_empty() {
            let remarks = self.painter.record_diagnostics(&result.record_diagnostics);
            writeln!(record, "{remarks}")?;
        }
        writeln!(record)?;
        self.out.end()
    }
}

impl<W: Write + Send> Sink for TextReport<W> {
    fn result(&mut self, result: &ClaimResult) -> io::Result<()> {
        match self.job {
            Job::Check => self.judged(result),
            Job::Lint => self.linted(result),
        }
    }

    fn progress(&mut self, _summary: &Summary) {
        self.out.flush_or_remember();
    }
}

impl<W: Write + Send> Report for TextReport<W> {
    fn finish(&mut self, totals: &Totals<'_>) -> io::Result<()> {
        closing::write(
            self.out.record(),
            totals,
            self.timings,
            self.passed_with_warnings,
        )?;
        self.out.flush()
    }
}

/// The style of a verdict, or none.
pub(super) fn style(colour: AnsiColor, coloured: bool) -> Style {
    if coloured {
        colour.on_default().effects(Effects::BOLD)
    } else {
        Style::new()
    }
}

fn heading(out: &mut Vec<u8>, word: &str, style: Style, result: &ClaimResult) -> io::Result<()> {
    let origin = result.source.to_string();
    write!(out, "{style}{word}{style:#} {}", escape(&origin, WIDTH))?;
    if let Some(id) = &result.id {
        write!(out, " {}", escape(id, WIDTH))?;
    }
    writeln!(out)
}

fn diagnostics(result: &ClaimResult) -> impl Iterator<Item = &Diagnostic> {
    let evaluation = result.evaluation.as_deref();
    let predicate = evaluation.map_or(&[][..], |evaluation| &evaluation.diagnostics);
    result.record_diagnostics.iter().chain(predicate)
}
