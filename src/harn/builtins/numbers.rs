//! Functions of types and numbers. (harn.md, section 5.2.)

use std::rc::Rc;

use crate::harn::builtins::Calls;
use crate::harn::builtins::args::{Args, Number};
use crate::harn::builtins::compare::text_cost;
use crate::harn::fault::Fault;
use crate::harn::value::Value;

/// 2 to the power of 63: the first whole number that is too large for an int.
const TOO_LARGE: f64 = 9_223_372_036_854_775_808.0;

pub(super) fn type_of(calls: &mut dyn Calls, args: &[Value]) -> Result<Value, Fault> {
    let name = args.first().map_or("nil", Value::type_name);
    Value::text(name, calls.heap())
}

/// The int that a float is once what follows the point is dropped.
fn truncated(value: f64) -> Option<i64> {
    let whole = value.trunc();
    (-TOO_LARGE..TOO_LARGE)
        .contains(&whole)
        .then_some(whole as i64)
}

pub(super) fn to_int(calls: &mut dyn Calls, args: &[Value]) -> Result<Value, Fault> {
    let number = match args.first() {
        Some(Value::Int(value)) => Some(*value),
        Some(Value::Float(value)) => truncated(*value),
        Some(Value::Bool(value)) => Some(i64::from(*value)),
        Some(Value::Str(text)) => {
            calls.pay(text_cost(text.as_str().len()))?;
            text.as_str().trim().parse().ok()
        }
        _ => None,
    };
    Ok(number.map_or(Value::Nil, Value::Int))
}

pub(super) fn to_float(calls: &mut dyn Calls, args: &[Value]) -> Result<Value, Fault> {
    let number = match args.first() {
        Some(Value::Int(value)) => Some(*value as f64),
        Some(Value::Float(value)) => Some(*value),
        Some(Value::Bool(value)) => Some(f64::from(u8::from(*value))),
        Some(Value::Str(text)) => {
            calls.pay(text_cost(text.as_str().len()))?;
            text.as_str().trim().parse().ok()
        }
        _ => None,
    };
    Ok(number.map_or(Value::Nil, Value::Float))
}

pub(super) fn abs(_: &mut dyn Calls, args: &[Value]) -> Result<Value, Fault> {
    Ok(match Args::of("abs", args).number(0, "")? {
        Number::Int(value) => match value.checked_abs() {
            Some(value) => Value::Int(value),
            None => Value::Float((value as f64).abs()),
        },
        Number::Float(value) => Value::Float(value.abs()),
    })
}

/// The first of the numbers that none of the others is better than. A NaN is the
/// result if there is one.
fn best(args: Args<'_>, is_better: fn(f64, f64) -> bool) -> Result<Value, Fault> {
    let mut best = args.number(0, "")?;
    for at in 1..args.from(0).len() {
        let number = args.number(at, "")?;
        let is_better = match (number, best) {
            // A float cannot tell all ints apart.
            (Number::Int(new), Number::Int(old)) => {
                let order = new.cmp(&old) as i8;
                is_better(f64::from(order), 0.0)
            }
            (new, old) => {
                new.as_f64().is_nan()
                    || !old.as_f64().is_nan() && is_better(new.as_f64(), old.as_f64())
            }
        };
        if is_better {
            best = number;
        }
    }
    Ok(match best {
        Number::Int(value) => Value::Int(value),
        Number::Float(value) => Value::Float(value),
    })
}

pub(super) fn min(calls: &mut dyn Calls, args: &[Value]) -> Result<Value, Fault> {
    calls.pay(args.len())?;
    best(Args::of("min", args), |new, old| new < old)
}

pub(super) fn max(calls: &mut dyn Calls, args: &[Value]) -> Result<Value, Fault> {
    calls.pay(args.len())?;
    best(Args::of("max", args), |new, old| new > old)
}

/// A float without a fraction as an int, if it is one.
fn whole(value: f64) -> Value {
    truncated(value).map_or(Value::Float(value), Value::Int)
}

fn rounded(args: Args<'_>, round: fn(f64) -> f64) -> Result<Value, Fault> {
    Ok(match args.number(0, "")? {
        Number::Int(value) => Value::Int(value),
        Number::Float(value) => whole(round(value)),
    })
}

pub(super) fn floor(_: &mut dyn Calls, args: &[Value]) -> Result<Value, Fault> {
    rounded(Args::of("floor", args), f64::floor)
}

pub(super) fn ceil(_: &mut dyn Calls, args: &[Value]) -> Result<Value, Fault> {
    rounded(Args::of("ceil", args), f64::ceil)
}

/// Halves are rounded away from zero. With digits the result is a float.
pub(super) fn round(_: &mut dyn Calls, args: &[Value]) -> Result<Value, Fault> {
    let args = Args::of("round", args);
    let Some(digits) = args.opt_int(1, "digits")? else {
        return rounded(args, f64::round);
    };
    let digits = i32::try_from(digits.clamp(-400, 400)).unwrap_or_default();
    let value = args.number(0, "")?.as_f64();
    let factor = 10_f64.powi(digits.abs());
    let (scaled, result) = if digits < 0 {
        let scaled = value / factor;
        (scaled, scaled.round() * factor)
    } else {
        let scaled = value * factor;
        (scaled, scaled.round() / factor)
    };
    Ok(Value::Float(match (value.is_finite(), digits < 0) {
        (false, _) => value,
        // It is far smaller than what it is rounded to.
        (true, true) if !result.is_finite() || result.is_nan() => 0.0,
        // It has no such digits.
        (true, false) if !scaled.is_finite() => value,
        _ => result,
    }))
}

pub(super) fn sqrt(_: &mut dyn Calls, args: &[Value]) -> Result<Value, Fault> {
    Ok(Value::Float(
        Args::of("sqrt", args).number(0, "")?.as_f64().sqrt(),
    ))
}

/// As the operator `**`: ints stay ints as long as they fit.
pub(super) fn pow(_: &mut dyn Calls, args: &[Value]) -> Result<Value, Fault> {
    let args = Args::of("pow", args);
    let (base, exponent) = (args.number(0, "base")?, args.number(1, "exponent")?);
    if let (Number::Int(base), Number::Int(exponent)) = (base, exponent)
        && let Ok(exponent) = u32::try_from(exponent)
        && let Some(power) = base.checked_pow(exponent)
    {
        return Ok(Value::Int(power));
    }
    Ok(Value::Float(base.as_f64().powf(exponent.as_f64())))
}

pub(super) fn sign(_: &mut dyn Calls, args: &[Value]) -> Result<Value, Fault> {
    Ok(match Args::of("sign", args).number(0, "")? {
        Number::Int(value) => Value::Int(value.signum()),
        Number::Float(value) if value.is_nan() => Value::Float(value),
        Number::Float(value) => Value::Int(i64::from(value > 0.0) - i64::from(value < 0.0)),
    })
}

pub(super) fn is_nan(_: &mut dyn Calls, args: &[Value]) -> Result<Value, Fault> {
    let number = Args::of("is_nan", args).number(0, "")?;
    Ok(Value::Bool(number.as_f64().is_nan()))
}

pub(super) fn is_infinite(_: &mut dyn Calls, args: &[Value]) -> Result<Value, Fault> {
    let number = Args::of("is_infinite", args).number(0, "")?;
    Ok(Value::Bool(number.as_f64().is_infinite()))
}

/// Ints from the first up to the second, without it.
pub(super) fn range(_: &mut dyn Calls, args: &[Value]) -> Result<Value, Fault> {
    let args = Args::of("range", args);
    let first = args.int(0, "bound")?;
    let (from, to) = match args.opt_int(1, "bound")? {
        Some(second) => (first, second),
        None => (0, first),
    };
    Ok(Value::Range(Rc::new((from, to.max(from)))))
}
