//! One claim's result in JSON.

use std::fmt::Display;

use serde::{Serialize, Serializer};

use crate::batch::{ClaimResult, ShownFact, ShownValue};
use crate::diagnostic::{Diagnostic, Span, Stage};
use crate::facts::{Cost, Place};
use crate::report::Job;

/// A result as JSON shows it. Empty fields are left out; the keys and their
/// order are those of the documentation.
#[derive(Serialize)]
pub(super) struct Record<'a> {
    index: u64,
    #[serde(serialize_with = "displayed")]
    source: &'a dyn Display,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    language: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "optional")]
    digest: Option<&'a dyn Display>,
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<&'a str>,
    #[serde(skip_serializing_if = "is_true")]
    deterministic: bool,
    #[serde(skip_serializing_if = "Diagnostics::is_empty")]
    diagnostics: Diagnostics<'a>,
    #[serde(skip_serializing_if = "Facts::is_empty")]
    facts: Facts<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cost: Option<CostRecord>,
}

impl<'a> Record<'a> {
    /// The record of a result, without what differs between equal runs unless
    /// `timings` is set.
    pub(super) fn new(result: &'a ClaimResult, job: Job, timings: bool) -> Self {
        let evaluation = result.evaluation.as_deref();
        let judged = if job == Job::Check { evaluation } else { None };
        Self {
            index: result.index,
            source: &result.source,
            id: result.id.as_deref(),
            language: result.language.as_deref(),
            digest: result.digest.as_ref().map(|digest| digest as &dyn Display),
            verdict: (job == Job::Check).then(|| result.verdict.name()),
            code: result.code.filter(|_| job == Job::Check),
            detail: result.detail.as_deref().filter(|_| job == Job::Check),
            deterministic: judged
                .and_then(|evaluation| evaluation.reason.as_ref())
                .is_none_or(|reason| reason.deterministic),
            diagnostics: Diagnostics {
                record: &result.record_diagnostics,
                predicate: evaluation.map_or(&[], |evaluation| &evaluation.diagnostics),
            },
            facts: Facts {
                all: judged.map_or(&[], |evaluation| &evaluation.facts),
                timings,
            },
            cost: judged.and_then(|evaluation| CostRecord::new(evaluation.cost, timings)),
        }
    }
}

/// Those of the record first, then those of its predicate.
struct Diagnostics<'a> {
    record: &'a [Diagnostic],
    predicate: &'a [Diagnostic],
}

impl Diagnostics<'_> {
    fn is_empty(&self) -> bool {
        self.record.is_empty() && self.predicate.is_empty()
    }
}

impl Serialize for Diagnostics<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let all = self.record.iter().chain(self.predicate);
        serializer.collect_seq(all.map(DiagnosticRecord::from))
    }
}

#[derive(Serialize)]
struct DiagnosticRecord<'a> {
    severity: &'static str,
    code: &'static str,
    message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    span: Option<SpanRecord>,
    #[serde(skip_serializing_if = "Option::is_none")]
    help: Option<&'a str>,
}

impl<'a> From<&'a Diagnostic> for DiagnosticRecord<'a> {
    fn from(diagnostic: &'a Diagnostic) -> Self {
        Self {
            severity: diagnostic.severity.name(),
            code: diagnostic.code.name(),
            message: &diagnostic.message,
            span: SpanRecord::new(diagnostic),
            help: diagnostic.help.as_deref(),
        }
    }
}

#[derive(Serialize)]
struct SpanRecord {
    start: u32,
    end: u32,
}

impl SpanRecord {
    /// An empty span is a place in a predicate, and no place in a record.
    fn new(diagnostic: &Diagnostic) -> Option<Self> {
        let Span { start, end } = diagnostic.span;
        let placed = start != end || diagnostic.code.stage() != Stage::Claim;
        placed.then_some(Self { start, end })
    }
}

/// The facts that the predicate was decided by.
struct Facts<'a> {
    all: &'a [ShownFact],
    timings: bool,
}

impl<'a> Facts<'a> {
    fn needed(&self) -> impl Iterator<Item = FactRecord<'a>> {
        let record = |fact| FactRecord::new(fact, self.timings);
        self.all.iter().filter_map(record)
    }

    fn is_empty(&self) -> bool {
        self.needed().next().is_none()
    }
}

impl Serialize for Facts<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.needed())
    }
}

/// A fact; which of the value's fields are there says what value it is.
#[derive(Default, Serialize)]
struct FactRecord<'a> {
    primitive: &'static str,
    args: &'a [Box<str>],
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<ValueRecord>,
    #[serde(skip_serializing_if = "Option::is_none")]
    at_least: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exit: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stdout: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stderr: Option<&'a str>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    isolation: &'a [&'static str],
    #[serde(skip_serializing_if = "Option::is_none")]
    unknown: Option<UnknownRecord<'a>>,
    #[serde(skip_serializing_if = "<[Place]>::is_empty", serialize_with = "places")]
    places: &'a [Place],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tests: Vec<TestRecord<'a>>,
    #[serde(skip_serializing_if = "is_false")]
    reused: bool,
}

#[derive(Serialize)]
struct TestRecord<'a> {
    name: &'a str,
    outcome: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    duration_ns: Option<u64>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum ValueRecord {
    Bool(bool),
    Int(u64),
}

#[derive(Serialize)]
struct UnknownRecord<'a> {
    code: &'static str,
    detail: &'a str,
    #[serde(skip_serializing_if = "is_true")]
    deterministic: bool,
}

impl<'a> FactRecord<'a> {
    fn new(fact: &'a ShownFact, timings: bool) -> Option<Self> {
        let mut record = Self {
            primitive: fact.primitive.name(),
            args: &fact.args,
            places: &fact.places,
            reused: fact.reused,
            tests: fact
                .tests
                .iter()
                .map(|run| TestRecord {
                    name: &run.name,
                    outcome: run.outcome.name(),
                    duration_ns: run
                        .duration
                        .filter(|_| timings)
                        .map(|time| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)),
                })
                .collect(),
            ..Self::default()
        };
        match &fact.value {
            ShownValue::Bool(value) => record.value = Some(ValueRecord::Bool(*value)),
            ShownValue::Int(value) => record.value = Some(ValueRecord::Int(*value)),
            ShownValue::AtLeast(bound) => record.at_least = Some(*bound),
            ShownValue::Run {
                exit,
                stdout,
                stderr,
                isolation,
            } => {
                record.exit = Some(*exit);
                record.stdout = Some(stdout);
                record.stderr = Some(stderr);
                record.isolation = isolation;
            }
            ShownValue::Unknown(reason) => {
                record.unknown = Some(UnknownRecord {
                    code: reason.code.name(),
                    detail: &reason.detail,
                    deterministic: reason.deterministic,
                });
            }
            ShownValue::NotNeeded => return None,
        }
        Some(record)
    }
}

#[derive(Serialize)]
struct PlaceRecord<'a> {
    path: &'a str,
    line: u64,
}

#[derive(Serialize)]
struct CostRecord {
    fuel: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    cpu_ns: Option<u64>,
    bytes: u64,
}

impl CostRecord {
    fn new(cost: Cost, timings: bool) -> Option<Self> {
        (cost != Cost::default()).then_some(Self {
            fuel: cost.fuel,
            cpu_ns: timings.then_some(cost.cpu_ns),
            bytes: cost.bytes,
        })
    }
}

fn is_false(value: &bool) -> bool {
    !*value
}

fn is_true(value: &bool) -> bool {
    *value
}

fn places<S: Serializer>(places: &[Place], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(places.iter().map(|place| PlaceRecord {
        path: &place.path,
        line: place.line,
    }))
}

fn displayed<S: Serializer>(value: &dyn Display, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(value)
}

fn optional<S: Serializer>(value: &Option<&dyn Display>, serializer: S) -> Result<S::Ok, S::Error> {
    match value {
        Some(value) => serializer.collect_str(value),
        None => serializer.serialize_none(),
    }
}
