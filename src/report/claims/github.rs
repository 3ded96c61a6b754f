//! Claims as annotations of GitHub Actions.

use std::io::{self, Write};

use crate::batch::{ClaimResult, Sink, Summary};
use crate::report::block::Blocks;
use crate::report::claims::finding;
use crate::report::github::Annotations;
use crate::report::level::Level;
use crate::report::{Job, Report, Totals};

/// The writer of annotations. GitHub shows ten errors and ten warnings of a step; what
/// comes after these is only counted, in the closing line.
pub struct GitHubReport<W> {
    out: Blocks<W>,
    annotations: Annotations,
    job: Job,
}

impl<W: Write + Send> GitHubReport<W> {
    /// A writer.
    pub fn new(out: W, job: Job) -> Self {
        Self {
            out: Blocks::new(out),
            annotations: Annotations::default(),
            job,
        }
    }
}

impl<W: Write + Send> Sink for GitHubReport<W> {
    fn result(&mut self, result: &ClaimResult) -> io::Result<()> {
        let at = finding::at(&result.source);
        for found in finding::findings(result, self.job) {
            let title = format!("{} {}", found.rule, finding::name(result));
            let mut message = found.message;
            if let Some(help) = found.help {
                message.push_str("\nhelp: ");
                message.push_str(help);
            }
            let out = self.out.record();
            self.annotations
                .write(out, found.level, at, &title, &message)?;
        }
        self.out.end()
    }

    fn progress(&mut self, _summary: &Summary) {
        self.out.flush_or_remember();
    }
}

impl<W: Write + Send> Report for GitHubReport<W> {
    fn finish(&mut self, totals: &Totals<'_>) -> io::Result<()> {
        let out = self.out.record();
        for (code, text) in finding::troubles(totals) {
            self.annotations
                .write(out, Level::Error, None, code, &text)?;
        }
        self.annotations.finish(out, &finding::summary(totals))?;
        self.out.flush()
    }
}
