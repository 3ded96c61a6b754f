//! How much an agent is told.

use serde_json::Value as Json;

use super::{FeedbackError, type_name};

/// What is told of a report, and how much of it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "they are the options of flow.md, section 10.4"
)]
pub struct FeedbackOptions {
    /// Whether the findings of a record are named; they are.
    pub include_findings: bool,
    /// Whether predicates that allow are named; they are not.
    pub include_allow: bool,
    /// Whether predicates that were not run are named; they are not.
    pub include_skipped: bool,
    /// Whether nothing is said where nothing needs attention; nothing is.
    pub empty_if_clear: bool,
    /// Findings of one record that are named, 3.
    pub max_findings_per_item: usize,
    /// Items that are named, 8.
    pub max_items: usize,
    /// Characters of one text, 240.
    pub max_message_chars: usize,
}

/// No more of any of them, whatever is asked for.
const MOST_FINDINGS: usize = 20;
const MOST_ITEMS: usize = 50;
const MOST_CHARS: usize = 2000;

impl Default for FeedbackOptions {
    fn default() -> Self {
        Self {
            include_findings: true,
            include_allow: false,
            include_skipped: false,
            empty_if_clear: true,
            max_findings_per_item: 3,
            max_items: 8,
            max_message_chars: 240,
        }
    }
}

impl FeedbackOptions {
    /// Reads a dict with some of the fields; nil is the default. Counts are clamped to 20
    /// findings, 50 items and 2000 characters.
    ///
    /// # Errors
    /// [`FeedbackError::Options`] if a key is not known, a value is of another type, or a
    /// count is not above 0.
    pub fn from_json(json: &Json) -> Result<Self, FeedbackError> {
        let mut options = Self::default();
        let fields = match json {
            Json::Null => return Ok(options),
            Json::Object(fields) => fields,
            other => {
                let got = type_name(other);
                let message = format!("wants a dict as its options and got {got}");
                return Err(FeedbackError::Options(message));
            }
        };
        for (key, value) in fields {
            let flag = |flag: &mut bool| read_flag(flag, key, value);
            let count = |count: &mut usize, most| read_count(count, most, key, value);
            match key.as_str() {
                "include_findings" => flag(&mut options.include_findings)?,
                "include_allow" => flag(&mut options.include_allow)?,
                "include_skipped" => flag(&mut options.include_skipped)?,
                "empty_if_clear" => flag(&mut options.empty_if_clear)?,
                "max_findings_per_item" => {
                    count(&mut options.max_findings_per_item, MOST_FINDINGS)?;
                }
                "max_items" => count(&mut options.max_items, MOST_ITEMS)?,
                "max_message_chars" => count(&mut options.max_message_chars, MOST_CHARS)?,
                other => {
                    let shown: String = other.chars().take(60).collect();
                    let message = format!("knows no option `{shown}`");
                    return Err(FeedbackError::Options(message));
                }
            }
        }
        Ok(options)
    }
}

fn read_flag(flag: &mut bool, key: &str, value: &Json) -> Result<(), FeedbackError> {
    match value {
        Json::Null => {}
        Json::Bool(value) => *flag = *value,
        other => {
            let got = type_name(other);
            let message = format!("wants a bool as `{key}` and got {got}");
            return Err(FeedbackError::Options(message));
        }
    }
    Ok(())
}

fn read_count(
    count: &mut usize,
    most: usize,
    key: &str,
    value: &Json,
) -> Result<(), FeedbackError> {
    if value.is_null() {
        return Ok(());
    }
    let Some(given) = value.as_u64().filter(|given| *given > 0) else {
        let message = format!("wants an int above 0 as `{key}`");
        return Err(FeedbackError::Options(message));
    };
    *count = usize::try_from(given).unwrap_or(most).min(most);
    Ok(())
}
