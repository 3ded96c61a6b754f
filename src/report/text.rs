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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::samples;

    fn check(timings: bool, colour: bool) -> String {
        samples::written(|out| TextReport::new(out, Job::Check, timings, colour))
    }

    #[test]
    fn what_needs_attention_comes_with_carets_facts_and_hints() {
        let expected = r#"FAIL claims.jsonl:2 cl_1
 |
 | grep(/fn main/, "src/main.rs") == 0 && run("make").exit == 0
 | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
 |
 = note: grep(/fn main/, "src/main.rs") = 2
         found at src/main.rs:7, src/main.rs:90
 = note: run("make").exit = 2, .stderr = "no rule\n\u{1b}[2J"

UNEVALUATED claims.jsonl:3 cl_2
 |
 | grep(/secret/, "typo.rs") == 0
 | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
 |
 = note: grep(/secret/, "typo.rs") is not known: path_not_found: nothing is at `typo.rs`
 = help: a missing file is not a count of 0; to state absence write `!exists("…")`

INVALID claims.jsonl:4 cl_3
error[prose]: this reads as prose
 |
 | all\u{7} is well
 | ^^^^^^^^^^^^^^^^
 |
 = help: state it with `grep` or `exists`
error[unexpected_end]: the source ends
 |
 | all\u{7} is well
 |                 ^

INVALID claims.jsonl:5
error[malformed_record]: line 5, column 9: not JSON

6 claims: 1 passed, 1 failed, 1 unevaluated, 2 invalid, 1 skipped
causes: malformed_record 1, path_not_found 1, prose 1
4 distinct predicates, 4 distinct facts, 12 files searched, 45 kB scanned, 1234 fuel
patterns searched: 2 by one literal, 3 by combined automata; 2 files read, 5.3 kB; 10 files known from earlier runs, 40 kB
CPU 1.5 ms, wall 2.0 s (1333.33 × CPU); predicates: 4 compiled, 0 from memory, 0 from disk
1 claim passed with warnings; `probity lint` shows them
1 input could not be read to its end
"#;
        assert_eq!(check(true, false), expected);
    }

    #[test]
    fn colours_and_timings_are_left_out_on_request() {
        assert!(check(true, true).contains('\u{1b}'));
        let plain = check(false, false);
        assert!(!plain.contains('\u{1b}'));
        assert!(!plain.contains("CPU") && !plain.contains("memory"));
    }

    #[test]
    fn no_claims_are_not_all_passed() {
        let out = samples::Shared::default();
        let mut report = TextReport::new(out.clone(), Job::Check, true, false);
        let counts = crate::report::Counts::Check(&Summary::default());
        let failures = &[];
        report.finish(&Totals { counts, failures }).unwrap();
        assert_eq!(out.text(), "no claims: nothing was checked\n");
    }

    #[test]
    fn lint_shows_warnings_of_what_is_valid() {
        let text = samples::written(|out| TextReport::new(out, Job::Lint, true, false));
        let first = r#"WARNING claims.jsonl:1 cl_0
warning[slow_pattern]: no literal
 |
 | grep(/a|b/, "src/") >= 1 || exists("x")
 |      ^^^^^
"#;
        assert!(text.starts_with(first), "{text}");
        assert!(!text.contains("FAIL"));
    }
}
