//! Declared types, looked at when a value arrives.

use crate::harn::fault::Fault;
use crate::harn::module::{Constant, TypeCheck};
use crate::harn::value::Value;

/// Whether a value is of a type.
pub(super) fn is_of(value: &Value, ty: &TypeCheck) -> bool {
    match (ty, value) {
        (TypeCheck::Any, _)
        | (TypeCheck::Nil, Value::Nil)
        | (TypeCheck::Bool, Value::Bool(_))
        | (TypeCheck::Int, Value::Int(_))
        | (TypeCheck::Float, Value::Float(_) | Value::Int(_))
        | (TypeCheck::Str, Value::Str(_))
        | (TypeCheck::Harness, Value::Harness) => true,
        (TypeCheck::Callable, value) => value.is_callable(),
        (TypeCheck::List(item), Value::List(list)) => {
            **item == TypeCheck::Any || list.items().iter().all(|value| is_of(value, item))
        }
        (TypeCheck::Dict(item), Value::Dict(dict)) => {
            **item == TypeCheck::Any || dict.entries().values().all(|value| is_of(value, item))
        }
        (TypeCheck::Literal(constant), value) => match (constant, value) {
            (Constant::Str(wanted), Value::Str(text)) => **wanted == *text.as_str(),
            (Constant::Int(wanted), Value::Int(value)) => wanted == value,
            _ => false,
        },
        (TypeCheck::Union(types), value) => types.iter().any(|ty| is_of(value, ty)),
        (TypeCheck::Shape(fields), Value::Dict(dict)) => {
            fields
                .iter()
                .all(|(name, optional, ty)| match dict.get(name) {
                    Some(value) => is_of(value, ty) || (*optional && matches!(value, Value::Nil)),
                    None => *optional,
                })
        }
        _ => false,
    }
}

/// Fails unless a value is of a type.
pub(super) fn want(value: &Value, ty: &TypeCheck) -> Result<(), Fault> {
    if is_of(value, ty) {
        return Ok(());
    }
    let wanted = name(ty);
    let found = value.type_name();
    Err(Fault::ty(format!(
        "this is {found}, and {wanted} is declared"
    )))
}

fn name(ty: &TypeCheck) -> String {
    match ty {
        TypeCheck::Any => "anything".into(),
        TypeCheck::Nil => "nil".into(),
        TypeCheck::Bool => "bool".into(),
        TypeCheck::Int => "int".into(),
        TypeCheck::Float => "float".into(),
        TypeCheck::Str => "string".into(),
        TypeCheck::List(_) => "list".into(),
        TypeCheck::Dict(_) => "dict".into(),
        TypeCheck::Callable => "a function".into(),
        TypeCheck::Harness => "HarnessAst".into(),
        TypeCheck::Literal(_) => "a literal".into(),
        TypeCheck::Union(types) if types.is_empty() => "a capability that is not given".into(),
        TypeCheck::Union(types) => types.iter().map(name).collect::<Vec<_>>().join(" | "),
        TypeCheck::Shape(_) => "a dict of a shape".into(),
    }
}
