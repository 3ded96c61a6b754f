//! The totals for people: the last lines of a text report.

use std::collections::BTreeMap;
use std::io::{self, Write};

use crate::batch::{Summary, Verdict};
use crate::budget::Budgets;
use crate::facts::ScanStats;
use crate::report::{Counts, LintTotals, Totals, facts};

/// Writes the last lines; `passed_with_warnings` counts passes whose warnings
/// were not shown.
pub(super) fn write(
    out: &mut impl Write,
    totals: &Totals<'_>,
    timings: bool,
    passed_with_warnings: u64,
) -> io::Result<()> {
    match totals.counts {
        Counts::Check(summary) => check(out, summary, timings, passed_with_warnings)?,
        Counts::Lint(lint) => self::lint(out, lint)?,
    }
    match totals.failures.len() {
        0 => Ok(()),
        1 => writeln!(out, "1 input could not be read to its end"),
        failures => writeln!(out, "{failures} inputs could not be read to their end"),
    }
}

fn check(
    out: &mut impl Write,
    summary: &Summary,
    timings: bool,
    passed_with_warnings: u64,
) -> io::Result<()> {
    if summary.records == 0 {
        writeln!(out, "no claims: nothing was checked")?;
    } else {
        write!(out, "{}", counted(summary.records, "claim"))?;
        let names = ["passed", "failed", "unevaluated", "invalid", "skipped"];
        for (position, (verdict, name)) in Verdict::ALL.into_iter().zip(names).enumerate() {
            let separator = if position == 0 { ": " } else { ", " };
            write!(out, "{separator}{} {name}", summary.count(verdict))?;
        }
        writeln!(out)?;
        codes(out, &summary.codes)?;
        writeln!(
            out,
            "{}, {}, {} searched, {} scanned, {} fuel",
            counted(summary.distinct_programs, "distinct predicate"),
            counted(summary.distinct_facts, "distinct fact"),
            counted(summary.files, "file"),
            facts::bytes(summary.bytes),
            summary.fuel,
        )?;
        if timings {
            scan(out, &summary.scan)?;
            times(out, summary)?;
        }
        budgets(out, summary, timings)?;
    }
    if passed_with_warnings > 0 {
        writeln!(
            out,
            "{} passed with warnings; `probity lint` shows them",
            counted(passed_with_warnings, "claim"),
        )?;
    }
    if summary.unchecked_signatures > 0 {
        writeln!(
            out,
            "the signatures of {} were not checked",
            counted(summary.unchecked_signatures, "envelope"),
        )?;
    }
    interrupted(out, summary.interrupted)
}

/// How patterns were searched, which an equal run later may not need to do; nothing
/// if there were none.
pub(super) fn scan(out: &mut impl Write, scan: &ScanStats) -> io::Result<()> {
    let tiers = [
        (scan.literal, "by one literal"),
        (scan.literals, "by literals in one pass"),
        (scan.combined, "by combined automata"),
        (scan.regex, "by regex"),
    ];
    let served = tiers.iter().filter(|(patterns, _)| *patterns > 0);
    let served: Vec<String> = served
        .map(|(patterns, tier)| format!("{patterns} {tier}"))
        .collect();
    if served.is_empty() && scan.known_files == 0 {
        return Ok(());
    }
    let served = if served.is_empty() {
        "none".into()
    } else {
        served.join(", ")
    };
    let files = counted(scan.read_files, "file");
    let bytes = facts::bytes(scan.read_bytes);
    write!(out, "patterns searched: {served}; {files} read, {bytes}")?;
    if scan.known_files > 0 {
        let files = counted(scan.known_files, "file");
        let bytes = facts::bytes(scan.known_bytes);
        write!(out, "; {files} known from earlier runs, {bytes}")?;
    }
    writeln!(out)
}

fn times(out: &mut impl Write, summary: &Summary) -> io::Result<()> {
    let wall = facts::duration(summary.wall_ns);
    write!(out, "CPU {}, wall {wall}", facts::duration(summary.cpu_ns))?;
    if let Some(ratio) = summary.wall_to_cpu() {
        write!(out, " ({ratio:.2} × CPU)")?;
    }
    writeln!(
        out,
        "; predicates: {} compiled, {} from memory, {} from disk",
        summary.compiled, summary.memory_hits, summary.disk_hits,
    )
}

/// The limits, and what was spent of those of the batch.
fn budgets(out: &mut impl Write, summary: &Summary, timings: bool) -> io::Result<()> {
    let Budgets { predicate, batch } = summary.budgets;
    let mut parts = Vec::new();
    if let Some(limit) = batch.fuel {
        parts.push(format!("{} of {limit} fuel", summary.fuel));
    }
    if let Some(limit) = batch.cpu {
        parts.push(if timings {
            format!("{} of {limit:?} CPU", facts::duration(summary.cpu_ns))
        } else {
            format!("{limit:?} CPU")
        });
    }
    if let Some(limit) = predicate.fuel {
        parts.push(format!("{limit} fuel for each predicate"));
    }
    if let Some(limit) = predicate.cpu {
        parts.push(format!("{limit:?} CPU for each predicate"));
    }
    if parts.is_empty() {
        return Ok(());
    }
    writeln!(out, "budgets: {}", parts.join(", "))
}

fn lint(out: &mut impl Write, lint: &LintTotals) -> io::Result<()> {
    if lint.records == 0 {
        writeln!(out, "no predicates: nothing was read")?;
    } else {
        writeln!(
            out,
            "{}: {} clean, {} with warnings, {} with errors, {} skipped",
            counted(lint.records, "record"),
            lint.clean,
            lint.warned,
            lint.refused,
            lint.skipped,
        )?;
        codes(out, &lint.codes)?;
    }
    interrupted(out, lint.interrupted)
}

fn codes(out: &mut impl Write, codes: &BTreeMap<&'static str, u64>) -> io::Result<()> {
    if codes.is_empty() {
        return Ok(());
    }
    write!(out, "causes:")?;
    for (position, (code, count)) in codes.iter().enumerate() {
        let separator = if position == 0 { " " } else { ", " };
        write!(out, "{separator}{code} {count}")?;
    }
    writeln!(out)
}

fn interrupted(out: &mut impl Write, interrupted: bool) -> io::Result<()> {
    if interrupted {
        writeln!(
            out,
            "stopped before the end: this is what was decided so far"
        )?;
    }
    Ok(())
}

/// A number with its noun, like `1 claim` and `2 claims`.
fn counted(number: u64, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}
