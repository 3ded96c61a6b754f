//! One JSON object: schema, totals, results.

use std::fs::File;
use std::io::{self, BufReader, Seek as _, Write};

use crate::batch::{ClaimResult, Sink};
use crate::report::block::Blocks;
use crate::report::record::Record;
use crate::report::totals::TotalsRecord;
use crate::report::{Job, Report, Totals};

/// The version of the object's shape. A change that a reader would notice gets a
/// new number.
const SCHEMA: u32 = 1;

/// The JSON writer. The totals stand before the results, so the results wait in
/// an unnamed temporary file: memory stays flat however many there are.
pub struct JsonReport<W> {
    out: W,
    spool: Blocks<File>,
    empty: bool,
    job: Job,
    timings: bool,
}

impl<W: Write + Send> JsonReport<W> {
    /// A writer; without `timings` everything that differs between two equal
    /// runs is left out.
    ///
    /// # Errors
    /// If no temporary file can be made.
    pub fn new(out: W, job: Job, timings: bool) -> io::Result<Self> {
        Ok(Self {
            out,
            spool: Blocks::new(tempfile::tempfile()?),
            empty: true,
            job,
            timings,
        })
    }
}

impl<W: Write + Send> Sink for JsonReport<W> {
    fn result(&mut self, result: &ClaimResult) -> io::Result<()> {
        let record = self.spool.record();
        let separator: &[u8] = if self.empty { b"\n" } else { b",\n" };
        record.extend_from_slice(separator);
        self.empty = false;
        serde_json::to_writer(record, &Record::new(result, self.job, self.timings))?;
        self.spool.end()
    }
}

impl<W: Write + Send> Report for JsonReport<W> {
    fn finish(&mut self, totals: &Totals<'_>) -> io::Result<()> {
        let summary = serde_json::to_string(&TotalsRecord::new(totals, self.timings))?;
        write!(
            self.out,
            "{{\"schema\":{SCHEMA},\"summary\":{summary},\"results\":["
        )?;
        let spool = self.spool.get_mut()?;
        spool.rewind()?;
        io::copy(
            &mut BufReader::with_capacity(64 << 10, spool),
            &mut self.out,
        )?;
        let end: &[u8] = if self.empty { b"]}\n" } else { b"\n]}\n" };
        self.out.write_all(end)?;
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::batch::Summary;
    use crate::report::samples::{self, Shared};
    use crate::report::{Counts, JsonLinesReport};

    #[test]
    fn the_object_holds_what_json_lines_holds() {
        let text = samples::written(|out| JsonReport::new(out, Job::Check, true).unwrap());
        assert!(text.starts_with(r#"{"schema":1,"summary":{"records":6,"#));
        let object: Value = serde_json::from_str(&text).unwrap();
        let lines = samples::written(|out| JsonLinesReport::new(out, Job::Check, true));
        let mut lines: Vec<Value> = lines
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let last = lines.pop().unwrap();
        assert_eq!(object["summary"], last["summary"]);
        assert_eq!(object["results"], Value::Array(lines));
    }

    #[test]
    fn no_results_make_an_empty_array() {
        let out = Shared::default();
        let mut report = JsonReport::new(out.clone(), Job::Check, false).unwrap();
        let counts = Counts::Check(&Summary::default());
        let failures = &[];
        report.finish(&Totals { counts, failures }).unwrap();
        let object: Value = serde_json::from_str(&out.text()).unwrap();
        assert_eq!(object["results"], Value::Array(Vec::new()));
    }
}
