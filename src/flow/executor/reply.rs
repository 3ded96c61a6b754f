//! What a judge says. (flow.md, section 4.3.)

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json, json};

/// The words of a verdict.
const WORDS: [&str; 3] = ["Allow", "Warn", "Block"];

/// A reply is nested no deeper, as values of predicates are.
const MAX_DEPTH: usize = 128;

/// What a judge says. The executor does not interpret `passes` or `verdict`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Json")]
pub struct JudgeReply {
    /// Whether it holds.
    pub passes: bool,
    /// `Allow`, `Warn` or `Block`. Without one, predicates get what `passes` says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<String>,
    /// What it found, for predicates that want to hand it on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Json>,
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Tokens that it read.
    pub input_tokens: u64,
    /// Tokens that it wrote.
    pub output_tokens: u64,
    /// Who provides it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider_id: Option<String>,
    /// Which model it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_id: Option<String>,
    /// Its version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cheap_judge_version: Option<String>,
}

impl JudgeReply {
    /// Reads an object with `passes`, with `verdict` or with both; either says the other
    /// where that is missing. Fields that are not known are ignored.
    ///
    /// # Errors
    /// Which field is missing, or is not what it should be.
    pub fn from_json(json: &Json) -> Result<Self, String> {
        let Json::Object(fields) = json else {
            return Err(format!("{} is no object", shape(json)));
        };
        let verdict = text(fields, "verdict")?;
        let passes = match (fields.get("passes"), verdict.as_deref()) {
            (Some(Json::Bool(passes)), _) => *passes,
            (Some(other), _) => return Err(wrong("passes", other, "true or false")),
            (None, Some(verdict)) => verdict == "Allow",
            (None, None) => return Err("it has neither `passes` nor `verdict`".into()),
        };
        let findings = match fields.get("findings") {
            None => Vec::new(),
            Some(findings @ Json::Array(items)) => {
                // Before they are copied, which goes as deep as they are.
                check_depth(findings)?;
                items.clone()
            }
            Some(other) => return Err(wrong("findings", other, "a list")),
        };
        let reply = Self {
            passes,
            verdict: Some(verdict.unwrap_or_else(|| word(passes).into())),
            findings,
            reason: text(fields, "reason")?,
            input_tokens: count(fields, "input_tokens")?,
            output_tokens: count(fields, "output_tokens")?,
            provider_id: text(fields, "provider_id")?,
            model_id: text(fields, "model_id")?,
            cheap_judge_version: text(fields, "cheap_judge_version")?,
        };
        reply.check()?;
        Ok(reply)
    }

    /// What predicates get: `passes`, `verdict` and `findings`, and `reason` if there is
    /// one.
    #[must_use]
    pub fn to_json(&self) -> Json {
        let verdict = self.verdict.as_deref();
        let mut fields = Map::new();
        fields.insert("passes".into(), self.passes.into());
        fields.insert(
            "verdict".into(),
            verdict.unwrap_or_else(|| word(self.passes)).into(),
        );
        fields.insert("findings".into(), json!(self.findings));
        if let Some(reason) = &self.reason {
            fields.insert("reason".into(), reason.as_str().into());
        }
        fields.into()
    }

    /// Whether it is one that predicates can be given, whoever made it.
    pub(super) fn check(&self) -> Result<(), String> {
        if let Some(verdict) = &self.verdict
            && !WORDS.contains(&&**verdict)
        {
            let shown: String = verdict.chars().take(40).collect();
            return Err(format!(
                "`verdict` is {shown:?}, not `Allow`, `Warn` or `Block`"
            ));
        }
        // They lie in a list of an object.
        let fits = self.findings.iter().all(|item| fits(item, MAX_DEPTH - 2));
        fits.then_some(()).ok_or_else(too_deep)
    }
}

impl TryFrom<Json> for JudgeReply {
    type Error = String;

    fn try_from(json: Json) -> Result<Self, String> {
        Self::from_json(&json)
    }
}

const fn word(passes: bool) -> &'static str {
    if passes { "Allow" } else { "Block" }
}

fn text(fields: &Map<String, Json>, name: &str) -> Result<Option<String>, String> {
    match fields.get(name) {
        None | Some(Json::Null) => Ok(None),
        Some(Json::String(text)) => Ok(Some(text.clone())),
        Some(other) => Err(wrong(name, other, "a text")),
    }
}

fn count(fields: &Map<String, Json>, name: &str) -> Result<u64, String> {
    let Some(value) = fields.get(name) else {
        return Ok(0);
    };
    let count = value.as_u64();
    count.ok_or_else(|| wrong(name, value, "a whole number from 0 on"))
}

fn wrong(name: &str, found: &Json, wanted: &str) -> String {
    format!("`{name}` is {}, not {wanted}", shape(found))
}

const fn shape(json: &Json) -> &'static str {
    match json {
        Json::Null => "null",
        Json::Bool(_) => "true or false",
        Json::Number(_) => "a number",
        Json::String(_) => "a text",
        Json::Array(_) => "a list",
        Json::Object(_) => "an object",
    }
}

fn check_depth(findings: &Json) -> Result<(), String> {
    fits(findings, MAX_DEPTH - 1)
        .then_some(())
        .ok_or_else(too_deep)
}

fn too_deep() -> String {
    format!("`findings` is nested deeper than {MAX_DEPTH} levels")
}

/// Whether lists and objects are nested no deeper. It looks no deeper than that.
fn fits(json: &Json, levels: usize) -> bool {
    let Some(below) = levels.checked_sub(1) else {
        return !(json.is_array() || json.is_object());
    };
    match json {
        Json::Array(items) => items.iter().all(|item| fits(item, below)),
        Json::Object(fields) => fields.values().all(|value| fits(value, below)),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passes_and_verdict_say_each_other() {
        for (given, passes, verdict) in [
            (json!({"passes": true}), true, "Allow"),
            (json!({"passes": false}), false, "Block"),
            (json!({"verdict": "Allow"}), true, "Allow"),
            (json!({"verdict": "Warn"}), false, "Warn"),
            (json!({"verdict": "Block"}), false, "Block"),
            (json!({"passes": true, "verdict": "Warn"}), true, "Warn"),
            (json!({"passes": true, "verdict": null}), true, "Allow"),
        ] {
            let reply = JudgeReply::from_json(&given).unwrap();
            let got = json!({"passes": passes, "verdict": verdict, "findings": []});
            assert_eq!(reply.to_json(), got, "{given}");
        }
        let silent = JudgeReply::default().to_json();
        assert_eq!(
            silent,
            json!({"passes": false, "verdict": "Block", "findings": []})
        );
    }

    #[test]
    fn all_fields_are_read_and_written() {
        let given = json!({
            "passes": false, "verdict": "Warn", "findings": [{"path": "a", "line": 3}, "b"],
            "reason": "why", "input_tokens": 7, "output_tokens": 8, "provider_id": "p",
            "model_id": "m", "cheap_judge_version": "v", "unknown": [1],
        });
        let reply = JudgeReply::from_json(&given).unwrap();
        assert_eq!((reply.input_tokens, reply.output_tokens), (7, 8));
        assert_eq!(reply.model_id.as_deref(), Some("m"));
        let mut written = given;
        written.as_object_mut().unwrap().remove("unknown");
        assert_eq!(serde_json::to_value(&reply).unwrap(), written);
        assert_eq!(
            serde_json::from_value::<JudgeReply>(written).unwrap(),
            reply
        );
        let got = json!({
            "passes": false, "verdict": "Warn", "findings": [{"path": "a", "line": 3}, "b"],
            "reason": "why",
        });
        assert_eq!(reply.to_json(), got);
        let bare = serde_json::to_value(JudgeReply::default()).unwrap();
        assert_eq!(
            bare,
            json!({"passes": false, "input_tokens": 0, "output_tokens": 0})
        );
    }

    #[test]
    fn what_is_no_reply_is_an_error_that_names_the_field() {
        for (given, named) in [
            (json!([]), "a list is no object"),
            (json!("Allow"), "a text is no object"),
            (json!({}), "neither `passes` nor `verdict`"),
            (json!({"verdict": null}), "neither"),
            (json!({"passes": 1}), "`passes` is a number"),
            (json!({"passes": null, "verdict": "Allow"}), "`passes`"),
            (json!({"verdict": true}), "`verdict`"),
            (json!({"verdict": "allow"}), "`verdict` is \"allow\""),
            (json!({"passes": true, "findings": {}}), "`findings`"),
            (json!({"passes": true, "findings": null}), "`findings`"),
            (json!({"passes": true, "reason": 1}), "`reason`"),
            (
                json!({"passes": true, "input_tokens": -1}),
                "`input_tokens`",
            ),
            (
                json!({"passes": true, "output_tokens": 1.5}),
                "`output_tokens`",
            ),
            (json!({"passes": true, "provider_id": []}), "`provider_id`"),
            (json!({"passes": true, "model_id": 1}), "`model_id`"),
            (
                json!({"passes": true, "cheap_judge_version": 2}),
                "`cheap_judge_version`",
            ),
        ] {
            let error = JudgeReply::from_json(&given).unwrap_err();
            assert!(error.contains(named), "{given}: {error}");
        }
    }

    #[test]
    fn findings_are_nested_no_deeper_than_values() {
        let nested = |levels: usize| {
            let findings = (1..levels).fold(json!([]), |inner, _| json!([inner]));
            json!({"passes": true, "findings": findings})
        };
        // One of the levels is that of the reply.
        assert!(JudgeReply::from_json(&nested(MAX_DEPTH - 1)).is_ok());
        let deep = nested(MAX_DEPTH);
        assert!(JudgeReply::from_json(&deep).unwrap_err().contains("128"));
        let made = JudgeReply {
            findings: deep["findings"].as_array().unwrap().clone(),
            ..JudgeReply::default()
        };
        assert!(made.check().is_err());
    }
}
