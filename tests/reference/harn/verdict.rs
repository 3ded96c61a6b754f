//! What the value of a predicate means. (flow.md, section 3.4.)

use super::failure::{Class, Failure};
use super::value::Value;

/// A verdict, the code of a block, and what is said with it.
pub(crate) struct Outcome {
    pub(crate) verdict: &'static str,
    pub(crate) code: Option<String>,
    pub(crate) text: Option<String>,
}

fn outcome(verdict: &'static str, text: Option<String>) -> Outcome {
    Outcome {
        verdict,
        code: None,
        text,
    }
}

fn block(code: &str, text: String) -> Outcome {
    Outcome {
        code: Some(code.into()),
        ..outcome("Block", Some(text))
    }
}

/// The outcome of a call, or of the file if that could not be loaded.
pub(super) fn outcome_of(result: Result<Value, Failure>, is_loaded: bool) -> Outcome {
    match result {
        Ok(value) => typed(&value).unwrap_or_else(|| canon(&value)),
        Err(failure) if failure.class == Class::Limit => block("budget_exceeded", failure.message),
        Err(failure) if is_loaded => block("predicate_runtime_error", failure.message),
        Err(failure) => block("predicate_load_error", failure.message),
    }
}

fn field<'v>(value: &'v Value, key: &str) -> Option<&'v Value> {
    match value {
        Value::Dict(entries) => entries.get(key),
        _ => None,
    }
}

fn text(value: &Value, key: &str) -> Option<String> {
    match field(value, key)? {
        Value::Str(text) => Some(text.to_string()),
        _ => None,
    }
}

/// The shape in which results are stored; `evidence` and `remediation` as far as the
/// suite has them.
fn typed(value: &Value) -> Option<Outcome> {
    match field(value, "confidence")? {
        Value::Int(_) => {}
        Value::Float(confidence) if confidence.is_finite() => {}
        _ => return None,
    }
    match field(value, "evidence") {
        None => {}
        Some(Value::List(items)) if items.iter().all(|item| matches!(item, Value::Dict(_))) => {}
        Some(_) => return None,
    }
    match field(value, "remediation") {
        None | Some(Value::Nil | Value::Dict(_)) => {}
        Some(_) => return None,
    }
    let verdict = field(value, "verdict")?;
    Some(match &*text(verdict, "kind")? {
        "allow" => outcome("Allow", None),
        "warn" => outcome("Warn", Some(text(verdict, "reason")?)),
        "block" => {
            let error = field(verdict, "error")?;
            block(&text(error, "code")?, text(error, "message")?)
        }
        "require_approval" => {
            let approver = field(verdict, "approver")?;
            let key = match &*text(approver, "kind")? {
                "principal" => "id",
                "role" => "name",
                _ => return None,
            };
            outcome("RequireApproval", Some(text(approver, key)?))
        }
        _ => return None,
    })
}

/// The shape that packs use.
fn canon(value: &Value) -> Outcome {
    let rule = text(value, "rule").unwrap_or_else(|| "invariant".into());
    let said = text(value, "remediation").filter(|said| !said.is_empty());
    match text(value, "verdict").as_deref() {
        Some("Allow" | "allow") => outcome("Allow", None),
        Some("Warn" | "warn") => outcome("Warn", Some(said.unwrap_or(rule))),
        Some("Block" | "block") => {
            let count = match field(value, "findings") {
                Some(Value::List(findings)) => findings.len(),
                _ => 0,
            };
            let counted = format!("{rule} found {count} finding(s)");
            block(&rule, said.unwrap_or(counted))
        }
        _ => block("invalid_predicate_result", "this is no verdict".into()),
    }
}
