//! Functions that make the results of predicates, as dicts in the form in which they
//! are serialized. (flow.md, sections 3.1 and 3.3.)

use serde_json::Value as Json;

use crate::harn::builtins::Calls;
use crate::harn::builtins::args::Args;
use crate::harn::builtins::compare::text_cost;
use crate::harn::fault::Fault;
use crate::harn::feedback::{FeedbackError, flow_invariant_feedback};
use crate::harn::value::{Dict, Str, Value};

/// What a value takes besides its text, in bytes.
const ITEM: usize = 64;

/// The length of the id of an atom, in hex digits.
const ATOM_ID: usize = 64;

fn dict<const N: usize>(
    calls: &dyn Calls,
    pairs: [(&'static str, Value); N],
) -> Result<Value, Fault> {
    Ok(Value::Dict(Dict::from_pairs(pairs, calls.heap())?))
}

fn kind(calls: &dyn Calls, kind: &str) -> Result<(&'static str, Value), Fault> {
    Ok(("kind", Value::text(kind, calls.heap())?))
}

fn text(args: Args<'_>, at: usize, role: &str) -> Result<Value, Fault> {
    Ok(Value::Str(args.str(at, role)?.clone()))
}

/// A result of full confidence.
fn result(calls: &dyn Calls, verdict: Value) -> Result<Value, Fault> {
    dict(
        calls,
        [("verdict", verdict), ("confidence", Value::Float(1.0))],
    )
}

pub(super) fn allow(calls: &mut dyn Calls, _: &[Value]) -> Result<Value, Fault> {
    let verdict = dict(calls, [kind(calls, "allow")?])?;
    result(calls, verdict)
}

pub(super) fn warn(calls: &mut dyn Calls, args: &[Value]) -> Result<Value, Fault> {
    let reason = text(Args::of("flow_invariant_warn", args), 0, "reason")?;
    let verdict = dict(calls, [kind(calls, "warn")?, ("reason", reason)])?;
    result(calls, verdict)
}

pub(super) fn block(calls: &mut dyn Calls, args: &[Value]) -> Result<Value, Fault> {
    let args = Args::of("flow_invariant_block", args);
    let (code, message) = (text(args, 0, "code")?, text(args, 1, "message")?);
    let error = dict(calls, [("code", code), ("message", message)])?;
    let verdict = dict(calls, [kind(calls, "block")?, ("error", error)])?;
    result(calls, verdict)
}

pub(super) fn require_approval(calls: &mut dyn Calls, args: &[Value]) -> Result<Value, Fault> {
    let args = Args::of("flow_invariant_require_approval", args);
    let (whom, id) = (args.str(0, "kind")?.as_str(), text(args, 1, "id")?);
    let name = match whom {
        "principal" => "id",
        "role" => "name",
        _ => return Err(args.fault("wants \"principal\" or \"role\" as its kind")),
    };
    let approver = dict(calls, [kind(calls, whom)?, (name, id)])?;
    let verdict = dict(
        calls,
        [kind(calls, "require_approval")?, ("approver", approver)],
    )?;
    result(calls, verdict)
}

/// Whether a dict has the fields of one of its kinds.
fn is_kind(value: &Value, kinds: &[(&str, &[Field])]) -> bool {
    let kind = value.get("kind").and_then(Value::as_str);
    let fields = kinds.iter().find(|(name, _)| kind == Some(name));
    fields.is_some_and(|(_, fields)| fields.iter().all(|field| field.is_in(value)))
}

type Field = (&'static str, What);

/// What a field of a result holds.
#[derive(Clone, Copy)]
enum What {
    Text,
    Atom,
    Span,
    Error,
    Approver,
}

trait IsIn {
    fn is_in(&self, value: &Value) -> bool;
}

impl IsIn for Field {
    fn is_in(&self, value: &Value) -> bool {
        let Some(field) = value.get(self.0) else {
            return false;
        };
        let has = |name| field.get(name).is_some_and(|text| text.as_str().is_some());
        match self.1 {
            What::Text => field.as_str().is_some(),
            What::Atom => field.as_str().is_some_and(is_atom),
            What::Span => match (field.get("start"), field.get("end")) {
                (Some(Value::Int(start)), Some(Value::Int(end))) => 0 <= *start && start <= end,
                _ => false,
            },
            What::Error => has("code") && has("message"),
            What::Approver => is_kind(
                field,
                &[
                    ("principal", &[("id", What::Text)]),
                    ("role", &[("name", What::Text)]),
                ],
            ),
        }
    }
}

fn is_atom(id: &str) -> bool {
    id.len() == ATOM_ID && id.bytes().all(|byte| byte.is_ascii_hexdigit())
}

const VERDICTS: [(&str, &[Field]); 4] = [
    ("allow", &[]),
    ("warn", &[("reason", What::Text)]),
    ("block", &[("error", What::Error)]),
    ("require_approval", &[("approver", What::Approver)]),
];

const EVIDENCE: [(&str, &[Field]); 4] = [
    (
        "atom_pointer",
        &[("atom", What::Atom), ("diff_span", What::Span)],
    ),
    (
        "metadata_path",
        &[
            ("directory", What::Text),
            ("namespace", What::Text),
            ("key", What::Text),
        ],
    ),
    (
        "transcript_excerpt",
        &[("transcript_id", What::Text), ("span", What::Span)],
    ),
    (
        "external_citation",
        &[
            ("url", What::Text),
            ("quote", What::Text),
            ("fetched_at", What::Text),
        ],
    ),
];

/// The first argument, which has to be a result that these functions made, and the
/// kind of its verdict.
fn typed(args: Args<'_>) -> Result<(&Dict, &str), Fault> {
    let result = args.dict(0, "result")?;
    let wrong = || args.fault("wants a result that `flow_invariant_…` made");
    let verdict = result.get("verdict").ok_or_else(wrong)?;
    let kind = verdict.get("kind").and_then(Value::as_str);
    match (kind, result.get("confidence")) {
        (Some(kind), Some(Value::Int(_) | Value::Float(_))) if is_kind(verdict, &VERDICTS) => {
            Ok((result, kind))
        }
        _ => Err(wrong()),
    }
}

fn with(calls: &dyn Calls, result: &Dict, key: &str, value: Value) -> Result<Value, Fault> {
    let mut result = result.clone();
    result.set(Str::new(key.into(), calls.heap())?, value)?;
    Ok(Value::Dict(result))
}

/// The evidence takes the place of what the result has.
pub(super) fn with_evidence(calls: &mut dyn Calls, args: &[Value]) -> Result<Value, Fault> {
    let args = Args::of("flow_with_evidence", args);
    let ((result, _), evidence) = (typed(args)?, args.list(1, "evidence")?);
    calls.pay(evidence.items().len().saturating_mul(8))?;
    let wrong = evidence
        .items()
        .iter()
        .position(|item| !is_kind(item, &EVIDENCE));
    if let Some(at) = wrong {
        let message =
            format_args!("wants evidence that `flow_evidence_…` made, and item {at} is none");
        return Err(args.fault(message));
    }
    with(calls, result, "evidence", Value::List(evidence.clone()))
}

pub(super) fn with_remediation(calls: &mut dyn Calls, args: &[Value]) -> Result<Value, Fault> {
    let args = Args::of("flow_with_remediation", args);
    let ((result, _), remediation) = (typed(args)?, args.dict(1, "remediation")?);
    let description = remediation.get("description").and_then(Value::as_str);
    if description.is_none() {
        return Err(args.fault("wants a remediation that has a description"));
    }
    with(
        calls,
        result,
        "remediation",
        Value::Dict(remediation.clone()),
    )
}

/// The confidence is clamped to what one can have.
pub(super) fn with_confidence(calls: &mut dyn Calls, args: &[Value]) -> Result<Value, Fault> {
    let args = Args::of("flow_with_confidence", args);
    let (result, _) = typed(args)?;
    let confidence = args.number(1, "confidence")?.as_f64();
    if confidence.is_nan() {
        return Err(args.fault("wants a confidence that is a number, and got NaN"));
    }
    let confidence = Value::Float(confidence.clamp(0.0, 1.0));
    with(calls, result, "confidence", confidence)
}

pub(super) fn remediation(calls: &mut dyn Calls, args: &[Value]) -> Result<Value, Fault> {
    let description = text(Args::of("flow_remediation", args), 0, "description")?;
    dict(calls, [("description", description)])
}

/// The part of a text or diff that two arguments bound.
fn span(calls: &dyn Calls, args: Args<'_>) -> Result<Value, Fault> {
    let (start, end) = (args.int(1, "start")?, args.int(2, "end")?);
    if start < 0 || end < start {
        return Err(args.fault(format_args!(
            "wants a start and an end that is not before it, and got {start} and {end}"
        )));
    }
    dict(
        calls,
        [("start", Value::Int(start)), ("end", Value::Int(end))],
    )
}

pub(super) fn evidence_atom(calls: &mut dyn Calls, args: &[Value]) -> Result<Value, Fault> {
    let args = Args::of("flow_evidence_atom", args);
    let id = args.str(0, "atom")?.as_str();
    if !is_atom(id) {
        return Err(args.fault(format_args!("wants {ATOM_ID} hex digits as its atom")));
    }
    let atom = Value::text(id.to_ascii_lowercase(), calls.heap())?;
    let span = span(calls, args)?;
    dict(
        calls,
        [
            kind(calls, "atom_pointer")?,
            ("atom", atom),
            ("diff_span", span),
        ],
    )
}

pub(super) fn evidence_metadata(calls: &mut dyn Calls, args: &[Value]) -> Result<Value, Fault> {
    let args = Args::of("flow_evidence_metadata", args);
    dict(
        calls,
        [
            kind(calls, "metadata_path")?,
            ("directory", text(args, 0, "directory")?),
            ("namespace", text(args, 1, "namespace")?),
            ("key", text(args, 2, "key")?),
        ],
    )
}

pub(super) fn evidence_transcript(calls: &mut dyn Calls, args: &[Value]) -> Result<Value, Fault> {
    let args = Args::of("flow_evidence_transcript", args);
    let transcript = text(args, 0, "transcript")?;
    let span = span(calls, args)?;
    dict(
        calls,
        [
            kind(calls, "transcript_excerpt")?,
            ("transcript_id", transcript),
            ("span", span),
        ],
    )
}

pub(super) fn evidence_citation(calls: &mut dyn Calls, args: &[Value]) -> Result<Value, Fault> {
    let args = Args::of("flow_evidence_citation", args);
    dict(
        calls,
        [
            kind(calls, "external_citation")?,
            ("url", text(args, 0, "URL")?),
            ("quote", text(args, 1, "quote")?),
            ("fetched_at", text(args, 2, "time")?),
        ],
    )
}

pub(super) fn invariant_kind(calls: &mut dyn Calls, args: &[Value]) -> Result<Value, Fault> {
    let (_, kind) = typed(Args::of("flow_invariant_kind", args))?;
    Value::text(kind, calls.heap())
}

pub(super) fn is_blocking(_: &mut dyn Calls, args: &[Value]) -> Result<Value, Fault> {
    let (_, kind) = typed(Args::of("flow_invariant_is_blocking", args))?;
    Ok(Value::Bool(kind == "block"))
}

pub(super) fn confidence(_: &mut dyn Calls, args: &[Value]) -> Result<Value, Fault> {
    let args = Args::of("flow_invariant_confidence", args);
    let (result, _) = typed(args)?;
    match result.get("confidence") {
        Some(Value::Int(value)) => Ok(Value::Float(*value as f64)),
        Some(Value::Float(value)) => Ok(Value::Float(*value)),
        _ => Err(args.wrong(0, "a result", "")),
    }
}

/// What an agent is told of a report. It is paid for by the size of the report, before
/// anything of it is copied.
pub(super) fn feedback(calls: &mut dyn Calls, args: &[Value]) -> Result<Value, Fault> {
    let args = Args::of("flow_invariant_feedback", args);
    let json = |calls: &mut dyn Calls, at: usize| {
        let Some(value) = args.given(at) else {
            return Ok(Json::Null);
        };
        calls.pay(value.weight() as usize)?;
        let bytes = size(value);
        calls.pay(text_cost(bytes))?;
        calls.heap().has_room(bytes)?;
        value.to_json()
    };
    let (report, options) = (json(calls, 0)?, json(calls, 1)?);
    let text = flow_invariant_feedback(&report, &options).map_err(|error| match error {
        FeedbackError::Options(message) | FeedbackError::Report(message) => args.fault(message),
    })?;
    Value::text(text, calls.heap())
}

/// About how many bytes a value takes as JSON.
fn size(value: &Value) -> usize {
    let of_items = match value {
        Value::Str(text) => text.as_str().len(),
        Value::List(list) => list.items().iter().map(size).fold(0, usize::saturating_add),
        Value::Dict(dict) => {
            let entries = dict.entries().iter();
            let sizes = entries.map(|(key, value)| size(value).saturating_add(key.as_str().len()));
            sizes.fold(0, usize::saturating_add)
        }
        Value::Range(range) => {
            let items = usize::try_from(range.1.saturating_sub(range.0)).unwrap_or(0);
            items.saturating_mul(ITEM)
        }
        _ => 0,
    };
    of_items.saturating_add(ITEM)
}
