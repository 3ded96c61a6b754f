//! JSON, digests, encodings and assertions. (harn.md, section 5.2.)

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::Digest;
use crate::harn::builtins::Calls;
use crate::harn::builtins::args::{Args, thrown};
use crate::harn::builtins::builder::{Builder, pay_for, text_of};
use crate::harn::builtins::compare::{equal, text_cost};
use crate::harn::builtins::json;
use crate::harn::fault::Fault;
use crate::harn::value::{Str, Value};

pub(super) fn json_parse(calls: &mut dyn Calls, args: &[Value]) -> Result<Value, Fault> {
    json::parse(calls, Args::of("json_parse", args).str(0, "")?.as_str())
}

pub(super) fn json_stringify(calls: &mut dyn Calls, args: &[Value]) -> Result<Value, Fault> {
    json::write(calls, &Args::of("json_stringify", args).any(0), false)
}

pub(super) fn json_stringify_pretty(calls: &mut dyn Calls, args: &[Value]) -> Result<Value, Fault> {
    json::write(calls, &Args::of("json_stringify_pretty", args).any(0), true)
}

/// What a JSON pointer (RFC 6901) points at, nil if there is nothing.
pub(super) fn json_pointer(calls: &mut dyn Calls, args: &[Value]) -> Result<Value, Fault> {
    let args = Args::of("json_pointer", args);
    let mut value = args.any(0);
    let pointer = args.str(1, "pointer")?.as_str();
    calls.pay(text_cost(pointer.len()))?;
    let Some(path) = pointer.strip_prefix('/') else {
        return match pointer {
            "" => Ok(value),
            _ => Err(args.fault("wants a pointer that is empty or begins with `/`")),
        };
    };
    for step in path.split('/') {
        calls.pay(text_cost(step.len()).saturating_mul(4))?;
        let next = match &value {
            Value::Dict(dict) => dict.get(&step.replace("~1", "/").replace("~0", "~")),
            Value::List(list) => index(step).and_then(|at| list.items().get(at)),
            _ => None,
        };
        let Some(next) = next.cloned() else {
            return Ok(Value::Nil);
        };
        value = next;
    }
    Ok(value)
}

/// An index as a pointer has to write it.
fn index(step: &str) -> Option<usize> {
    let is_plain = step == "0" || !step.starts_with(['0', '+']);
    is_plain.then(|| step.parse().ok()).flatten()
}

pub(super) fn sha256(calls: &mut dyn Calls, args: &[Value]) -> Result<Value, Fault> {
    let text = Args::of("sha256", args).str(0, "")?.as_str();
    calls.pay(text_cost(text.len()))?;
    Value::text(Digest::of(text.as_bytes()).hex(), calls.heap())
}

pub(super) fn hex_encode(calls: &mut dyn Calls, args: &[Value]) -> Result<Value, Fault> {
    let text = Args::of("hex_encode", args).str(0, "")?.as_str();
    let mut out = Builder::sized(calls, text.len().saturating_mul(2))?;
    for byte in text.bytes() {
        for digit in [byte >> 4, byte & 15] {
            let digit = char::from_digit(u32::from(digit), 16).unwrap_or('0');
            out.push_paid(digit.encode_utf8(&mut [0; 4]))?;
        }
    }
    out.finish(calls)
}

pub(super) fn hex_decode(calls: &mut dyn Calls, args: &[Value]) -> Result<Value, Fault> {
    let text = Args::of("hex_decode", args).str(0, "")?.as_str();
    pay_for(calls, text.len())?;
    let digit = |byte: u8| {
        char::from(byte)
            .to_digit(16)
            .and_then(|digit| u8::try_from(digit).ok())
    };
    let bytes = text.as_bytes().chunks(2).map(|pair| match pair {
        [high, low] => Some(digit(*high)? << 4 | digit(*low)?),
        _ => None,
    });
    decoded(calls, bytes.collect(), "hex")
}

pub(super) fn base64_encode(calls: &mut dyn Calls, args: &[Value]) -> Result<Value, Fault> {
    let text = Args::of("base64_encode", args).str(0, "")?.as_str();
    pay_for(calls, text.len().div_ceil(3).saturating_mul(4))?;
    Value::text(STANDARD.encode(text), calls.heap())
}

pub(super) fn base64_decode(calls: &mut dyn Calls, args: &[Value]) -> Result<Value, Fault> {
    let text = Args::of("base64_decode", args).str(0, "")?.as_str();
    pay_for(calls, text.len())?;
    decoded(calls, STANDARD.decode(text).ok(), "base64")
}

/// Bytes as a text. What cannot be decoded is thrown.
fn decoded(calls: &dyn Calls, bytes: Option<Vec<u8>>, encoding: &str) -> Result<Value, Fault> {
    let Some(bytes) = bytes else {
        return Err(thrown(calls, format!("invalid {encoding}")));
    };
    match String::from_utf8(bytes) {
        Ok(text) => Value::text(text, calls.heap()),
        Err(_) => {
            let message = format!("invalid {encoding}: what it encodes is not UTF-8");
            Err(thrown(calls, message))
        }
    }
}

/// The message of an assertion, in the words of the program if it has any.
fn message(
    calls: &mut dyn Calls,
    args: Args<'_>,
    at: usize,
    default: impl FnOnce() -> String,
) -> Result<Str, Fault> {
    match args.given(at) {
        Some(message) => text_of(calls, message),
        None => Str::new(default(), calls.heap()),
    }
}

pub(super) fn assert(calls: &mut dyn Calls, args: &[Value]) -> Result<Value, Fault> {
    let args = Args::of("assert", args);
    if args.any(0).is_truthy() {
        return Ok(Value::Nil);
    }
    let message = message(calls, args, 1, || "the assertion does not hold".into())?;
    Err(Fault::Thrown(Value::Str(message)))
}

pub(super) fn assert_eq(calls: &mut dyn Calls, args: &[Value]) -> Result<Value, Fault> {
    let args = Args::of("assert_eq", args);
    let (left, right) = (args.any(0), args.any(1));
    if equal(calls, &left, &right)? {
        return Ok(Value::Nil);
    }
    // Showing a value is bounded, but not by what has been paid so far.
    calls.pay(1000)?;
    let shown = |value: &Value| -> String { value.to_source().chars().take(200).collect() };
    let message = message(calls, args, 2, || {
        format!("{} is not equal to {}", shown(&left), shown(&right))
    })?;
    Err(Fault::Thrown(Value::Str(message)))
}

pub(super) fn unreachable(calls: &mut dyn Calls, args: &[Value]) -> Result<Value, Fault> {
    let args = Args::of("unreachable", args);
    let message = message(calls, args, 0, || "this should not be reached".into())?;
    Err(Fault::Thrown(Value::Str(message)))
}
