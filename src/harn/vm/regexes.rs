//! Searches with regexes: of constant patterns, and of those that a program gives. What
//! a search costs does not depend on whether it is made or was made for all patterns of
//! the slice at once, nor on who built the regex.

use std::collections::HashMap;
use std::sync::Arc;

use crate::code::Op;
use crate::harn::builtins::{Regex, all_matches, compile, is_match, text_cost};
use crate::harn::fault::Fault;
use crate::harn::patterns::Size;
use crate::harn::value::{Str, Value};
use crate::scan::{Sieve, Sieved};

use super::machine::Machine;

/// Regexes of patterns that are given when the program runs.
const MOST_DYNAMIC: usize = 64;

/// Bytes of them, at most.
const MOST_DYNAMIC_BYTES: usize = 32 << 20;

/// A unit of fuel pays for so many bytes of an automaton: building them takes about as
/// long as the instructions that a unit pays for.
const BYTES_OF_A_UNIT: usize = 8;

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

/// The regexes that an evaluation has paid for.
#[derive(Debug, Default)]
pub(super) struct Dynamic {
    /// Those that the module does not keep, by flags and pattern, and what is known of
    /// others that are given when the program runs.
    ready: HashMap<Box<str>, HashMap<Box<str>, Ready>>,
    count: usize,
    bytes: usize,
    /// A bit for each pattern that the module keeps.
    paid: Vec<u64>,
}

#[derive(Clone, Debug)]
struct Ready {
    /// Its number, if it is one of the module.
    number: Option<u32>,
    /// If the module does not keep it, once it was wanted.
    regex: Option<Arc<Regex>>,
}

impl Dynamic {
    fn get(&self, pattern: &str, flags: &str) -> Option<&Ready> {
        self.ready.get(flags)?.get(pattern)
    }

    fn add(&mut self, pattern: &str, flags: &str, bytes: usize, ready: Ready) {
        if self.count >= MOST_DYNAMIC || self.bytes.saturating_add(bytes) > MOST_DYNAMIC_BYTES {
            self.ready.clear();
            (self.count, self.bytes) = (0, 0);
        }
        self.count += 1;
        self.bytes += bytes;
        let of_flags = self.ready.entry(flags.into()).or_default();
        of_flags.insert(pattern.into(), ready);
    }

    /// Whether a pattern that the module keeps is paid for; it is from now on.
    fn set_paid(&mut self, number: u32) -> bool {
        let (word, bit) = (number as usize / 64, 1 << (number % 64));
        if word >= self.paid.len() {
            self.paid.resize(word + 1, 0);
        }
        let is_paid = self.paid[word] & bit != 0;
        self.paid[word] |= bit;
        is_paid
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
        let number = match self.dynamic.get(pattern, flags) {
            Some(ready) => ready.number,
            None => self.code.patterns.find(pattern, flags),
        };
        let Some(number) = number.filter(|number| sifted.rules_out(*number, file)) else {
            return Ok(None);
        };
        self.ready(pattern, flags)?;
        let known = self.code.patterns.get(number);
        Ok(known.map(|pattern| pattern.size().weight))
    }

    /// The regex of a pattern that is given when the program runs. The first time it is
    /// paid for, whoever has built it.
    pub(super) fn regex_of(&mut self, pattern: &str, flags: &str) -> Result<Arc<Regex>, Fault> {
        let ready = self.ready(pattern, flags)?;
        if let Some(regex) = ready.regex {
            return Ok(regex);
        }
        if let Some(number) = ready.number.filter(|it| self.code.patterns.keeps(*it)) {
            return self.kept(number);
        }
        let built = compile(pattern, flags).map(Arc::new);
        let of_flags = self.dynamic.ready.get_mut(flags);
        let entry = of_flags.and_then(|of_flags| of_flags.get_mut(pattern));
        match built {
            Ok(regex) => {
                if let Some(ready) = entry {
                    ready.regex = Some(regex.clone());
                }
                Ok(regex)
            }
            Err(error) => {
                // Trying again costs again.
                if let Some(of_flags) = self.dynamic.ready.get_mut(flags) {
                    of_flags.remove(pattern);
                }
                Err(self.invalid_regex(&error))
            }
        }
    }

    /// What is known of a pattern, which is paid for.
    fn ready(&mut self, pattern: &str, flags: &str) -> Result<Ready, Fault> {
        if let Some(ready) = self.dynamic.get(pattern, flags) {
            return Ok(ready.clone());
        }
        let patterns = &self.code.patterns;
        let number = patterns.find(pattern, flags);
        let ready = Ready {
            number,
            regex: None,
        };
        let bytes = match number.and_then(|number| Some((number, patterns.get(number)?))) {
            Some((number, _)) if patterns.keeps(number) => {
                self.pay_for_kept(number)?;
                0
            }
            known => {
                let size =
                    known.map_or_else(|| Size::of(pattern, flags), |(_, known)| known.size());
                self.pay_for_regex(pattern, size)?;
                size.bytes
            }
        };
        self.dynamic.add(pattern, flags, bytes, ready.clone());
        Ok(ready)
    }

    /// Pays for a pattern that the module keeps the first time that it is used.
    fn pay_for_kept(&mut self, number: u32) -> Result<(), Fault> {
        if self.dynamic.set_paid(number) {
            return Ok(());
        }
        match self.code.patterns.get(number) {
            Some(pattern) => self.pay_for_regex(&pattern.pattern, pattern.size()),
            None => Ok(()),
        }
    }

    fn pay_for_regex(&mut self, pattern: &str, size: Size) -> Result<(), Fault> {
        self.spend(1000 + pattern.len() as u64 * 8 + (size.bytes / BYTES_OF_A_UNIT) as u64)
    }

    /// The regex of a pattern that the module keeps, built once for all machines.
    fn kept(&self, number: u32) -> Result<Arc<Regex>, Fault> {
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
        let patterns = &self.code.patterns;
        let Some(pattern) = patterns.get(number) else {
            return Err(Fault::ty("there is no such pattern"));
        };
        let is_kept = patterns.keeps(number);
        match is_kept {
            true => self.pay_for_kept(number)?,
            false => drop(self.ready(&pattern.pattern, &pattern.flags)?),
        }
        let regex = |machine: &mut Self| match is_kept {
            true => machine.kept(number),
            false => machine.regex_of(&pattern.pattern, &pattern.flags),
        };
        let len = text.as_str().len();
        let is_ruled_out = match (self.sifted, text.file()) {
            (Some(sifted), Some(file)) => sifted.rules_out(number, file),
            _ => false,
        };
        if op == Op::RegexTest {
            let weight = pattern.size().weight as u64;
            self.spend(16 + (len as u64 / 16).saturating_mul(weight))?;
            if is_ruled_out {
                return Ok(Value::Bool(false));
            }
            return Ok(Value::Bool(is_match(&*regex(self)?, text)));
        }
        self.spend(16)?;
        if is_ruled_out {
            let weight = pattern.size().weight;
            self.spend(text_cost(len).saturating_mul(weight) as u64)?;
            return Ok(Value::Nil);
        }
        all_matches(&*regex(self)?, text, self)
    }
}
