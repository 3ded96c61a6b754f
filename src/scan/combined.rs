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

/// What is found in the second half of a text waits for the first up to here.
const MOST_LATER: usize = 4096;

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
                None if patterns.len() > 1 => {
                    let (left, right) = patterns.split_at(patterns.len() / 2);
                    pending.extend([left, right]);
                }
                None => {}
            }
        }
        built
    }

    fn new(patterns: &[(u32, Hir)]) -> Option<Self> {
        Self::with_states(patterns, STATES_BYTES)
    }

    /// With so much memory for states, in bytes.
    fn with_states(patterns: &[(u32, Hir)], bytes: usize) -> Option<Self> {
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
            .cache_capacity(bytes)
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
        let mut lane = Lane::new(from, text.len());
        self.finish(&mut lane, cache, text, found)
    }

    /// The same from the start of a text, in two halves at once: each byte has to
    /// wait for the one before it, but not for those of another line.
    pub(super) fn run_halves(
        &self,
        cache: &mut Cache,
        text: &[u8],
        found: &mut impl FnMut(u32, usize),
    ) -> Stopped {
        let middle = memchr(b'\n', text.get(text.len() / 2..).unwrap_or_default());
        let Some(middle) = middle else {
            return self.run(cache, text, 0, found);
        };
        let middle = text.len() / 2 + middle + 1;
        let mut first = Lane::new(0, middle);
        let mut second = Lane::new(middle, text.len());
        let mut later = Vec::new();
        if let Err(stopped) = self.run_both(&mut first, &mut second, cache, text, found, &mut later)
        {
            return stopped;
        }
        let clears = cache.clear_count();
        match self.finish(&mut first, cache, text, found) {
            Stopped::End => {}
            stopped => return stopped,
        }
        if cache.clear_count() != clears {
            second.forget(text);
        }
        later.into_iter().for_each(|(member, at)| found(member, at));
        self.finish(&mut second, cache, text, found)
    }

    /// Runs two lanes as long as both have bytes left.
    fn run_both(
        &self,
        first: &mut Lane,
        second: &mut Lane,
        cache: &mut Cache,
        text: &[u8],
        found: &mut impl FnMut(u32, usize),
        later: &mut Vec<(u32, usize)>,
    ) -> Result<(), Stopped> {
        loop {
            self.start(first, cache, text)?;
            // The second stops where the first will come, too.
            if self.start(second, cache, text).is_err() {
                return Ok(());
            }
            self.step_both(first, second, cache, text);
            let clears = cache.clear_count();
            self.look(first, cache, text, found)?;
            if cache.clear_count() != clears {
                second.forget(text);
                continue;
            }
            let mut keep = |member, at| later.push((member, at));
            if first.is_done() || self.look(second, cache, text, &mut keep).is_err() {
                return Ok(());
            }
            if cache.clear_count() != clears {
                first.forget(text);
            }
            if first.is_done() || second.is_done() || later.len() > MOST_LATER {
                return Ok(());
            }
        }
    }

    /// Runs two lanes up to a byte of either that needs a closer look.
    fn step_both(&self, first: &mut Lane, second: &mut Lane, cache: &Cache, text: &[u8]) {
        let (Some(mut one), Some(mut two)) = (first.state, second.state) else {
            return;
        };
        if one.is_tagged() || two.is_tagged() {
            return;
        }
        let left = |lane: &Lane| text.get(lane.at..lane.end).unwrap_or_default();
        let mut steps = 0;
        for (&of_one, &of_two) in left(first).iter().zip(left(second)) {
            let next_one = self.dfa.next_state_untagged(cache, one, of_one);
            let next_two = self.dfa.next_state_untagged(cache, two, of_two);
            if next_one.is_tagged() || next_two.is_tagged() {
                break;
            }
            (one, two) = (next_one, next_two);
            steps += 1;
        }
        first.skip(one, steps);
        second.skip(two, steps);
    }

    /// Runs a lane to its end.
    fn finish(
        &self,
        lane: &mut Lane,
        cache: &mut Cache,
        text: &[u8],
        found: &mut impl FnMut(u32, usize),
    ) -> Stopped {
        while !lane.is_done() {
            if let Err(stopped) = self.step(lane, cache, text, found) {
                return stopped;
            }
        }
        if lane.end < text.len() {
            return Stopped::End;
        }
        if let Err(stopped) = self.start(lane, cache, text) {
            return stopped;
        }
        let Some(state) = lane.state else {
            return Stopped::End;
        };
        match self.dfa.next_eoi_state(cache, state) {
            Ok(state) => {
                if state.is_match() {
                    self.tell(cache, state, text.len(), found);
                }
                Stopped::End
            }
            Err(_) => Stopped::GaveUp(lane.line(text)),
        }
    }

    /// Gives a lane its first state.
    fn start(&self, lane: &mut Lane, cache: &mut Cache, text: &[u8]) -> Result<(), Stopped> {
        if lane.state.is_none() {
            let input = Input::new(text).span(lane.at..text.len());
            let state = self.dfa.start_state_forward(cache, &input);
            lane.state = Some(state.map_err(|_| Stopped::GaveUp(lane.at))?);
        }
        Ok(())
    }

    /// Reads on to the next byte that needs a closer look, and looks at it.
    fn step(
        &self,
        lane: &mut Lane,
        cache: &mut Cache,
        text: &[u8],
        found: &mut impl FnMut(u32, usize),
    ) -> Result<(), Stopped> {
        self.start(lane, cache, text)?;
        if let Some(mut state) = lane.state {
            while !state.is_tagged()
                && let Some(&byte) = text.get(lane.at).filter(|_| !lane.is_done())
            {
                let next = self.dfa.next_state_untagged(cache, state, byte);
                if next.is_tagged() {
                    break;
                }
                state = next;
                lane.at += 1;
            }
            lane.state = Some(state);
        }
        self.look(lane, cache, text, found)
    }

    /// Reads a byte and tells what matches there.
    fn look(
        &self,
        lane: &mut Lane,
        cache: &mut Cache,
        text: &[u8],
        found: &mut impl FnMut(u32, usize),
    ) -> Result<(), Stopped> {
        let Some(state) = lane.state else {
            return Ok(());
        };
        let Some(&byte) = text.get(lane.at).filter(|_| !lane.is_done()) else {
            return Ok(());
        };
        let Ok(state) = self.dfa.next_state(cache, state, byte) else {
            return Err(Stopped::GaveUp(lane.line(text)));
        };
        if state.is_quit() {
            return Err(Stopped::Line(lane.line(text)));
        }
        // Known one byte late, and still on the line.
        let clears = cache.clear_count();
        let (told, end, told_clears) = lane.told;
        let is_told = told == Some(state) && lane.at <= end && told_clears == clears;
        if state.is_match() && !is_told {
            self.tell(cache, state, lane.at, found);
            let rest = text.get(lane.at..).unwrap_or_default();
            let end = memchr(b'\n', rest).map_or(text.len(), |newline| lane.at + newline);
            lane.told = (Some(state), end, clears);
        }
        // Searching from everywhere never ends there; better safe.
        if state.is_dead() {
            return Err(Stopped::GaveUp(lane.line(text)));
        }
        lane.state = Some(state);
        lane.at += 1;
        Ok(())
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

/// A run over some lines of a text.
#[derive(Debug)]
struct Lane {
    /// The start of a line.
    from: usize,
    /// The byte that is read next.
    at: usize,
    /// Behind the last line.
    end: usize,
    /// None before the first byte.
    state: Option<LazyStateID>,
    /// What was told last, where the line ends that it was told of, and how often
    /// states had been thrown away.
    told: (Option<LazyStateID>, usize, usize),
}

impl Lane {
    const fn new(from: usize, end: usize) -> Self {
        Self {
            from,
            at: from,
            end,
            state: None,
            told: (None, 0, 0),
        }
    }

    const fn is_done(&self) -> bool {
        self.at >= self.end
    }

    /// The start of the line that is being read.
    fn line(&self, text: &[u8]) -> usize {
        let newline = text
            .get(self.from..self.at)
            .and_then(|read| memrchr(b'\n', read));
        newline.map_or(self.from, |newline| self.from + newline + 1)
    }

    fn skip(&mut self, state: LazyStateID, bytes: usize) {
        self.state = Some(state);
        self.at += bytes;
    }

    /// Goes back to the start of the line: the states were thrown away.
    fn forget(&mut self, text: &[u8]) {
        self.at = self.line(text);
        self.state = None;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;
    use crate::scan::line_safe::line_safe;

    fn automaton(patterns: &[&str], states_bytes: usize) -> (Combined, Cache) {
        let parse = |pattern: &&str| line_safe(&regex_syntax::parse(pattern).unwrap());
        let hirs = patterns.iter().map(parse);
        let patterns: Vec<(u32, Hir)> = (0..).zip(hirs).collect();
        let automaton = Combined::with_states(&patterns, states_bytes).unwrap();
        let cache = automaton.create_cache();
        (automaton, cache)
    }

    /// The members of each line, by the start of the line, and whether lines come in
    /// their order.
    fn by_line(text: &[u8], found: &[(u32, usize)]) -> (BTreeSet<(usize, u32)>, bool) {
        let line = |at: usize| memrchr(b'\n', &text[..at]).map_or(0, |newline| newline + 1);
        let lines = found.iter().map(|&(_, at)| line(at));
        let is_sorted = lines.is_sorted();
        let lines = found.iter().map(|&(member, at)| (line(at), member));
        (lines.collect(), is_sorted)
    }

    proptest! {
        #[test]
        fn halves_find_what_the_whole_does(
            text in "([ab ]{0,9}[0-9]{0,3}\n){0,40}[ab]{0,3}",
            patterns in prop::sample::subsequence(vec![
                r"(?-u:\b)a+(?-u:\b)", "^b", "b$", "[ab]{3}", r"[0-9]{2}$", "^$", "", "a.*b", r"(a|b| ){7}[0-9]",
            ], 1..6),
            // Few states: they are thrown away again and again.
            states in prop::sample::select(vec![1 << 20, 4 << 10, 2 << 10]),
        ) {
            let text = text.as_bytes();
            let mut whole = Vec::new();
            let (automaton, mut cache) = automaton(&patterns, states);
            let stopped = automaton.run(&mut cache, text, 0, &mut |member, at| whole.push((member, at)));
            let mut cache = automaton.create_cache();
            let mut halves = Vec::new();
            let stopped_halves = automaton.run_halves(&mut cache, text, &mut |member, at| halves.push((member, at)));
            let (found, is_sorted) = by_line(text, &halves);
            prop_assert!(is_sorted);
            match (stopped, stopped_halves) {
                (Stopped::End, Stopped::End) => prop_assert_eq!(by_line(text, &whole).0, found),
                // Each says where it gave up; before that it told all.
                (of_whole, of_halves) => {
                    let end = |stopped| match stopped {
                        Stopped::End => text.len() + 1,
                        Stopped::Line(line) | Stopped::GaveUp(line) => line,
                    };
                    let both = end(of_whole).min(end(of_halves));
                    let before = |found: BTreeSet<(usize, u32)>| found.into_iter().filter(|&(line, _)| line < both).collect::<Vec<_>>();
                    prop_assert_eq!(before(by_line(text, &whole).0), before(found));
                }
            }
        }
    }
}
