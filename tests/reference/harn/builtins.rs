//! Functions that every module has.

use std::collections::BTreeMap;

use super::failure::Failure;
use super::machine::Machine;
use super::ops::whole;
use super::text::text;
use super::value::{Value, equal};
use super::{encode, json};

/// The names, each with the fewest and the most arguments.
const ALL: &[(&str, usize, usize)] = &[
    ("abs", 1, 1),
    ("assert", 1, 2),
    ("assert_eq", 2, 3),
    ("base64_decode", 1, 1),
    ("base64_encode", 1, 1),
    ("ceil", 1, 1),
    ("chars", 1, 1),
    ("contains", 2, 2),
    ("ends_with", 2, 2),
    ("entries", 1, 1),
    ("exists", 1, 1),
    ("floor", 1, 1),
    ("format", 1, usize::MAX),
    ("grep", 2, 2),
    ("hex_decode", 1, 1),
    ("hex_encode", 1, 1),
    ("index_of", 2, 3),
    ("is_infinite", 1, 1),
    ("is_nan", 1, 1),
    ("join", 1, 2),
    ("json_parse", 1, 1),
    ("json_stringify", 1, 1),
    ("keys", 1, 1),
    ("len", 1, 1),
    ("lowercase", 1, 1),
    ("max", 2, usize::MAX),
    ("min", 2, usize::MAX),
    ("pick", 2, 2),
    ("pow", 2, 2),
    ("range", 1, 2),
    ("regex_captures", 2, 3),
    ("regex_match", 2, 3),
    ("regex_replace", 3, 4),
    ("regex_split", 2, 3),
    ("repeat", 2, 2),
    ("replace", 3, 3),
    ("round", 1, 2),
    ("sha256", 1, 1),
    ("sign", 1, 1),
    ("split", 2, 2),
    ("sqrt", 1, 1),
    ("starts_with", 2, 2),
    ("substring", 2, 3),
    ("to_float", 1, 1),
    ("to_int", 1, 1),
    ("to_string", 0, 1),
    ("trim", 1, 1),
    ("type_of", 1, 1),
    ("unreachable", 0, 1),
    ("uppercase", 1, 1),
    ("values", 1, 1),
];

/// The function of a name.
pub(super) fn find(name: &str) -> Option<Value> {
    let found = ALL.iter().find(|(known, ..)| *known == name)?;
    Some(Value::Builtin(found.0))
}

/// The text that an argument is.
pub(super) fn string(value: &Value) -> Result<&str, Failure> {
    match value {
        Value::Str(text) => Ok(text),
        other => Err(Failure::ty(format!("{} is no string", other.type_name()))),
    }
}

/// The whole number that an argument is.
pub(super) fn int(value: &Value) -> Result<i64, Failure> {
    match value {
        Value::Int(value) => Ok(*value),
        other => Err(Failure::ty(format!("{} is no int", other.type_name()))),
    }
}

fn number(value: &Value) -> Result<f64, Failure> {
    match value {
        Value::Int(value) => Ok(*value as f64),
        Value::Float(value) => Ok(*value),
        other => Err(Failure::ty(format!("{} is no number", other.type_name()))),
    }
}

impl Machine<'_> {
    pub(super) fn builtin(&mut self, name: &str, args: Vec<Value>) -> Result<Value, Failure> {
        let fits = |(known, fewest, most): &(&str, usize, usize)| {
            *known == name && (*fewest..=*most).contains(&args.len())
        };
        if !ALL.iter().any(fits) {
            return Err(Failure::arity(name));
        }
        match (name, &args[..]) {
            // A method, but of nothing else than a string.
            (
                "chars" | "ends_with" | "index_of" | "repeat" | "replace" | "split" | "starts_with"
                | "substring" | "trim",
                [text, rest @ ..],
            ) => self.string_method(string(text)?, name, rest),
            ("lowercase", [text]) => self.string_method(string(text)?, "lower", &[]),
            ("uppercase", [text]) => self.string_method(string(text)?, "upper", &[]),
            ("contains", [within @ (Value::Str(_) | Value::List(_)), _]) => {
                self.method(within, name, args[1..].to_vec())
            }
            ("join", [list @ Value::List(_), _]) => self.method(list, name, args[1..].to_vec()),
            ("join", [list @ Value::List(_)]) => self.method(list, name, Vec::new()),
            ("keys" | "values" | "entries", [dict @ Value::Dict(_)]) => {
                self.method(dict, name, Vec::new())
            }
            ("len", [Value::Nil]) => Ok(Value::Int(0)),
            ("len", [Value::Range(from, to)]) => {
                let len = to.saturating_sub(*from).max(0);
                Ok(Value::Int(len))
            }
            ("len", [of @ (Value::Str(_) | Value::List(_) | Value::Dict(_))]) => {
                self.method(of, "len", Vec::new())
            }
            ("contains" | "join" | "keys" | "values" | "entries" | "len", [of, ..]) => {
                let message = format!("`{name}` does not take {}", of.type_name());
                Err(Failure::ty(message))
            }
            ("pick", [Value::Dict(from), Value::List(wanted)]) => {
                let mut picked = BTreeMap::new();
                for key in wanted.iter().map(text) {
                    if let Some(value) = from.get(&key) {
                        picked.insert(key, value.clone());
                    }
                }
                Value::dict(picked)
            }
            ("range", [Value::Int(to)]) => Ok(Value::Range(0, *to)),
            ("range", [Value::Int(from), Value::Int(to)]) => Ok(Value::Range(*from, *to)),
            ("pick" | "range", _) => Err(Failure::ty(format!("`{name}` takes other types"))),
            ("to_string", []) => Ok(Value::text("nil")),
            ("to_string", [value]) => self.text(text(value)),
            ("type_of", [value]) => Ok(Value::text(value.type_name())),
            ("to_int", [value]) => Ok(to_int(value)),
            ("to_float", [value]) => Ok(to_float(value)),
            ("format", [template, values @ ..]) => self.text(format(string(template)?, values)),
            ("assert" | "assert_eq" | "unreachable", _) => assertion(name, &args),
            ("json_parse", [source]) => json::parse(string(source)?),
            ("json_stringify", [value]) => self.text(json::write(value)?),
            ("sha256" | "hex_encode" | "hex_decode" | "base64_encode" | "base64_decode", [of]) => {
                self.text(encode::apply(name, string(of)?)?)
            }
            ("regex_match" | "regex_replace" | "regex_captures" | "regex_split", _) => {
                self.regex(name, &args)
            }
            ("grep" | "exists", _) => self.fact(name, &args),
            ("min" | "max", [first, rest @ ..]) => {
                number(first)?;
                let mut best = first;
                for next in rest {
                    let (new, old) = (number(next)?, number(best)?);
                    if (name == "min" && new < old) || (name == "max" && new > old) {
                        best = next;
                    }
                }
                Ok(best.clone())
            }
            (_, [value, rest @ ..]) => arithmetic(name, value, rest),
            _ => Err(Failure::arity(name)),
        }
    }
}

fn to_int(value: &Value) -> Value {
    match value {
        Value::Int(_) => value.clone(),
        // What no int can hold is none.
        Value::Float(value) if value.abs() < 9e18 => Value::Int(value.trunc() as i64),
        Value::Bool(value) => Value::Int(i64::from(*value)),
        Value::Str(text) => text.trim().parse().map_or(Value::Nil, Value::Int),
        _ => Value::Nil,
    }
}

fn to_float(value: &Value) -> Value {
    match value {
        Value::Int(value) => Value::Float(*value as f64),
        Value::Float(_) => value.clone(),
        Value::Bool(value) => Value::Float(f64::from(u8::from(*value))),
        Value::Str(text) => text.trim().parse().map_or(Value::Nil, Value::Float),
        _ => Value::Nil,
    }
}

fn arithmetic(name: &str, value: &Value, rest: &[Value]) -> Result<Value, Failure> {
    let x = number(value)?;
    let rounded = |near: f64| match value {
        Value::Int(_) => value.clone(),
        _ if near.abs() < 9e18 => Value::Int(near as i64),
        _ => Value::Float(near),
    };
    Ok(match (name, value, rest) {
        ("abs", Value::Int(value), _) => whole(value.checked_abs(), x.abs()),
        ("abs", ..) => Value::Float(x.abs()),
        ("floor", ..) => rounded(x.floor()),
        ("ceil", ..) => rounded(x.ceil()),
        ("round", _, []) => rounded(x.round()),
        ("round", _, [digits, ..]) => {
            let scale = 10f64.powf(number(digits)?);
            Value::Float((x * scale).round() / scale)
        }
        ("sqrt", ..) => Value::Float(x.sqrt()),
        ("pow", _, [exponent]) => {
            let op = probity::harn::syntax::ast::BinaryOp::Pow;
            super::ops::binary(op, value, exponent)?
        }
        ("sign", ..) => Value::Int(if x > 0.0 {
            1
        } else if x < 0.0 {
            -1
        } else {
            0
        }),
        ("is_nan", ..) => Value::Bool(x.is_nan()),
        ("is_infinite", ..) => Value::Bool(x.is_infinite()),
        _ => return Err(Failure::check(format!("`{name}` is not known"))),
    })
}

fn assertion(name: &str, args: &[Value]) -> Result<Value, Failure> {
    let (holds, message) = match (name, args) {
        ("assert", [condition, message @ ..]) => (condition.is_truthy(), message),
        ("assert_eq", [left, right, message @ ..]) => (equal(left, right), message),
        (_, message) => (false, message),
    };
    if holds {
        return Ok(Value::Nil);
    }
    let message = message
        .first()
        .map_or_else(|| format!("{name} failed"), text);
    Err(Failure::throw_text(message))
}

/// `{}` takes the next value, `{key}` that of a dict, which is then the only value.
fn format(template: &str, values: &[Value]) -> String {
    let (mut out, mut rest, mut next) = (String::new(), template, values.iter());
    while let Some(open) = rest.find('{') {
        let Some(len) = rest[open..].find('}') else {
            break;
        };
        let (hole, key) = (&rest[open..=open + len], &rest[open + 1..open + len]);
        out += &rest[..open];
        rest = &rest[open + len + 1..];
        let found = match values {
            [Value::Dict(entries)] if !key.is_empty() => entries.get(key),
            _ if key.is_empty() => next.next(),
            _ => None,
        };
        out += &found.map_or_else(|| hole.to_owned(), text);
    }
    out + rest
}
