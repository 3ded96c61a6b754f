//! Records of what predicates came to. (flow.md, section 4.7.)

use serde::{Serialize, Serializer};
use serde_json::Value as Json;

use crate::flow::result::{InvariantResult, Verdict};
use crate::harn::FallbackPolicy;

use super::judge::SemanticReplayAudit;
use super::runner::RunnerKind;

/// What one predicate came to.
#[derive(Clone, Debug, Serialize)]
pub struct Record {
    /// The name that people know it by.
    pub name: String,
    /// The hash that names it.
    pub hash: String,
    /// Whether it may ask a judge.
    pub kind: RunnerKind,
    /// The hash of its fallback.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fallback_hash: Option<String>,
    /// What its fallback counts for.
    #[serde(serialize_with = "policy")]
    pub fallback_policy: FallbackPolicy,
    /// The result, after its fallback had its say.
    pub result: InvariantResult,
    /// The predicate's own value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub raw_result: Option<Json>,
    /// Whether it counts for the verdict.
    pub enforced: bool,
    /// Time on the wall since the start, with waiting for a lane.
    pub elapsed_ms: u64,
    /// How often it ran, 0 if it was refused before.
    pub attempts: u8,
    /// Whether it can be replayed: it is deterministic.
    pub replayable: bool,
    /// The hash of the first result, before the fallback had its say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_result_hash: Option<String>,
    /// The hash of the second, if there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub second_result_hash: Option<String>,
    /// How the judge came to its answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub semantic_replay_audit: Option<SemanticReplayAudit>,
    /// CPU time of all attempts, in nanoseconds. Not part of the record in JSON, which is
    /// the same for the same slice.
    #[serde(skip)]
    pub cpu_ns: u64,
    /// Fuel of the first attempt, if it is counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fuel: Option<u64>,
    /// Most bytes of values that were alive at a time, likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// Bytes of the files that it searched, likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scanned_bytes: Option<u64>,
}

/// A predicate that was not run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Skip {
    /// The name that people know it by.
    pub name: String,
    /// The hash that names it.
    pub hash: String,
    /// Whether it may ask a judge.
    pub kind: RunnerKind,
    /// Why not.
    pub reason: &'static str,
}

/// What the predicates of a slice came to, sorted by hash.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ExecutionReport {
    /// What ran.
    pub records: Vec<Record>,
    /// What did not.
    pub skipped: Vec<Skip>,
}

impl ExecutionReport {
    /// Whether no record blocks that counts.
    #[must_use]
    pub fn is_allowed(&self) -> bool {
        let blocks = |record: &Record| matches!(record.result.verdict, Verdict::Block { .. });
        !self
            .records
            .iter()
            .any(|record| record.enforced && blocks(record))
    }

    /// Hashes and results of all records, those that do not count as well.
    #[must_use]
    pub fn invariants_applied(&self) -> Vec<(String, InvariantResult)> {
        let records = self.records.iter();
        records
            .map(|record| (record.hash.clone(), record.result.clone()))
            .collect()
    }
}

fn policy<S: Serializer>(policy: &FallbackPolicy, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(match policy {
        FallbackPolicy::Enforce => "enforce",
        FallbackPolicy::Advisory => "advisory",
    })
}
