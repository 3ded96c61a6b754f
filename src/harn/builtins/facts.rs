//! `grep` and `exists`: the primitives of claims that look into a workspace and run
//! nothing. They mean what they mean in claims. (flow.md, introduction, point 3;
//! claims.md, "Meaning".)

use crate::facts::{FactKey, FactValue, PathSpec, Pattern, RegexFlags};
use crate::harn::builtins::Calls;
use crate::harn::builtins::args::Args;
use crate::harn::fault::Fault;
use crate::harn::value::Value;
use crate::reason::{Reason, ReasonCode};

fn path_of(text: &str) -> PathSpec {
    PathSpec {
        text: text.into(),
        glob: false,
    }
}

fn grep_of(pattern: &str, path: &str) -> FactKey {
    let pattern = Pattern {
        text: pattern.into(),
        flags: RegexFlags::NONE,
    };
    FactKey::Grep(pattern, path_of(path))
}

/// The fact that a call of a function with these arguments asks for, if it is one of
/// those that ask for facts.
pub(crate) fn constant_fact(function: &str, args: &[&str]) -> Option<FactKey> {
    match (function, args) {
        ("grep", [pattern, path]) => Some(grep_of(pattern, path)),
        ("exists", [path]) => Some(FactKey::Exists(path_of(path))),
        _ => None,
    }
}

/// How many lines match.
pub(super) fn grep(calls: &mut dyn Calls, args: &[Value]) -> Result<Value, Fault> {
    let args = Args::of("grep", args);
    let pattern = args.str(0, "pattern")?;
    let path = args.str(1, "path")?;
    match calls.fact(grep_of(pattern.as_str(), path.as_str()))? {
        FactValue::Count { count, exact: true } => {
            Ok(Value::Int(i64::try_from(count).unwrap_or(i64::MAX)))
        }
        _ => Err(mistyped("grep")),
    }
}

/// Whether there is something at a path.
pub(super) fn exists(calls: &mut dyn Calls, args: &[Value]) -> Result<Value, Fault> {
    let path = Args::of("exists", args).str(0, "path")?;
    match calls.fact(FactKey::Exists(path_of(path.as_str())))? {
        FactValue::Bool(exists) => Ok(Value::Bool(exists)),
        _ => Err(mistyped("exists")),
    }
}

fn mistyped(name: &str) -> Fault {
    let detail = format!("the fact source answered `{name}` with a value of another type");
    Fault::Unknown(Reason::new(ReasonCode::FactMistyped, detail))
}
