//! `ast_search`: queries of syntax trees. (harn.md, section 5.1.)

use crate::harn::builtins::Calls;
use crate::harn::builtins::args::Args;
use crate::harn::fault::Fault;
use crate::harn::value::{Str, Value};

/// Searches the source that a predicate gives. It opens no files.
pub(super) fn ast_search(calls: &mut dyn Calls, args: &[Value]) -> Result<Value, Fault> {
    let args = Args::of("ast_search", args);
    if !matches!(args.from(0), [Value::Harness, ..]) {
        return Err(args.wrong(0, "the harness of the predicate", ""));
    }
    let params = args.dict(1, "parameters")?;
    let text = |name: &str| match params.get(name) {
        Some(Value::Str(text)) => Ok(text),
        other => {
            let got = other.map_or("nothing", Value::type_name);
            Err(args.fault(format_args!("wants a string as `{name}` and got {got}")))
        }
    };
    let most = match params.get("max_matches") {
        None | Some(Value::Nil) => None,
        Some(Value::Int(most)) if *most >= 0 => usize::try_from(*most).ok(),
        Some(_) => return Err(args.fault("wants an int that is not negative as `max_matches`")),
    };
    let known = ["source", "query", "language", "max_matches"];
    if let Some(other) = params
        .entries()
        .keys()
        .find(|key| !known.contains(&key.as_str()))
    {
        let shown: String = other.as_str().chars().take(60).collect();
        return Err(args.fault(format_args!("knows no parameter `{shown}`")));
    }
    search(
        calls,
        text("source")?,
        text("query")?,
        text("language")?,
        most,
    )
}

#[cfg(not(feature = "ast"))]
fn search(_: &mut dyn Calls, _: &Str, _: &Str, _: &Str, _: Option<usize>) -> Result<Value, Fault> {
    Err(Fault::ty(
        "this build has no syntax trees: build with the feature `ast`",
    ))
}

/// Fuel for so much of what a search says it cost.
#[cfg(feature = "ast")]
const COST_OF_A_UNIT: u64 = 4;

#[cfg(feature = "ast")]
fn search(
    calls: &mut dyn Calls,
    source: &Str,
    query: &Str,
    language: &Str,
    most: Option<usize>,
) -> Result<Value, Fault> {
    use crate::ast::{Limits, Outcome, Request, Stop};
    use crate::harn::fault::Limit;

    let mut request = Request::new(source.as_str(), query.as_str(), language.as_str());
    // 0 means as many as there are.
    request.max_matches = most.map(|most| if most == 0 { usize::MAX } else { most });
    request.limits = Limits {
        cost: calls.fuel().saturating_mul(COST_OF_A_UNIT),
        output: (calls.heap().room() as u64).min(Limits::default().output),
        ..Limits::default()
    };
    let found = {
        let is_over = || calls.stop_cause().is_some();
        request.cancel = &is_over;
        crate::ast::search(&request)
    };
    calls.pay(usize::try_from(found.cost / COST_OF_A_UNIT).unwrap_or(usize::MAX))?;
    let (result, details) = match &found.outcome {
        Outcome::Ok => ("ok", None),
        Outcome::InvalidQuery(details) => ("invalid_query", Some(details.clone())),
        Outcome::UnsupportedLanguage => (
            "unsupported_language",
            Some(format!("known are {}", crate::ast::languages().join(", "))),
        ),
        Outcome::Stopped(Stop::Cancelled) => {
            let cause = calls.stop_cause().unwrap_or(Limit::Cancelled);
            return Err(Fault::Limit(cause));
        }
        Outcome::Stopped(Stop::Cost) => return Err(Fault::Limit(Limit::Fuel)),
        Outcome::Stopped(Stop::Source) => {
            return Err(Fault::ty("the source is too long for a syntax tree"));
        }
    };
    let heap = calls.heap().clone();
    let node = |node: &crate::ast::Node<'_>| -> Result<Vec<(&'static str, Value)>, Fault> {
        let int = |value: usize| Value::Int(i64::try_from(value).unwrap_or(i64::MAX));
        let range = node.range;
        let text = source.part(range.start_byte..range.end_byte, &heap)?;
        let range = Value::dict(
            vec![
                ("start_byte", int(range.start_byte)),
                ("end_byte", int(range.end_byte)),
                ("start_row", int(range.start_row)),
                ("start_col", int(range.start_col)),
                ("end_row", int(range.end_row)),
                ("end_col", int(range.end_col)),
            ],
            &heap,
        )?;
        Ok(vec![("text", Value::Str(text)), ("range", range)])
    };
    let mut matches = Vec::with_capacity(found.matches.len());
    for found in &found.matches {
        let mut fields = node(&found.node)?;
        let captures: Result<Vec<(&str, Value)>, Fault> = found
            .captures
            .iter()
            .map(|(name, captured)| Ok((&**name, Value::dict(node(captured)?, &heap)?)))
            .collect();
        fields.push(("captures", Value::dict(captures?, &heap)?));
        matches.push(Value::dict(fields, &heap)?);
    }
    let count = i64::try_from(matches.len()).unwrap_or(i64::MAX);
    let is_ok = result == "ok";
    let text = |text: String| Value::text(text, &heap);
    let mut fields = vec![
        ("ok", Value::Bool(is_ok)),
        ("result", text(result.to_owned())?),
        ("match_count", Value::Int(count)),
        ("truncated", Value::Bool(found.truncated)),
        ("had_errors", Value::Bool(found.had_errors)),
        ("matches", Value::list(matches, &heap)?),
    ];
    fields.push((
        "language",
        if is_ok {
            text(found.language.clone())?
        } else {
            Value::Nil
        },
    ));
    if let Some(details) = details {
        fields.push(("details", text(details)?));
    }
    Value::dict(fields, &heap)
}
