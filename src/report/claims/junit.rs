//! Claims as JUnit XML: a suite for each log, a case for each claim.

use std::io::{self, Write};

use crate::batch::{ClaimResult, Sink, Verdict};
use crate::report::claims::finding;
use crate::report::junit::{Case, Outcome, Reason, Suites};
use crate::report::level::Level;
use crate::report::{Job, Report, Totals};

/// The suite of what no claim says.
const RUN: &str = "probity";

/// The JUnit XML writer.
pub struct JUnitReport<W> {
    suites: Suites<W>,
    job: Job,
    timings: bool,
}

impl<W: Write + Send> JUnitReport<W> {
    /// A writer; without `timings` the times of cases are left out.
    ///
    /// # Errors
    /// If no temporary file can be made, or what the output says.
    pub fn new(out: W, job: Job, timings: bool) -> io::Result<Self> {
        Ok(Self {
            suites: Suites::new(out)?,
            job,
            timings,
        })
    }
}

impl<W: Write + Send> Sink for JUnitReport<W> {
    fn result(&mut self, result: &ClaimResult) -> io::Result<()> {
        let findings = finding::findings(result, self.job);
        let mut output = String::new();
        let mut outcome = match result.verdict {
            Verdict::Skipped => Outcome::Skipped("it asserts nothing executable".into()),
            _ => Outcome::Passed,
        };
        for found in findings {
            let is_first = matches!(outcome, Outcome::Passed | Outcome::Skipped(_));
            if found.level == Level::Error && is_first {
                let reason = Reason::new(found.rule, found.message);
                outcome = match (self.job, result.verdict) {
                    (Job::Check, Verdict::Unevaluated | Verdict::Invalid) => Outcome::Error(reason),
                    _ => Outcome::Failed(reason),
                };
            } else {
                output.push_str(&found.message);
                output.push('\n');
            }
        }
        let evaluation = result.evaluation.as_deref();
        if let Some(evaluation) = evaluation.filter(|_| self.job == Job::Check)
            && matches!(outcome, Outcome::Passed)
        {
            finding::facts_of(&mut output, evaluation);
        }
        let timings = self.timings && self.job == Job::Check;
        let case = Case {
            class: &result.source.input,
            name: &finding::name(result),
            at: finding::at(&result.source),
            time_ns: evaluation
                .filter(|_| timings)
                .map(|evaluation| evaluation.cost.cpu_ns),
            outcome,
            output,
        };
        self.suites.case(&result.source.input, &case)
    }
}

impl<W: Write + Send> Report for JUnitReport<W> {
    fn finish(&mut self, totals: &Totals<'_>) -> io::Result<()> {
        for (code, text) in finding::troubles(totals) {
            let case = Case {
                class: RUN,
                name: code,
                at: None,
                time_ns: None,
                outcome: Outcome::Error(Reason::new(code, text)),
                output: String::new(),
            };
            self.suites.case(RUN, &case)?;
        }
        self.suites.finish()
    }
}
