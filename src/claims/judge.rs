//! From the shape of a claim to a record, with everything that is wrong with it.

use std::borrow::Cow;

use crate::diagnostic::Code;
use crate::digest::Digest;
use crate::language::Language;

use super::field::{Field, Notes, Shape};
use super::parse::Options;
use super::record::{Body, Expression, Findings, Record, quoted};
use super::shape::{AssertionShape, ClaimShape, ExpressionShape};

/// Adds what was noted while a shape was read.
pub(super) fn judge_notes(notes: &Notes, findings: &mut Findings) {
    for path in &notes.doubled {
        let path = quoted(path);
        findings.error(Code::BadField, format!("{path} is given twice"));
    }
    for (snake, camel) in notes.snake.iter() {
        let message = format!("`{snake}` is lost by other readers of the log; write `{camel}`");
        findings.warning(Code::SnakeCaseKey, message);
    }
}

/// Judges a claim; `findings` holds what was found around it before.
pub(super) fn judge_claim<'a>(
    claim: ClaimShape<'a>,
    mut findings: Findings,
    options: &Options,
) -> Record<'a> {
    let mut record = Record::unreadable(Vec::new());
    record.id = optional(claim.id, "id", &mut findings);
    record.kind = optional(claim.kind, "kind", &mut findings);
    let body = required(claim.assertion, "assertion", &mut findings)
        .and_then(|assertion| judge_assertion(assertion, &mut record, &mut findings, options));
    if let Some(body) = body.filter(|_| !findings.has_error()) {
        record.body = body;
    }
    record.diagnostics = findings.0;
    record
}

fn judge_assertion<'a>(
    assertion: AssertionShape<'a>,
    record: &mut Record<'a>,
    findings: &mut Findings,
    options: &Options,
) -> Option<Body<'a>> {
    record.text = optional(assertion.text, "assertion.text", findings);
    let form = required(assertion.form, "assertion.form", findings)?;
    match &*form {
        "annotation" => Some(Body::Annotation),
        "predicate" => judge_predicate(assertion.expression, record, findings, options),
        other => {
            let other = quoted(other);
            findings.error(
                Code::BadField,
                format!("`assertion.form` is {other}; known are `predicate` and `annotation`"),
            );
            None
        }
    }
}

fn judge_predicate<'a>(
    expression: Field<ExpressionShape<'a>>,
    record: &mut Record<'a>,
    findings: &mut Findings,
    options: &Options,
) -> Option<Body<'a>> {
    if matches!(expression, Field::Absent | Field::Null) {
        findings.error_with_help(
            Code::ExpressionMissing,
            "`assertion.form` is `predicate` and there is no `assertion.expression` (INV-08)",
            "give the expression, or make the claim an annotation",
        );
    }
    let expression = optional(expression, "assertion.expression", findings)?;
    let language = judge_language(&expression.language, findings, options);
    record.language = expression.language.into_value();
    let source = required(expression.source, "assertion.expression.source", findings);
    let stated = optional(expression.digest, "assertion.expression.digest", findings);
    let source = source?;
    let digest = Digest::of(source.as_bytes());
    if let Some(stated) = stated.filter(|stated| stated.parse() != Ok(digest)) {
        let stated = quoted(&stated);
        findings.error_with_help(
            Code::DigestMismatch,
            format!("`assertion.expression.digest` is {stated}; the source has `{digest}`"),
            "the digest covers the exact bytes of the source: leave it out or correct it",
        );
    }
    language.map(|language| {
        Body::Predicate(Expression {
            language,
            source,
            digest,
        })
    })
}

fn judge_language(
    named: &Field<Cow<'_, str>>,
    findings: &mut Findings,
    options: &Options,
) -> Option<Language> {
    const PATH: &str = "assertion.expression.language";
    match named {
        Field::Value(named) => {
            let language = named.parse().ok();
            if language.is_none() {
                let [v1, v2] = Language::ALL.map(Language::name);
                let named = quoted(named);
                let message = format!("unknown language {named}: known are `{v1}` and `{v2}`");
                findings.error(Code::UnknownLanguage, message);
            }
            language
        }
        Field::Wrong(found) => {
            wrong_type::<Cow<'_, str>>(found, PATH, findings);
            None
        }
        Field::Absent | Field::Null => {
            if options.default_language.is_none() {
                findings.error_with_help(
                    Code::LanguageMissing,
                    format!("`{PATH}` is missing"),
                    format!("name the language, for example `{}`", Language::ElenchV1),
                );
            }
            options.default_language
        }
    }
}

/// The value of a field that may be absent or null; another type is an error.
fn optional<'a, T: Shape<'a>>(field: Field<T>, path: &str, findings: &mut Findings) -> Option<T> {
    if let Field::Wrong(found) = field {
        wrong_type::<T>(found, path, findings);
    }
    field.into_value()
}

/// The value of a field that must be there.
fn required<'a, T: Shape<'a>>(field: Field<T>, path: &str, findings: &mut Findings) -> Option<T> {
    match field {
        Field::Absent => findings.error(Code::BadField, format!("`{path}` is missing")),
        Field::Null => findings.error(Code::BadField, format!("`{path}` is null")),
        _ => return optional(field, path, findings),
    }
    None
}

fn wrong_type<'a, T: Shape<'a>>(found: &str, path: &str, findings: &mut Findings) {
    let message = format!("`{path}` is {found}; it must be {}", T::WANTED);
    findings.error(Code::BadField, message);
}
