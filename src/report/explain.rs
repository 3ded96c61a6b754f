//! One expression for people: verdict, facts and, if wanted, the whole account.

use std::io::{self, Write};

use anstyle::AnsiColor;

use crate::batch::{Evaluation, ShownValue, Verdict};
use crate::facts::ScanStats;
use crate::report::snippet::Painter;
use crate::report::text::style;
use crate::report::{closing, facts};

/// How one evaluation is shown as text.
#[derive(Clone, Copy, Debug)]
pub struct Explanation {
    /// Also the facts that were not needed, the places and the cost.
    pub full: bool,
    /// With CPU time, which differs between equal runs.
    pub timings: bool,
    /// With colours.
    pub colour: bool,
}

impl Explanation {
    /// Writes the evaluation; `scan` says how its patterns were searched.
    ///
    /// # Errors
    /// What the output says.
    pub fn write(
        &self,
        out: &mut impl Write,
        evaluation: &Evaluation,
        scan: &ScanStats,
    ) -> io::Result<()> {
        let (word, colour) = match evaluation.verdict {
            Verdict::Pass => ("PASS", AnsiColor::Green),
            Verdict::Fail => ("FAIL", AnsiColor::Red),
            Verdict::Unevaluated => ("UNEVALUATED", AnsiColor::Yellow),
            Verdict::Invalid => ("INVALID", AnsiColor::Magenta),
            Verdict::Skipped => ("SKIPPED", AnsiColor::Cyan),
        };
        let style = style(colour, self.colour);
        writeln!(out, "{style}{word}{style:#}")?;
        let painter = Painter::new(self.colour);
        match evaluation.verdict {
            Verdict::Fail | Verdict::Unevaluated => {
                writeln!(out, "{}", painter.evaluation(evaluation, !self.full))?;
            }
            Verdict::Pass if !self.full => self.facts(out, evaluation)?,
            Verdict::Pass | Verdict::Invalid | Verdict::Skipped => {}
        }
        if !evaluation.diagnostics.is_empty() {
            let remarks = painter.diagnostics(&evaluation.predicate, &evaluation.diagnostics);
            writeln!(out, "{remarks}")?;
        }
        if self.full && evaluation.verdict != Verdict::Invalid {
            writeln!(out, "facts:")?;
            self.facts(out, evaluation)?;
            if self.timings {
                closing::scan(out, scan)?;
            }
            writeln!(out, "cost: {}", facts::cost(&evaluation.cost, self.timings))?;
        }
        Ok(())
    }

    fn facts(&self, out: &mut impl Write, evaluation: &Evaluation) -> io::Result<()> {
        for fact in &evaluation.facts {
            match facts::fact(fact) {
                Some(known) => writeln!(out, "  {known}")?,
                None if self.full => writeln!(out, "  {} was not needed", facts::call(fact))?,
                None => {}
            }
            if self.full && fact.value != ShownValue::NotNeeded {
                for place in &fact.places {
                    writeln!(out, "    {}", facts::places(std::slice::from_ref(place)))?;
                }
                for run in &fact.tests {
                    writeln!(out, "    {}", facts::test_run(run, self.timings))?;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::samples;

    fn explained(index: usize, full: bool) -> String {
        let results = samples::all();
        let explanation = Explanation {
            full,
            timings: true,
            colour: false,
        };
        let mut out = Vec::new();
        let evaluation = results[index].evaluation.as_deref().unwrap();
        let scan = ScanStats {
            combined: 2,
            read_files: 3,
            read_bytes: 4000,
            ..ScanStats::default()
        };
        explanation.write(&mut out, evaluation, &scan).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_short_answer_holds_verdict_facts_and_warnings() {
        let expected = r#"PASS
  grep(/a|b/, "src/") >= 1
warning[slow_pattern]: no literal
 |
 | grep(/a|b/, "src/") >= 1 || exists("x")
 |      ^^^^^
"#;
        assert_eq!(explained(0, false), expected);
    }

    #[test]
    fn an_explanation_holds_every_fact_its_places_and_the_cost() {
        let full = explained(0, true);
        assert!(full.contains("  exists(\"x\") was not needed\n"), "{full}");
        let expected = r#"FAIL
 |
 | grep(/fn main/, "src/main.rs") == 0 && run("make").exit == 0
 | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
facts:
  grep(/fn main/, "src/main.rs") = 2
    src/main.rs:7
    src/main.rs:90
  run("make").exit = 2, .stderr = "no rule\n\u{1b}[2J"
patterns searched: 2 by combined automata; 3 files read, 4.0 kB
cost: 12 fuel, 78 B scanned, 3.4 µs CPU
"#;
        assert_eq!(explained(1, true), expected);
    }
}
