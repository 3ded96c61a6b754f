//! Whether one line matches: the smallest engine that can tell.
//!
//! Most patterns are only ever tried on the few lines that hold their literals. For
//! that a forward automaton, built state by state as it is needed, is enough: it
//! takes half the time and memory of a regex that can search whole files. And most
//! lines are ASCII, for which the large classes of Unicode need not be compiled.

use regex_automata::Input;
use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::nfa::thompson::{Compiler, Config, WhichCaptures};
use regex_syntax::hir::Hir;

use crate::scan::ascii::{Alphabet, for_ascii};
use crate::scan::pattern::{MAX_COMPILED_BYTES, PatternError};

/// Memory for the states of one automaton and thread, in bytes.
const STATES_BYTES: usize = 64 << 10;

/// How often the states may be thrown away before the automaton gives up.
const CLEARS: usize = 4;

/// The longest line it is used for, in bytes.
pub(super) const LONGEST_LINE: usize = 16 << 10;

/// A regex that says whether a line matches.
#[derive(Debug)]
pub(super) struct LineMatcher(DFA);

impl LineMatcher {
    /// Compiles a regex that matches within lines, for lines of an alphabet.
    ///
    /// # Errors
    ///
    /// [`PatternError::TooLarge`].
    pub(super) fn new(hir: &Hir, alphabet: Alphabet) -> Result<Self, PatternError> {
        let narrowed = match alphabet {
            Alphabet::Ascii => Some(for_ascii(hir)),
            Alphabet::Any => None,
        };
        let hir = narrowed.as_ref().unwrap_or(hir);
        let config = Config::new()
            .utf8(false)
            .which_captures(WhichCaptures::None)
            .nfa_size_limit(Some(MAX_COMPILED_BYTES));
        let nfa = Compiler::new()
            .configure(config)
            .build_from_hir(hir)
            .map_err(|error| match error.size_limit() {
                Some(_) => PatternError::TooLarge,
                None => PatternError::Invalid(error.to_string()),
            })?;
        let config = DFA::config()
            .cache_capacity(STATES_BYTES)
            .skip_cache_capacity_check(true)
            .unicode_word_boundary(true)
            .minimum_cache_clear_count(Some(CLEARS));
        DFA::builder()
            .configure(config)
            .build_from_nfa(nfa)
            .map(Self)
            .map_err(|error| PatternError::Invalid(error.to_string()))
    }

    /// What the regex takes in memory without its caches, in bytes.
    pub(super) fn memory_usage(&self) -> usize {
        self.0.memory_usage() + self.0.get_nfa().memory_usage()
    }

    pub(super) fn create_cache(&self) -> Cache {
        self.0.create_cache()
    }

    /// Whether the line matches. `None` if the automaton cannot tell: beside a
    /// Unicode word boundary it does not read what is no ASCII, and it gives up
    /// where it would need too many states.
    pub(super) fn is_match(&self, cache: &mut Cache, line: &[u8]) -> Option<bool> {
        let input = Input::new(line).earliest(true);
        let found = self.0.try_search_fwd(cache, &input).ok()?;
        Some(found.is_some())
    }
}
