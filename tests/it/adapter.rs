//! The adapter beyond the rows of flow.md: judges, options, names, ancestors.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use probity::budget::CancelToken;
use probity::flow::executor::{CheapJudge, JudgeReply, JudgeRequest};
use probity::flow::judges::FixtureJudge;
use probity::flow::{
    BlockError, EvaluateError, EvaluateOptions, flow_evaluate_invariants, flow_invariant_feedback,
};
use serde_json::{Value as Json, json};

use crate::adapter_rows::{
    ALLOW, ASK, BLOCK, block_of, code, deterministic, evaluated, options, predicate, record,
    semantic, slice,
};
use crate::bin::Bench;

#[test]
fn predicates_can_tell_of_reports_themselves() {
    let report = "{records: [{name: \"r\", result: {verdict: {kind: \"warn\", reason: \"w\"}}}]}";
    let value = format!("flow_invariant_warn(flow_invariant_feedback({report}, {{max_items: 1}}))");
    let report = evaluated(&deterministic("p", &value), &options(json!({})));
    let reason = &record(&report, "p")["result"]["verdict"]["reason"];
    assert_eq!(reason, "Flow invariants need attention:\n- Warn r: w");
    for wrong in [
        "[], {}",
        "{}, {foo: 1}",
        "{}, {max_items: 0}",
        "{records: 1}",
    ] {
        let source = deterministic("p", &format!("flow_invariant_feedback({wrong})"));
        assert_eq!(block_of(&source), "predicate_runtime_error", "{wrong}");
    }
}

/// Counts how often it is asked.
struct Counting(AtomicUsize);

impl CheapJudge for Counting {
    fn judge(&self, _: &JudgeRequest, _: &CancelToken) -> Result<JudgeReply, BlockError> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Ok(JudgeReply::from_json(&json!({"passes": true, "model_id": "m"})).expect("a reply"))
    }
}

#[test]
fn a_judge_is_asked_once_and_audited() {
    let twice = "{verdict: if ctx.semantic_judge({rubric: \"a\", files: slice.files}).passes && \
                 ctx.semantic_judge({rubric: \"b\", files: slice.files}).passes { \"Allow\" } \
                 else { \"Block\" }, rule: \"r\"}";
    let source = [
        semantic("once", "fallback: q", ASK),
        semantic("twice", "fallback: q", twice),
        semantic("unfounded", "fallback: nowhere", ASK),
        deterministic("q", ALLOW),
    ]
    .concat();
    let judge = Arc::new(Counting(AtomicUsize::new(0)));
    let mut asked = options(json!({"include_semantic": true}));
    asked.judge = Some(judge.clone());
    let report = evaluated(&source, &asked);
    let once = record(&report, "once");
    assert_eq!(once["result"]["verdict"]["kind"], "allow", "{report:#}");
    let audit = &once["semantic_replay_audit"];
    assert_eq!(
        (&audit["model_id"], &audit["token_cap"]),
        (&json!("m"), &json!(1024))
    );
    assert_eq!(code(record(&report, "twice")), "budget_exceeded");
    assert_eq!(code(record(&report, "unfounded")), "fallback_unresolved");
    assert_eq!(
        judge.0.load(Ordering::Relaxed),
        2,
        "one call for each that has a fallback"
    );
    asked.token_cap = Some(1);
    let report = evaluated(&source, &asked);
    assert_eq!(code(record(&report, "once")), "budget_exceeded");
    assert_eq!(judge.0.load(Ordering::Relaxed), 2);
    // Nobody pays for what was stopped before.
    asked.token_cap = None;
    asked.cancel.cancel();
    let report = evaluated(&source, &asked);
    assert_eq!(code(record(&report, "once")), "cancelled");
    assert_eq!(judge.0.load(Ordering::Relaxed), 2);
}

#[test]
fn answers_that_were_written_down_are_answers() {
    let source = format!(
        "{}{}",
        semantic("p", "fallback: q", ASK),
        deterministic("q", ALLOW)
    );
    let fixture = json!({"replies": [{"predicate": "p", "reply": {"verdict": "Block"}}]});
    let judge = FixtureJudge::parse(&fixture.to_string()).expect("a fixture");
    let mut asked = options(json!({"include_semantic": true}));
    asked.judge = Some(Arc::new(judge));
    assert_eq!(code(record(&evaluated(&source, &asked), "p")), "asked");
}

#[test]
fn a_file_that_does_not_compile_is_an_error_and_one_that_does_not_parse_a_report() {
    for source in ["fn f( {", "fn f() { return \u{1} }"] {
        let report = evaluated(source, &options(json!({})));
        assert_eq!(report["status"], "discovery_error", "{report:#}");
        assert_eq!(
            report["diagnostics"][0]["code"],
            "predicate_discovery_error"
        );
        assert_eq!(report["diagnostics"][0]["span"], Json::Null);
    }
    let source = format!("{}fn g() {{ return nowhere }}", deterministic("p", ALLOW));
    let options = options(json!({"source_key": "rules"}));
    let error = flow_evaluate_invariants(&source, &slice(), &options).expect_err("it is none");
    let text = error.to_string();
    assert!(text.contains("`rules` cannot be compiled"), "{text}");
    let EvaluateError::Load { problems, .. } = error else {
        panic!("{text}");
    };
    assert!(!problems.is_empty());
    let source = format!(
        "import {{ a }} from \"./lib\"\n{}",
        deterministic("p", ALLOW)
    );
    let error = flow_evaluate_invariants(&source, &slice(), &options).expect_err("no files");
    assert!(matches!(error, EvaluateError::Load { .. }), "{error}");
}

#[test]
fn nothing_evaluated_is_not_ok() {
    let source = format!(
        "{}{}",
        semantic("p", "fallback: q", BLOCK),
        deterministic("q", ALLOW)
    );
    let only_p = json!({"predicates": ["p"]});
    for (source, asked) in [
        ("", json!({})),
        ("fn f() { 1 }", json!({})),
        (&source, only_p),
    ] {
        let report = evaluated(source, &options(asked));
        assert_eq!(report["ok"], false, "{report:#}");
        assert_eq!(report["status"], "nothing_evaluated");
        let last = report["diagnostics"].as_array().and_then(|it| it.last());
        assert_eq!(last.expect("one")["code"], "nothing_evaluated");
        let told = flow_invariant_feedback(&report, &json!({"empty_if_clear": false}));
        assert!(told.expect("it is told").contains("- Diagnostic error: "));
    }
}

#[test]
fn names_that_are_not_there_are_errors_beside_what_is() {
    let source = format!(
        "{}{}",
        deterministic("no_unwrap", ALLOW),
        deterministic("other", BLOCK)
    );
    let asked = json!({"predicates": ["no_unwrp", "no_unwrap", "no_unwrp"]});
    let report = evaluated(&source, &options(asked));
    assert_eq!(
        (&report["ok"], &report["status"]),
        (&json!(false), &json!("fail"))
    );
    assert_eq!(
        record(&report, "no_unwrap")["result"]["verdict"]["kind"],
        "allow"
    );
    assert_eq!(report["skipped"][0]["reason"], "not selected");
    let told = &report["diagnostics"];
    assert_eq!(told.as_array().map(Vec::len), Some(1), "{told:#}");
    assert_eq!(told[0]["code"], "predicate_not_found");
    assert_eq!(told[0]["predicate"], "no_unwrp");
    let message = told[0]["message"].as_str().expect("a text");
    assert!(message.ends_with("near it: `no_unwrap`"), "{message}");

    let report = evaluated(
        &source,
        &options(json!({"predicates": ["z".repeat(1 << 20)]})),
    );
    assert_eq!(report["status"], "fail");
    assert_eq!(report["records"], json!([]));
}

#[test]
fn options_have_their_aliases_and_types() {
    let read = |json: Json| EvaluateOptions::from_json(&json).expect("they are options");
    let options = read(json!({
        "module_path": "m", "predicate_ctx": {"a": 1}, "predicates": ["x"],
        "predicate_names": ["y", 5], "budget_ms": 0, "frob": 1,
    }));
    assert_eq!(options.path.as_deref(), Some("m".as_ref()));
    assert_eq!(options.ctx, Some(json!({"a": 1})));
    assert_eq!(options.predicates, ["y"]);
    assert_eq!(options.budget, Some(Duration::from_millis(1)));
    assert_eq!(options.unknown, ["frob"]);
    assert!(read(json!({"path": ""})).path.is_none());
    for budget in [json!(-1), json!("9"), json!(1.5), Json::Null] {
        assert_eq!(read(json!({"budget_ms": budget})).budget, None);
    }
    for wrong in [
        json!({"path": 1}),
        json!({"ctx": []}),
        json!({"predicates": "p"}),
        json!({"include_semantic": "yes"}),
        json!({"root": {}}),
        json!({"source_key": 1}),
        json!("x"),
    ] {
        assert!(EvaluateOptions::from_json(&wrong).is_err(), "{wrong}");
    }
    let report = evaluated(&deterministic("p", ALLOW), &options_with("frob"));
    assert_eq!(report["status"], "pass");
    assert_eq!(
        report["diagnostics"],
        json!([{"severity": "warning", "code": "unknown_option", "span": null,
                "message": "the option `frob` is not known"}])
    );
}

fn options_with(key: &str) -> EvaluateOptions {
    options(json!({ key: 1 }))
}

#[test]
fn what_comes_with_a_slice_reaches_its_predicates() {
    let function = "fn p(slice, ctx, base) { return flow_invariant_warn(ctx.a + base.b) }";
    let source = predicate("@deterministic", function);
    let asked = json!({"ctx": {"a": "x"}, "repo_at_base": {"b": "y"}, "budget_ms": u64::MAX});
    let report = evaluated(&source, &options(asked));
    let p = record(&report, "p");
    assert_eq!(p["result"]["verdict"]["reason"], "xy");
    let endless = predicate("@deterministic", "fn p(slice) { while true { } }");
    let report = evaluated(&endless, &EvaluateOptions::default());
    assert_eq!(code(record(&report, "p")), "budget_exceeded");
}

/// A workspace with predicate files, and options that name one of them.
fn below(bench: &Bench, files: &[(&str, &str)], asked: Json) -> EvaluateOptions {
    for (path, text) in files {
        bench.file(path, text);
    }
    let mut options = options(asked);
    options.path = Some(bench.root().join("a/b/invariants.harn"));
    options.root = Some(bench.root());
    options
}

#[test]
fn fallbacks_of_ancestors_run_for_who_names_them_alone() {
    let root = format!("{}{}", deterministic("p", BLOCK), deterministic("q", ALLOW));
    let own = format!(
        "{}{}",
        semantic("p", "fallback: p", ALLOW),
        deterministic("own", ALLOW)
    );
    let files = [("invariants.harn", &*root), ("a/b/invariants.harn", &own)];
    let bench = Bench::new();
    let asked = json!({"include_semantic": true});
    let options = below(&bench, &files, asked.clone());
    let report = evaluated("is not looked at", &options);
    assert_eq!(report["status"], "fail", "{report:#}");
    let records = report["records"].as_array().expect("a list");
    let enforced = |it: &&Json| it["enforced"] == true;
    assert_eq!(records.len(), 3, "{report:#}");
    assert_eq!(records.iter().filter(enforced).count(), 2);
    let semantic = records.iter().find(|it| it["kind"] == "semantic");
    assert_eq!(code(semantic.expect("it ran")), "no");
    // The root's other predicates are not there, and its name cannot be asked for.
    let mut only_own = options.clone();
    only_own.predicates = vec!["own".into()];
    let report = evaluated("", &only_own);
    assert_eq!(report["records"].as_array().map(Vec::len), Some(1));
    assert_eq!(
        report["skipped"].as_array().map(Vec::len),
        Some(1),
        "{report:#}"
    );
    // Without the root, or with one elsewhere, there is one file.
    let elsewhere = tempfile::tempdir().expect("a directory");
    for root in [None, Some(elsewhere.path().to_owned())] {
        let mut alone = options.clone();
        alone.root = root;
        let report = evaluated("", &alone);
        assert_eq!(code(record(&report, "p")), "fallback_not_deterministic");
    }
    // An advisory fallback of an ancestor is recorded and changes nothing.
    let advisory = own.replace("fallback: p", "fallback: p, policy: advisory");
    let options = below(&bench, &[("a/b/invariants.harn", &advisory)], asked);
    let report = evaluated("", &options);
    assert_eq!(report["status"], "pass", "{report:#}");
    assert_eq!(report["records"].as_array().map(Vec::len), Some(3));
}

#[test]
fn ancestors_that_cannot_be_read_refuse_who_looks_into_them() {
    let root = deterministic("q", ALLOW);
    let own = semantic("p", "fallback: q, policy: advisory", ALLOW);
    let bench = Bench::new();
    let files = [
        ("invariants.harn", &*root),
        ("a/invariants.harn", "fn f( {"),
        ("a/b/invariants.harn", &own),
    ];
    let options = below(&bench, &files, json!({"include_semantic": true}));
    let report = evaluated("", &options);
    assert_eq!(report["status"], "discovery_error", "{report:#}");
    let message = report["diagnostics"][0]["message"]
        .as_str()
        .expect("a text");
    assert!(
        message.starts_with("`a/invariants.harn`: parse error"),
        "{message}"
    );
    // One that does not is not concerned.
    bench.file("a/b/invariants.harn", deterministic("p", ALLOW));
    assert_eq!(evaluated("", &options)["status"], "pass");
}

#[test]
fn a_file_that_cannot_be_read_is_an_error() {
    let bench = Bench::new();
    bench.file("binary.harn", [0xff, 0xfe]);
    for name in ["missing.harn", "binary.harn", "."] {
        let mut options = options(json!({}));
        options.path = Some(bench.root().join(name));
        let error = flow_evaluate_invariants(&deterministic("p", ALLOW), &slice(), &options);
        let error = error.expect_err("it cannot be read");
        assert!(
            matches!(error, EvaluateError::Read { .. }),
            "{name}: {error}"
        );
    }
}
