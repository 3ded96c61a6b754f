//! How far a run is, on standard error.

use std::io::{self, IsTerminal as _, Write as _};
use std::time::{Duration, Instant};

use indicatif::{DecimalBytes, ProgressBar, ProgressStyle};

use crate::batch::{ClaimResult, Sink, Summary};
use crate::cli::options::When;
use crate::report::{Report, Totals};

/// Time between two lines where there is no terminal.
const PERIOD: Duration = Duration::from_secs(1);

/// Results between two updates of the bar.
const STRIDE: u64 = 1024;

/// A bar on a terminal, lines elsewhere, or nothing.
pub(super) enum Progress {
    Hidden,
    Bar(ProgressBar),
    Lines { last: Instant },
}

impl Progress {
    /// As the option and the surroundings want it.
    pub(super) fn new(when: When) -> Self {
        let terminal = io::stderr().is_terminal();
        match when {
            When::Auto | When::Always if terminal => {
                let bar = ProgressBar::new_spinner();
                if let Ok(style) =
                    ProgressStyle::with_template("{spinner} {pos} claims decided{msg} [{elapsed}]")
                {
                    bar.set_style(style);
                }
                bar.enable_steady_tick(Duration::from_millis(100));
                Self::Bar(bar)
            }
            When::Always => Self::Lines {
                last: Instant::now(),
            },
            When::Auto | When::Never => Self::Hidden,
        }
    }

    /// The bar, for whoever writes to the same terminal.
    pub(super) fn bar(&self) -> Option<ProgressBar> {
        match self {
            Self::Bar(bar) => Some(bar.clone()),
            Self::Hidden | Self::Lines { .. } => None,
        }
    }

    fn decided(&self, records: u64) {
        if let Self::Bar(bar) = self
            && records.is_multiple_of(STRIDE)
        {
            bar.set_position(records);
        }
    }

    fn show(&mut self, summary: &Summary) {
        let bytes = DecimalBytes(summary.bytes);
        match self {
            Self::Hidden => {}
            Self::Bar(bar) => {
                bar.set_position(summary.records);
                bar.set_message(format!(", {bytes} scanned"));
            }
            Self::Lines { last } => {
                if last.elapsed() >= PERIOD {
                    *last = Instant::now();
                    let records = summary.records;
                    // Nobody can be told that standard error is closed.
                    let _ = writeln!(io::stderr(), "{records} claims decided, {bytes} scanned");
                }
            }
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Self::Bar(bar) = self {
            bar.finish_and_clear();
        }
    }
}

/// A report whose progress is shown.
pub(super) struct Watched {
    report: Box<dyn Report>,
    progress: Progress,
    records: u64,
}

impl Watched {
    pub(super) fn new(report: Box<dyn Report>, progress: Progress) -> Self {
        Self {
            report,
            progress,
            records: 0,
        }
    }

    /// Ends the report and the progress.
    pub(super) fn finish(mut self, totals: &Totals<'_>) -> io::Result<()> {
        self.report.finish(totals)
    }
}

impl Sink for Watched {
    fn result(&mut self, result: &ClaimResult) -> io::Result<()> {
        self.report.result(result)?;
        self.records += 1;
        self.progress.decided(self.records);
        Ok(())
    }

    fn progress(&mut self, summary: &Summary) {
        self.progress.show(summary);
        self.report.progress(summary);
    }
}
