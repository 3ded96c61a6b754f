//! The one cheap call of a semantic predicate. (flow.md, section 4.3.)

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

use crate::budget::CancelToken;
use crate::digest::Digest;
use crate::flow::result::BlockError;

use super::reply::JudgeReply;
use super::runner::RunnerKind;

/// A longer request is not made, in bytes of the prompt and the evidence.
pub const MAX_JUDGE_REQUEST_BYTES: usize = 1 << 20;

/// What a judge is asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JudgeRequest {
    /// The question.
    pub prompt: String,
    /// Which evidence it is about.
    pub evidence_key: String,
    /// The evidence, which was there before the predicate ran.
    pub evidence: String,
    /// The name of the predicate that asks. It is no part of the question.
    #[serde(skip)]
    pub predicate: String,
}

/// Answers semantic predicates.
pub trait CheapJudge: Send + Sync {
    /// Answers a request, until the token says to stop.
    ///
    /// # Errors
    /// Why there is no answer; it blocks the predicate.
    fn judge(&self, request: &JudgeRequest, cancel: &CancelToken)
    -> Result<JudgeReply, BlockError>;
}

/// How a judge came to its answer, for audits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SemanticReplayAudit {
    /// Who provided it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider_id: Option<String>,
    /// Which model it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_id: Option<String>,
    /// `sha256:` and the digest of the prompt.
    pub prompt_hash: String,
    /// The same of all evidence, by key.
    pub evidence_hashes: BTreeMap<String, String>,
    /// The most tokens.
    pub token_cap: u64,
    /// The version of the judge.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cheap_judge_version: Option<String>,
}

/// Lets a predicate ask its judge once. What fails stays failed, whatever the predicate
/// makes of it.
#[derive(Clone)]
pub struct JudgeGate(Arc<Gate>);

struct Gate {
    predicate: Box<str>,
    kind: RunnerKind,
    evidence: Arc<BTreeMap<String, String>>,
    judge: Option<Arc<dyn CheapJudge>>,
    cap: u64,
    cancel: CancelToken,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    was_called: bool,
    tokens: u64,
    failure: Option<BlockError>,
    audit: Option<SemanticReplayAudit>,
}

impl JudgeGate {
    pub(super) fn new(
        predicate: &str,
        kind: RunnerKind,
        evidence: Arc<BTreeMap<String, String>>,
        judge: Option<Arc<dyn CheapJudge>>,
        cap: u64,
        cancel: CancelToken,
    ) -> Self {
        Self(Arc::new(Gate {
            predicate: predicate.into(),
            kind,
            evidence,
            judge,
            cap,
            cancel,
            state: Mutex::default(),
        }))
    }

    /// Asks the judge about evidence that was there before.
    ///
    /// # Errors
    /// The block that the predicate then comes to, even if it goes on.
    pub fn ask(&self, prompt: &str, evidence_key: &str) -> Result<JudgeReply, BlockError> {
        let evidence = self.0.evidence.get(evidence_key);
        self.ask_with(prompt, evidence_key, evidence.map(String::as_str))
    }

    /// Asks the judge about evidence that the host vouches for; `None` is evidence that is
    /// not there.
    ///
    /// # Errors
    /// As [`JudgeGate::ask`].
    pub fn ask_with(
        &self,
        prompt: &str,
        evidence_key: &str,
        evidence: Option<&str>,
    ) -> Result<JudgeReply, BlockError> {
        let answer = self.try_ask(prompt, evidence_key, evidence);
        answer.inspect_err(|failure| {
            self.state().failure = Some(failure.clone());
        })
    }

    fn try_ask(
        &self,
        prompt: &str,
        evidence_key: &str,
        evidence: Option<&str>,
    ) -> Result<JudgeReply, BlockError> {
        let gate = &*self.0;
        let failed = |code: &str, message: String| BlockError {
            code: code.into(),
            message,
        };
        if gate.kind != RunnerKind::Semantic {
            let message = "only a semantic predicate may ask a judge".into();
            return Err(failed("side_effect_denied", message));
        }
        let Some(evidence) = evidence else {
            let message = format!("there is no evidence `{evidence_key}`");
            return Err(failed("evidence_missing", message));
        };
        let over = || {
            let message = format!("the judge may use {} tokens", gate.cap);
            failed("budget_exceeded", message)
        };
        let judge = {
            let mut state = self.state();
            if state.was_called {
                let message = "a predicate may ask its judge once".into();
                return Err(failed("budget_exceeded", message));
            }
            let asked = words(prompt).saturating_add(words(evidence));
            if state.tokens.saturating_add(asked) > gate.cap {
                return Err(over());
            }
            // Words do not bound bytes.
            let bytes = prompt.len().saturating_add(evidence.len());
            if bytes > MAX_JUDGE_REQUEST_BYTES {
                let message = format!(
                    "the request has {bytes} bytes, and a judge is asked with at most {MAX_JUDGE_REQUEST_BYTES}"
                );
                return Err(failed("budget_exceeded", message));
            }
            state.was_called = true;
            state.tokens += asked;
            gate.judge.clone()
        };
        let Some(judge) = judge else {
            let message = "no judge is installed".into();
            return Err(failed("llm_unavailable", message));
        };
        let request = JudgeRequest {
            prompt: prompt.into(),
            evidence_key: evidence_key.into(),
            evidence: evidence.into(),
            predicate: gate.predicate.to_string(),
        };
        let reply = judge.judge(&request, &gate.cancel)?;
        let mut state = self.state();
        let hash = |text: &str| Digest::of(text.as_bytes()).to_string();
        let mut hashes: BTreeMap<String, String> = gate
            .evidence
            .iter()
            .map(|(key, text)| (key.clone(), hash(text)))
            .collect();
        // What was shown counts, also where the host showed something else.
        hashes.insert(request.evidence_key, hash(&request.evidence));
        state.audit = Some(SemanticReplayAudit {
            provider_id: reply.provider_id.clone(),
            model_id: reply.model_id.clone(),
            prompt_hash: hash(&request.prompt),
            evidence_hashes: hashes,
            token_cap: gate.cap,
            cheap_judge_version: reply.cheap_judge_version.clone(),
        });
        if let Err(problem) = reply.check() {
            let message = format!("what the judge said is no reply: {problem}");
            return Err(failed("judge_invalid_reply", message));
        }
        // What was counted in words before is counted by the judge now.
        let used = reply.input_tokens.saturating_add(reply.output_tokens);
        if used > gate.cap {
            return Err(over());
        }
        state.tokens = used;
        Ok(reply)
    }

    /// What failed last, and how the judge came to its answer.
    pub(super) fn outcome(&self) -> (Option<BlockError>, Option<SemanticReplayAudit>) {
        let state = self.state();
        (state.failure.clone(), state.audit.clone())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Tokens of a text, counted as words.
fn words(text: &str) -> u64 {
    (text.split_whitespace().count() as u64).max(1)
}
