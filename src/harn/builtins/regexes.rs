//! Regexes: how they are built, and the functions that search with them. (harn.md,
//! section 5.1.)

use std::collections::BTreeMap;
use std::sync::Arc;

use regex_automata::meta;
use regex_automata::nfa::thompson::WhichCaptures;
use regex_automata::util::captures::Captures;
use regex_automata::util::interpolate;
use regex_automata::util::iter::Searcher;
use regex_automata::{Input, Match, PatternID};
use regex_syntax::hir::{Hir, HirKind};

use crate::facts::RegexFlags;
use crate::harn::builtins::Calls;
use crate::harn::builtins::args::{Args, int, list, thrown};
use crate::harn::builtins::builder::Builder;
use crate::harn::builtins::compare::text_cost;
use crate::harn::builtins::strings::part;
use crate::harn::fault::Fault;
use crate::harn::value::{Dict, Str, Value};
use crate::scan::{
    MAX_COMPILED_BYTES, Reach, SyntaxError, may_be_too_large, most_bytes, parse_text,
};

/// The longest pattern, in bytes.
const MAX_PATTERN: usize = 64 << 10;

/// Bytes that are no literals in a pattern, as far as case and white space count.
const SPECIAL: &[u8] = b"\\.+*?()|[]{}^$";

/// How many classes by name a pattern may have: each takes kilobytes before any limit
/// of the compiled form sees it, and no regex within that limit has so many.
const MAX_CLASSES: usize = 2000;

/// The cache of one lazy DFA.
const LAZY_DFA_BYTES: usize = 2 << 20;

/// The most that the automaton of a regex takes, times the number of its groups: the
/// search for groups keeps a copy of them for each state.
const MAX_GROUP_BYTES: usize = 32 << 20;

/// A compiled regex.
#[derive(Debug)]
pub(crate) struct Regex {
    regex: meta::Regex,
    /// How far a search looks past the match it finds.
    reach: Reach,
    /// What a piece of text costs, as a multiple of the usual.
    weight: usize,
}

/// What text costs to search with a regex, as a multiple of the usual: one with many
/// places may have to be at many of them at once.
pub(crate) fn weight(hir: &Hir) -> usize {
    const USUAL: u64 = 64;
    usize::try_from(1 + places(hir) / USUAL).unwrap_or(usize::MAX)
}

/// What the automaton of a regex takes at most, in bytes: one that would take more is not
/// built.
pub(crate) fn most_built(hir: &Hir) -> usize {
    usize::try_from(most_bytes(hir)).map_or(MAX_COMPILED_BYTES, |most| most.min(MAX_COMPILED_BYTES))
}

/// How many characters a regex has, with those of repetitions counted each time. The
/// depth of a parsed regex is bounded by its parser.
fn places(hir: &Hir) -> u64 {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => 0,
        HirKind::Literal(literal) => literal.0.len() as u64,
        HirKind::Class(_) => 1,
        HirKind::Repetition(repetition) => {
            let times = repetition.max.unwrap_or(repetition.min).max(1);
            places(&repetition.sub).saturating_mul(times.into())
        }
        HirKind::Capture(capture) => places(&capture.sub),
        HirKind::Concat(subs) | HirKind::Alternation(subs) => {
            subs.iter().map(places).fold(0, u64::saturating_add)
        }
    }
}

/// Compiles a pattern with flags out of `imsx`.
///
/// # Errors
/// What is wrong, without the words "invalid regex".
pub(crate) fn compile(pattern: &str, flags: &str) -> Result<Regex, String> {
    let hir = parse(pattern, flags)?;
    let groups = hir.properties().explicit_captures_len();
    let most_bytes = MAX_COMPILED_BYTES.min(MAX_GROUP_BYTES / groups.max(1));
    let regex = meta::Builder::new()
        .configure(
            meta::Config::new()
                .utf8_empty(true)
                .which_captures(WhichCaptures::All)
                .nfa_size_limit(Some(most_bytes))
                .hybrid_cache_capacity(LAZY_DFA_BYTES)
                .onepass(false)
                .dfa(false),
        )
        .build_from_hir(&hir)
        .map_err(|error| match error.size_limit() {
            Some(_) => format!("compiled, it is over {most_bytes} bytes"),
            None => error.to_string(),
        })?;
    Ok(Regex {
        regex,
        reach: Reach::of(&hir),
        weight: weight(&hir),
    })
}

/// True only if a regex that was parsed can be built, which most can: what is not told
/// so has to be tried.
pub(crate) fn fits(hir: &Hir) -> bool {
    let groups = hir.properties().explicit_captures_len();
    groups <= MAX_GROUP_BYTES / MAX_COMPILED_BYTES && !may_be_too_large(hir)
}

/// Parses a pattern with flags out of `imsx`.
///
/// # Errors
/// As of [`compile`].
pub(crate) fn parse(pattern: &str, flags: &str) -> Result<Hir, String> {
    if pattern.len() > MAX_PATTERN {
        return Err(format!("the pattern is over {MAX_PATTERN} bytes"));
    }
    if let Some(unknown) = flags.chars().find(|flag| !"imsx".contains(*flag)) {
        return Err(format!("unknown flag `{unknown}`, known are i, m, s and x"));
    }
    let classes = pattern.as_bytes().windows(2);
    let classes = classes.filter(|pair| pair[0] == b'\\' && b"pPwWdDsS".contains(&pair[1]));
    if classes.count() > MAX_CLASSES {
        return Err("the pattern has too many classes".into());
    }
    // What the parser would make of it, for a tenth of the time.
    if !flags.contains(['i', 'x']) && !pattern.bytes().any(|it| SPECIAL.contains(&it)) {
        return Ok(Hir::literal(pattern.as_bytes()));
    }
    let mut set: Vec<char> = flags.chars().collect();
    set.sort_unstable();
    set.dedup();
    let text = match set.is_empty() {
        true => pattern.to_owned(),
        false => format!("(?{}){pattern}", String::from_iter(set)),
    };
    let hir = parse_text(&text, RegexFlags::NONE).map_err(|error| match error {
        SyntaxError::Regex(error) => match *error {
            regex_syntax::Error::Parse(error) => error.kind().to_string(),
            regex_syntax::Error::Translate(error) => error.kind().to_string(),
            other => other.to_string(),
        },
        SyntaxError::TooMuchFolding => "it ignores case in too many large classes".into(),
    })?;
    if !hir.properties().is_utf8() {
        return Err("it can match what is not UTF-8".into());
    }
    Ok(hir)
}

/// Whether a regex matches somewhere in a text. Pay for the text before.
pub(crate) fn is_match(regex: &Regex, text: &Str) -> bool {
    regex.regex.is_match(text.as_str())
}

/// The matches of a regex one after the other, as in the `regex` crate.
struct Walk<'r, 't> {
    regex: &'r Regex,
    text: &'t str,
    searcher: Searcher<'t>,
    at: usize,
    dead: usize,
}

impl<'r, 't> Walk<'r, 't> {
    fn new(regex: &'r Regex, text: &'t str) -> Self {
        Self {
            regex,
            text,
            searcher: Searcher::new(Input::new(text)),
            at: 0,
            dead: 0,
        }
    }

    /// The next match. It costs what was looked at, also what lies behind it: else
    /// texts could be found in which every search looks through all of the rest.
    fn next(&mut self, calls: &mut dyn Calls) -> Result<Option<Match>, Fault> {
        let found = self
            .searcher
            .advance(|input| Ok(self.regex.regex.search(input)));
        self.pay(calls, found)
    }

    /// The next match with its groups.
    fn captures(
        &mut self,
        calls: &mut dyn Calls,
        captures: &mut Captures,
    ) -> Result<Option<Match>, Fault> {
        let found = self.searcher.advance(|input| {
            self.regex.regex.search_captures(input, captures);
            Ok(captures.get_match())
        });
        // The groups are found in a second pass, which is slower.
        if let Some(found) = found {
            calls.pay(text_cost(found.len()).saturating_mul(4))?;
        }
        self.pay(calls, found)
    }

    fn pay(&mut self, calls: &mut dyn Calls, found: Option<Match>) -> Result<Option<Match>, Fault> {
        let stop = match found {
            Some(found) => self.regex.reach.stop(
                self.text.as_bytes(),
                found.start(),
                found.end(),
                &mut self.dead,
            ),
            None => self.text.len(),
        };
        let cost = text_cost(stop.saturating_sub(self.at));
        calls.pay(cost.saturating_mul(self.regex.weight))?;
        self.at = found.map_or(self.text.len(), |found| found.end());
        Ok(found)
    }
}

/// All matches of a regex in a text, nil if there are none.
pub(crate) fn all_matches(
    regex: &Regex,
    text: &Str,
    calls: &mut dyn Calls,
) -> Result<Value, Fault> {
    let mut walk = Walk::new(regex, text.as_str());
    let mut found = Vec::new();
    while let Some(next) = walk.next(calls)? {
        found.push(part(calls, text, next.start(), next.end())?);
    }
    if found.is_empty() {
        return Ok(Value::Nil);
    }
    list(found, calls)
}

/// What a call wants.
enum Asked<'a> {
    /// Nothing: the pattern or the text is nil.
    Nothing,
    /// To search a text in which there is no match. The search is paid for.
    InVain(&'a Str),
    /// To search a text.
    Search(Arc<Regex>, &'a Str),
}

fn asked<'a>(
    calls: &mut dyn Calls,
    args: Args<'a>,
    (pattern, text, flags): (usize, usize, usize),
) -> Result<Asked<'a>, Fault> {
    let pattern = args.opt_str(pattern, "pattern")?;
    let text = args.opt_str(text, "text")?;
    let flags = args.opt_str(flags, "flags")?.map_or("", Str::as_str);
    let (Some(pattern), Some(text)) = (pattern, text) else {
        return Ok(Asked::Nothing);
    };
    if let Some(weight) = calls.ruled_out(pattern.as_str(), flags, text)? {
        calls.pay(text_cost(text.as_str().len()).saturating_mul(weight))?;
        return Ok(Asked::InVain(text));
    }
    let regex = calls.regex(pattern.as_str(), flags)?;
    Ok(Asked::Search(regex, text))
}

pub(super) fn regex_match(calls: &mut dyn Calls, args: &[Value]) -> Result<Value, Fault> {
    let args = Args::of("regex_match", args);
    match asked(calls, args, (0, 1, 2))? {
        Asked::Search(regex, text) => all_matches(&regex, text, calls),
        Asked::Nothing | Asked::InVain(_) => Ok(Value::Nil),
    }
}

pub(super) fn regex_split(calls: &mut dyn Calls, args: &[Value]) -> Result<Value, Fault> {
    let args = Args::of("regex_split", args);
    let (regex, text) = match asked(calls, args, (1, 0, 2))? {
        Asked::Nothing => return Ok(Value::Nil),
        Asked::InVain(text) => (None, text),
        Asked::Search(regex, text) => (Some(regex), text),
    };
    let mut pieces = Vec::new();
    let mut from = 0;
    if let Some(regex) = regex {
        let mut walk = Walk::new(&regex, text.as_str());
        while let Some(next) = walk.next(calls)? {
            pieces.push(part(calls, text, from, next.start())?);
            from = next.end();
        }
    }
    pieces.push(part(calls, text, from, text.as_str().len())?);
    list(pieces, calls)
}

pub(super) fn regex_replace(calls: &mut dyn Calls, args: &[Value]) -> Result<Value, Fault> {
    let args = Args::of("regex_replace", args);
    let replacement = args.opt_str(1, "replacement")?;
    let asked = asked(calls, args, (0, 2, 3))?;
    let Some(replacement) = replacement else {
        return Ok(Value::Nil);
    };
    let (regex, text) = match asked {
        Asked::Nothing => return Ok(Value::Nil),
        Asked::InVain(text) => return Ok(Value::Str(text.clone())),
        Asked::Search(regex, text) => (regex, text),
    };
    let (replacement, base) = (replacement.as_str(), text.as_str());
    let has_groups = replacement.contains('$');
    let mut captures = regex.regex.create_captures();
    let mut walk = Walk::new(&regex, base);
    let mut out = Builder::new(calls);
    let mut from = 0;
    let mut is_changed = false;
    loop {
        let next = match has_groups {
            true => walk.captures(calls, &mut captures)?,
            false => walk.next(calls)?,
        };
        let Some(next) = next else { break };
        is_changed = true;
        out.push(calls, base.get(from..next.start()).unwrap_or_default())?;
        from = next.end();
        if !has_groups {
            out.push(calls, replacement)?;
            continue;
        }
        calls.pay(text_cost(replacement.len()))?;
        out.fill(calls, |out, most| {
            expand(replacement, &captures, base, out, most)
        })?;
    }
    if !is_changed {
        return Ok(Value::Str(text.clone()));
    }
    out.push(calls, base.get(from..).unwrap_or_default())?;
    out.finish(calls)
}

/// Writes a replacement with its groups filled in. False if it takes more room than
/// there is.
fn expand(
    replacement: &str,
    captures: &Captures,
    text: &str,
    out: &mut String,
    most: usize,
) -> bool {
    let mut was_enough = true;
    interpolate::string(
        replacement,
        |group, out| {
            let span = captures.get_group(group).map(|span| span.range());
            let piece = span.and_then(|range| text.get(range)).unwrap_or_default();
            was_enough &= out.len().saturating_add(piece.len()) <= most;
            if was_enough {
                out.push_str(piece);
            }
        },
        |name| captures.group_info().to_index(PatternID::ZERO, name),
        out,
    );
    was_enough
}

const FIELDS: [&str; 5] = ["end", "groups", "line", "match", "start"];

pub(super) fn regex_captures(calls: &mut dyn Calls, args: &[Value]) -> Result<Value, Fault> {
    let args = Args::of("regex_captures", args);
    let pattern = args.opt_str(0, "pattern")?;
    let text = args.opt_str(1, "text")?;
    let flags = args.opt_str(2, "flags")?.map_or("", Str::as_str);
    let (Some(pattern), Some(text)) = (pattern, text) else {
        return list(Vec::new(), calls);
    };
    // Which groups it has is looked at even if there is no match.
    let regex = calls.regex(pattern.as_str(), flags)?;
    let mut captures = regex.regex.create_captures();
    let key = |name: &str| Str::new(name.into(), calls.heap());
    let [end, groups, line, whole, start] = FIELDS;
    let fields = (
        key(end)?,
        key(groups)?,
        key(line)?,
        key(whole)?,
        key(start)?,
    );
    let mut names = Vec::new();
    for (group, name) in captures
        .group_info()
        .pattern_names(PatternID::ZERO)
        .enumerate()
    {
        let Some(name) = name else { continue };
        if FIELDS.contains(&name) {
            let message = format!("invalid regex: a group may not be named `{name}`");
            return Err(thrown(calls, message));
        }
        names.push((group, key(name)?));
    }
    let mut walk = Walk::new(&regex, text.as_str());
    let mut place = Place::default();
    let mut found = Vec::new();
    while let Some(next) = walk.captures(calls, &mut captures)? {
        calls.pay(captures.group_len().saturating_add(8))?;
        let mut parts = Vec::with_capacity(captures.group_len());
        for group in 0..captures.group_len() {
            parts.push(match captures.get_group(group) {
                Some(span) => part(calls, text, span.start, span.end)?,
                None => Value::Nil,
            });
        }
        let mut entries = BTreeMap::new();
        for (group, name) in &names {
            let value = parts.get(*group).cloned().unwrap_or_default();
            entries.insert(name.clone(), value);
        }
        place.move_to(calls, text.as_str(), next.start())?;
        entries.insert(fields.4.clone(), int(place.chars));
        entries.insert(fields.2.clone(), int(place.lines.saturating_add(1)));
        let mut after = place;
        after.move_to(calls, text.as_str(), next.end())?;
        entries.insert(fields.0.clone(), int(after.chars));
        let matched = part(calls, text, next.start(), next.end())?;
        entries.insert(fields.3.clone(), matched);
        parts.drain(..1);
        entries.insert(fields.1.clone(), list(parts, calls)?);
        found.push(Value::Dict(Dict::of(entries, calls.heap())?));
    }
    list(found, calls)
}

/// A place in a text, in bytes, characters and lines.
#[derive(Clone, Copy, Default)]
struct Place {
    bytes: usize,
    chars: usize,
    lines: usize,
}

impl Place {
    fn move_to(&mut self, calls: &mut dyn Calls, text: &str, to: usize) -> Result<(), Fault> {
        let passed = text.get(self.bytes..to).unwrap_or_default();
        calls.pay(text_cost(passed.len()))?;
        self.bytes = to;
        self.chars += passed.chars().count();
        self.lines += memchr::memchr_iter(b'\n', passed.as_bytes()).count();
        Ok(())
    }
}
