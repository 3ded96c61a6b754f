//! Functions that make texts. (harn.md, section 5.)

use crate::harn::builtins::Calls;
use crate::harn::builtins::args::Args;
use crate::harn::builtins::builder::{Builder, text_of};
use crate::harn::builtins::compare::text_cost;
use crate::harn::builtins::strings::part;
use crate::harn::fault::Fault;
use crate::harn::value::{Str, Value};

pub(super) fn to_string(calls: &mut dyn Calls, args: &[Value]) -> Result<Value, Fault> {
    match args.first() {
        Some(value) => Ok(Value::Str(text_of(calls, value)?)),
        None => Value::text("nil", calls.heap()),
    }
}

pub(super) fn join(calls: &mut dyn Calls, args: &[Value]) -> Result<Value, Fault> {
    let args = Args::of("join", args);
    let items = args.list(0, "")?.items();
    let separator = args.given(1).map(|it| text_of(calls, it)).transpose()?;
    let separator = separator.as_ref().map_or("", Str::as_str);
    let mut out = Builder::new(calls);
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            out.push(calls, separator)?;
        }
        out.push_value(calls, item)?;
    }
    out.finish(calls)
}

/// `{}` stands for the next value, `{key}` for what the dict that follows has for it.
/// Other braces are text.
pub(super) fn format(calls: &mut dyn Calls, args: &[Value]) -> Result<Value, Fault> {
    let args = Args::of("format", args);
    let template = args.str(0, "template")?.as_str();
    let fields = match args.from(1) {
        [Value::Dict(dict)] => Some(dict),
        _ => None,
    };
    let mut values = args.from(1).iter();
    let mut named = false;
    let mut out = Builder::new(calls);
    let mut rest = template;
    while let Some((text, after)) = rest.split_once('{') {
        out.push(calls, text)?;
        match (hole(after), fields) {
            (Some(("", after)), _) => {
                let value = values.next();
                let value = value.ok_or_else(|| {
                    Fault::arity("`format` has fewer values than its template has `{}`")
                })?;
                out.push_value(calls, value)?;
                rest = after;
            }
            (Some((key, after)), Some(fields)) => {
                let value = fields.get(key);
                let value = value
                    .ok_or_else(|| args.fault(format_args!("has no value for `{{{key}}}`")))?;
                named = true;
                out.push_value(calls, value)?;
                rest = after;
            }
            _ => {
                out.push(calls, "{")?;
                rest = after;
            }
        }
    }
    out.push(calls, rest)?;
    if !named && values.next().is_some() {
        return Err(Fault::arity(
            "`format` has more values than its template has `{}`",
        ));
    }
    out.finish(calls)
}

/// The name before a closing brace, and what follows it.
fn hole(text: &str) -> Option<(&str, &str)> {
    let end = text.find(|char: char| !char.is_alphanumeric() && char != '_')?;
    let (key, rest) = text.split_at_checked(end)?;
    Some((key, rest.strip_prefix('}')?))
}

pub(super) fn title_case(calls: &mut dyn Calls, args: &[Value]) -> Result<Value, Fault> {
    let text = Args::of("title_case", args).str(0, "")?.as_str();
    calls.pay(text.len() / 4 + 1)?;
    let mut out = Builder::new(calls);
    out.fill(calls, |out, most| {
        let mut is_first = true;
        for char in text.chars() {
            if out.len() + 12 > most {
                return false;
            }
            if is_first {
                out.extend(char.to_uppercase());
            } else {
                out.extend(char.to_lowercase());
            }
            is_first = char.is_whitespace();
        }
        true
    })?;
    out.finish(calls)
}

/// Puts spaces, or a text, before every line that is not blank.
pub(super) fn indent(calls: &mut dyn Calls, args: &[Value]) -> Result<Value, Fault> {
    let args = Args::of("indent", args);
    let text = args.str(0, "")?.as_str();
    let spaces;
    let prefix = match args.given(1) {
        Some(Value::Str(prefix)) => prefix.as_str(),
        None => "  ",
        Some(Value::Int(_)) => {
            spaces = " ".repeat(args.count(1, "width")?.min(1000));
            &spaces
        }
        Some(_) => return Err(args.wrong(1, "an int or a string", "prefix")),
    };
    let mut out = Builder::new(calls);
    for line in text.split_inclusive('\n') {
        if !line.trim().is_empty() {
            out.push(calls, prefix)?;
        }
        out.push(calls, line)?;
    }
    out.finish(calls)
}

/// Takes away the spaces and tabs that all lines begin with, but for blank ones.
pub(super) fn dedent(calls: &mut dyn Calls, args: &[Value]) -> Result<Value, Fault> {
    let text = Args::of("dedent", args).str(0, "")?.as_str();
    calls.pay(text_cost(text.len()))?;
    let blank = |line: &str| line.trim().is_empty();
    let mut common: Option<&str> = None;
    for line in text.lines().filter(|line| !blank(line)) {
        let margin = line.len() - line.trim_start_matches([' ', '\t']).len();
        let margin = line.get(..margin).unwrap_or_default();
        let known = common.unwrap_or(margin);
        let pairs = known.bytes().zip(margin.bytes());
        let same = pairs.take_while(|(left, right)| left == right).count();
        common = known.get(..same);
    }
    let common = common.unwrap_or_default();
    let mut out = Builder::new(calls);
    for line in text.split_inclusive('\n') {
        let cut = match line.strip_prefix(common) {
            Some(rest) => rest,
            None => line.trim_start_matches([' ', '\t']),
        };
        out.push(calls, cut)?;
    }
    out.finish(calls)
}

/// Where the last name of a path begins and ends.
fn last_name(path: &str) -> (usize, usize) {
    let end = path.trim_end_matches('/').len();
    let name = path.get(..end).unwrap_or_default();
    (name.rfind('/').map_or(0, |at| at + 1), end)
}

pub(super) fn dirname(calls: &mut dyn Calls, args: &[Value]) -> Result<Value, Fault> {
    let path = Args::of("dirname", args).str(0, "path")?;
    calls.pay(text_cost(path.as_str().len()))?;
    let (from, _) = last_name(path.as_str());
    let before = path.as_str().get(..from).unwrap_or_default();
    let dir = before.trim_end_matches('/').len();
    // The root stays what it is.
    part(calls, path, 0, if dir == 0 { from.min(1) } else { dir })
}

pub(super) fn basename(calls: &mut dyn Calls, args: &[Value]) -> Result<Value, Fault> {
    let path = Args::of("basename", args).str(0, "path")?;
    calls.pay(text_cost(path.as_str().len()))?;
    let (from, to) = last_name(path.as_str());
    part(calls, path, from, to)
}

/// The end of the last name, from its last dot on; nothing where it begins with it.
pub(super) fn extname(calls: &mut dyn Calls, args: &[Value]) -> Result<Value, Fault> {
    let path = Args::of("extname", args).str(0, "path")?;
    calls.pay(text_cost(path.as_str().len()))?;
    let (from, to) = last_name(path.as_str());
    let name = path.as_str().get(from..to).unwrap_or_default();
    let dot = name.rfind('.').filter(|&at| at > 0).unwrap_or(name.len());
    part(calls, path, from + dot, to)
}

/// Joins the names that are not empty with one slash each.
pub(super) fn path_join(calls: &mut dyn Calls, args: &[Value]) -> Result<Value, Fault> {
    let args = Args::of("path_join", args);
    let mut out = Builder::new(calls);
    let mut ends_in_slash: Option<bool> = None;
    for at in 0..args.from(0).len() {
        let mut name = args.str(at, "path")?.as_str();
        if let Some(has_slash) = ends_in_slash {
            name = name.trim_start_matches('/');
            if !has_slash && !name.is_empty() {
                out.push(calls, "/")?;
            }
        }
        out.push(calls, name)?;
        if !name.is_empty() {
            ends_in_slash = Some(name.ends_with('/'));
        }
    }
    out.finish(calls)
}
