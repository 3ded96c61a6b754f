//! Operators.

use std::cmp::Ordering;

use probity::harn::syntax::ast::BinaryOp;

use super::failure::{Class, Failure};
use super::text::text;
use super::value::{Value, equal, order};

pub(super) fn negate(value: &Value) -> Result<Value, Failure> {
    match value {
        Value::Int(value) => Ok(whole(value.checked_neg(), -(*value as f64))),
        Value::Float(value) => Ok(Value::Float(-value)),
        other => Err(Failure::ty(format!(
            "{} cannot be negated",
            other.type_name()
        ))),
    }
}

pub(super) fn binary(op: BinaryOp, left: &Value, right: &Value) -> Result<Value, Failure> {
    let ordered = |fits: fn(Ordering) -> bool| -> Result<Value, Failure> {
        Ok(Value::Bool(order(left, right)?.is_some_and(fits)))
    };
    match op {
        BinaryOp::Eq => Ok(Value::Bool(equal(left, right))),
        BinaryOp::Ne => Ok(Value::Bool(!equal(left, right))),
        BinaryOp::Lt => ordered(Ordering::is_lt),
        BinaryOp::Le => ordered(Ordering::is_le),
        BinaryOp::Gt => ordered(Ordering::is_gt),
        BinaryOp::Ge => ordered(Ordering::is_ge),
        BinaryOp::In => Ok(Value::Bool(is_in(left, right))),
        BinaryOp::NotIn => Ok(Value::Bool(!is_in(left, right))),
        BinaryOp::Range | BinaryOp::RangeThrough => range(op, left, right),
        BinaryOp::Add => add(left, right),
        BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div | BinaryOp::Rem | BinaryOp::Pow => {
            numeric(op, left, right)
        }
    }
}

fn mismatch(op: BinaryOp, left: &Value, right: &Value) -> Failure {
    let (left, right) = (left.type_name(), right.type_name());
    Failure::ty(format!("`{}` does not take {left} and {right}", op.text()))
}

/// An int if there is one, otherwise the float next to it.
pub(super) fn whole(exact: Option<i64>, near: f64) -> Value {
    exact.map_or(Value::Float(near), Value::Int)
}

fn range(op: BinaryOp, left: &Value, right: &Value) -> Result<Value, Failure> {
    match (left, right) {
        (Value::Int(from), Value::Int(to)) if op == BinaryOp::Range => Ok(Value::Range(*from, *to)),
        (Value::Int(from), Value::Int(to)) => Ok(Value::Range(*from, to.saturating_add(1))),
        _ => Err(mismatch(op, left, right)),
    }
}

fn is_in(left: &Value, right: &Value) -> bool {
    match right {
        Value::List(items) => items.iter().any(|item| equal(item, left)),
        Value::Dict(entries) => entries.contains_key(&text(left)),
        Value::Str(all) => all.contains(&text(left)),
        Value::Range(from, to) => match left {
            Value::Int(at) => from <= at && at < to,
            _ => false,
        },
        _ => false,
    }
}

/// `a + b`
pub(super) fn add(left: &Value, right: &Value) -> Result<Value, Failure> {
    match (left, right) {
        (Value::Str(left), Value::Str(right)) => Ok(Value::text(format!("{left}{right}"))),
        (Value::List(left), Value::List(right)) => {
            Value::list(left.iter().chain(right.iter()).cloned().collect())
        }
        (Value::Dict(left), Value::Dict(right)) => {
            let mut all = left.inner.clone();
            all.extend(right.inner.clone());
            Value::dict(all)
        }
        _ => numeric(BinaryOp::Add, left, right),
    }
}

fn numeric(op: BinaryOp, left: &Value, right: &Value) -> Result<Value, Failure> {
    match (left, right) {
        (Value::Int(a), Value::Int(b)) => ints(op, *a, *b),
        (Value::Int(a), Value::Float(b)) => floats(op, *a as f64, *b),
        (Value::Float(a), Value::Int(b)) => floats(op, *a, *b as f64),
        (Value::Float(a), Value::Float(b)) => floats(op, *a, *b),
        _ => Err(mismatch(op, left, right)),
    }
}

fn by_zero() -> Failure {
    Failure::new(Class::Zero, "division by zero")
}

fn ints(op: BinaryOp, a: i64, b: i64) -> Result<Value, Failure> {
    let (x, y) = (a as f64, b as f64);
    Ok(match op {
        BinaryOp::Sub => whole(a.checked_sub(b), x - y),
        BinaryOp::Mul => whole(a.checked_mul(b), x * y),
        BinaryOp::Div | BinaryOp::Rem if b == 0 => return Err(by_zero()),
        BinaryOp::Div => whole(a.checked_div(b), x / y),
        BinaryOp::Rem => Value::Int(a.wrapping_rem(b)),
        BinaryOp::Pow => whole(
            u32::try_from(b).ok().and_then(|b| a.checked_pow(b)),
            x.powf(y),
        ),
        _ => whole(a.checked_add(b), x + y),
    })
}

fn floats(op: BinaryOp, a: f64, b: f64) -> Result<Value, Failure> {
    Ok(Value::Float(match op {
        BinaryOp::Sub => a - b,
        BinaryOp::Mul => a * b,
        BinaryOp::Div => a / b,
        BinaryOp::Rem if b == 0.0 => return Err(by_zero()),
        BinaryOp::Rem => a % b,
        BinaryOp::Pow => a.powf(b),
        _ => a + b,
    }))
}
