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
