//! What a slice does to the rules that judge it.

use std::collections::BTreeMap;

use crate::diagnostic::Severity;
use crate::flow::compose::ResolvedPredicate;
use crate::flow::discovery::{DiagnosticKind, Discovery, DiscoveryDiagnostic};
use crate::flow::gate::GateDiagnostic;

/// Warnings of predicates that are not what they were before a change: removed, or with
/// another hash of what they reach. Such a change may not be what a review of its code
/// looks for, and it is judged by what it leaves.
#[must_use]
pub fn changed_rules<T: AsRef<str>>(
    before: &mut Discovery<'_>,
    after: &mut Discovery<'_>,
    touched: &[T],
) -> Vec<GateDiagnostic> {
    let targets = || touched.iter().map(AsRef::as_ref);
    let before = before.union(targets()).predicates;
    let after = after.union(targets()).predicates;
    let after: BTreeMap<&str, &ResolvedPredicate> = after
        .iter()
        .map(|predicate| (&*predicate.qualified_name, predicate))
        .collect();
    let warnings = before.iter().filter_map(|old| {
        let new = after.get(&*old.qualified_name);
        let what = match new {
            None => "is removed by the slice, which it judges no more",
            Some(new) if hashes(old) != hashes(new) => "is changed by the slice that it judges",
            Some(_) => return None,
        };
        Some(GateDiagnostic {
            path: old.file.path().into(),
            diagnostic: DiscoveryDiagnostic {
                severity: Severity::Warning,
                kind: DiagnosticKind::ChangedRule,
                message: format!("`{}` {what}", old.qualified_name).into(),
                place: None,
                predicate: Some(old.logical_name.clone()),
                problem: None,
            },
        })
    });
    warnings.collect()
}

/// What tells a predicate from what it was.
fn hashes(predicate: &ResolvedPredicate) -> Option<impl PartialEq> {
    let declaration = predicate.declaration()?;
    Some((declaration.hash, declaration.closure))
}
