//! Test reports in JUnit XML, which most CI systems show.

use std::fs::File;
use std::io::{self, BufReader, Seek as _, SeekFrom, Write};

use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesEnd, BytesStart, BytesText, Event};

use crate::report::level::At;
use crate::report::{escape, escape_lines};

/// Most characters of an attribute.
const WIDTH: usize = 500;

/// Most characters of a text.
const TEXT: usize = 64_000;

/// One `<testcase>`.
#[derive(Debug)]
pub(super) struct Case<'a> {
    /// What it belongs to.
    pub(super) class: &'a str,
    /// Its name.
    pub(super) name: &'a str,
    /// What it is about.
    pub(super) at: Option<At<'a>>,
    /// Time, in nanoseconds.
    pub(super) time_ns: Option<u64>,
    /// How it went.
    pub(super) outcome: Outcome,
    /// What else is known of it.
    pub(super) output: String,
}

/// How a case went.
#[derive(Debug)]
pub(super) enum Outcome {
    /// It passed.
    Passed,
    /// It was judged and is wrong.
    Failed(Reason),
    /// It could not be judged.
    Error(Reason),
    /// It was left out.
    Skipped(String),
}

/// Why a case did not pass.
#[derive(Debug)]
pub(super) struct Reason {
    /// A stable code.
    pub(super) code: String,
    /// In words.
    pub(super) message: String,
}

impl Reason {
    pub(super) fn new(code: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            code: code.into(),
            message: message.into(),
        }
    }
}

#[derive(Debug, Default)]
struct Counts {
    tests: u64,
    failures: u64,
    errors: u64,
    skipped: u64,
    time_ns: Option<u64>,
}

/// Writes suites of cases. The counts stand before the cases, so the cases of a suite
/// wait in an unnamed temporary file.
pub(super) struct Suites<W> {
    out: W,
    spool: Writer<io::BufWriter<File>>,
    name: Option<String>,
    counts: Counts,
}

impl<W: Write> Suites<W> {
    /// Begins a report.
    pub(super) fn new(mut out: W) -> io::Result<Self> {
        Writer::new(&mut out).write_event(Event::Decl(BytesDecl::new(
            "1.0",
            Some("UTF-8"),
            None,
        )))?;
        out.write_all(b"\n<testsuites name=\"probity\">\n")?;
        Ok(Self {
            out,
            spool: Writer::new(io::BufWriter::new(tempfile::tempfile()?)),
            name: None,
            counts: Counts::default(),
        })
    }

    /// Adds a case; one of another suite than the last ends that.
    pub(super) fn case(&mut self, suite: &str, case: &Case<'_>) -> io::Result<()> {
        if self.name.as_deref() != Some(suite) {
            self.end_suite()?;
            self.name = Some(suite.to_owned());
        }
        self.counts.tests += 1;
        match case.outcome {
            Outcome::Passed => {}
            Outcome::Failed(_) => self.counts.failures += 1,
            Outcome::Error(_) => self.counts.errors += 1,
            Outcome::Skipped(_) => self.counts.skipped += 1,
        }
        if let Some(time) = case.time_ns {
            let sum = self.counts.time_ns.unwrap_or(0);
            self.counts.time_ns = Some(sum.saturating_add(time));
        }
        write_case(&mut self.spool, case)
    }

    /// Ends the report.
    pub(super) fn finish(&mut self) -> io::Result<()> {
        self.end_suite()?;
        self.out.write_all(b"</testsuites>\n")?;
        self.out.flush()
    }

    fn end_suite(&mut self) -> io::Result<()> {
        let Some(name) = self.name.take() else {
            return Ok(());
        };
        let counts = std::mem::take(&mut self.counts);
        let mut suite = BytesStart::new("testsuite");
        attribute(&mut suite, "name", &name);
        for (key, count) in [
            ("tests", counts.tests),
            ("failures", counts.failures),
            ("errors", counts.errors),
            ("skipped", counts.skipped),
        ] {
            attribute(&mut suite, key, &count.to_string());
        }
        if let Some(time) = counts.time_ns {
            attribute(&mut suite, "time", &seconds(time));
        }
        Writer::new(&mut self.out).write_event(Event::Start(suite))?;
        self.out.write_all(b"\n")?;
        let spool = self.spool.get_mut();
        spool.flush()?;
        let file = spool.get_mut();
        file.rewind()?;
        io::copy(&mut BufReader::new(&mut *file), &mut self.out)?;
        file.set_len(0)?;
        file.seek(SeekFrom::Start(0))?;
        self.out.write_all(b"</testsuite>\n")
    }
}

fn write_case<W: Write>(out: &mut Writer<W>, case: &Case<'_>) -> io::Result<()> {
    let mut element = BytesStart::new("testcase");
    attribute(&mut element, "classname", case.class);
    attribute(&mut element, "name", case.name);
    if let Some(at) = case.at {
        attribute(&mut element, "file", at.path);
        if let Some(line) = at.line {
            attribute(&mut element, "line", &line.to_string());
        }
    }
    if let Some(time) = case.time_ns {
        attribute(&mut element, "time", &seconds(time));
    }
    out.write_event(Event::Start(element))?;
    match &case.outcome {
        Outcome::Passed => {}
        Outcome::Failed(reason) => write_reason(out, "failure", reason)?,
        Outcome::Error(reason) => write_reason(out, "error", reason)?,
        Outcome::Skipped(message) => {
            let mut skipped = BytesStart::new("skipped");
            attribute(&mut skipped, "message", message);
            out.write_event(Event::Empty(skipped))?;
        }
    }
    if !case.output.is_empty() {
        out.write_event(Event::Start(BytesStart::new("system-out")))?;
        text(out, &case.output)?;
        out.write_event(Event::End(BytesEnd::new("system-out")))?;
    }
    out.write_event(Event::End(BytesEnd::new("testcase")))?;
    out.get_mut().write_all(b"\n")
}

fn write_reason<W: Write>(out: &mut Writer<W>, name: &str, reason: &Reason) -> io::Result<()> {
    let mut element = BytesStart::new(name);
    let first = reason.message.lines().next().unwrap_or_default();
    attribute(&mut element, "type", &reason.code);
    attribute(&mut element, "message", first);
    out.write_event(Event::Start(element))?;
    text(out, &reason.message)?;
    out.write_event(Event::End(BytesEnd::new(name)))
}

/// Adds an attribute of one line.
fn attribute(element: &mut BytesStart<'_>, key: &str, value: &str) {
    let value = legal(&escape(value, WIDTH));
    element.push_attribute((key, value.as_str()));
}

fn text<W: Write>(out: &mut Writer<W>, text: &str) -> io::Result<()> {
    let text = legal(&escape_lines(text, TEXT));
    out.write_event(Event::Text(BytesText::new(&text)))
}

/// Escapes the two characters that are no control characters and that XML forbids all
/// the same.
fn legal(text: &str) -> String {
    text.replace('\u{fffe}', "\\u{fffe}")
        .replace('\u{ffff}', "\\u{ffff}")
}

/// Nanoseconds as seconds.
fn seconds(ns: u64) -> String {
    format!("{}.{:06}", ns / 1_000_000_000, ns % 1_000_000_000 / 1000)
}
