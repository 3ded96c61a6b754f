//! What is known of one request so far. Files are added in walk order, so the
//! answer and its cost do not depend on the order in which they were scanned.

use crate::facts::{Cost, FactValue, Fetched, Place};
use crate::reason::{Reason, ReasonCode};
use crate::scan::engine::Request;
use crate::scan::finding::Finding;
use crate::scan::fuel;

/// A request that is being answered.
#[derive(Debug)]
pub(super) struct Tally<'a> {
    request: &'a Request<'a>,
    count: u64,
    places: Vec<Place>,
    /// What it costs beside the files that it shares.
    own: Cost,
    unknown: Option<Reason>,
}

impl<'a> Tally<'a> {
    pub(super) fn new(request: &'a Request<'a>) -> Self {
        Self {
            request,
            count: 0,
            places: Vec::new(),
            own: Cost::default(),
            unknown: None,
        }
    }

    /// True while more files can change the answer.
    pub(super) fn is_open(&self) -> bool {
        self.unknown.is_none() && !self.is_at_limit()
    }

    fn is_at_limit(&self) -> bool {
        self.request.limit.is_some_and(|limit| self.count >= limit)
    }

    /// How many more decide the answer.
    pub(super) fn missing(&self) -> u64 {
        self.request
            .limit
            .map_or(u64::MAX, |limit| limit - self.count.min(limit))
    }

    /// How many more places are wanted.
    pub(super) fn missing_places(&self) -> usize {
        self.request.places.saturating_sub(self.places.len())
    }

    /// Gives the request up.
    pub(super) fn fail(&mut self, reason: Reason) {
        self.unknown = Some(reason);
    }

    /// Gives the request up if with what it shares it took more fuel than it may.
    pub(super) fn hold_to_budget(&mut self, shared: u64) -> bool {
        let Some(limit) = self.request.fuel else {
            return false;
        };
        let is_over = self.own.fuel.saturating_add(shared) > limit;
        if is_over {
            self.fail(Reason::new(
                ReasonCode::BudgetExceeded,
                format!(
                    "scanning took more than {limit} units of fuel, the limit of the predicate; raise --fuel or narrow the path"
                ),
            ));
        }
        is_over
    }

    /// Accounts for the regex and the time that preparing it took.
    pub(super) fn charge_regex(&mut self, cpu_ns: u64) {
        self.own.fuel += fuel::REGEX;
        self.own.cpu_ns += cpu_ns;
    }

    /// Adds what was found in the next file.
    pub(super) fn add(&mut self, path: &str, finding: &Finding) {
        let again = finding.again / fuel::BYTES_PER_UNIT;
        self.own.fuel = self.own.fuel.saturating_add(again);
        // Counting may have gone on for others.
        let missing = usize::try_from(self.missing()).unwrap_or(usize::MAX);
        let lines = finding.lines.iter();
        let lines = lines.take(missing.min(self.missing_places()));
        self.places.extend(lines.map(|&line| Place {
            path: path.into(),
            line,
        }));
        self.count = self.count.saturating_add(finding.count);
        if let Some(stop) = &finding.stop
            && self.is_open()
        {
            self.fail(stop.reason(path));
        }
    }

    /// The answer, given what the request shared until it was decided. One that is
    /// still open has seen all its files.
    pub(super) fn finish(mut self, shared: Cost) -> Fetched {
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
        self.own += shared;
        Fetched {
            value,
            cost: self.own,
            places: self.places,
            tests: Vec::new(),
            reused: false,
        }
    }
}
