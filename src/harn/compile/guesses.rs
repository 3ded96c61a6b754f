//! Which texts of a file may be patterns although no call names them: they come through
//! parameters, loops and the like. To take a text for one that is none costs a little
//! time; to miss one costs the time that searching for it takes, and nothing else.

use std::collections::{BTreeSet, HashSet};

use indexmap::IndexSet;

use crate::harn::patterns::{Pattern, normal_flags};
use crate::harn::syntax::ast::{Arg, Expr, ExprKind};

use super::unit::Compiler;

/// Shorter texts are no guesses, in bytes: nothing is gained by looking for them.
const SHORTEST: usize = 4;

/// Longer ones are none either.
const LONGEST: usize = 1 << 10;

/// Most guesses of a file with all that it imports.
const MOST: usize = 4096;

/// More spaces are taken for prose, if nothing else speaks for a pattern.
const MOST_SPACES: usize = 2;

/// Whether a text looks like a pattern, at a glance. Parsing all texts would take longer
/// than is gained.
fn may_be_pattern(text: &str) -> bool {
    let is_regex = || text.bytes().any(|byte| b"\\[*+^$|".contains(&byte));
    let spaces = || text.bytes().filter(|byte| *byte == b' ').count();
    (SHORTEST..=LONGEST).contains(&text.len())
        && (is_regex() || (spaces() <= MOST_SPACES && !text.contains("://")))
}

/// What was seen so far.
#[derive(Default)]
pub(super) struct Guesses<'a> {
    /// Every text that stands somewhere, but for keys.
    texts: IndexSet<&'a str>,
    /// Flags of calls whose patterns are not known.
    flags: BTreeSet<String>,
    /// There is such a call whose flags are not known either.
    has_any_flags: bool,
}

impl Guesses<'_> {
    /// There may be a call of which nothing is known.
    fn any(&mut self) {
        self.has_any_flags = true;
        self.flags.insert(String::new());
    }

    /// The patterns there may be beside those that are known.
    pub(super) fn finish(mut self, known: &[Pattern]) -> Vec<Pattern> {
        if self.flags.is_empty() {
            return Vec::new();
        }
        if self.has_any_flags {
            let is_flags =
                |text: &&&str| text.len() <= 4 && text.bytes().all(|it| b"imsx".contains(&it));
            let flags = self.texts.iter().filter(is_flags);
            self.flags.extend(flags.map(|flags| normal_flags(flags)));
        }
        let known: HashSet<(&str, &str)> = known
            .iter()
            .map(|known| (&*known.pattern, &*known.flags))
            .collect();
        let texts = self.texts.iter();
        let texts = texts.filter(|text| may_be_pattern(text));
        let flags = &self.flags;
        texts
            .flat_map(|text| flags.iter().map(move |flags| (*text, &**flags)))
            .filter(|pair| !known.contains(pair))
            .take(MOST)
            .map(|(text, flags)| Pattern::guess(text.into(), flags.into()))
            .collect()
    }
}

impl<'a> Compiler<'a, '_> {
    /// Puts down the texts of an expression that becomes a constant.
    pub(super) fn note_texts(&mut self, expr: &Expr<'a>) {
        match expr.kind {
            ExprKind::Str(text) => {
                self.guesses.texts.insert(text);
            }
            ExprKind::List(items) => {
                for item in items {
                    self.note_texts(&item.value);
                }
            }
            _ => {}
        }
    }

    /// Puts down a call of a function that takes a pattern, but for `regex_match` with a
    /// constant one.
    pub(super) fn note_pattern(&mut self, name: &str, args: &'a [Arg<'a>]) {
        let (pattern, flags) = match name {
            "regex_match" | "regex_captures" => (0, 2),
            "regex_split" => (1, 2),
            "regex_replace" => (0, 3),
            _ => return,
        };
        let Some(pattern) = args.get(pattern) else {
            return;
        };
        let known = self.known_text(&pattern.value);
        let flags = self.known_flags(args.get(flags));
        match (known, flags) {
            (Some(known), Some(flags)) => {
                self.intern_pattern(&known, &flags, pattern.value.span);
            }
            (_, Some(flags)) => {
                self.guesses.flags.insert(normal_flags(&flags));
            }
            (_, None) => self.guesses.any(),
        }
    }

    /// Puts down that a function is a value, which may be called with anything.
    pub(super) fn note_function(&mut self, name: &str) {
        if name.starts_with("regex_") {
            self.guesses.any();
        }
    }
}
