//! How values look.

use super::value::Value;

/// What `to_string` makes of a value.
pub(super) fn text(value: &Value) -> String {
    match value {
        Value::Nil => "nil".into(),
        Value::Bool(value) => value.to_string(),
        Value::Int(value) => value.to_string(),
        Value::Float(value) => float(*value),
        Value::Str(text) => text.to_string(),
        Value::List(items) => {
            let items: Vec<String> = items.iter().map(text).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Dict(entries) => {
            let entries: Vec<String> = entries
                .iter()
                .map(|(key, value)| format!("{key}: {}", text(value)))
                .collect();
            format!("{{{}}}", entries.join(", "))
        }
        Value::Range(from, to) => format!("{from}..{to}"),
        Value::Closure(_) => "<fn>".into(),
        Value::Builtin(name) => format!("<builtin {name}>"),
    }
}

fn float(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 1e15 {
        format!("{value:.1}")
    } else {
        value.to_string()
    }
}

/// A text that tells apart what is different: for expectations.
pub(crate) fn canonical(value: &Value) -> String {
    match value {
        Value::Float(value) if value.is_finite() && value.fract() == 0.0 => format!("{value:.1}"),
        Value::Float(value) => value.to_string(),
        Value::Str(text) => quote(text),
        Value::List(items) => {
            let items: Vec<String> = items.iter().map(canonical).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Dict(entries) => {
            let entries: Vec<String> = entries
                .iter()
                .map(|(key, value)| format!("{}: {}", quote(key), canonical(value)))
                .collect();
            format!("{{{}}}", entries.join(", "))
        }
        Value::Closure(_) | Value::Builtin(_) => "<fn>".into(),
        Value::Nil | Value::Bool(_) | Value::Int(_) | Value::Range(..) => text(value),
    }
}

/// A string in quotes, as JSON has it.
pub(super) fn quote(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            c if c < ' ' => out.push_str(&format!("\\u{:04x}", c as u32)),
            c => out.push(c),
        }
    }
    out + "\""
}
