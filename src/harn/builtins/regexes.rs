use crate::harn::builtins::Calls;
use crate::harn::fault::Fault;
use crate::harn::value::{List, Str, Value};

pub(crate) type Regex = regex_automata::meta::Regex;

pub(crate) fn compile(pattern: &str, flags: &str) -> Result<Regex, String> {
    let mut syntax = regex_automata::util::syntax::Config::new();
    for flag in flags.chars() {
        syntax = match flag {
            'i' => syntax.case_insensitive(true),
            'm' => syntax.multi_line(true),
            's' => syntax.dot_matches_new_line(true),
            'x' => syntax.ignore_whitespace(true),
            _ => return Err("flag".into()),
        };
    }
    Regex::builder()
        .syntax(syntax)
        .build(pattern)
        .map_err(|error| error.to_string())
}

pub(crate) fn is_match(regex: &Regex, text: &Str) -> bool {
    regex.is_match(text.as_str())
}

pub(crate) fn all_matches(
    regex: &Regex,
    text: &Str,
    calls: &mut dyn Calls,
) -> Result<Value, Fault> {
    let found: Result<Vec<Value>, Fault> = regex
        .find_iter(text.as_str())
        .map(|m| text.part(m.range(), calls.heap()).map(Value::Str))
        .collect();
    let found = found?;
    if found.is_empty() {
        return Ok(Value::Nil);
    }
    Ok(Value::List(List::new(found, calls.heap())?))
}

pub(crate) fn removed(_: &str) -> Option<&'static str> {
    None
}
