//! Reports in JUnit XML.

use std::time::Duration;

use quick_xml::XmlVersion;
use quick_xml::events::{BytesStart, Event};
use quick_xml::reader::Reader;

use crate::facts::TestOutcome;

/// One `<testcase>`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Case {
    /// The name of the `<testsuite>` around it.
    pub(super) suite: String,
    pub(super) class: String,
    pub(super) name: String,
    pub(super) outcome: TestOutcome,
    pub(super) duration: Option<Duration>,
    /// What it printed, where the report has it.
    pub(super) output: String,
}

/// The cases of a report.
pub(super) fn read(xml: &[u8]) -> Result<Vec<Case>, String> {
    let xml = String::from_utf8_lossy(xml);
    let mut reader = Reader::from_str(&xml);
    let mut cases = Vec::new();
    let mut suites: Vec<String> = Vec::new();
    let mut open: Option<Case> = None;
    let mut in_output = false;
    let mut depth = 0_usize;
    loop {
        let event = reader.read_event().map_err(|error| error.to_string())?;
        match &event {
            Event::Start(start) | Event::Empty(start) => {
                let is_empty = matches!(event, Event::Empty(_));
                depth += usize::from(!is_empty);
                match start.local_name().as_ref() {
                    "testsuite" if !is_empty => {
                        suites.push(attribute(start, "name")?.unwrap_or_default())
                    }
                    "testcase" => {
                        let case = case(start, suites.last())?;
                        match is_empty {
                            true => cases.push(case),
                            false => open = Some(case),
                        }
                    }
                    "failure" | "error" => set(&mut open, TestOutcome::Failed),
                    "skipped" => set(&mut open, TestOutcome::Ignored),
                    "system-out" => in_output = !is_empty,
                    _ => {}
                }
            }
            Event::End(end) => {
                depth = depth.saturating_sub(1);
                match end.local_name().as_ref() {
                    "testsuite" => drop(suites.pop()),
                    "testcase" => cases.extend(open.take()),
                    "system-out" => in_output = false,
                    _ => {}
                }
            }
            Event::Text(text) if in_output => {
                if let Some(open) = &mut open {
                    open.output.push_str(text);
                }
            }
            Event::CData(text) if in_output => {
                if let Some(open) = &mut open {
                    open.output.push_str(text);
                }
            }
            Event::Eof if depth == 0 => return Ok(cases),
            Event::Eof => return Err("it ends in the middle".into()),
            _ => {}
        }
    }
}

/// A failure is never taken back.
fn set(open: &mut Option<Case>, outcome: TestOutcome) {
    if let Some(open) = open
        && open.outcome != TestOutcome::Failed
    {
        open.outcome = outcome;
    }
}

fn case(start: &BytesStart<'_>, suite: Option<&String>) -> Result<Case, String> {
    let seconds = attribute(start, "time")?.and_then(|time| time.parse::<f64>().ok());
    Ok(Case {
        suite: suite.cloned().unwrap_or_default(),
        class: attribute(start, "classname")?.unwrap_or_default(),
        name: attribute(start, "name")?.ok_or("a `testcase` has no name")?,
        outcome: TestOutcome::Passed,
        duration: seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()),
        output: String::new(),
    })
}

fn attribute(start: &BytesStart<'_>, name: &str) -> Result<Option<String>, String> {
    let found = start
        .try_get_attribute(name)
        .map_err(|error| error.to_string())?;
    let Some(found) = found else { return Ok(None) };
    let value = found.normalized_value(XmlVersion::Implicit1_0);
    Ok(Some(value.map_err(|error| error.to_string())?.into_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_of_all_kinds_are_read() {
        let xml = br#"<?xml version="1.0"?><testsuites><testsuite name="s">
            <testcase classname="c" name="a&lt;1&gt;" time="0.25"/>
            <testcase classname="c" name="b"><failure message="m">text</failure><skipped/></testcase>
            <testcase classname="c" name="d"><skipped/></testcase>
            <testcase name="e"><error/><system-out>said</system-out></testcase>
            </testsuite></testsuites>"#;
        let cases = read(xml).unwrap();
        let found: Vec<_> = cases
            .iter()
            .map(|case| (case.name.as_str(), case.outcome))
            .collect();
        let expected = [
            ("a<1>", TestOutcome::Passed),
            ("b", TestOutcome::Failed),
            ("d", TestOutcome::Ignored),
            ("e", TestOutcome::Failed),
        ];
        assert_eq!(found, expected);
        assert_eq!(cases[0].duration, Some(Duration::from_millis(250)));
        assert_eq!(
            (cases[0].suite.as_str(), cases[0].class.as_str()),
            ("s", "c")
        );
        assert_eq!(cases[3].output, "said");
    }

    #[test]
    fn what_is_cut_or_no_report_is_an_error() {
        for xml in [
            "<testsuite><testcase name=\"a\"/>",
            "<testcase/>",
            "<a",
            "<a></b>",
        ] {
            assert!(read(xml.as_bytes()).is_err(), "{xml}");
        }
    }
}
