//! Patterns without literals, several in one automaton.
//!
//! The automaton is built state by state as the text asks for it and says after
//! every byte which of the patterns match there. It never reads more than a text
//! and its lines hold; what it cannot tell is left to the regexes themselves.

use memchr::{memchr, memrchr};
use regex_automata::hybrid::LazyStateID;
use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::nfa::thompson::{Compiler, Config, WhichCaptures};
use regex_automata::{Input, MatchKind};
use regex_syntax::hir::Hir;

/// Patterns of one automaton. Its states are sets of places in all of them, so the
/// number of states grows with them.
const MOST: usize = 64;

/// Memory for the states of one automaton and thread, in bytes.
const STATES_BYTES: usize = 1 << 20;

/// How often the states may be thrown away before the automaton gives up.
const CLEARS: usize = 8;

/// The largest automaton before any state is built, in bytes.
const NFA_BYTES: usize = 4 << 20;

/// Some patterns that are run together.
#[derive(Debug)]
pub(super) struct Combined {
    dfa: DFA,
    /// For each pattern of the automaton its member.
    pub(super) members: Vec<u32>,
}

/// Where an automaton stopped, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stopped {
    /// It read all.
    End,
    /// It cannot read the line that starts there.
    Line(usize),
    /// It would need too many states from there on.
    GaveUp(usize),
}

impl Combined {
    /// Puts patterns together; each must see only its own line. Those that are too
    /// large together are left out.
    pub(super) fn build(patterns: &[(u32, Hir)]) -> Vec<Self> {
        let mut built = Vec::new();
        let mut pending: Vec<&[(u32, Hir)]> = patterns.chunks(MOST).collect();
        while let Some(patterns) = pending.pop() {
            match Self::new(patterns) {
                Some(combined) => built.push(combined),
                None if patterns.len() > 2 => {
                    let (left, right) = patterns.split_at(patterns.len() / 2);
                    pending.extend([left, right]);
                }
                None => {}
            }
        }
        built
    }

    fn new(patterns: &[(u32, Hir)]) -> Option<Self> {
        if patterns.len() < 2 {
            return None;
        }
        let config = Config::new()
            .utf8(false)
            .which_captures(WhichCaptures::None)
            .nfa_size_limit(Some(NFA_BYTES));
        let hirs: Vec<&Hir> = patterns.iter().map(|(_, hir)| hir).collect();
        let nfa = Compiler::new()
            .configure(config)
            .build_many_from_hir(&hirs)
            .ok()?;
        let config = DFA::config()
            .match_kind(MatchKind::All)
            .cache_capacity(STATES_BYTES)
            .skip_cache_capacity_check(true)
            .unicode_word_boundary(true)
            .minimum_cache_clear_count(Some(CLEARS));
        let dfa = DFA::builder().configure(config).build_from_nfa(nfa).ok()?;
        Some(Self {
            dfa,
            members: patterns.iter().map(|&(member, _)| member).collect(),
        })
    }

    pub(super) fn create_cache(&self) -> Cache {
        self.dfa.create_cache()
    }

    /// Runs over a text of many lines from the start of a line. `found` gets every
    /// member that matches on a line, with a place on that line, line by line; the
    /// same one may come several times.
    pub(super) fn run(
        &self,
        cache: &mut Cache,
        text: &[u8],
        from: usize,
        found: &mut impl FnMut(u32, usize),
    ) -> Stopped {
        let Ok(mut state) = self
            .dfa
            .start_state_forward(cache, &Input::new(text).span(from..text.len()))
        else {
            return Stopped::GaveUp(from);
        };
        let line_of = |at: usize| {
            let newline = text.get(from..at).and_then(|read| memrchr(b'\n', read));
            newline.map_or(from, |newline| from + newline + 1)
        };
        // What was told last, where the line ends that it was told of, and how often
        // states had been thrown away.
        let mut told = (state, 0, 0);
        let mut at = from;
        while let Some(&byte) = text.get(at) {
            let next = if state.is_tagged() {
                self.dfa.next_state(cache, state, byte)
            } else {
                match self.dfa.next_state_untagged(cache, state, byte) {
                    next if next.is_unknown() => self.dfa.next_state(cache, state, byte),
                    next => Ok(next),
                }
            };
            state = match next {
                Ok(state) => state,
                Err(_) => return Stopped::GaveUp(line_of(at)),
            };
            if state.is_tagged() {
                if state.is_quit() {
                    return Stopped::Line(line_of(at));
                }
                // Known one byte late, and still on the line.
                let clears = cache.clear_count();
                if state.is_match() && !(told.0 == state && at <= told.1 && told.2 == clears) {
                    self.tell(cache, state, at, found);
                    let rest = text.get(at..).unwrap_or_default();
                    let end = memchr(b'\n', rest).map_or(text.len(), |newline| at + newline);
                    told = (state, end, clears);
                }
                // Searching from everywhere never ends there; better safe.
                if state.is_dead() {
                    return Stopped::GaveUp(line_of(at));
                }
            }
            at += 1;
        }
        let line = line_of(text.len());
        match self.dfa.next_eoi_state(cache, state) {
            Ok(state) => {
                if state.is_match() {
                    self.tell(cache, state, text.len(), found);
                }
                Stopped::End
            }
            Err(_) => Stopped::GaveUp(line),
        }
    }

    fn tell(
        &self,
        cache: &Cache,
        state: LazyStateID,
        at: usize,
        found: &mut impl FnMut(u32, usize),
    ) {
        for index in 0..self.dfa.match_len(cache, state) {
            let pattern = self.dfa.match_pattern(cache, state, index);
            if let Some(&member) = self.members.get(pattern.as_usize()) {
                found(member, at);
            }
        }
    }
}
