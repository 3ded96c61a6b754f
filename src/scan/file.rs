//! All the patterns that one file is wanted for, in one reading of it.

use std::sync::Arc;

use memchr::memchr_iter;
use regex_automata::meta::Cache;

use crate::facts::CancelToken;
use crate::files::{Block, Content, File, FileError, Flow, Limits, PROBE_BYTES, Reading};
use crate::reason::{Reason, ReasonCode};
use crate::scan::compile::{Haystack, Matcher};
use crate::scan::engine::Counting;
use crate::scan::lines::{count_lines, join_lines};
use crate::scan::matches::{count_in_lines, count_matches};
use crate::scan::pool::Scratch;

/// From this size of a block on, the cancel token is looked at for every pattern.
const CANCEL_BYTES: usize = 64 << 10;

/// What one fact wants of a file.
#[derive(Clone, Debug)]
pub(super) struct Job {
    /// The pattern.
    pub(super) matcher: Arc<Matcher>,
    /// Where its search caches are kept.
    pub(super) cache_key: Option<usize>,
    /// Lines or matches.
    pub(super) counting: Counting,
    /// Against what.
    pub(super) haystack: Haystack,
    /// Stop after this many.
    pub(super) limit: Option<u64>,
    /// Report the numbers of this many matching lines.
    pub(super) places: usize,
}

/// Why a file gave no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// The file is at fault.
    File(FileError),
    /// The pattern made counting quadratic.
    Work(u64),
    /// Somebody asked to stop.
    Cancelled,
}

impl From<FileError> for Stop {
    fn from(error: FileError) -> Self {
        Self::File(error)
    }
}

impl Stop {
    /// The reason of a fact that hangs on the file.
    pub(super) fn reason(&self, path: &str) -> Reason {
        match self {
            Self::File(error) => error.reason(path),
            Self::Work(cap) => Reason::new(
                ReasonCode::BudgetExceeded,
                format!(
                    "{path:?}: counting the matches looks at over {cap} bytes more than once; count lines with grep, or bound the repetitions of the pattern"
                ),
            ),
            Self::Cancelled => cancelled(),
        }
    }
}

/// The reason of a fact that was not finished.
pub(super) fn cancelled() -> Reason {
    Reason::new(
        ReasonCode::Cancelled,
        "the batch was cancelled or ran into its deadline before the fact was established",
    )
}

/// What one fact gets of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Finding {
    /// Lines or matches; at least the job's limit if that was reached.
    pub(super) count: u64,
    /// The numbers of the first matching lines.
    pub(super) lines: Vec<u64>,
    /// Bytes that were looked at more than once.
    pub(super) again: u64,
}

/// A finding that grows, and when it is enough.
#[derive(Debug)]
pub(super) struct Tracker<'a> {
    finding: &'a mut Finding,
    limit: u64,
    places: usize,
    max_again: u64,
    /// How many lines come before `counted_to` in the text at hand.
    lines_before: u64,
    counted_to: usize,
}

impl Tracker<'_> {
    /// Adds what was found at a position of the text at hand. Positions ascend.
    pub(super) fn add(&mut self, text: &[u8], position: usize) -> Flow {
        self.finding.count += 1;
        if self.finding.lines.len() < self.places {
            let passed = memchr_iter(b'\n', &text[self.counted_to..position]).count();
            self.lines_before += passed as u64;
            self.counted_to = position;
            let line = self.lines_before + 1;
            if self.finding.lines.last() != Some(&line) {
                self.finding.lines.push(line);
            }
        }
        if self.finding.count >= self.limit {
            Flow::Enough
        } else {
            Flow::More
        }
    }

    /// Accounts for bytes that the next search looks at once more.
    pub(super) fn look_again(&mut self, bytes: u64) -> Result<(), Stop> {
        self.finding.again = self.finding.again.saturating_add(bytes);
        if self.finding.again > self.max_again {
            return Err(Stop::Work(self.max_again));
        }
        Ok(())
    }
}

/// What the jobs get of a file.
#[derive(Debug)]
pub(super) struct Scanned {
    /// Bytes the jobs are charged for: the size of the file, or what was looked at
    /// to see that it is no text.
    pub(super) bytes: u64,
    /// In the order of the jobs. A job's finding does not depend on the others.
    pub(super) findings: Vec<Result<Finding, Stop>>,
}

/// Runs every job over a file, in one reading. This loop over patterns is what an
/// engine for many patterns replaces.
pub(super) fn scan_file(
    file: &dyn File,
    jobs: &[&Job],
    skip_binary: bool,
    scratch: &mut Scratch,
    limits: &Limits,
    cancel: &CancelToken,
) -> Scanned {
    let mut findings = vec![Ok(Finding::default()); jobs.len()];
    let mut wanting: Vec<usize> = (0..jobs.len()).collect();
    let has_text = jobs.iter().any(|job| job.haystack == Haystack::Text);
    let reading = Reading {
        limits: *limits,
        skip_binary,
        as_one: if has_text { limits.max_text_bytes } else { 0 },
    };
    let Scratch {
        reader,
        joined,
        caches,
    } = scratch;
    let mut is_cancelled = false;
    let read = file.read(reader, &reading, &mut |block| {
        is_cancelled = cancel.is_cancelled();
        if is_cancelled {
            return Flow::Enough;
        }
        let text = join_lines(block.bytes, joined);
        wanting.retain(|&index| {
            let job = jobs[index];
            let is_long = block.bytes.len() >= CANCEL_BYTES;
            let Ok(finding) = &mut findings[index] else {
                return false;
            };
            if is_long && cancel.is_cancelled() {
                findings[index] = Err(Stop::Cancelled);
                return false;
            }
            let mut tracker = Tracker {
                finding,
                limit: job.limit.unwrap_or(u64::MAX),
                places: job.places,
                max_again: limits.max_count_work,
                lines_before: block.lines_before,
                counted_to: 0,
            };
            let flow = caches.with(job.cache_key, &job.matcher.regex, |cache| {
                job.run(&block, text, cache, &mut tracker, cancel)
            });
            match flow {
                Ok(flow) => flow == Flow::More,
                Err(stop) => {
                    findings[index] = Err(stop);
                    false
                }
            }
        });
        if wanting.is_empty() {
            Flow::Enough
        } else {
            Flow::More
        }
    });
    let mut bytes = read.size;
    let is_text = |job: &Job| job.haystack == Haystack::Text;
    if has_text && bytes > limits.max_text_bytes as u64 {
        for (job, finding) in jobs.iter().zip(&mut findings) {
            if is_text(job) {
                *finding = Err(Stop::File(FileError::TooLarge {
                    what: "file, to be matched as one text,",
                    cap: limits.max_text_bytes as u64,
                }));
            }
        }
    }
    match read.content {
        Ok(Content::Text) if is_cancelled => {
            for index in wanting {
                findings[index] = Err(Stop::Cancelled);
            }
        }
        Ok(Content::Text) => {}
        Ok(Content::Binary) => {
            bytes = bytes.min(PROBE_BYTES as u64);
            findings.fill(Ok(Finding::default()));
        }
        // What came before the line was read well.
        Err(error @ FileError::TooLarge { .. }) => {
            for index in wanting {
                findings[index] = Err(Stop::File(error.clone()));
            }
        }
        Err(error) => findings.fill(Err(Stop::File(error))),
    }
    if bytes > limits.max_file_bytes {
        bytes = 0;
    }
    Scanned { bytes, findings }
}

impl Job {
    /// Adds what the pattern finds in a block; `text` is the same block as
    /// [`join_lines`] gives it.
    fn run(
        &self,
        block: &Block<'_>,
        text: Option<&[u8]>,
        cache: &mut Cache,
        tracker: &mut Tracker<'_>,
        cancel: &CancelToken,
    ) -> Result<Flow, Stop> {
        let matcher = &*self.matcher;
        match (self.haystack, text, self.counting) {
            // Too large; the caller says so.
            (Haystack::Text, ..) if !block.is_whole => Ok(Flow::More),
            (Haystack::Text, ..) => {
                let bytes = block.bytes;
                count_matches(matcher, cache, bytes, (bytes, 0), tracker, cancel)
            }
            (Haystack::Lines, None, _) => Ok(Flow::More),
            (Haystack::Lines, Some(text), Counting::Lines) => {
                Ok(count_lines(matcher, cache, text, tracker))
            }
            (Haystack::Lines, Some(text), Counting::Matches) => {
                count_in_lines(matcher, cache, text, tracker, cancel)
            }
        }
    }
}
