//! What a predicate comes to, in one of two shapes. (flow.md, section 3.)

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::digest::Digest;
use crate::flow::model::{Evidence, Remediation};
use crate::harn::Value;

/// A result as it is recorded. The order of the fields is that of its hash.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InvariantResult {
    /// The verdict.
    pub verdict: Verdict,
    /// What it rests on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<Evidence>,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remediation: Option<Remediation>,
    /// How sure it is, from 0 to 1.
    pub confidence: f64,
}

/// A verdict. The later ones are stricter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Verdict {
    /// Nothing is wrong.
    Allow,
    /// A person should look.
    Warn {
        /// Why.
        reason: String,
    },
    /// Somebody has to approve.
    RequireApproval {
        /// Who.
        approver: Approver,
    },
    /// It must not ship.
    Block {
        /// Why.
        error: BlockError,
    },
}

/// Why something is blocked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockError {
    /// A stable code.
    pub code: String,
    /// For people.
    pub message: String,
}

/// Who has to approve.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Approver {
    /// One person or agent.
    Principal {
        /// Which.
        id: String,
    },
    /// Anyone with a role.
    Role {
        /// Which.
        name: String,
    },
}

impl Verdict {
    /// The word that packs use.
    #[must_use]
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Allow => "Allow",
            Self::Warn { .. } => "Warn",
            Self::RequireApproval { .. } => "RequireApproval",
            Self::Block { .. } => "Block",
        }
    }

    /// How strict it is, from 0 on: allow, warn, require approval, block.
    #[must_use]
    pub const fn strictness(&self) -> u8 {
        match self {
            Self::Allow => 0,
            Self::Warn { .. } => 1,
            Self::RequireApproval { .. } => 2,
            Self::Block { .. } => 3,
        }
    }

    /// The stable code, if it blocks.
    #[must_use]
    pub fn code(&self) -> Option<&str> {
        match self {
            Self::Block { error } => Some(&error.code),
            _ => None,
        }
    }
}

impl InvariantResult {
    fn of(verdict: Verdict) -> Self {
        Self {
            verdict,
            evidence: Vec::new(),
            remediation: None,
            confidence: 1.0,
        }
    }

    /// A result that blocks.
    #[must_use]
    pub fn block(code: &str, message: impl Into<String>) -> Self {
        Self::of(Verdict::Block {
            error: BlockError {
                code: code.into(),
                message: message.into(),
            },
        })
    }

    /// The SHA-256 of its compact JSON, in hex. (flow.md, section 3.2.)
    ///
    /// # Errors
    /// Why it cannot be written as JSON.
    pub fn hash(&self) -> Result<String, String> {
        let text = serde_json::to_vec(self).map_err(|error| error.to_string())?;
        Ok(Digest::of(&text).hex().to_string())
    }

    /// What a predicate's value means. What means nothing blocks.
    #[must_use]
    pub fn normalise(value: &Value, json: &Json) -> Self {
        // Packs give a word, which no typed result has.
        let has_word = json.get("verdict").is_some_and(Json::is_string);
        if !has_word
            && let Ok(typed) = Self::deserialize(json)
            && serde_json::to_value(&typed).is_ok_and(|read| is_read_from(&read, value))
        {
            return typed;
        }
        let invalid = |message: String| Self::block("invalid_predicate_result", message);
        if !matches!(value, Value::Dict(_)) {
            let message = format!("the predicate returned {}, not a dict", value.type_name());
            return invalid(message);
        }
        let Some(word) = value.get("verdict").and_then(Value::as_str) else {
            return invalid("the result has no `verdict` that is a string".into());
        };
        let text = |key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default();
        let rule = match text("rule") {
            "" => "invariant",
            rule => rule,
        };
        let remediation = text("remediation");
        Self::of(match word {
            "Allow" | "allow" => Verdict::Allow,
            "Warn" | "warn" => Verdict::Warn {
                reason: if remediation.is_empty() {
                    rule
                } else {
                    remediation
                }
                .into(),
            },
            "Block" | "block" => {
                let findings = value.get("findings").and_then(Value::as_items);
                let count = findings.map_or(0, <[Value]>::len);
                let message = match remediation {
                    "" => format!("{rule} found {count} finding(s)"),
                    remediation => remediation.to_owned(),
                };
                return Self::block(rule, message);
            }
            other => return invalid(format!("`{other}` is no verdict")),
        })
    }
}

/// Whether what was read stands in the value as what it is. Lists are read as structures
/// too, and functions are texts in JSON: neither is a result.
fn is_read_from(read: &Json, value: &Value) -> bool {
    match (read, value) {
        (Json::Object(fields), Value::Dict(_)) => fields.iter().all(|(key, field)| {
            // What is not there has its default.
            let given = value.get(key);
            given.is_none_or(|given| is_read_from(field, given))
        }),
        (Json::Array(items), Value::List(list)) => {
            let mut pairs = items.iter().zip(list.items());
            pairs.all(|(item, given)| is_read_from(item, given))
        }
        (Json::Null, Value::Nil)
        | (Json::Bool(_), Value::Bool(_))
        | (Json::Number(_), Value::Int(_) | Value::Float(_))
        | (Json::String(_), Value::Str(_)) => true,
        _ => false,
    }
}
