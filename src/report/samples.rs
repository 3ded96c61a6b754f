//! Results for the tests of the writers.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use crate::batch::{ClaimResult, Evaluation, Origin, ShownFact, ShownValue, Summary, Verdict};
use crate::diagnostic::{Code, Diagnostic, Span};
use crate::digest::Digest;
use crate::facts::{Cost, Place, Primitive, ScanStats};
use crate::reason::{Reason, ReasonCode};
use crate::report::{Counts, InputFailure, Report, Totals};

/// An output that the test can look at.
#[derive(Clone, Default)]
pub(super) struct Shared(Arc<Mutex<Vec<u8>>>);

impl Shared {
    pub(super) fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What a writer makes of all samples.
pub(super) fn written<R: Report>(make: impl FnOnce(Shared) -> R) -> String {
    let out = Shared::default();
    let mut report = make(out.clone());
    let results = all();
    for result in &results {
        report.result(result).unwrap();
    }
    let failures = [InputFailure {
        input: "gone.jsonl".into(),
        error: "no such file".into(),
    }];
    let totals = Totals {
        counts: Counts::Check(&summary(&results)),
        failures: &failures,
    };
    report.finish(&totals).unwrap();
    out.text()
}

/// One result of each verdict.
pub(super) fn all() -> Vec<ClaimResult> {
    vec![
        pass(),
        fail(),
        unevaluated(),
        invalid(),
        malformed(),
        skipped(),
    ]
}

pub(super) fn summary(results: &[ClaimResult]) -> Summary {
    let mut summary = Summary {
        records: results.len() as u64,
        distinct_programs: 4,
        distinct_facts: 4,
        files: 12,
        bytes: 45_300,
        scan: ScanStats {
            literal: 2,
            combined: 3,
            read_files: 2,
            read_bytes: 5_300,
            known_files: 10,
            known_bytes: 40_000,
            ..ScanStats::default()
        },
        fuel: 1234,
        cpu_ns: 1_500_000,
        wall_ns: 2_000_000_000,
        compiled: 4,
        ..Summary::default()
    };
    for result in results {
        summary.verdicts[result.verdict as usize] += 1;
        if let Some(code) = result.code {
            *summary.codes.entry(code).or_default() += 1;
        }
    }
    summary
}

fn result(index: u64, verdict: Verdict) -> ClaimResult {
    ClaimResult {
        index,
        source: Origin {
            input: "claims.jsonl".into(),
            line: Some(index + 1),
            element: None,
        },
        id: Some(format!("cl_{index}").into()),
        language: Some("elench-predicate-v1".into()),
        digest: None,
        verdict,
        code: None,
        detail: None,
        record_diagnostics: Vec::new(),
        evaluation: None,
    }
}

fn evaluated(result: ClaimResult, source: &str) -> (ClaimResult, Evaluation) {
    let evaluation = Evaluation {
        verdict: result.verdict,
        reason: None,
        diagnostics: Vec::new(),
        predicate: source.into(),
        deciding: Vec::new(),
        facts: Vec::new(),
        cost: Cost {
            fuel: 12,
            cpu_ns: 3456,
            bytes: 78,
        },
    };
    let result = ClaimResult {
        digest: Some(Digest::from_bytes([0xab; 32])),
        ..result
    };
    (result, evaluation)
}

fn together(mut result: ClaimResult, evaluation: Evaluation) -> ClaimResult {
    result.evaluation = Some(Arc::new(evaluation));
    result
}

pub(super) fn fact(primitive: Primitive, args: &[&str], value: ShownValue) -> ShownFact {
    ShownFact {
        primitive,
        args: args.iter().map(|&arg| arg.into()).collect(),
        value,
        places: Vec::new(),
        tests: Vec::new(),
        reused: false,
    }
}

fn pass() -> ClaimResult {
    let source = r#"grep(/a|b/, "src/") >= 1 || exists("x")"#;
    let (result, mut evaluation) = evaluated(result(0, Verdict::Pass), source);
    evaluation.diagnostics = vec![Diagnostic::warning(
        Code::SlowPattern,
        Span::new(5, 10),
        "no literal",
    )];
    evaluation.facts = vec![
        fact(Primitive::Grep, &["a|b", "src/"], ShownValue::AtLeast(1)),
        fact(Primitive::Exists, &["x"], ShownValue::NotNeeded),
    ];
    together(result, evaluation)
}

fn fail() -> ClaimResult {
    let source = r#"grep(/fn main/, "src/main.rs") == 0 && run("make").exit == 0"#;
    let (result, mut evaluation) = evaluated(result(1, Verdict::Fail), source);
    evaluation.deciding = vec![Span::new(0, 35)];
    let mut grep = fact(
        Primitive::Grep,
        &["fn main", "src/main.rs"],
        ShownValue::Int(2),
    );
    grep.places = vec![
        Place {
            path: "src/main.rs".into(),
            line: 7,
        },
        Place {
            path: "src/main.rs".into(),
            line: 90,
        },
    ];
    let run = ShownValue::Run {
        exit: 2,
        stdout: "".into(),
        stderr: "no rule\n\u{1b}[2J".into(),
        isolation: ["landlock", "seccomp"].into(),
    };
    evaluation.facts = vec![grep, fact(Primitive::Run, &["make"], run)];
    together(result, evaluation)
}

fn unevaluated() -> ClaimResult {
    let source = r#"grep(/secret/, "typo.rs") == 0"#;
    let (mut result, mut evaluation) = evaluated(result(2, Verdict::Unevaluated), source);
    let reason = Reason::new(ReasonCode::PathNotFound, "nothing is at `typo.rs`");
    result.code = Some(reason.code.name());
    result.detail = Some(reason.detail.clone());
    evaluation.deciding = vec![Span::new(0, 30)];
    evaluation.facts = vec![fact(
        Primitive::Grep,
        &["secret", "typo.rs"],
        ShownValue::Unknown(reason.clone()),
    )];
    evaluation.reason = Some(reason);
    together(result, evaluation)
}

fn invalid() -> ClaimResult {
    let (mut result, mut evaluation) = evaluated(result(3, Verdict::Invalid), "all\u{7} is well");
    evaluation.cost = Cost::default();
    evaluation.diagnostics = vec![
        Diagnostic::error(Code::Prose, Span::new(0, 12), "this reads as prose")
            .help("state it with `grep` or `exists`"),
        Diagnostic::error(Code::UnexpectedEnd, Span::new(12, 12), "the source ends"),
    ];
    result.code = Some("prose");
    result.detail = Some("this reads as prose".into());
    together(result, evaluation)
}

fn malformed() -> ClaimResult {
    let mut result = result(4, Verdict::Invalid);
    (result.id, result.language) = (None, None);
    result.code = Some("malformed_record");
    result.detail = Some("line 5, column 9: not JSON".into());
    result.record_diagnostics = vec![Diagnostic::error(
        Code::MalformedRecord,
        Span::default(),
        "line 5, column 9: not JSON",
    )];
    result
}

fn skipped() -> ClaimResult {
    let mut result = result(5, Verdict::Skipped);
    result.language = None;
    result
}
