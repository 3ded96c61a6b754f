//! The methods.

use crate::harn::builtins::{Calls, Method, Signature};
use crate::harn::fault::Fault;
use crate::harn::value::Value;

/// Every method.
pub(crate) static METHODS: &[Method] = &[Method {
    name: "push",
    string: None,
    list: Some(Signature {
        name: "push",
        least: 1,
        most: 1,
        run: push,
    }),
    dict: None,
}];

fn push(_: &mut dyn Calls, args: &[Value]) -> Result<Value, Fault> {
    let Value::List(list) = &args[0] else {
        return Err(Fault::ty("`push` is a method of lists"));
    };
    let mut list = list.clone();
    list.push(args[1].clone())?;
    Ok(Value::List(list))
}
