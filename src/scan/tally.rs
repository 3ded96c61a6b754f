//! What is known of one request so far. Files are added in walk order, so the
//! answer and its cost do not depend on the order in which they were scanned.

use crate::facts::{Cost, FactValue, Fetched, Place};
use crate::reason::Reason;
use crate::scan::engine::Request;
use crate::scan::file::{Finding, Stop};
use crate::scan::fuel;

/// A request that is being answered.
#[derive(Debug)]
pub(super) struct Tally<'a> {
    request: &'a Request<'a>,
    count: u64,
    places: Vec<Place>,
    cost: Cost,
    unknown: Option<Reason>,
    has_files: bool,
}

impl<'a> Tally<'a> {
    pub(super) fn new(request: &'a Request<'a>) -> Self {
        Self {
            request,
            count: 0,
            places: Vec::new(),
            cost: Cost::default(),
            unknown: None,
            has_files: false,
        }
    }

    /// The request.
    pub(super) const fn request(&self) -> &'a Request<'a> {
        self.request
    }

    /// True while more files can change the answer.
    pub(super) fn is_open(&self) -> bool {
        self.unknown.is_none() && !self.is_at_limit()
    }

    fn is_at_limit(&self) -> bool {
        self.request.limit.is_some_and(|limit| self.count >= limit)
    }

    /// How many more decide the answer.
    pub(super) fn missing(&self) -> Option<u64> {
        self.request
            .limit
            .map(|limit| limit - self.count.min(limit))
    }

    /// How many more places are wanted.
    pub(super) fn missing_places(&self) -> usize {
        self.request.places.saturating_sub(self.places.len())
    }

    /// True if a file was added.
    pub(super) const fn has_files(&self) -> bool {
        self.has_files
    }

    /// Gives the request up.
    pub(super) fn fail(&mut self, reason: Reason) {
        self.unknown = Some(reason);
    }

    /// Accounts for the regex and the time that building it took.
    pub(super) fn charge_regex(&mut self, cpu_ns: u64) {
        self.cost.fuel += fuel::REGEX;
        self.cost.cpu_ns += cpu_ns;
    }

    /// Accounts for CPU time. It is added for every file that was scanned, also
    /// where it turned out not to be needed.
    pub(super) fn charge_cpu(&mut self, cpu_ns: u64) {
        self.cost.cpu_ns += cpu_ns;
    }

    /// Adds the next file; `None` if it has nothing.
    pub(super) fn add(&mut self, path: &str, size: u64, finding: Option<Result<Finding, Stop>>) {
        self.has_files = true;
        let mut looked_at = size;
        match finding {
            None => {}
            Some(Ok(finding)) => {
                looked_at = looked_at.saturating_add(finding.again);
                self.count = self.count.saturating_add(finding.count);
                let missing = self.missing_places();
                let lines = finding.lines.into_iter().take(missing);
                self.places.extend(lines.map(|line| Place {
                    path: path.into(),
                    line,
                }));
            }
            Some(Err(stop)) => self.fail(stop.reason(path)),
        }
        self.cost.bytes = self.cost.bytes.saturating_add(size);
        self.cost.fuel = self.cost.fuel.saturating_add(fuel::file(looked_at));
    }

    /// The answer. A request that is still open has seen all its files.
    pub(super) fn finish(self) -> Fetched {
        let value = match self.unknown {
            Some(reason) => FactValue::Unknown(reason),
            None => match self.request.limit {
                Some(limit) if self.count >= limit => FactValue::Count {
                    count: limit,
                    exact: false,
                },
                _ => FactValue::Count {
                    count: self.count,
                    exact: true,
                },
            },
        };
        Fetched {
            value,
            cost: self.cost,
            places: self.places,
        }
    }
}
