//! A run of the gate as annotations of GitHub Actions, what refuses the slice first.

use std::fmt::Write as _;
use std::io::{self, Write};

use crate::flow::{GateEntry, GateReport};
use crate::report::gate::words;
use crate::report::github::Annotations;
use crate::report::level::{At, Level};

/// Most other predicates that an annotation names.
const MOST_NAMES: usize = 3;

pub(super) fn write(out: &mut impl Write, report: &GateReport) -> io::Result<()> {
    let mut annotations = Annotations::default();
    if let Some(nothing) = words::nothing(report) {
        annotations.write(out, Level::Error, None, "probity", nothing)?;
    }
    for remark in &report.diagnostics {
        let at = At::new(&remark.path, words::diagnostic_line(remark));
        let level = words::diagnostic_level(remark);
        let code = remark.diagnostic.code();
        annotations.write(out, level, Some(at), code, &words::diagnostic(remark))?;
    }
    if let Some((level, text)) = words::ceiling(report) {
        annotations.write(out, level, None, "predicate ceiling", &text)?;
    }
    for entry in report.entries() {
        if let Some(level) = words::level(&entry) {
            self::entry(out, &mut annotations, &entry, level)?;
        }
    }
    annotations.finish(out, &words::summary(report))
}

/// An annotation for each place, or one where the predicate is declared.
fn entry(
    out: &mut impl Write,
    annotations: &mut Annotations,
    entry: &GateEntry<'_>,
    level: Level,
) -> io::Result<()> {
    let source = entry.source;
    let title = &*source.qualified_name;
    let reason = words::reason(&entry.result.verdict);
    let mut more = String::new();
    if let Some(help) = words::remediation(entry.result, source) {
        let _ = write!(more, "\nhelp: {help}");
    }
    let _ = write!(more, "\ndeclared at {}", words::declared(source));
    let composition = words::composition(entry, MOST_NAMES);
    if !composition.is_empty() {
        let _ = write!(more, "\nalso counts for: {composition}");
    }
    if !entry.enforced() {
        more.push_str("\nnot enforced");
    }
    let mut placed = false;
    let findings = source.findings();
    for finding in &findings {
        let Some(at) = finding.path.and_then(|path| At::inside(path, finding.line)) else {
            continue;
        };
        placed = true;
        let message = match finding.message {
            Some(said) => format!("{reason}: {said}{more}"),
            None => format!("{reason}{more}"),
        };
        annotations.write(out, level, Some(at), title, &message)?;
    }
    if !placed {
        let at = At::new(&source.declared.path, Some(source.declared.line as u64));
        let said = findings.iter().find_map(|finding| finding.message);
        let said = said.map_or_else(String::new, |said| format!(": {said}"));
        annotations.write(
            out,
            level,
            Some(at),
            title,
            &format!("{reason}{said}{more}"),
        )?;
    }
    Ok(())
}
