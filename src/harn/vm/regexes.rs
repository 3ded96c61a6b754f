//! Searches with regexes: of constant patterns, and of those that a program gives. What
//! a search costs does not depend on whether it is made or was made for all patterns of
//! the slice at once, nor on who built the regex.

use std::collections::HashMap;
use std::sync::Arc;

use crate::code::Op;
use crate::harn::builtins::{Regex, all_matches, compile, is_match, text_cost};
use crate::harn::fault::Fault;
use crate::harn::patterns::Pattern;
use crate::harn::value::{Str, Value};
use crate::scan::{Sieve, Sieved};

use super::machine::Machine;

/// Regexes of patterns that are given when the program runs.
const MOST_DYNAMIC: usize = 64;

/// Which patterns of a module may match in the files of a slice.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sifted<'s> {
    pub(crate) sieve: &'s Sieve,
    /// By the number of the file.
    pub(crate) files: &'s [Sieved],
    /// The number of the module's first pattern.
    pub(crate) first: usize,
}

impl Sifted<'_> {
    /// Whether a pattern of the module has no match in a file.
    fn rules_out(&self, pattern: u32, file: u32) -> bool {
        let file = self.files.get(file as usize);
        file.is_some_and(|file| self.sieve.rules_out(self.first + pattern as usize, file))
    }
}

/// The regexes of patterns that were given so far, which are paid for.
#[derive(Debug, Default)]
pub(super) struct Dynamic {
    /// By flags and pattern.
    ready: HashMap<Box<str>, HashMap<Box<str>, Ready>>,
    count: usize,
}

#[derive(Clone, Debug)]
enum Ready {
    /// One of the module, which can be built, by its number.
    Known(u32),
    Built(Arc<Regex>),
}

impl Dynamic {
    fn get(&self, pattern: &str, flags: &str) -> Option<&Ready> {
        self.ready.get(flags)?.get(pattern)
    }

    fn add(&mut self, pattern: &str, flags: &str, ready: Ready) {
        if self.count >= MOST_DYNAMIC {
            *self = Self::default();
        }
        let of_flags = self.ready.entry(flags.into()).or_default();
        of_flags.insert(pattern.into(), ready);
        self.count += 1;
    }
}

impl Machine<'_> {
    /// What text costs to search with a pattern, as a multiple of the usual, if it is
    /// known that there is no match. The pattern is then paid for as by
    /// [`Machine::regex_of`].
    pub(super) fn ruled_out_of(
        &mut self,
        pattern: &str,
        flags: &str,
        text: &Str,
    ) -> Result<Option<usize>, Fault> {
        let (Some(sifted), Some(file)) = (self.sifted, text.file()) else {
            return Ok(None);
        };
        let ready = self.dynamic.get(pattern, flags);
        let number = match ready {
            Some(Ready::Known(number)) => Some(*number),
            Some(Ready::Built(_)) => None,
            None => self.code.patterns.find(pattern, flags),
        };
        let Some(number) = number.filter(|number| sifted.rules_out(*number, file)) else {
            return Ok(None);
        };
        if ready.is_none() {
            self.pay_for_regex(pattern)?;
            self.dynamic.add(pattern, flags, Ready::Known(number));
        }
        Ok(self.code.patterns.get(number).map(Pattern::weight))
    }

    /// The regex of a pattern that is given when the program runs. The first time it is
    /// paid for, whoever has built it.
    pub(super) fn regex_of(&mut self, pattern: &str, flags: &str) -> Result<Arc<Regex>, Fault> {
        match self.dynamic.get(pattern, flags) {
            Some(Ready::Built(regex)) => return Ok(regex.clone()),
            Some(Ready::Known(number)) => return self.pattern(*number),
            None => {}
        }
        self.pay_for_regex(pattern)?;
        let (regex, ready) = match self.code.patterns.find(pattern, flags) {
            Some(number) => (self.pattern(number)?, Ready::Known(number)),
            None => {
                let regex = compile(pattern, flags).map(Arc::new);
                let regex = regex.map_err(|error| self.invalid_regex(&error))?;
                (regex.clone(), Ready::Built(regex))
            }
        };
        self.dynamic.add(pattern, flags, ready);
        Ok(regex)
    }

    fn pay_for_regex(&mut self, pattern: &str) -> Result<(), Fault> {
        self.spend(1000 + pattern.len() as u64 * 8)
    }

    /// The regex of a pattern of the module, built once for all machines.
    fn pattern(&self, number: u32) -> Result<Arc<Regex>, Fault> {
        let Some(pattern) = self.code.patterns.get(number) else {
            return Err(Fault::ty("there is no such pattern"));
        };
        let built = pattern.build().as_ref();
        built.cloned().map_err(|error| self.invalid_regex(error))
    }

    fn invalid_regex(&self, error: &str) -> Fault {
        match Value::text(format!("invalid regex: {error}"), &self.heap) {
            Ok(text) => Fault::Thrown(text),
            Err(fault) => fault,
        }
    }

    /// `regex.test` and `regex.all`.
    pub(super) fn match_constant(
        &mut self,
        number: u32,
        text: &Str,
        op: Op,
    ) -> Result<Value, Fault> {
        let pattern = self.code.patterns.get(number);
        let len = text.as_str().len();
        let is_ruled_out = match (self.sifted, text.file()) {
            (Some(sifted), Some(file)) => sifted.rules_out(number, file),
            _ => false,
        };
        if op == Op::RegexTest {
            let weight = pattern.map_or(1, Pattern::weight) as u64;
            self.spend(16 + (len as u64 / 16).saturating_mul(weight))?;
            if is_ruled_out {
                return Ok(Value::Bool(false));
            }
            let regex = self.pattern(number)?;
            return Ok(Value::Bool(is_match(&regex, text)));
        }
        self.spend(16)?;
        if is_ruled_out {
            let weight = pattern.map_or(1, Pattern::weight);
            self.spend(text_cost(len).saturating_mul(weight) as u64)?;
            return Ok(Value::Nil);
        }
        let regex = self.pattern(number)?;
        all_matches(&regex, text, self)
    }
}
