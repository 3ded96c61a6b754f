//! Facts and costs for people.

use std::fmt::Write as _;

use crate::batch::{ShownFact, ShownValue};
use crate::facts::{Cost, Place, Primitive, TestRun};
use crate::report::escape;

/// Most characters of an argument, an output or a path that are shown.
const WIDTH: usize = 120;

/// A fact with its value, like `grep(/fn main/, "src") = 3`, or `None` if the
/// predicate was decided without it.
pub(super) fn fact(fact: &ShownFact) -> Option<String> {
    let mut text = call(fact);
    match &fact.value {
        ShownValue::Bool(value) => {
            let field = if fact.primitive == Primitive::Test {
                ".passed"
            } else {
                ""
            };
            let _ = write!(text, "{field} = {value}");
        }
        ShownValue::Int(value) => {
            let _ = write!(text, " = {value}");
        }
        ShownValue::AtLeast(bound) => {
            let _ = write!(text, " >= {bound}");
        }
        ShownValue::Run {
            exit,
            stdout,
            stderr,
            ..
        } => {
            let _ = write!(text, ".exit = {exit}");
            for (field, output) in [("stdout", stdout), ("stderr", stderr)] {
                if !output.is_empty() {
                    let _ = write!(text, ", .{field} = {}", quoted(output, '"'));
                }
            }
        }
        ShownValue::Unknown(reason) => {
            let detail = escape(&reason.detail, WIDTH);
            let _ = write!(text, " is not known: {}: {detail}", reason.code);
        }
        ShownValue::NotNeeded => return None,
    }
    if fact.reused {
        text.push_str(" (reused)");
    }
    Some(text)
}

/// The primitive call as a predicate states it.
pub(super) fn call(fact: &ShownFact) -> String {
    let mut text = String::from(fact.primitive.name());
    text.push('(');
    for (position, argument) in fact.args.iter().enumerate() {
        let is_pattern =
            position == 0 && matches!(fact.primitive, Primitive::Grep | Primitive::Count);
        if position > 0 {
            text.push_str(", ");
        }
        text.push_str(&quoted(argument, if is_pattern { '/' } else { '"' }));
    }
    text.push(')');
    text
}

/// Where a fact was found, like `src/lib.rs:3, src/main.rs:9`.
pub(super) fn places(places: &[Place]) -> String {
    let mut text = String::new();
    for place in places {
        if !text.is_empty() {
            text.push_str(", ");
        }
        let _ = write!(text, "{}:{}", escape(&place.path, WIDTH), place.line);
    }
    text
}

/// A test that was run, like `tests::parses: passed in 12 ms`.
pub(super) fn test_run(run: &TestRun, timings: bool) -> String {
    let mut text = format!("{}: {}", escape(&run.name, WIDTH), run.outcome.name());
    if let Some(time) = run.duration.filter(|_| timings) {
        let ns = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        let _ = write!(text, " in {}", duration(ns));
    }
    text
}

/// What something cost, like `123 fuel, 4.5 kB scanned, 0.7 ms CPU`.
pub(super) fn cost(cost: &Cost, timings: bool) -> String {
    let mut text = format!("{} fuel, {} scanned", cost.fuel, bytes(cost.bytes));
    if timings {
        let _ = write!(text, ", {} CPU", duration(cost.cpu_ns));
    }
    text
}

/// Bytes in a unit that suits them.
pub(super) fn bytes(bytes: u64) -> String {
    scaled(bytes, 1000, &["B", "kB", "MB", "GB", "TB"])
}

/// Nanoseconds in a unit that suits them.
pub(super) fn duration(ns: u64) -> String {
    scaled(ns, 1000, &["ns", "µs", "ms", "s"])
}

/// A number in the largest unit that leaves it at least 1, with one decimal
/// below 10.
fn scaled(number: u64, step: u64, units: &[&str]) -> String {
    let mut divisor: u64 = 1;
    let mut unit = 0;
    while number / divisor >= step && unit + 1 < units.len() {
        divisor *= step;
        unit += 1;
    }
    let whole = number / divisor;
    if divisor == 1 || whole >= 10 {
        return format!("{whole} {}", units[unit]);
    }
    format!(
        "{whole}.{} {}",
        number % divisor * 10 / divisor,
        units[unit]
    )
}

/// A literal between its delimiters, cut to [`WIDTH`].
fn quoted(text: &str, delimiter: char) -> String {
    let mut out = String::with_capacity(text.len().min(WIDTH) + 2);
    out.push(delimiter);
    for char in escape(text, WIDTH).chars() {
        if char == delimiter {
            out.push('\\');
        }
        out.push(char);
    }
    out.push(delimiter);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_show_in_a_unit_that_suits_them() {
        assert_eq!(bytes(0), "0 B");
        assert_eq!(bytes(999), "999 B");
        assert_eq!(bytes(1_049), "1.0 kB");
        assert_eq!(bytes(45_300_000), "45 MB");
        assert_eq!(bytes(u64::MAX), "18446744 TB");
        assert_eq!(duration(1_500_000), "1.5 ms");
        assert_eq!(duration(90_000_000_000), "90 s");
    }

    #[test]
    fn literals_show_as_a_predicate_states_them() {
        let fact = ShownFact {
            primitive: Primitive::Grep,
            args: vec!["a/b\u{1b}".into(), "src/\"x\"".into()],
            value: ShownValue::AtLeast(2),
            places: Vec::new(),
            tests: Vec::new(),
            reused: false,
        };
        assert_eq!(
            super::fact(&fact).unwrap(),
            r#"grep(/a\/b\u{1b}/, "src/\"x\"") >= 2"#
        );
    }
}
