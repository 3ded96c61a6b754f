//! What an agent is told of a report: short lines about what needs attention.
//! (flow.md, section 10.4.)

mod line;
mod options;

use serde_json::Value as Json;

pub use options::FeedbackOptions;

/// Feedback that cannot be given.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum FeedbackError {
    /// An option is not known, or is something else than it has to be.
    #[error("{0}")]
    Options(String),
    /// What should be a report is none.
    #[error("{0}")]
    Report(String),
}

/// Tells an agent what of a report needs its attention, with options as of
/// [`FeedbackOptions::from_json`]. It is pure, takes time in proportion to the report, and
/// looks at no part of it that it does not tell of.
///
/// ```
/// use probity::flow::flow_invariant_feedback;
/// use serde_json::json;
///
/// let report = json!({"records": [{
///     "name": "no_unwrap",
///     "result": {"verdict": {"kind": "warn", "reason": "it unwraps"}, "confidence": 1.0},
///     "raw_result": {"findings": [{"path": "a.rs", "line": 3}]},
/// }]});
/// assert_eq!(
///     flow_invariant_feedback(&report, &json!({}))?,
///     "Flow invariants need attention:\n- Warn no_unwrap: it unwraps Findings: a.rs:3"
/// );
/// # Ok::<(), probity::flow::FeedbackError>(())
/// ```
///
/// # Errors
/// [`FeedbackError`] for options that are not known or of another type, and for a report
/// whose lists are none, or hold something else than dicts.
pub fn flow_invariant_feedback(report: &Json, options: &Json) -> Result<String, FeedbackError> {
    FeedbackOptions::from_json(options)?.feedback(report)
}

impl FeedbackOptions {
    /// What of a report needs attention.
    ///
    /// # Errors
    /// [`FeedbackError::Report`] if it is no report.
    pub fn feedback(&self, report: &Json) -> Result<String, FeedbackError> {
        if !report.is_object() {
            let got = type_name(report);
            let message = format!("wants a dict as its report and got {got}");
            return Err(FeedbackError::Report(message));
        }
        let is_discovery_error = report.get("status").and_then(Json::as_str);
        let with_warnings = is_discovery_error == Some("discovery_error");
        let diagnostics = items(report, "diagnostics")?.iter();
        let records = items(report, "records")?.iter();
        let skipped = items(report, "skipped")?.iter();
        let told = diagnostics
            .filter_map(|it| self.diagnostic(it, with_warnings))
            .chain(records.filter_map(|it| self.record(it)))
            .chain(skipped.filter_map(|it| self.skip(it)));
        let mut lines = vec!["Flow invariants need attention:".to_owned()];
        let mut more = 0_usize;
        for line in told {
            match lines.len() <= self.max_items {
                true => lines.push(line),
                false => more += 1,
            }
        }
        if more > 0 {
            lines.push(format!("- {more} more item(s) omitted."));
        }
        if lines.len() > 1 {
            return Ok(lines.join("\n"));
        }
        // Whatever it does not say, such a report is no reason to go on.
        if report.get("ok") == Some(&Json::Bool(false)) {
            lines.push("- Diagnostic error: the report is not ok and does not say why".into());
            return Ok(lines.join("\n"));
        }
        Ok(match self.empty_if_clear {
            true => String::new(),
            false => "Flow invariants passed.".into(),
        })
    }
}

/// A list of a report, which need not be there.
fn items<'r>(report: &'r Json, key: &str) -> Result<&'r [Json], FeedbackError> {
    let items = match report.get(key) {
        None | Some(Json::Null) => return Ok(&[]),
        Some(Json::Array(items)) => items,
        Some(other) => {
            let got = type_name(other);
            let message = format!("wants a list as `{key}` of its report and got {got}");
            return Err(FeedbackError::Report(message));
        }
    };
    let wrong = items.iter().enumerate().find(|(_, it)| !it.is_object());
    if let Some((at, item)) = wrong {
        let got = type_name(item);
        let message = format!("wants a dict as `{key}[{at}]` of its report and got {got}");
        return Err(FeedbackError::Report(message));
    }
    Ok(items)
}

/// What a value is called in messages.
const fn type_name(value: &Json) -> &'static str {
    match value {
        Json::Null => "nil",
        Json::Bool(_) => "a bool",
        Json::Number(_) => "a number",
        Json::String(_) => "a string",
        Json::Array(_) => "a list",
        Json::Object(_) => "a dict",
    }
}
