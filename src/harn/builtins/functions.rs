//! The functions.

use crate::harn::builtins::{Calls, Signature};
use crate::harn::fault::Fault;
use crate::harn::value::Value;

/// Every function.
pub(crate) static FUNCTIONS: &[Signature] = &[Signature {
    name: "len",
    least: 1,
    most: 1,
    run: len,
}];

pub(super) fn len(_: &mut dyn Calls, args: &[Value]) -> Result<Value, Fault> {
    let len = match &args[0] {
        Value::Nil => 0,
        Value::Str(text) => text.chars(),
        Value::List(list) => list.items().len(),
        Value::Dict(dict) => dict.len(),
        other => {
            return Err(Fault::ty(format!("{} has no length", other.type_name())));
        }
    };
    Ok(Value::Int(i64::try_from(len).unwrap_or(i64::MAX)))
}
