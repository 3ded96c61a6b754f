//! How far a run is, on standard error.

use std::io::{self, IsTerminal as _, Write as _};
#[cfg(target_os = "linux")]
use std::sync::Arc;
use std::time::{Duration, Instant};

use indicatif::{DecimalBytes, ProgressBar, ProgressStyle};

use crate::batch::{ClaimResult, Sink, Summary};
use crate::cli::options::When;
#[cfg(target_os = "linux")]
use crate::cli::running::Running;
#[cfg(target_os = "linux")]
use crate::exec::Observer;
use crate::report::{Report, Totals};

/// Time between two lines where there is no terminal.
pub(super) const PERIOD: Duration = Duration::from_secs(1);

/// Results between two updates of the bar.
const STRIDE: u64 = 1024;

/// A bar on a terminal, lines elsewhere, or nothing.
pub(super) enum Progress {
    Hidden,
    Bar(ProgressBar),
    Lines { last: Instant },
}

impl Progress {
    /// As the option and the surroundings want it. Nothing is shown yet.
    pub(super) fn new(when: When) -> Self {
        let terminal = io::stderr().is_terminal();
        match when {
            When::Auto | When::Always if terminal => Self::Bar(bar()),
            When::Always => Self::Lines {
                last: Instant::now(),
            },
            When::Auto | When::Never => Self::Hidden,
        }
    }

    /// Begins to show it: from now on nobody else writes to the terminal.
    pub(super) fn begin(&self) {
        if let Self::Bar(bar) = self {
            bar.reset_elapsed();
            bar.enable_steady_tick(Duration::from_millis(100));
        }
    }

    /// Who is to be told which commands are being executed.
    #[cfg(target_os = "linux")]
    pub(super) fn observer(&self) -> Option<Arc<dyn Observer>> {
        match self {
            Self::Hidden => None,
            Self::Bar(_) | Self::Lines { .. } => Some(Arc::new(Running::new(self.bar()))),
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
                bar.set_prefix(format!(", {bytes} scanned"));
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

/// A bar that is not shown yet. The message, of what is running, gets the rest of the line.
pub(super) fn bar() -> ProgressBar {
    const TEMPLATE: &str = "{spinner} {pos} claims decided{prefix} [{elapsed}] {wide_msg}";

    let bar = ProgressBar::new_spinner();
    if let Ok(style) = ProgressStyle::with_template(TEMPLATE) {
        bar.set_style(style);
    }
    bar
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
