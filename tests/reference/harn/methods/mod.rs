//! Methods, by what they are methods of.

mod dict;
mod list;
mod string;

use super::failure::Failure;
use super::machine::Machine;
use super::text::text;
use super::value::Value;

/// Spellings that mean different things in different versions.
const REMOVED: &[&str] = &["pop", "remove", "reverse", "sort", "sort_by"];

impl Machine<'_> {
    /// `of.name(args)`
    pub(super) fn method(
        &mut self,
        of: &Value,
        name: &str,
        args: Vec<Value>,
    ) -> Result<Value, Failure> {
        if REMOVED.contains(&name) {
            return Err(Failure::check(format!("there is no `{name}`")));
        }
        match of {
            Value::Str(text) => self.string_method(text, name, &args),
            Value::List(items) => self.list_method(items, name, &args),
            Value::Dict(entries) if dict::is_method(name) => self.dict_method(entries, name, &args),
            Value::Dict(entries) => match entries.get(name) {
                Some(field) if field.is_callable() => self.call(field, args),
                _ => Err(Failure::ty(format!("the dict has no `{name}` to call"))),
            },
            other => {
                let message = format!("{} has no methods", other.type_name());
                Err(Failure::ty(message))
            }
        }
    }
}

/// What a method or its arguments are not.
fn unfit(kind: &str, name: &str, known: &[(&str, usize, usize)], count: usize) -> Failure {
    match known.iter().find(|(known, ..)| *known == name) {
        None => Failure::ty(format!("a {kind} has no `{name}`")),
        Some((_, fewest, most)) if (*fewest..=*most).contains(&count) => {
            Failure::ty(format!("`{name}` takes other types"))
        }
        Some(_) => Failure::arity(name),
    }
}

/// The text of an argument; nil is none.
fn piece(value: &Value) -> Result<String, Failure> {
    if value.is_nil() {
        return Err(Failure::ty("nil is no text"));
    }
    Ok(text(value))
}

fn callable(value: &Value) -> Result<&Value, Failure> {
    if value.is_callable() {
        Ok(value)
    } else {
        Err(Failure::ty(format!(
            "{} cannot be called",
            value.type_name()
        )))
    }
}
