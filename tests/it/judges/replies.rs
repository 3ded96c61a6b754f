//! Judges within the executor, and replies that were written down before.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use probity::budget::CancelToken;
use probity::flow::executor::{
    CheapJudge, Executor, ExecutorConfig, JudgeReply, JudgeRequest, Ran, Record, RunContext,
    Runner, RunnerKind, SliceJob,
};
use probity::flow::judges::{FixtureJudge, FixtureJudgeError};
use probity::flow::{BlockError, InvariantResult, Slice};
use serde_json::{Value as Json, json};

use crate::bin::Bench;

/// Asks its judge once and does what it says.
pub(super) struct Asks {
    name: &'static str,
    evidence: Arc<BTreeMap<String, String>>,
    /// What the judge is shown, if not the evidence.
    shown: Option<&'static str>,
    got: Mutex<Option<Json>>,
}

impl Asks {
    pub(super) fn new(name: &'static str, evidence: impl Into<String>) -> Self {
        Self {
            name,
            evidence: Arc::new([("case".to_owned(), evidence.into())].into()),
            shown: None,
            got: Mutex::new(None),
        }
    }
}

impl Runner for Asks {
    fn hash(&self) -> &str {
        "s"
    }

    fn name(&self) -> &str {
        self.name
    }

    fn kind(&self) -> RunnerKind {
        RunnerKind::Semantic
    }

    fn fallback_hash(&self) -> Option<&str> {
        Some("d")
    }

    fn evidence(&self) -> Arc<BTreeMap<String, String>> {
        self.evidence.clone()
    }

    fn evaluate(&self, context: &RunContext<'_>) -> Ran {
        let answer = match self.shown {
            None => context.judge().ask("is it good?", "case"),
            shown => context.judge().ask_with("is it good?", "case", shown),
        };
        // What fails is swallowed here; the executor knows.
        let said = answer.map_or(Json::Null, |reply| reply.to_json());
        let result = match said["verdict"].as_str() {
            Some("Block") => InvariantResult::block("judged", "the judge says no"),
            _ => allow(),
        };
        *self.got.lock().expect("nobody panics") = Some(said);
        result.into()
    }
}

/// The fallback, without which nothing semantic is run.
struct Allows;

impl Runner for Allows {
    fn hash(&self) -> &str {
        "d"
    }

    fn kind(&self) -> RunnerKind {
        RunnerKind::Deterministic
    }

    fn evaluate(&self, _: &RunContext<'_>) -> Ran {
        allow().into()
    }
}

fn allow() -> InvariantResult {
    let json = r#"{"verdict":{"kind":"allow"},"confidence":1.0}"#;
    serde_json::from_str(json).expect("it is a result")
}

/// The record of a predicate that asks, with time enough if `budget` is none.
pub(super) fn executed(
    judge: impl CheapJudge + 'static,
    asks: &Asks,
    budget: Option<Duration>,
) -> Record {
    let config = ExecutorConfig {
        semantic_budget: budget.unwrap_or(Duration::from_secs(30)),
        semantic_token_cap: 1 << 20,
        ..ExecutorConfig::default()
    };
    let executor = Executor::new(config).judge(Arc::new(judge));
    let slice = Slice::new(Vec::new());
    let mut report = executor.execute_slice(&SliceJob {
        slice: &slice,
        runners: vec![asks, &Allows],
    });
    report.records.pop().expect("the semantic one is the last")
}

pub(super) fn got(asks: &Asks) -> Json {
    let got = asks.got.lock().expect("nobody panics");
    got.clone().expect("it was run")
}

#[test]
fn the_first_reply_of_a_fixture_that_matches_is_given() {
    let hash = |text: &str| probity::Digest::of(text.as_bytes()).to_string();
    let fixture = json!({
        "replies": [
            {"predicate": "first", "evidence_key": "other", "reply": {"passes": true, "reason": "0"}},
            {"predicate": "first", "prompt": "is it good?", "reply": {"passes": true, "reason": "1"}},
            {"prompt_hash": hash("is it good?"), "evidence_hash": hash("b"), "reply": {"passes": true, "reason": "2"}},
            {"evidence_hash": hash("b"), "reply": {"verdict": "Warn", "reason": "3"}},
            {"evidence_key": "case", "predicate": "last", "reply": {"passes": false, "reason": "4"}},
        ],
    });
    let parsed = FixtureJudge::parse(&fixture.to_string()).expect("it is a fixture");
    for (predicate, evidence, reason) in [
        ("first", "a", "1"),
        ("first", "b", "1"),
        ("second", "b", "2"),
        ("last", "a", "4"),
    ] {
        let asks = Asks::new(predicate, evidence);
        executed(parsed.clone(), &asks, None);
        assert_eq!(got(&asks)["reason"], reason, "{predicate} {evidence}");
    }
    let record = executed(parsed, &Asks::new("second", "a"), None);
    let said = serde_json::to_string(&record.result).expect("it is JSON");
    assert_eq!(record.result.verdict.code(), Some("llm_unavailable"));
    assert!(
        said.contains("`second`") && said.contains(&hash("is it good?")),
        "{said}"
    );

    let mut otherwise = fixture;
    otherwise["otherwise"] = json!({"verdict": "Block"});
    let bench = Bench::new();
    let path = bench.log("replies.json", otherwise.to_string());
    let judge = FixtureJudge::read(&path).expect("it is a fixture");
    let record = executed(judge, &Asks::new("second", "a"), None);
    assert_eq!(record.result.verdict.code(), Some("judged"));

    let path = bench.log("replies.json", "{\n\"replies\": [],\n\"other\": 1}");
    let error = FixtureJudge::read(&path).expect_err("it is none");
    assert!(matches!(error, FixtureJudgeError::Invalid { .. }));
    let said = error.to_string();
    assert!(
        said.contains("replies.json") && said.contains("line 3"),
        "{said}"
    );
    let error = FixtureJudge::read(&bench.outside("none")).expect_err("it is not there");
    assert!(matches!(error, FixtureJudgeError::Read { .. }));
}

#[test]
fn what_the_host_shows_to_a_judge_is_what_the_audit_says() {
    struct Echo;
    impl CheapJudge for Echo {
        fn judge(&self, asked: &JudgeRequest, _: &CancelToken) -> Result<JudgeReply, BlockError> {
            Ok(JudgeReply {
                passes: true,
                reason: Some(format!("{}: {}", asked.predicate, asked.evidence)),
                ..JudgeReply::default()
            })
        }
    }
    let asks = Asks {
        shown: Some("a part"),
        ..Asks::new("tested", "the whole")
    };
    let record = executed(Echo, &asks, None);
    assert_eq!(got(&asks)["reason"], "tested: a part");
    let audit = record.semantic_replay_audit.expect("it was asked");
    let hash = probity::Digest::of(b"a part").to_string();
    assert_eq!(audit.evidence_hashes, [("case".to_owned(), hash)].into());
}

#[test]
fn a_judge_of_the_host_is_held_to_what_predicates_can_be_given() {
    struct Says(JudgeReply);
    impl CheapJudge for Says {
        fn judge(&self, _: &JudgeRequest, _: &CancelToken) -> Result<JudgeReply, BlockError> {
            Ok(self.0.clone())
        }
    }
    let deep = (0..200).fold(json!([]), |inner, _| json!([inner]));
    for reply in [
        JudgeReply {
            verdict: Some("Maybe".into()),
            ..JudgeReply::default()
        },
        JudgeReply {
            findings: vec![deep],
            ..JudgeReply::default()
        },
    ] {
        let record = executed(Says(reply), &Asks::new("tested", "e"), None);
        assert_eq!(record.result.verdict.code(), Some("judge_invalid_reply"));
    }
}
