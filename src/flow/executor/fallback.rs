//! What stands behind semantic predicates. (flow.md, section 4.6.)

use std::collections::HashMap;

use crate::flow::result::{BlockError, InvariantResult};
use crate::harn::FallbackPolicy;

use super::record::Record;
use super::runner::{Runner, RunnerKind};

/// Why a semantic predicate has no deterministic one behind it, which is known before
/// anything runs, so that no judge is asked in vain.
pub(super) fn refusal(
    runner: &dyn Runner,
    kinds: &HashMap<&str, RunnerKind>,
) -> Option<BlockError> {
    if runner.kind() != RunnerKind::Semantic {
        return None;
    }
    if let Some(diagnostic) = runner.fallback_diagnostic() {
        return Some(diagnostic.clone());
    }
    let (code, message) = match runner.fallback_hash().map(|hash| (hash, kinds.get(hash))) {
        None => (
            "fallback_missing",
            "it names no deterministic fallback".into(),
        ),
        Some((hash, None)) => (
            "fallback_unselected",
            format!("its fallback {hash} was not executed"),
        ),
        Some((hash, Some(RunnerKind::Semantic))) => (
            "fallback_not_deterministic",
            format!("its fallback {hash} is not deterministic"),
        ),
        Some((_, Some(RunnerKind::Deterministic))) => return None,
    };
    Some(BlockError {
        code: code.into(),
        message,
    })
}

/// Lets enforced fallbacks have their say: the stricter result counts, the semantic one
/// if both are as strict.
pub(super) fn compose(records: &mut [Record]) {
    let deterministic: HashMap<String, InvariantResult> = records
        .iter()
        .filter(|record| record.kind == RunnerKind::Deterministic)
        .map(|record| (record.hash.clone(), record.result.clone()))
        .collect();
    for record in records {
        let is_enforced = record.kind == RunnerKind::Semantic
            && record.fallback_policy == FallbackPolicy::Enforce;
        let fallback = record.fallback_hash.as_ref();
        if let Some(result) = fallback.and_then(|hash| deterministic.get(hash))
            && is_enforced
            && result.verdict.strictness() > record.result.verdict.strictness()
        {
            record.result = result.clone();
        }
    }
}
