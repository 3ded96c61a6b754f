//! What a tree is worth, in Kleene's strong three-valued logic. Every part is
//! evaluated, in source order, whether it still matters or not.

use std::cmp::Ordering;

use super::tree::{Expr, Fact, Method};

/// The value of a fact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FactValue {
    /// Of `exists` and `test`.
    Bool(bool),
    /// Of `grep` and `count`.
    Count(u64),
    /// Of `run`.
    Run(Output),
    /// The fact could not be established; the code says why.
    Unknown(String),
}

/// What a command printed and how it ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Output {
    pub(crate) exit: i64,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
    pub(crate) stdout_truncated: bool,
    pub(crate) stderr_truncated: bool,
}

/// True, false, or unknown with the code of the leftmost deciding unknown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Tri {
    True,
    False,
    Unknown(String),
}

/// The value of any part of a tree.
enum Value {
    Bool(bool),
    Int(i128),
    Str { bytes: Vec<u8>, truncated: bool },
    Test(bool),
    Run(Output),
}

type Outcome = Result<Value, String>;

/// Evaluates a well-typed tree over the facts that `facts` knows.
pub(crate) fn evaluate(expr: &Expr, facts: &mut dyn FnMut(&Fact) -> FactValue) -> Tri {
    match value(expr, facts) {
        Ok(Value::Bool(true)) => Tri::True,
        Ok(Value::Bool(false)) => Tri::False,
        Ok(_) => panic!("the tree is well typed"),
        Err(code) => Tri::Unknown(code),
    }
}

fn value(expr: &Expr, facts: &mut dyn FnMut(&Fact) -> FactValue) -> Outcome {
    match expr {
        Expr::Bool(value) => Ok(Value::Bool(*value)),
        Expr::Int(value) => Ok(Value::Int(i128::from(*value))),
        Expr::Str(text) => Ok(Value::Str {
            bytes: text.clone().into_bytes(),
            truncated: false,
        }),
        Expr::Call(fact) => from_fact(fact, facts(fact)),
        Expr::Not(operand) => match value(operand, facts)? {
            Value::Bool(value) => Ok(Value::Bool(!value)),
            _ => panic!("the tree is well typed"),
        },
        Expr::And(operands) => connective(operands, false, facts),
        Expr::Or(operands) => connective(operands, true, facts),
        Expr::Compare(op, left, right) => {
            let (left, right) = (value(left, facts), value(right, facts));
            compare(op, left?, right?)
        }
        Expr::Field(of, name) => field(value(of, facts)?, name),
        Expr::Method(of, method) => match value(of, facts)? {
            Value::Str { bytes, truncated } => call_method(&bytes, truncated, method),
            _ => panic!("the tree is well typed"),
        },
    }
}

fn from_fact(fact: &Fact, value: FactValue) -> Outcome {
    match (fact, value) {
        (_, FactValue::Unknown(code)) => Err(code),
        (Fact::Exists(_), FactValue::Bool(value)) => Ok(Value::Bool(value)),
        (Fact::Test(_), FactValue::Bool(passed)) => Ok(Value::Test(passed)),
        (Fact::Grep(..) | Fact::Count(..), FactValue::Count(count)) => {
            Ok(Value::Int(i128::from(count)))
        }
        (Fact::Run(_), FactValue::Run(output)) => Ok(Value::Run(output)),
        _ => Err("fact_mistyped".to_owned()),
    }
}

/// `&&` is decided by one false operand, `||` by one true operand.
fn connective(
    operands: &[Expr],
    deciding: bool,
    facts: &mut dyn FnMut(&Fact) -> FactValue,
) -> Outcome {
    let values: Vec<Outcome> = operands
        .iter()
        .map(|operand| value(operand, facts))
        .collect();
    let decided = |value: &Outcome| matches!(value, Ok(Value::Bool(value)) if *value == deciding);
    if values.iter().any(decided) {
        return Ok(Value::Bool(deciding));
    }
    for value in values {
        value?;
    }
    Ok(Value::Bool(!deciding))
}

fn compare(op: &str, left: Value, right: Value) -> Outcome {
    let ordering = match (left, right) {
        (Value::Int(left), Value::Int(right)) => left.cmp(&right),
        (Value::Bool(left), Value::Bool(right)) => left.cmp(&right),
        (
            Value::Str {
                bytes: left,
                truncated: left_cut,
            },
            Value::Str {
                bytes: right,
                truncated: right_cut,
            },
        ) => {
            // A cut stream may be all there is, or go on in any way.
            let may_be = |cut: bool, kept: &[u8], other: &[u8]| cut && other.starts_with(kept);
            if may_be(left_cut, &left, &right) || may_be(right_cut, &right, &left) {
                return Err("output_truncated".to_owned());
            }
            left.cmp(&right)
        }
        _ => panic!("the tree is well typed"),
    };
    Ok(Value::Bool(match op {
        "==" => ordering == Ordering::Equal,
        "!=" => ordering != Ordering::Equal,
        "<" => ordering == Ordering::Less,
        "<=" => ordering != Ordering::Greater,
        ">" => ordering == Ordering::Greater,
        _ => ordering != Ordering::Less,
    }))
}

fn field(of: Value, name: &str) -> Outcome {
    Ok(match (of, name) {
        (Value::Test(passed), "passed") => Value::Bool(passed),
        (Value::Run(output), "exit") => Value::Int(i128::from(output.exit)),
        (Value::Run(output), "stdout") => Value::Str {
            bytes: output.stdout,
            truncated: output.stdout_truncated,
        },
        (Value::Run(output), "stderr") => Value::Str {
            bytes: output.stderr,
            truncated: output.stderr_truncated,
        },
        (
            Value::Str {
                truncated: true, ..
            },
            "lines",
        ) => {
            return Err("output_truncated".to_owned());
        }
        (Value::Str { bytes, .. }, "lines") => {
            Value::Int(super::files::lines(&bytes).len() as i128)
        }
        _ => panic!("the tree is well typed"),
    })
}

/// What the lost part of a cut stream cannot change stands.
fn call_method(bytes: &[u8], truncated: bool, method: &Method) -> Outcome {
    let (found, stands) = match method {
        Method::Contains(needle) => {
            let found = contains(bytes, needle.as_bytes());
            (found, found)
        }
        Method::StartsWith(start) => {
            let found = bytes.starts_with(start.as_bytes());
            (found, found || !start.as_bytes().starts_with(bytes))
        }
        Method::EndsWith(end) => (bytes.ends_with(end.as_bytes()), end.is_empty()),
        Method::Matches(pattern) => {
            let regex = pattern.compile().map_err(|_| "pattern_too_large")?;
            let found = regex.is_match(bytes);
            (found, found && !pattern.looks_beyond_its_match())
        }
    };
    if truncated && !stands {
        return Err("output_truncated".to_owned());
    }
    Ok(Value::Bool(found))
}

fn contains(haystack: &[u8], needle: &[u8]) -> bool {
    (0..=haystack.len()).any(|at| haystack[at..].starts_with(needle))
}
