//! The rows of flow.md, section 13, that are about the executor.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use probity::budget::CancelToken;
use probity::flow::executor::{
    CheapJudge, ExecutionReport, Executor, ExecutorConfig, JudgeReply, JudgeRequest, Ran,
    RunContext, Runner, RunnerKind, SliceJob,
};
use probity::flow::{BlockError, InvariantResult, Slice, Verdict};
use probity::harn::FallbackPolicy;

type Evaluate = dyn Fn(&RunContext<'_>) -> InvariantResult + Sync;

struct Rule<'r> {
    hash: &'r str,
    kind: RunnerKind,
    fallback: Option<&'r str>,
    policy: FallbackPolicy,
    evidence: Arc<BTreeMap<String, String>>,
    /// Whether its time is that on the wall, which a busy machine stretches.
    waits: bool,
    evaluate: Box<Evaluate>,
}

impl Runner for Rule<'_> {
    fn hash(&self) -> &str {
        self.hash
    }

    fn kind(&self) -> RunnerKind {
        self.kind
    }

    fn fallback_hash(&self) -> Option<&str> {
        self.fallback
    }

    fn fallback_policy(&self) -> FallbackPolicy {
        self.policy
    }

    fn evidence(&self) -> Arc<BTreeMap<String, String>> {
        self.evidence.clone()
    }

    fn waits(&self) -> bool {
        self.waits
    }

    fn evaluate(&self, context: &RunContext<'_>) -> Ran {
        (self.evaluate)(context).into()
    }
}

fn rule<'r>(
    hash: &'r str,
    evaluate: impl Fn(&RunContext<'_>) -> InvariantResult + Sync + 'static,
) -> Rule<'r> {
    Rule {
        hash,
        kind: RunnerKind::Deterministic,
        fallback: None,
        policy: FallbackPolicy::Enforce,
        evidence: Arc::default(),
        waits: false,
        evaluate: Box::new(evaluate),
    }
}

/// One that waits for something.
fn waiting<'r>(
    hash: &'r str,
    evaluate: impl Fn(&RunContext<'_>) -> InvariantResult + Sync + 'static,
) -> Rule<'r> {
    Rule {
        waits: true,
        ..rule(hash, evaluate)
    }
}

/// A semantic one, which may show `case` to its judge.
fn semantic<'r>(
    hash: &'r str,
    fallback: &'r str,
    evaluate: impl Fn(&RunContext<'_>) -> InvariantResult + Sync + 'static,
) -> Rule<'r> {
    let evidence = [("case".to_owned(), "pre-baked evidence".to_owned())];
    Rule {
        kind: RunnerKind::Semantic,
        fallback: Some(fallback),
        evidence: Arc::new(evidence.into()),
        ..rule(hash, evaluate)
    }
}

fn result(json: &str) -> InvariantResult {
    serde_json::from_str(json).expect("it is a result")
}

fn allow() -> InvariantResult {
    result(r#"{"verdict":{"kind":"allow"},"confidence":1.0}"#)
}

fn warn(reason: &str) -> InvariantResult {
    result(&format!(
        r#"{{"verdict":{{"kind":"warn","reason":"{reason}"}},"confidence":1.0}}"#
    ))
}

fn empty() -> Slice {
    Slice::new(Vec::new())
}

fn execute(executor: &Executor, rules: &[Rule<'_>]) -> ExecutionReport {
    let slice = empty();
    let runners: Vec<&dyn Runner> = rules.iter().map(|rule| rule as &dyn Runner).collect();
    let job = SliceJob {
        slice: &slice,
        runners,
    };
    let report = executor.execute_slice(&job);
    assert_eq!(report.records.len(), rules.len());
    // Threads change nothing.
    let serial = executor.execute_slice_serial(&job);
    let results = |report: &ExecutionReport| -> Vec<_> {
        let records = report.records.iter();
        records
            .map(|record| (record.hash.clone(), record.result.clone()))
            .collect()
    };
    assert_eq!(results(&serial), results(&report));
    report
}

fn code(report: &ExecutionReport, hash: &str) -> Option<String> {
    let record = report.records.iter().find(|record| record.hash == hash);
    let verdict = &record.expect("there is one").result.verdict;
    verdict.code().map(ToOwned::to_owned)
}

struct Says(JudgeReply);

impl CheapJudge for Says {
    fn judge(&self, _: &JudgeRequest, _: &CancelToken) -> Result<JudgeReply, BlockError> {
        Ok(self.0.clone())
    }
}

fn with_judge() -> Executor {
    Executor::default().judge(Arc::new(Says(JudgeReply {
        passes: true,
        model_id: Some("small".into()),
        ..JudgeReply::default()
    })))
}

fn asks(prompt: &'static str, key: &'static str) -> impl Fn(&RunContext<'_>) -> InvariantResult {
    move |context| {
        // What fails is swallowed here; the executor knows.
        let _ = context.judge().ask(prompt, key);
        allow()
    }
}

#[test]
fn row_19_a_deterministic_predicate_runs_twice() {
    let report = execute(&Executor::default(), &[rule("a", |_| allow())]);
    let record = &report.records[0];
    assert_eq!(record.attempts, 2);
    assert_eq!(record.first_result_hash, record.second_result_hash);
    assert_eq!(
        record.first_result_hash.as_deref(),
        Some("ffdf9040acbfe7c60daf2645411ca6b3051716d83eca1a5270b824bcd9602409")
    );
    assert_eq!(record.result.verdict, Verdict::Allow);
    assert!(report.is_allowed());
}

#[test]
fn rows_05_and_06_hashes_of_results() {
    for (json, hash) in [
        (
            r#"{"verdict":{"kind":"block","error":{"code":"secret_leak","message":"raw token appears in the diff"}},"confidence":1.0}"#,
            "424960363e721a132b31673c1fec59e1b15384e630662a75c7dd581316e996b6",
        ),
        (
            r#"{"verdict":{"kind":"require_approval","approver":{"kind":"role","name":"security"}},"confidence":1.0}"#,
            "be8ddb64c4dbb471f2dd51f88470a6603e42b7f0e6c6a6c494e0ba568d739109",
        ),
    ] {
        assert_eq!(result(json).hash().as_deref(), Ok(hash));
    }
}

#[test]
fn row_20_two_results_are_drift() {
    for second in ["warns", "blocks"] {
        let calls = AtomicUsize::new(0);
        let rules = [rule("a", move |_| {
            match (calls.fetch_add(1, Ordering::SeqCst) % 2, second) {
                (0, _) => allow(),
                (_, "warns") => warn("now"),
                _ => InvariantResult::block("late", "it blocks the second time"),
            }
        })];
        let report = execute(&Executor::default(), &rules);
        let wanted = match second {
            "warns" => "nondeterministic_drift",
            _ => "late",
        };
        assert_eq!(code(&report, "a").as_deref(), Some(wanted));
        assert_eq!(report.records[0].attempts, 2);
        assert!(!report.is_allowed());
    }
}

#[test]
fn row_21_who_waits_too_long_blocks() {
    let config = ExecutorConfig {
        deterministic_budget: Duration::from_millis(1),
        ..ExecutorConfig::default()
    };
    let waits = |context: &RunContext<'_>| {
        thread::sleep(Duration::from_millis(20));
        assert!(context.is_cancelled());
        allow()
    };
    let report = execute(&Executor::new(config), &[waiting("a", waits)]);
    assert_eq!(code(&report, "a").as_deref(), Some("budget_exceeded"));
    let Verdict::Block { error } = &report.records[0].result.verdict else {
        panic!("it blocks");
    };
    assert!(
        error.message.contains("exceeded its 1ms budget"),
        "{error:?}"
    );
}

#[test]
fn row_23_a_judge_is_asked_once() {
    let twice = |context: &RunContext<'_>| {
        assert!(context.judge().ask("judge the case", "case").is_ok());
        let _ = context.judge().ask("again", "case");
        allow()
    };
    let rules = [semantic("s", "d", twice), rule("d", |_| allow())];
    let report = execute(&with_judge(), &rules);
    assert_eq!(code(&report, "s").as_deref(), Some("budget_exceeded"));
}

#[test]
fn rows_24_to_26_what_a_judge_is_not_asked() {
    let fallback = || rule("d", |_| allow());
    let missing = [semantic("s", "d", asks("judge", "other")), fallback()];
    let report = execute(&with_judge(), &missing);
    assert_eq!(code(&report, "s").as_deref(), Some("evidence_missing"));

    let report = execute(&with_judge(), &[rule("d", asks("judge", "case"))]);
    assert_eq!(code(&report, "d").as_deref(), Some("side_effect_denied"));

    let sound = [semantic("s", "d", asks("judge", "case")), fallback()];
    let report = execute(&Executor::default(), &sound);
    assert_eq!(code(&report, "s").as_deref(), Some("llm_unavailable"));
    assert_eq!(code(&execute(&with_judge(), &sound), "s"), None);
}

#[test]
fn row_27_the_audit_of_a_judgement() {
    let rules = [
        semantic("s", "d", asks("judge the case", "case")),
        rule("d", |_| allow()),
    ];
    let report = execute(&with_judge(), &rules);
    let audit = report.records[1].semantic_replay_audit.as_ref();
    let audit = audit.expect("a judge was asked");
    assert_eq!(
        audit.prompt_hash,
        "sha256:995b4b15780da52a2b1bb4e13e71b82e72755e296060d48c6338dd220d1fb77b"
    );
    assert_eq!(
        audit.evidence_hashes["case"],
        "sha256:ed45b908e12f64f47e3634b8c0cd8d9b52f0ba1ce65ff5aa265b5ae2adc9db6c"
    );
    assert_eq!(audit.token_cap, 1024);
    assert_eq!(audit.model_id.as_deref(), Some("small"));
    assert_eq!(report.records[0].semantic_replay_audit, None);
}

#[test]
fn tokens_of_a_judge_are_capped_before_and_after_it_speaks() {
    let rules = |prompt: &'static str| {
        [
            semantic("s", "d", asks(prompt, "case")),
            rule("d", |_| allow()),
        ]
    };
    let config = ExecutorConfig {
        semantic_token_cap: 5,
        ..ExecutorConfig::default()
    };
    let says = |input_tokens| {
        Executor::new(config.clone()).judge(Arc::new(Says(JudgeReply {
            input_tokens,
            ..JudgeReply::default()
        })))
    };
    // Three words and two of evidence.
    let code_of = |executor: &Executor, prompt| code(&execute(executor, &rules(prompt)), "s");
    assert_eq!(code_of(&says(0), "one two three"), None);
    let over = Some("budget_exceeded".to_owned());
    assert_eq!(code_of(&says(0), "one two three four"), over);
    assert_eq!(code_of(&says(6), "one"), over);
}

#[test]
fn rows_28_to_31_what_a_fallback_counts_for() {
    let blocks = |_: &RunContext<'_>| InvariantResult::block("fallback_policy", "no");
    let enforced = [semantic("s", "d", |_| allow()), rule("d", blocks)];
    let report = execute(&with_judge(), &enforced);
    assert_eq!(code(&report, "s").as_deref(), Some("fallback_policy"));

    let advisory = [
        Rule {
            policy: FallbackPolicy::Advisory,
            ..semantic("s", "d", |_| allow())
        },
        rule("d", blocks),
    ];
    let slice = empty();
    let job = SliceJob {
        slice: &slice,
        runners: advisory.iter().map(|rule| rule as &dyn Runner).collect(),
    };
    let named = with_judge().execute_named_slice_serial(&job, &["s"], true);
    assert_eq!(code(&named, "s"), None);
    let enforced: Vec<bool> = named.records.iter().map(|record| record.enforced).collect();
    assert_eq!(enforced, [false, true]);
    assert!(named.is_allowed());
    let all = with_judge().execute_named_slice_serial(&job, &[], true);
    assert!(all.records.iter().all(|record| record.enforced) && !all.is_allowed());

    // Semantic ones are skipped unless they are wanted.
    let skipped = with_judge()
        .execute_named_slice_serial(&job, &[], false)
        .skipped;
    assert_eq!(
        skipped[0].reason,
        "semantic predicates require an explicit include_semantic option"
    );
    let skipped = with_judge()
        .execute_named_slice_serial(&job, &["d"], true)
        .skipped;
    assert_eq!(skipped[0].reason, "not selected");

    let both_warn = [
        semantic("s", "d", |_| warn("mine")),
        rule("d", |_| warn("other")),
    ];
    let report = execute(&with_judge(), &both_warn);
    assert_eq!(report.records[1].result, warn("mine"));
}

#[test]
fn row_32_a_fallback_that_is_none() {
    let unasked = |_: &RunContext<'_>| -> InvariantResult { panic!("it is not run in vain") };
    let missing = Rule {
        fallback: None,
        ..semantic("missing", "", unasked)
    };
    let rules = [
        missing,
        semantic("unselected", "nothing", unasked),
        semantic("itself", "itself", unasked),
    ];
    let report = execute(&with_judge(), &rules);
    for (hash, wanted) in [
        ("missing", "fallback_missing"),
        ("unselected", "fallback_unselected"),
        ("itself", "fallback_not_deterministic"),
    ] {
        assert_eq!(code(&report, hash).as_deref(), Some(wanted));
    }
    assert!(report.records.iter().all(|record| record.attempts == 0));
}

#[test]
fn row_36_records_are_sorted_by_hash() {
    let after = |ms| {
        move |_: &RunContext<'_>| {
            thread::sleep(Duration::from_millis(ms));
            allow()
        }
    };
    let rules = [
        rule("z-last", after(1)),
        rule("a-first", after(9)),
        rule("m-mid", after(4)),
    ];
    let report = execute(&Executor::default(), &rules);
    let hashes: Vec<&str> = report.records.iter().map(|record| &*record.hash).collect();
    assert_eq!(hashes, ["a-first", "m-mid", "z-last"]);
}

#[test]
fn row_37_an_envelope_is_of_one_slice() {
    let mut config = ExecutorConfig {
        deterministic_budget: Duration::from_secs(5),
        replay_deterministic: false,
        ..ExecutorConfig::default()
    };
    config.scheduler.max_deterministic_lanes = 1;
    config.scheduler.slice_deterministic_envelope = Duration::from_millis(15);
    let slow = |_: &RunContext<'_>| {
        thread::sleep(Duration::from_millis(20));
        allow()
    };
    let first = [waiting("1", slow), waiting("2", slow), waiting("3", slow)];
    let second = [rule("4", |_| allow())];
    let slice = empty();
    let jobs = [&first[..], &second[..]].map(|rules| SliceJob {
        slice: &slice,
        runners: rules.iter().map(|rule| rule as &dyn Runner).collect(),
    });
    let reports = Executor::new(config).execute_slices(&jobs);
    assert_eq!(code(&reports[0], "1"), None);
    for late in ["2", "3"] {
        assert_eq!(code(&reports[0], late).as_deref(), Some("budget_exceeded"));
    }
    assert_eq!(code(&reports[1], "4"), None);
}

#[test]
fn row_38_slices_take_turns_at_the_judge() {
    let mut config = ExecutorConfig::default();
    config.scheduler.max_semantic_lanes = 1;
    let order = Arc::new(Mutex::new(Vec::new()));
    let rules = |slice: usize| {
        let of_one = ["a", "b", "c", "d"].map(|hash| {
            let order = order.clone();
            semantic(hash, "fallback", move |_| {
                order.lock().expect("nobody panics").push(slice);
                allow()
            })
        });
        let mut rules = Vec::from(of_one);
        rules.push(rule("fallback", |_| allow()));
        rules
    };
    let (first, second) = (rules(1), rules(2));
    let slice = empty();
    let jobs = [&first, &second].map(|rules| SliceJob {
        slice: &slice,
        runners: rules.iter().map(|rule| rule as &dyn Runner).collect(),
    });
    let reports = Executor::new(config).execute_slices(&jobs);
    assert!(reports.iter().all(ExecutionReport::is_allowed));
    let order = order.lock().expect("nobody panics");
    let first_of_second = order.iter().position(|slice| *slice == 2);
    let last_of_first = order.iter().rposition(|slice| *slice == 1);
    assert!(first_of_second < last_of_first, "{order:?}");
}

#[test]
fn lanes_are_never_more_than_there_are() {
    let mut config = ExecutorConfig::default();
    config.scheduler.max_deterministic_lanes = 3;
    config.scheduler.max_deterministic_lanes_per_slice = 2;
    let running = Arc::new([const { AtomicUsize::new(0) }; 3]);
    let most = Arc::new([const { AtomicUsize::new(0) }; 3]);
    let rules = |slice: usize| {
        let hashes = ["a", "b", "c", "d", "e", "f"];
        hashes.map(|hash| {
            let (running, most) = (running.clone(), most.clone());
            rule(hash, move |_| {
                for of in [0, slice] {
                    let now = running[of].fetch_add(1, Ordering::SeqCst) + 1;
                    most[of].fetch_max(now, Ordering::SeqCst);
                }
                thread::sleep(Duration::from_millis(3));
                for of in [0, slice] {
                    running[of].fetch_sub(1, Ordering::SeqCst);
                }
                allow()
            })
        })
    };
    let (first, second) = (rules(1), rules(2));
    let slice = empty();
    let jobs = [&first, &second].map(|rules| SliceJob {
        slice: &slice,
        runners: rules.iter().map(|rule| rule as &dyn Runner).collect(),
    });
    let _ = Executor::new(config).execute_slices(&jobs);
    let most = most.each_ref().map(|most| most.load(Ordering::SeqCst));
    assert!(most[0] <= 3 && most[1] <= 2 && most[2] <= 2, "{most:?}");
}

#[test]
fn who_panics_or_is_cancelled_blocks_alone() {
    let panics = |_: &RunContext<'_>| -> InvariantResult { panic!("on purpose") };
    let report = execute(
        &Executor::default(),
        &[rule("p", panics), rule("a", |_| allow())],
    );
    assert_eq!(
        code(&report, "p").as_deref(),
        Some("predicate_runtime_error")
    );
    assert_eq!(code(&report, "a"), None);

    let token = CancelToken::new();
    token.cancel();
    let report = execute(
        &Executor::default().cancel(token),
        &[rule("a", |_| allow())],
    );
    assert_eq!(code(&report, "a").as_deref(), Some("cancelled"));
}

#[test]
fn without_slices_or_predicates_nothing_is_reported() {
    assert!(Executor::default().execute_slices(&[]).is_empty());
    let report = execute(&Executor::default(), &[]);
    assert!(report.records.is_empty() && report.skipped.is_empty());
}
