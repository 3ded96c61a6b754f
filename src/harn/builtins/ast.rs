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

fn search(_: &mut dyn Calls, _: &Str, _: &Str, _: &Str, _: Option<usize>) -> Result<Value, Fault> {
    Err(Fault::ty(
        "this build has no syntax trees: build with the feature `ast`",
    ))
}
