//! Verdicts along commits: for people and as JSON.

use std::io::{self, Write};
use std::time::{Duration, UNIX_EPOCH};

use anstyle::AnsiColor;
use serde::Serialize;

use crate::batch::Verdict;
use crate::git::Commit;
use crate::history::{Change, Record, Tracked};
use crate::report::escape;
use crate::report::text::style;

/// Most characters of a source or a subject that are shown.
const WIDTH: usize = 120;

/// The version of the JSON object's shape.
const SCHEMA: u32 = 1;

/// How a history is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HistoryFormat {
    /// For people: the claims whose verdict changes, then the totals.
    Text {
        /// With colours.
        colour: bool,
    },
    /// One object: schema, summary, results.
    Json,
    /// One object for each claim, the summary on the last line.
    JsonLines,
}

/// What is asked of a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// Where verdicts change.
    Changes,
    /// Where claims became false.
    Blame,
}

/// Writes a history; without `timings` everything that differs between two equal
/// runs is left out.
///
/// # Errors
/// What the output says.
pub fn write_history(
    out: &mut impl Write,
    tracked: &Tracked,
    question: Question,
    format: HistoryFormat,
    timings: bool,
) -> io::Result<()> {
    let records = tracked.records.iter();
    let records = records.map(|record| RecordShape::new(record, tracked, question));
    match format {
        HistoryFormat::Text { colour } => {
            let mut text = Text {
                tracked,
                question,
                colour,
            };
            text.write(out, timings)
        }
        HistoryFormat::JsonLines => {
            for record in records {
                serde_json::to_writer(&mut *out, &record)?;
                writeln!(out)?;
            }
            let summary = SummaryShape::new(tracked, timings);
            serde_json::to_writer(&mut *out, &Last { summary })?;
            writeln!(out)
        }
        HistoryFormat::Json => {
            let whole = Whole {
                schema: SCHEMA,
                summary: SummaryShape::new(tracked, timings),
                results: records.collect(),
            };
            serde_json::to_writer(&mut *out, &whole)?;
            writeln!(out)
        }
    }
}

/// The change by which a claim first became false, if it ever was.
fn became_false(record: &Record) -> Option<&Change> {
    let mut changes = record.changes.iter();
    changes.find(|change| change.verdict == Verdict::Fail)
}

#[derive(Serialize)]
struct Whole<'a> {
    schema: u32,
    summary: SummaryShape,
    results: Vec<RecordShape<'a>>,
}

#[derive(Serialize)]
struct Last {
    summary: SummaryShape,
}

#[derive(Serialize)]
struct RecordShape<'a> {
    index: u64,
    source: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    language: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    digest: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    predicate: Option<&'a str>,
    /// Of `blame`: `null` for a claim that was never false.
    #[serde(skip_serializing_if = "Option::is_none")]
    became_false: Option<Option<ChangeShape<'a>>>,
    changes: Vec<ChangeShape<'a>>,
}

#[derive(Serialize)]
struct ChangeShape<'a> {
    commit: String,
    time: i64,
    subject: &'a str,
    verdict: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<&'a str>,
}

impl<'a> RecordShape<'a> {
    fn new(record: &'a Record, tracked: &'a Tracked, question: Question) -> Self {
        let claim = &record.claim;
        let shape = |change: &'a Change| ChangeShape::new(change, tracked);
        Self {
            index: claim.index,
            source: claim.source.to_string(),
            id: claim.id.as_deref(),
            language: claim.language.as_deref(),
            digest: claim.digest.as_ref().map(ToString::to_string),
            predicate: predicate(record),
            became_false: (question == Question::Blame)
                .then(|| became_false(record).and_then(shape)),
            changes: record.changes.iter().filter_map(shape).collect(),
        }
    }
}

impl<'a> ChangeShape<'a> {
    /// `None` if there is no commit at all.
    fn new(change: &'a Change, tracked: &'a Tracked) -> Option<Self> {
        let commit = tracked.commits.get(change.commit)?;
        Some(Self {
            commit: commit.id.to_string(),
            time: commit.time,
            subject: &commit.subject,
            verdict: change.verdict.name(),
            code: change.code,
            detail: change.detail.as_deref(),
        })
    }
}

#[derive(Serialize)]
struct SummaryShape {
    commits: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    base: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tip: Option<String>,
    claims: u64,
    changed: u64,
    programs: u64,
    facts: u64,
    contents: u64,
    evaluations: u64,
    lookups: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    scan: Option<ScanShape>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    interrupted: bool,
}

#[derive(Serialize)]
struct ScanShape {
    read: Amount,
    known: Amount,
}

#[derive(Serialize)]
struct Amount {
    files: u64,
    bytes: u64,
}

impl SummaryShape {
    fn new(tracked: &Tracked, timings: bool) -> Self {
        let summary = &tracked.summary;
        let id = |commit: &Commit| commit.id.to_string();
        let first = tracked.commits.first();
        Self {
            commits: summary.commits,
            base: first.filter(|_| tracked.has_base).map(id),
            tip: tracked.commits.last().map(id),
            claims: tracked.records.len() as u64,
            changed: changed(tracked),
            programs: summary.programs,
            facts: summary.facts,
            contents: summary.contents,
            evaluations: summary.evaluations,
            lookups: summary.lookups,
            scan: timings.then_some(ScanShape {
                read: Amount {
                    files: summary.scan.read_files,
                    bytes: summary.scan.read_bytes,
                },
                known: Amount {
                    files: summary.scan.known_files,
                    bytes: summary.scan.known_bytes,
                },
            }),
            interrupted: summary.interrupted,
        }
    }
}

fn changed(tracked: &Tracked) -> u64 {
    let records = tracked.records.iter();
    records.filter(|record| record.changes.len() > 1).count() as u64
}

fn predicate(record: &Record) -> Option<&str> {
    let evaluation = record.claim.evaluation.as_ref();
    evaluation.map(|evaluation| &*evaluation.predicate)
}

/// For people.
struct Text<'a> {
    tracked: &'a Tracked,
    question: Question,
    colour: bool,
}

impl Text<'_> {
    fn write(&mut self, out: &mut impl Write, timings: bool) -> io::Result<()> {
        for record in &self.tracked.records {
            if self.question == Question::Blame {
                self.heading(out, record)?;
                self.blame(out, record)?;
            } else if record.changes.len() > 1 {
                self.heading(out, record)?;
                for change in &*record.changes {
                    self.change(out, change)?;
                }
            }
        }
        self.totals(out, timings)
    }

    fn heading(&self, out: &mut impl Write, record: &Record) -> io::Result<()> {
        let origin = record.claim.source.to_string();
        write!(out, "{}", escape(&origin, WIDTH))?;
        if let Some(id) = &record.claim.id {
            write!(out, " {}", escape(id, WIDTH))?;
        }
        writeln!(out)?;
        match predicate(record) {
            Some(predicate) => writeln!(out, "  {}", escape(predicate, WIDTH)),
            None => Ok(()),
        }
    }

    fn blame(&self, out: &mut impl Write, record: &Record) -> io::Result<()> {
        let Some(culprit) = became_false(record) else {
            writeln!(out, "  was never false:")?;
            return record
                .changes
                .iter()
                .try_for_each(|it| self.change(out, it));
        };
        let when = match culprit.commit {
            0 => "was false from the start, at",
            _ => "became false at",
        };
        writeln!(out, "  {when} {}", self.commit(culprit))?;
        let others = record.changes.iter().filter(|change| *change != culprit);
        for change in others {
            self.change(out, change)?;
        }
        Ok(())
    }

    fn change(&self, out: &mut impl Write, change: &Change) -> io::Result<()> {
        let colour = match change.verdict {
            Verdict::Pass => AnsiColor::Green,
            Verdict::Fail => AnsiColor::Red,
            Verdict::Unevaluated => AnsiColor::Yellow,
            Verdict::Invalid => AnsiColor::Magenta,
            Verdict::Skipped => AnsiColor::Cyan,
        };
        let style = style(colour, self.colour);
        let name = change.verdict.name();
        write!(
            out,
            "  {style}{name:<11}{style:#} since {}",
            self.commit(change)
        )?;
        match change.code {
            Some(code) => writeln!(out, " [{code}]"),
            None => writeln!(out),
        }
    }

    fn commit(&self, change: &Change) -> String {
        let Some(commit) = self.tracked.commits.get(change.commit) else {
            return "no commit".into();
        };
        let seconds = u64::try_from(commit.time).unwrap_or(0);
        let time = UNIX_EPOCH.checked_add(Duration::from_secs(seconds));
        let time = humantime::format_rfc3339_seconds(time.unwrap_or(UNIX_EPOCH)).to_string();
        let date = time.get(..10).unwrap_or(&time);
        let subject = escape(&commit.subject, WIDTH);
        format!("{} {date} {subject}", commit.id.short())
    }

    fn totals(&self, out: &mut impl Write, timings: bool) -> io::Result<()> {
        let summary = &self.tracked.summary;
        let claims = self.tracked.records.len();
        if claims == 0 {
            writeln!(out, "no claims: nothing was followed")?;
        }
        writeln!(
            out,
            "{claims} claims over {} commits: the verdict of {} changed",
            summary.commits,
            changed(self.tracked),
        )?;
        writeln!(
            out,
            "{} distinct predicates, {} distinct facts, {} distinct contents, {} evaluations, {} single look-ups",
            summary.programs, summary.facts, summary.contents, summary.evaluations, summary.lookups,
        )?;
        if timings {
            let scan = &summary.scan;
            writeln!(
                out,
                "{} files read, {} known from earlier runs",
                scan.read_files, scan.known_files,
            )?;
        }
        if summary.interrupted {
            writeln!(
                out,
                "stopped before the end: this is what was decided so far"
            )?;
        }
        Ok(())
    }
}
