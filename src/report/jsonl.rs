//! JSON Lines: one object for each claim, the totals on the last line.

use std::io::{self, Write};

use serde::Serialize;

use crate::batch::{ClaimResult, Sink, Summary};
use crate::report::block::Blocks;
use crate::report::record::Record;
use crate::report::totals::TotalsRecord;
use crate::report::{Job, Report, Totals};

/// The JSON Lines writer.
pub struct JsonLinesReport<W> {
    out: Blocks<W>,
    job: Job,
    timings: bool,
}

#[derive(Serialize)]
struct Last<'a> {
    summary: TotalsRecord<'a>,
}

impl<W: Write + Send> JsonLinesReport<W> {
    /// A writer; without `timings` everything that differs between two equal
    /// runs is left out.
    pub fn new(out: W, job: Job, timings: bool) -> Self {
        Self {
            out: Blocks::new(out),
            job,
            timings,
        }
    }

    fn line(&mut self, value: &impl Serialize) -> io::Result<()> {
        let record = self.out.record();
        serde_json::to_writer(&mut *record, value)?;
        record.push(b'\n');
        self.out.end()
    }
}

impl<W: Write + Send> Sink for JsonLinesReport<W> {
    fn result(&mut self, result: &ClaimResult) -> io::Result<()> {
        self.line(&Record::new(result, self.job, self.timings))
    }

    fn progress(&mut self, _summary: &Summary) {
        self.out.flush_or_remember();
    }
}

impl<W: Write + Send> Report for JsonLinesReport<W> {
    fn finish(&mut self, totals: &Totals<'_>) -> io::Result<()> {
        self.line(&Last {
            summary: TotalsRecord::new(totals, self.timings),
        })?;
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::samples;

    const DIGEST: &str = "sha256:abababababababababababababababababababababababababababababababab";

    #[test]
    fn lines_have_the_documented_keys_in_order() {
        let text = samples::written(|out| JsonLinesReport::new(out, Job::Check, true));
        let expected = [
            r#"{"index":0,"source":"claims.jsonl:1","id":"cl_0","language":"elench-predicate-v1","digest":"DIGEST","verdict":"pass","diagnostics":[{"severity":"warning","code":"slow_pattern","message":"no literal","span":{"start":5,"end":10}}],"facts":[{"primitive":"grep","args":["a|b","src/"],"at_least":1}],"cost":{"fuel":12,"cpu_ns":3456,"bytes":78}}"#,
            r#"{"index":1,"source":"claims.jsonl:2","id":"cl_1","language":"elench-predicate-v1","digest":"DIGEST","verdict":"fail","facts":[{"primitive":"grep","args":["fn main","src/main.rs"],"value":2,"places":[{"path":"src/main.rs","line":7},{"path":"src/main.rs","line":90}]},{"primitive":"run","args":["make"],"exit":2,"stdout":"","stderr":"no rule\n\u001b[2J","isolation":["landlock","seccomp"]}],"cost":{"fuel":12,"cpu_ns":3456,"bytes":78}}"#,
            r#"{"index":2,"source":"claims.jsonl:3","id":"cl_2","language":"elench-predicate-v1","digest":"DIGEST","verdict":"unevaluated","code":"path_not_found","detail":"nothing is at `typo.rs`","facts":[{"primitive":"grep","args":["secret","typo.rs"],"unknown":{"code":"path_not_found","detail":"nothing is at `typo.rs`"}}],"cost":{"fuel":12,"cpu_ns":3456,"bytes":78}}"#,
            r#"{"index":3,"source":"claims.jsonl:4","id":"cl_3","language":"elench-predicate-v1","digest":"DIGEST","verdict":"invalid","code":"prose","detail":"this reads as prose","diagnostics":[{"severity":"error","code":"prose","message":"this reads as prose","span":{"start":0,"end":12},"help":"state it with `grep` or `exists`"},{"severity":"error","code":"unexpected_end","message":"the source ends","span":{"start":12,"end":12}}]}"#,
            r#"{"index":4,"source":"claims.jsonl:5","verdict":"invalid","code":"malformed_record","detail":"line 5, column 9: not JSON","diagnostics":[{"severity":"error","code":"malformed_record","message":"line 5, column 9: not JSON"}]}"#,
            r#"{"index":5,"source":"claims.jsonl:6","id":"cl_5","verdict":"skipped"}"#,
            r#"{"summary":{"records":6,"verdicts":{"pass":1,"fail":1,"unevaluated":1,"invalid":2,"skipped":1},"codes":{"malformed_record":1,"path_not_found":1,"prose":1},"distinct_programs":4,"distinct_facts":4,"files":12,"bytes":45300,"scan":{"patterns":{"literal":2,"literals":0,"combined":3,"regex":0},"read":{"files":2,"bytes":5300},"known":{"files":10,"bytes":40000}},"fuel":1234,"cpu_ns":1500000,"wall_ns":2000000000,"wall_to_cpu":1333.33,"cache":{"memory_hits":0,"disk_hits":0,"compiled":4},"errors":[{"input":"gone.jsonl","error":"no such file"}]}}"#,
        ];
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), expected.len());
        for (line, expected) in lines.into_iter().zip(expected) {
            assert_eq!(line, expected.replace("DIGEST", DIGEST));
        }
    }

    #[test]
    fn without_timings_nothing_that_differs_is_left() {
        let text = samples::written(|out| JsonLinesReport::new(out, Job::Check, false));
        assert!(text.contains(r#""cost":{"fuel":12,"bytes":78}"#));
        for key in ["cpu_ns", "wall_ns", "cache"] {
            assert!(!text.contains(key), "{key}");
        }
    }

    #[test]
    fn lint_shows_diagnostics_and_nothing_that_was_judged() {
        let text = samples::written(|out| JsonLinesReport::new(out, Job::Lint, true));
        let results: Vec<&str> = text.lines().take(6).collect();
        for key in ["verdict", "facts", "cost", "detail"] {
            assert!(!results.concat().contains(&format!("\"{key}\":")), "{key}");
        }
        assert!(results[3].contains(r#""code":"prose""#));
    }
}
