//! A report of the gate made by hand.

use probity::Digest;
use probity::diagnostic::Severity;
use probity::flow::model::{Evidence, Remediation};
use probity::flow::{
    Approver, CeilingContributor, CeilingLevel, CeilingOutcome, CeilingViolation, DiagnosticKind,
    DiscoveryDiagnostic, GateCost, GateDiagnostic, GatePlace, GateRecord, GateReport, GateSkip,
    GateSlice, InvariantResult, Place, Verdict,
};
use probity::harn::{FallbackPolicy, Mode};
use serde_json::json;

pub(crate) fn of(verdict: Verdict) -> InvariantResult {
    InvariantResult {
        verdict,
        evidence: Vec::new(),
        remediation: None,
        confidence: 1.0,
    }
}

pub(crate) fn warn(reason: &str) -> InvariantResult {
    let reason = reason.to_owned();
    of(Verdict::Warn { reason })
}

pub(crate) fn approval() -> InvariantResult {
    let name = "security".to_owned();
    let approver = Approver::Role { name };
    of(Verdict::RequireApproval { approver })
}

pub(crate) fn record(qualified_name: &str, line: usize, result: InvariantResult) -> GateRecord {
    let (directory, name) = qualified_name
        .rsplit_once("::")
        .unwrap_or(("", qualified_name));
    let slash = if directory.is_empty() { "" } else { "/" };
    GateRecord {
        qualified_name: qualified_name.into(),
        logical_name: name.into(),
        hash: Digest::of(qualified_name.as_bytes()),
        closure_hash: Some(Digest::of(b"closure")),
        mode: Mode::Deterministic,
        fallback_hash: None,
        fallback_policy: FallbackPolicy::Enforce,
        declared: GatePlace {
            path: format!("{directory}{slash}invariants.harn").into(),
            line,
        },
        own: result.clone(),
        result,
        selected: qualified_name.into(),
        enforced: true,
        approved_by: None,
        raw: None,
        attempts: 2,
        first_result_hash: None,
        second_result_hash: None,
        semantic_replay_audit: None,
        cost: GateCost {
            fuel: 100,
            cpu_ns: 2_000_000,
            elapsed_ns: 3_000_000,
            memory: 4096,
        },
    }
}

pub(crate) fn report(records: Vec<GateRecord>) -> GateReport {
    GateReport {
        slice: GateSlice {
            id: Some("5f".into()),
            base: Some("main".into()),
            head: Some("HEAD".into()),
            files: 3,
        },
        touched: vec![".".into(), "src".into()],
        diagnostics: Vec::new(),
        ceiling: CeilingOutcome::Within {
            count: records.len(),
        },
        ceiling_approval: None,
        records,
        skipped: Vec::new(),
        approvals: Vec::new(),
        wall_ns: 5_000_000,
        allow_empty: false,
        interrupted: false,
    }
}

pub(crate) fn remark(severity: Severity, message: &str) -> GateDiagnostic {
    GateDiagnostic {
        path: "src/invariants.harn".into(),
        diagnostic: DiscoveryDiagnostic {
            severity,
            kind: DiagnosticKind::NoFallback,
            message: message.into(),
            place: Some(Place {
                start: 40,
                end: 50,
                line: 7,
                column: 1,
            }),
            predicate: Some("tone".into()),
            problem: None,
        },
    }
}

/// A root rule that blocks at two places and in `src` too, an approval, a warning, one
/// that passes, one that is left out, one that does not count.
pub(crate) fn sample() -> GateReport {
    let mut block = InvariantResult::block("secret_leak", "raw token in the diff");
    block.evidence = vec![Evidence::ExternalCitation {
        url: "https://example.com/a b".into(),
        quote: "never commit tokens".into(),
        fetched_at: "2026-01-01".into(),
    }];
    block.remediation = Some(Remediation {
        description: "move it to the vault".into(),
        suggested_atoms: Vec::new(),
    });
    let mut root = record("no_tokens", 12, block.clone());
    root.raw = Some(json!({"findings": [
        {"path": "src/a b.rs", "line": 42, "message": "a token"},
        {"path": "src/c.rs", "start_line": 7},
        {"path": "../outside", "line": 1, "message": "made up"},
        "in general",
        {"other": 1},
    ]}));
    let mut child = record("src::no_tokens", 3, block);
    child.own = warn("looks odd");
    child.selected = "no_tokens".into();
    let mut advisory = record("style", 40, warn("tabs"));
    advisory.enforced = false;
    let mut report = report(vec![
        record("fine", 1, of(Verdict::Allow)),
        record("src::docs", 20, warn("no docs")),
        record("reviewed", 30, approval()),
        advisory,
        root,
        child,
    ]);
    report.skipped.push(GateSkip {
        qualified_name: "src::tone".into(),
        hash: Digest::of(b"tone"),
        mode: Mode::Semantic,
        declared: GatePlace {
            path: "src/invariants.harn".into(),
            line: 50,
        },
        reason: "not selected".into(),
    });
    report
}

/// Puts the ceiling below the predicates.
pub(crate) fn exceed(report: &mut GateReport, level: CeilingLevel) {
    report.ceiling = CeilingOutcome::Exceeded(CeilingViolation {
        level,
        count: 300,
        threshold: 256,
        top_contributors: vec![CeilingContributor {
            relative_dir: "src".into(),
            count: 300,
        }],
    });
}
