//! A run of the gate for people.

use std::fmt::Write as _;
use std::io::{self, Write};

use anstyle::AnsiColor;

use crate::flow::{GateEntry, GateFinding, GateOutcome, GateReport, Verdict};
use crate::report::gate::words;
use crate::report::level::Level;
use crate::report::text::style;
use crate::report::{escape, facts};

/// Most characters of a line.
const WIDTH: usize = 400;

/// Most places, pieces of evidence and predicates that are shown of each entry.
const MOST: usize = 5;

/// Writes the report: what refuses the slice, what a person should look at, the totals.
/// What passed is only counted.
pub(super) fn write(
    out: &mut impl Write,
    report: &GateReport,
    timings: bool,
    colour: bool,
) -> io::Result<()> {
    let page = Page { colour };
    for wanted in [Level::Error, Level::Warning, Level::Note] {
        if wanted != Level::Note {
            page.diagnostics(out, report, wanted)?;
        }
        if let Some((level, text)) = words::ceiling(report)
            && level == wanted
        {
            page.heading(out, report.ceiling_outcome(), level, "predicate ceiling")?;
            page.note(out, &text)?;
            writeln!(out)?;
        }
        for entry in report.entries() {
            if words::level(&entry) == Some(wanted) {
                page.entry(out, &entry, wanted)?;
            }
        }
    }
    page.closing(out, report, timings)
}

struct Page {
    colour: bool,
}

impl Page {
    fn heading(
        &self,
        out: &mut impl Write,
        outcome: GateOutcome,
        level: Level,
        name: &str,
    ) -> io::Result<()> {
        let word = match outcome {
            GateOutcome::Block => "BLOCK",
            GateOutcome::RequireApproval => "APPROVAL",
            GateOutcome::Warn => "WARN",
            GateOutcome::Allow => "NOT ENFORCED",
        };
        self.line(out, word, level, name)
    }

    fn line(&self, out: &mut impl Write, word: &str, level: Level, name: &str) -> io::Result<()> {
        let style = style(
            match level {
                Level::Error => AnsiColor::Red,
                Level::Warning => AnsiColor::Yellow,
                Level::Note => AnsiColor::Cyan,
            },
            self.colour,
        );
        writeln!(out, "{style}{word}{style:#} {}", escape(name, WIDTH))
    }

    fn note(&self, out: &mut impl Write, text: &str) -> io::Result<()> {
        self.remark(out, "", text)
    }

    /// A remark, the lines after the first below it.
    fn remark(&self, out: &mut impl Write, label: &str, text: &str) -> io::Result<()> {
        let label = match label {
            "" => String::new(),
            label => format!("{label}: "),
        };
        let mut lines = text.trim_end().lines();
        let first = lines.next().unwrap_or_default();
        writeln!(out, " = {label}{}", escape(first, WIDTH))?;
        for line in lines.by_ref().take(MOST) {
            // Never at the start of a line: a log that CI reads may not give it commands.
            writeln!(out, " | {}", escape(line, WIDTH))?;
        }
        match lines.count() {
            0 => Ok(()),
            more => writeln!(out, " | … {more} more lines"),
        }
    }

    fn diagnostics(
        &self,
        out: &mut impl Write,
        report: &GateReport,
        wanted: Level,
    ) -> io::Result<()> {
        let remarks = report.diagnostics.iter();
        for remark in remarks.filter(|it| words::diagnostic_level(it) == wanted) {
            let mut place = String::from(&*remark.path);
            if let Some(line) = words::diagnostic_line(remark) {
                let _ = write!(place, ":{line}");
            }
            if let Some(predicate) = &remark.diagnostic.predicate {
                let _ = write!(place, " {predicate}");
            }
            let word = if wanted == Level::Error {
                "ERROR"
            } else {
                "WARNING"
            };
            self.line(out, word, wanted, &place)?;
            let code = remark.diagnostic.code();
            self.note(out, &format!("{code}: {}", words::diagnostic(remark)))?;
            writeln!(out)?;
        }
        Ok(())
    }

    fn entry(&self, out: &mut impl Write, entry: &GateEntry<'_>, level: Level) -> io::Result<()> {
        let source = entry.source;
        self.heading(out, entry.outcome(), level, &source.qualified_name)?;
        self.findings(out, &source.findings())?;
        self.note(out, &words::reason(&entry.result.verdict))?;
        if let Some(help) = words::remediation(entry.result, source) {
            self.remark(out, "help", help)?;
        }
        self.note(out, &format!("declared at {}", words::declared(source)))?;
        let composition = words::composition(entry, MOST);
        if !composition.is_empty() {
            self.remark(out, "also counts for", &composition)?;
        }
        if matches!(entry.result.verdict, Verdict::RequireApproval { .. })
            && let Some(by) = words::approved_by(entry)
        {
            self.remark(out, "approved by", by)?;
        }
        let evidence = &entry.result.evidence;
        for piece in evidence.iter().take(MOST) {
            self.remark(out, "evidence", &words::evidence(piece))?;
        }
        if evidence.len() > MOST {
            let more = evidence.len() - MOST;
            self.note(out, &format!("{more} more pieces of evidence"))?;
        }
        writeln!(out)
    }

    fn findings(&self, out: &mut impl Write, findings: &[GateFinding<'_>]) -> io::Result<()> {
        for finding in findings.iter().take(MOST) {
            let mut line = String::new();
            if let Some(path) = finding.path {
                line.push_str(path);
            }
            if let Some(number) = finding.line {
                let _ = write!(line, ":{number}");
            }
            if let Some(message) = finding.message {
                let colon = if line.is_empty() { "" } else { ": " };
                let _ = write!(line, "{colon}{message}");
            }
            writeln!(out, " - {}", escape(&line, WIDTH))?;
        }
        match findings.len().saturating_sub(MOST) {
            0 => Ok(()),
            more => writeln!(out, " - … {more} more"),
        }
    }

    fn closing(&self, out: &mut impl Write, report: &GateReport, timings: bool) -> io::Result<()> {
        if let Some(nothing) = words::nothing(report) {
            writeln!(out, "{nothing}")?;
        }
        writeln!(out, "{}", words::summary(report))?;
        let slice = &report.slice;
        let mut line = match &slice.id {
            Some(id) => format!("slice {id}: "),
            None => String::from("slice: "),
        };
        if let Some(base) = &slice.base {
            let head = slice.head.as_deref().unwrap_or_default();
            let _ = write!(line, "{base}..{head}, ");
        }
        let (files, touched) = (slice.files, report.touched.len());
        let plural = |count: usize| if count == 1 { "" } else { "s" };
        let directories = if touched == 1 {
            "directory"
        } else {
            "directories"
        };
        let _ = write!(
            line,
            "{files} file{} in {touched} {directories}",
            plural(files)
        );
        let approvals = report.approvals.len();
        if approvals > 0 {
            let _ = write!(line, ", {approvals} approval{}", plural(approvals));
        }
        writeln!(out, "{}", escape(&line, WIDTH))?;
        let cost = report.cost();
        write!(
            out,
            "cost: {} fuel, {} of memory at most",
            cost.fuel,
            facts::bytes(cost.memory)
        )?;
        if timings {
            let (cpu, wall) = (
                facts::duration(cost.cpu_ns),
                facts::duration(report.wall_ns),
            );
            write!(out, ", CPU {cpu}, wall {wall}")?;
        }
        writeln!(out)
    }
}
