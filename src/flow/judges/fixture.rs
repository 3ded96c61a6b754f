//! A judge whose answers were written down before, for tests and replays.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::budget::CancelToken;
use crate::digest::Digest;
use crate::files::read_text;
use crate::flow::executor::{CheapJudge, JudgeReply, JudgeRequest};
use crate::flow::result::BlockError;

/// Longer fixtures are not read, in bytes.
pub const MAX_JUDGE_FIXTURE_BYTES: u64 = 16 << 20;

/// Answers from a list: the first entry of which all given fields are those of the
/// request, and what is said otherwise if there is none. Without that it is
/// `llm_unavailable`.
///
/// ```
/// use probity::budget::CancelToken;
/// use probity::flow::executor::{CheapJudge, JudgeRequest};
/// use probity::flow::judges::FixtureJudge;
///
/// let judge = FixtureJudge::parse(
///     r#"{"replies": [{"predicate": "no_secrets", "reply": {"verdict": "Warn"}}]}"#,
/// )?;
/// let request = JudgeRequest {
///     predicate: "no_secrets".into(),
///     prompt: "is there a secret?".into(),
///     evidence_key: "files".into(),
///     evidence: "[]".into(),
/// };
/// let reply = judge.judge(&request, &CancelToken::new());
/// assert_eq!(reply.unwrap().verdict.as_deref(), Some("Warn"));
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FixtureJudge {
    replies: Vec<Entry>,
    otherwise: Option<JudgeReply>,
}

/// A fixture that cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FixtureJudgeError {
    /// The file cannot be read.
    #[error("cannot read the replies of a judge from `{}`: {source}", path.display())]
    Read {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The text is none, with the place.
    #[error("the replies of a judge in `{}` cannot be used: {reason}", path.display())]
    Invalid {
        /// Which.
        path: PathBuf,
        /// Where and why.
        reason: String,
    },
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    predicate: Option<String>,
    prompt: Option<String>,
    prompt_hash: Option<Hash>,
    evidence_key: Option<String>,
    evidence_hash: Option<Hash>,
    reply: JudgeReply,
}

/// `sha256:` and 64 hex digits.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
struct Hash(Digest);

impl TryFrom<String> for Hash {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let has_name = text.starts_with("sha256:");
        let digest = text.parse().ok().filter(|_| has_name);
        digest.map(Self).ok_or_else(|| {
            let shown: String = text.chars().take(80).collect();
            format!("{shown:?} is not `sha256:` and 64 hex digits")
        })
    }
}

impl FixtureJudge {
    /// Reads the text of a fixture: `{"replies": […], "otherwise": …}`. Each reply may have
    /// `predicate`, `prompt`, `prompt_hash`, `evidence_key` and `evidence_hash`, and has
    /// `reply`, which [`JudgeReply::from_json`] reads, as `otherwise`.
    ///
    /// # Errors
    /// Where it is no fixture, and why.
    pub fn parse(text: &str) -> Result<Self, String> {
        // Else a list would be read as the fields in their order.
        let start = text.trim_ascii_start();
        if !start.starts_with('{') {
            let line = text.lines().take_while(|line| line.trim_ascii().is_empty());
            let (is, line) = match start {
                "" => ("it is empty", 1),
                _ => ("an object with `replies` is wanted", line.count() + 1),
            };
            return Err(format!("{is} at line {line}"));
        }
        serde_json::from_str(text).map_err(|error| error.to_string())
    }

    /// Reads a fixture.
    ///
    /// # Errors
    /// [`FixtureJudgeError`] if the file cannot be read, is longer than
    /// [`MAX_JUDGE_FIXTURE_BYTES`] or is no fixture.
    pub fn read(path: &Path) -> Result<Self, FixtureJudgeError> {
        let text = read_text(path, MAX_JUDGE_FIXTURE_BYTES);
        let text = text.map_err(|source| FixtureJudgeError::Read {
            path: path.to_owned(),
            source,
        })?;
        Self::parse(&text).map_err(|reason| FixtureJudgeError::Invalid {
            path: path.to_owned(),
            reason,
        })
    }
}

impl Entry {
    fn matches(&self, request: &JudgeRequest, prompt: &Hash, evidence: &Hash) -> bool {
        let texts = [
            (&self.predicate, &request.predicate),
            (&self.prompt, &request.prompt),
            (&self.evidence_key, &request.evidence_key),
        ];
        let hashes = [(&self.prompt_hash, prompt), (&self.evidence_hash, evidence)];
        texts
            .iter()
            .all(|(wanted, is)| wanted.as_ref().is_none_or(|wanted| wanted == *is))
            && hashes
                .iter()
                .all(|(wanted, is)| wanted.as_ref().is_none_or(|wanted| wanted == *is))
    }
}

impl CheapJudge for FixtureJudge {
    fn judge(&self, request: &JudgeRequest, _: &CancelToken) -> Result<JudgeReply, BlockError> {
        let prompt = Hash(Digest::of(request.prompt.as_bytes()));
        let evidence = Hash(Digest::of(request.evidence.as_bytes()));
        let mut entries = self.replies.iter();
        let found = entries.find(|entry| entry.matches(request, &prompt, &evidence));
        let reply = found.map(|entry| &entry.reply);
        let reply = reply.or(self.otherwise.as_ref()).cloned();
        reply.ok_or_else(|| BlockError {
            code: "llm_unavailable".into(),
            message: format!(
                "no reply is written down for the predicate `{}` with the prompt {}",
                request.predicate, prompt.0
            ),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_fixture_is_an_error_with_its_place() {
        let hash = format!("sha256:{}", "0".repeat(63));
        for (text, named) in [
            (String::new(), "empty"),
            (" \n".into(), "empty"),
            ("[]".into(), "replies"),
            ("{}".into(), "replies"),
            ("{\"replies\": []".into(), "EOF"),
            ("{\"replies\": [], \"otherwhise\": {}}".into(), "otherwhise"),
            ("{\"replies\": [], \"otherwise\": {}}".into(), "neither"),
            ("{\"replies\": [{}]}".into(), "reply"),
            ("{\"replies\": [{\"reply\": true}]}".into(), "no object"),
            (
                "{\"replies\": [{\"reply\": {\"passes\": 1}}]}".into(),
                "passes",
            ),
            (
                "{\"replies\": [{\"promt\": \"\", \"reply\": {\"passes\": true}}]}".into(),
                "promt",
            ),
            (
                format!(
                    "{{\"replies\": [{{\"prompt_hash\": \"{hash}\", \"reply\": {{\"passes\": true}}}}]}}"
                ),
                "64 hex digits",
            ),
            (
                format!("{{\"replies\": [{{\"reply\": {}", "[".repeat(200_000)),
                "recursion",
            ),
        ] {
            let error = FixtureJudge::parse(&text).unwrap_err();
            assert!(error.contains(named), "{text:.80}: {error}");
            assert!(error.contains("at line 1"), "{text:.80}: {error}");
        }
    }
}
