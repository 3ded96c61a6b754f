//! What the gate came to, in every format. (flow.md, sections 4.7, 5 and 10.)

mod github;
mod json;
mod junit;
mod sarif;
mod text;
mod words;

use std::io::{self, Write};

use crate::flow::GateReport;

/// How a run of the gate is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GateFormat {
    /// For people: what blocks first, the totals last.
    Text {
        /// With colours.
        colour: bool,
    },
    /// One object.
    Json,
    /// One object for each predicate, the rest on the last line.
    JsonLines,
    /// SARIF 2.1.0, one run.
    Sarif,
    /// JUnit XML, a suite for each predicate file.
    JUnit,
    /// Annotations of GitHub Actions.
    GitHub,
}

/// Writes a run of the gate; without `timings` everything that differs between two equal
/// runs is left out.
///
/// # Errors
/// What the output says, or the temporary file that JUnit XML needs.
pub fn write_gate(
    out: &mut impl Write,
    report: &GateReport,
    format: GateFormat,
    timings: bool,
) -> io::Result<()> {
    match format {
        GateFormat::Text { colour } => text::write(out, report, timings, colour)?,
        GateFormat::Json => json::whole(out, report, timings)?,
        GateFormat::JsonLines => json::lines(out, report, timings)?,
        GateFormat::Sarif => sarif::write(out, report, timings)?,
        GateFormat::JUnit => junit::write(out, report, timings)?,
        GateFormat::GitHub => github::write(out, report)?,
    }
    out.flush()
}
