//! Methods of strings, most of which are functions too. What is a part of a string
//! shares its storage.

use memchr::{memchr_iter, memmem};

use crate::harn::builtins::Calls;
use crate::harn::builtins::args::{Args, bounds, int, list, place};
use crate::harn::builtins::builder::{Builder, MAX_TEXT, pay_for, piece, text_of};
use crate::harn::builtins::compare::text_cost;
use crate::harn::fault::{Fault, Limit};
use crate::harn::value::{Str, Value};

/// What a list of parts takes for each of them.
const PART: usize = 96;

/// How many characters a string has.
pub(super) fn chars_in(calls: &mut dyn Calls, text: &Str) -> Result<usize, Fault> {
    if !text.is_counted() {
        calls.pay(text_cost(text.as_str().len()))?;
    }
    Ok(text.chars())
}

/// The offset of a character, the length for those past the end.
fn offset(calls: &mut dyn Calls, text: &Str, char: usize) -> Result<usize, Fault> {
    let len = text.as_str().len();
    let chars = chars_in(calls, text)?;
    if char >= chars {
        return Ok(len);
    }
    if chars < len {
        calls.pay(text_cost(char))?;
    }
    Ok(text.offset(char).unwrap_or(len))
}

/// The number of the character at an offset.
fn char_at_offset(calls: &mut dyn Calls, text: &Str, offset: usize) -> Result<usize, Fault> {
    if chars_in(calls, text)? == text.as_str().len() {
        return Ok(offset);
    }
    calls.pay(text_cost(offset))?;
    let before = text.as_str().get(..offset).unwrap_or_default();
    Ok(before.chars().count())
}

/// A part as a value.
pub(super) fn part(calls: &dyn Calls, text: &Str, from: usize, to: usize) -> Result<Value, Fault> {
    Ok(Value::Str(text.part(from..to.max(from), calls.heap())?))
}

/// A part that a function of the library found.
fn part_of(calls: &dyn Calls, text: &Str, found: &str) -> Result<Value, Fault> {
    let from = found
        .as_ptr()
        .addr()
        .saturating_sub(text.as_str().as_ptr().addr());
    part(calls, text, from, from.saturating_add(found.len()))
}

/// A list of parts, counted before it is made.
fn parts<'t, I: Iterator<Item = &'t str>>(
    calls: &mut dyn Calls,
    text: &'t Str,
    split: impl Fn(&'t str) -> I,
) -> Result<Value, Fault> {
    calls.pay(text_cost(text.as_str().len()))?;
    let count = split(text.as_str()).count();
    calls.pay(count)?;
    calls.heap().has_room(count.saturating_mul(PART))?;
    let mut found = Vec::with_capacity(count);
    for piece in split(text.as_str()) {
        found.push(part_of(calls, text, piece)?);
    }
    list(found, calls)
}

pub(super) fn is_empty(_: &mut dyn Calls, args: &[Value]) -> Result<Value, Fault> {
    let text = Args::of("empty", args).str(0, "")?;
    Ok(Value::Bool(text.as_str().is_empty()))
}

/// Changes the case; a text that has it already is shared.
fn recase(
    calls: &mut dyn Calls,
    text: &Str,
    changes: fn(char) -> bool,
    change: fn(&str) -> String,
) -> Result<Value, Fault> {
    // Character by character.
    calls.pay(text.as_str().len() / 4 + 1)?;
    if !text.as_str().chars().any(changes) {
        return Ok(Value::Str(text.clone()));
    }
    // No character gets longer than three times its bytes.
    calls.pay(text_cost(text.as_str().len()))?;
    let most = text.as_str().len().saturating_mul(3);
    calls.heap().has_room(most.min(MAX_TEXT))?;
    Value::text(change(text.as_str()), calls.heap())
}

pub(super) fn lower(calls: &mut dyn Calls, args: &[Value]) -> Result<Value, Fault> {
    let text = Args::of("lower", args).str(0, "")?;
    let changes = |char: char| !char.to_lowercase().eq([char]);
    recase(calls, text, changes, str::to_lowercase)
}

pub(super) fn upper(calls: &mut dyn Calls, args: &[Value]) -> Result<Value, Fault> {
    let text = Args::of("upper", args).str(0, "")?;
    let changes = |char: char| !char.to_uppercase().eq([char]);
    recase(calls, text, changes, str::to_uppercase)
}

fn trimmed(calls: &mut dyn Calls, args: Args<'_>, trim: fn(&str) -> &str) -> Result<Value, Fault> {
    let text = args.str(0, "")?;
    let kept = trim(text.as_str());
    calls.pay(text_cost(text.as_str().len() - kept.len()))?;
    part_of(calls, text, kept)
}

pub(super) fn trim(calls: &mut dyn Calls, args: &[Value]) -> Result<Value, Fault> {
    trimmed(calls, Args::of("trim", args), str::trim)
}

pub(super) fn trim_start(calls: &mut dyn Calls, args: &[Value]) -> Result<Value, Fault> {
    trimmed(calls, Args::of("trim_start", args), str::trim_start)
}

pub(super) fn trim_end(calls: &mut dyn Calls, args: &[Value]) -> Result<Value, Fault> {
    trimmed(calls, Args::of("trim_end", args), str::trim_end)
}

pub(super) fn chars(calls: &mut dyn Calls, args: &[Value]) -> Result<Value, Fault> {
    let text = Args::of("chars", args).str(0, "")?;
    let count = chars_in(calls, text)?;
    calls.pay(count)?;
    calls.heap().has_room(count.saturating_mul(PART))?;
    let mut found = Vec::with_capacity(count);
    for (at, char) in text.as_str().char_indices() {
        found.push(part(calls, text, at, at + char.len_utf8())?);
    }
    list(found, calls)
}

pub(super) fn char_at(calls: &mut dyn Calls, args: &[Value]) -> Result<Value, Fault> {
    let args = Args::of("char_at", args);
    let text = args.str(0, "")?;
    let Ok(at) = usize::try_from(args.int(1, "index")?) else {
        return Ok(Value::Nil);
    };
    let from = offset(calls, text, at)?;
    let rest = text.as_str().get(from..).unwrap_or_default();
    match rest.chars().next() {
        Some(char) => part(calls, text, from, from + char.len_utf8()),
        None => Ok(Value::Nil),
    }
}

pub(super) fn substring(calls: &mut dyn Calls, args: &[Value]) -> Result<Value, Fault> {
    let args = Args::of("substring", args);
    let text = args.str(0, "")?;
    let from = args.int(1, "start")?.max(0);
    let to = args.opt_int(2, "end")?.map(|to| to.max(0));
    cut(calls, text, from, to)
}

pub(super) fn slice(calls: &mut dyn Calls, args: &[Value]) -> Result<Value, Fault> {
    let args = Args::of("slice", args);
    let text = args.str(0, "")?;
    cut(calls, text, args.int(1, "start")?, args.opt_int(2, "end")?)
}

fn cut(calls: &mut dyn Calls, text: &Str, from: i64, to: Option<i64>) -> Result<Value, Fault> {
    let (from, to) = bounds(chars_in(calls, text)?, from, to);
    let (from, to) = (offset(calls, text, from)?, offset(calls, text, to)?);
    part(calls, text, from, to)
}

/// The text and what is looked for in it, which is paid for.
fn sought<'a>(calls: &mut dyn Calls, args: Args<'a>, role: &str) -> Result<(&'a Str, Str), Fault> {
    let text = args.str(0, "")?;
    let wanted = piece(calls, args, 1, role)?;
    calls.pay(text_cost(text.as_str().len()))?;
    Ok((text, wanted))
}

pub(super) fn contains(calls: &mut dyn Calls, args: &[Value]) -> Result<Value, Fault> {
    let (text, wanted) = sought(calls, Args::of("contains", args), "needle")?;
    let found = memmem::find(text.as_str().as_bytes(), wanted.as_str().as_bytes());
    Ok(Value::Bool(found.is_some()))
}

pub(super) fn starts_with(calls: &mut dyn Calls, args: &[Value]) -> Result<Value, Fault> {
    let args = Args::of("starts_with", args);
    let text = args.str(0, "")?;
    let wanted = piece(calls, args, 1, "prefix")?;
    calls.pay(text_cost(wanted.as_str().len()))?;
    Ok(Value::Bool(text.as_str().starts_with(wanted.as_str())))
}

pub(super) fn ends_with(calls: &mut dyn Calls, args: &[Value]) -> Result<Value, Fault> {
    let args = Args::of("ends_with", args);
    let text = args.str(0, "")?;
    let wanted = piece(calls, args, 1, "suffix")?;
    calls.pay(text_cost(wanted.as_str().len()))?;
    Ok(Value::Bool(text.as_str().ends_with(wanted.as_str())))
}

pub(super) fn index_of(calls: &mut dyn Calls, args: &[Value]) -> Result<Value, Fault> {
    let args = Args::of("index_of", args);
    let (text, wanted) = sought(calls, args, "needle")?;
    let from = args.opt_int(2, "start")?.unwrap_or(0).max(0);
    let from = usize::try_from(from).unwrap_or(usize::MAX);
    if from > chars_in(calls, text)? {
        return Ok(place(None));
    }
    let from = offset(calls, text, from)?;
    let rest = text.as_str().get(from..).unwrap_or_default();
    match memmem::find(rest.as_bytes(), wanted.as_str().as_bytes()) {
        Some(at) => Ok(int(char_at_offset(calls, text, from + at)?)),
        None => Ok(place(None)),
    }
}

pub(super) fn last_index_of(calls: &mut dyn Calls, args: &[Value]) -> Result<Value, Fault> {
    let (text, wanted) = sought(calls, Args::of("last_index_of", args), "needle")?;
    match memmem::rfind(text.as_str().as_bytes(), wanted.as_str().as_bytes()) {
        Some(at) => Ok(int(char_at_offset(calls, text, at)?)),
        None => Ok(place(None)),
    }
}

pub(super) fn lines(calls: &mut dyn Calls, args: &[Value]) -> Result<Value, Fault> {
    let text = Args::of("lines", args).str(0, "")?;
    let bytes = text.as_str().as_bytes();
    calls.pay(text_cost(bytes.len()))?;
    let has_rest = bytes.last().is_some_and(|last| *last != b'\n');
    let count = memchr_iter(b'\n', bytes).count() + usize::from(has_rest);
    calls.pay(count)?;
    calls.heap().has_room(count.saturating_mul(PART))?;
    let mut found = Vec::with_capacity(count);
    let mut from = 0;
    for end in memchr_iter(b'\n', bytes) {
        let has_return = end > from && bytes[end - 1] == b'\r';
        found.push(part(calls, text, from, end - usize::from(has_return))?);
        from = end + 1;
    }
    if has_rest {
        found.push(part(calls, text, from, bytes.len())?);
    }
    list(found, calls)
}

pub(super) fn split(calls: &mut dyn Calls, args: &[Value]) -> Result<Value, Fault> {
    let args = Args::of("split", args);
    let text = args.str(0, "")?;
    let separator = piece(calls, args, 1, "separator")?;
    parts(calls, text, |text| text.split(separator.as_str()))
}

pub(super) fn replace(calls: &mut dyn Calls, args: &[Value]) -> Result<Value, Fault> {
    let args = Args::of("replace", args);
    let (text, old) = sought(calls, args, "old text")?;
    let new = piece(calls, args, 2, "new text")?;
    let (old, new) = (old.as_str(), new.as_str());
    let len = text.as_str().len();
    let count = match old {
        "" => chars_in(calls, text)?.saturating_add(1),
        old => memmem::find_iter(text.as_str().as_bytes(), old.as_bytes()).count(),
    };
    if count == 0 {
        return Ok(Value::Str(text.clone()));
    }
    calls.pay(count)?;
    let added = count.saturating_mul(new.len());
    let gone = count.saturating_mul(old.len());
    let mut out = Builder::sized(calls, len.saturating_add(added).saturating_sub(gone))?;
    for (at, piece) in text.as_str().split(old).enumerate() {
        // Nothing splits before the first character and after the last one too; these
        // pieces are empty, and in their places the new text belongs.
        if at > 0 {
            out.push_paid(new)?;
        }
        out.push_paid(piece)?;
    }
    out.finish(calls)
}

pub(super) fn repeat(calls: &mut dyn Calls, args: &[Value]) -> Result<Value, Fault> {
    let args = Args::of("repeat", args);
    let text = args.str(0, "")?.as_str();
    let times = args.count(1, "number of times")?;
    if text.is_empty() || times == 0 {
        return Value::text("", calls.heap());
    }
    pay_for(calls, text.len().saturating_mul(times))?;
    Value::text(text.repeat(times), calls.heap())
}

pub(super) fn reversed(calls: &mut dyn Calls, args: &[Value]) -> Result<Value, Fault> {
    let text = Args::of("reversed", args).str(0, "")?.as_str();
    // Character by character.
    calls.pay(text.len() / 4)?;
    calls.heap().has_room(text.len())?;
    let turned: String = text.chars().rev().collect();
    Value::text(turned, calls.heap())
}

/// What has to be added for a width, and the text.
fn padding<'a>(calls: &mut dyn Calls, args: Args<'a>) -> Result<(&'a Str, String), Fault> {
    let text = args.str(0, "")?;
    let width = args.count(1, "width")?;
    let fill = args.given(2).map(|fill| text_of(calls, fill)).transpose()?;
    let fill = fill.as_ref().map_or(" ", Str::as_str);
    let missing = width.saturating_sub(chars_in(calls, text)?);
    if missing > MAX_TEXT {
        return Err(Fault::Limit(Limit::Memory));
    }
    if fill.is_empty() {
        return Err(args.fault("wants a fill that is not empty"));
    }
    calls.heap().has_room(missing.saturating_mul(4))?;
    calls.pay(missing)?;
    Ok((text, fill.chars().cycle().take(missing).collect()))
}

pub(super) fn pad_left(calls: &mut dyn Calls, args: &[Value]) -> Result<Value, Fault> {
    let (text, padding) = padding(calls, Args::of("pad_left", args))?;
    joined(calls, text, [&padding, text.as_str()])
}

pub(super) fn pad_right(calls: &mut dyn Calls, args: &[Value]) -> Result<Value, Fault> {
    let (text, padding) = padding(calls, Args::of("pad_right", args))?;
    joined(calls, text, [text.as_str(), &padding])
}

fn joined(calls: &mut dyn Calls, text: &Str, pieces: [&str; 2]) -> Result<Value, Fault> {
    if pieces.iter().any(|piece| piece.is_empty()) && !text.as_str().is_empty() {
        return Ok(Value::Str(text.clone()));
    }
    let mut out = Builder::new(calls);
    for piece in pieces {
        out.push(calls, piece)?;
    }
    out.finish(calls)
}
