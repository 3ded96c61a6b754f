//! What is done with regexes.

use std::collections::BTreeMap;

use regex::{Captures, Regex, RegexBuilder};

use super::builtins::string;
use super::failure::Failure;
use super::machine::Machine;
use super::value::Value;

/// Longer patterns are refused, in bytes.
const MAX_PATTERN: usize = 64 << 10;

impl Machine<'_> {
    pub(super) fn regex(&mut self, name: &str, args: &[Value]) -> Result<Value, Failure> {
        let needed = if name == "regex_replace" { 3 } else { 2 };
        let (given, flags) = args.split_at(needed);
        if given.iter().any(Value::is_nil) {
            return match name {
                "regex_captures" => self.list(Vec::new()),
                _ => Ok(Value::Nil),
            };
        }
        let mut texts = Vec::new();
        for value in given {
            texts.push(string(value)?);
        }
        let flags = match flags {
            [] | [Value::Nil] => "",
            [flags, ..] => string(flags)?,
        };
        match (name, &texts[..]) {
            ("regex_match", [pattern, text]) => {
                let regex = self.compile(pattern, flags, text)?;
                let found: Vec<Value> = regex
                    .find_iter(text)
                    .map(|found| Value::text(found.as_str()))
                    .collect();
                if found.is_empty() {
                    return Ok(Value::Nil);
                }
                self.list(found)
            }
            ("regex_captures", [pattern, text]) => {
                let regex = self.compile(pattern, flags, text)?;
                let reserved = ["match", "groups", "start", "end", "line"];
                if regex
                    .capture_names()
                    .flatten()
                    .any(|name| reserved.contains(&name))
                {
                    return Err(Failure::throw_text("invalid regex: a reserved name"));
                }
                let mut all = Vec::new();
                for found in regex.captures_iter(text) {
                    all.push(captures(&regex, text, &found)?);
                }
                self.list(all)
            }
            ("regex_replace", [pattern, with, text]) => {
                let regex = self.compile(pattern, flags, text)?;
                self.text(regex.replace_all(text, *with))
            }
            ("regex_split", [text, pattern]) => {
                let regex = self.compile(pattern, flags, text)?;
                self.list(regex.split(text).map(Value::text).collect())
            }
            _ => Err(Failure::arity(name)),
        }
    }

    fn compile(&mut self, pattern: &str, flags: &str, text: &str) -> Result<Regex, Failure> {
        self.burn(pattern.len() + text.len() / 16)?;
        let invalid = |why: String| Failure::throw_text(format!("invalid regex: {why}"));
        if pattern.len() > MAX_PATTERN {
            return Err(invalid("the pattern is too long".into()));
        }
        if let Some(flag) = flags.chars().find(|flag| !"imsx".contains(*flag)) {
            return Err(invalid(format!("there is no flag `{flag}`")));
        }
        RegexBuilder::new(pattern)
            .case_insensitive(flags.contains('i'))
            .multi_line(flags.contains('m'))
            .dot_matches_new_line(flags.contains('s'))
            .ignore_whitespace(flags.contains('x'))
            .build()
            .map_err(|error| invalid(error.to_string()))
    }
}

fn captures(regex: &Regex, text: &str, found: &Captures<'_>) -> Result<Value, Failure> {
    let group = |found: Option<regex::Match<'_>>| {
        found.map_or(Value::Nil, |found| Value::text(found.as_str()))
    };
    let all = found.get_match();
    let before = &text[..all.start()];
    let start = before.chars().count();
    let groups = found.iter().skip(1).map(group).collect();
    let mut entries = BTreeMap::new();
    for name in regex.capture_names().flatten() {
        entries.insert(name.to_owned(), group(found.name(name)));
    }
    let end = start + all.as_str().chars().count();
    entries.insert("match".into(), Value::text(all.as_str()));
    entries.insert("groups".into(), Value::list(groups)?);
    entries.insert("start".into(), Value::int(start));
    entries.insert("end".into(), Value::int(end));
    entries.insert("line".into(), Value::int(before.matches('\n').count() + 1));
    Value::dict(entries)
}
