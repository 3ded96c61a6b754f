//! INV-08: a claim of form `predicate` carries an executable expression.

use serde_json::Value;

use crate::elench::ParseError;
use crate::elench::parse::parse_as;
use crate::language::{Language, UnknownLanguage};

/// Why a claim record breaks INV-08. The names are those of the elench
/// validator.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ValidationError {
    /// Form `predicate` and no expression, or an empty source.
    #[error("the claim's form is `predicate` and it has no expression")]
    PredicateWithoutExpression,
    /// A field is missing or has another type.
    #[error("the claim does not fit the schema: {0}")]
    SchemaViolation(String),
    /// The language is not known.
    #[error(transparent)]
    UnknownLanguage(#[from] UnknownLanguage),
    /// The source is no predicate.
    #[error("the predicate is invalid: {0}")]
    PredicateParseError(#[from] ParseError),
}

/// Checks a claim record against INV-08. Annotations are valid: they assert
/// nothing executable.
///
/// # Errors
/// [`ValidationError`] if the claim is a predicate that cannot be executed.
///
/// ```
/// use probity::elench::{ValidationError, validate_claim};
///
/// let claim = serde_json::json!({"assertion": {"form": "predicate"}});
/// assert_eq!(validate_claim(&claim), Err(ValidationError::PredicateWithoutExpression));
/// ```
pub fn validate_claim(claim: &Value) -> Result<(), ValidationError> {
    let violation = |text: &str| ValidationError::SchemaViolation(text.to_owned());
    let assertion = claim
        .get("assertion")
        .and_then(Value::as_object)
        .ok_or_else(|| violation("`assertion` is not an object"))?;
    match assertion.get("form").and_then(Value::as_str) {
        Some("annotation") => return Ok(()),
        Some("predicate") => {}
        _ => {
            return Err(violation(
                "`assertion.form` is neither `predicate` nor `annotation`",
            ));
        }
    }
    let expression = match assertion.get("expression") {
        None | Some(Value::Null) => return Err(ValidationError::PredicateWithoutExpression),
        Some(expression) => expression,
    };
    let source = match expression.get("source") {
        None | Some(Value::Null) => return Err(ValidationError::PredicateWithoutExpression),
        Some(Value::String(source)) if source.is_empty() => {
            return Err(ValidationError::PredicateWithoutExpression);
        }
        Some(Value::String(source)) => source,
        Some(_) => return Err(violation("`assertion.expression.source` is not a string")),
    };
    let language: Language = expression
        .get("language")
        .and_then(Value::as_str)
        .ok_or_else(|| violation("`assertion.expression.language` is not a string"))?
        .parse()?;
    parse_as(language, source)?;
    Ok(())
}
