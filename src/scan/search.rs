//! The search of one file: every tier over every block.

use std::sync::Arc;

use crate::files::{Block, Flow};
use crate::scan::ascii::Alphabet;
use crate::scan::combined::{Combined, Stopped};
use crate::scan::compile::Haystack;
use crate::scan::engine::Counting;
use crate::scan::file::{Needs, Scanner};
use crate::scan::finding::{Finding, Stop, Tracker};
use crate::scan::grams::Needle;
use crate::scan::hits::{Hits, NOWHERE};
use crate::scan::lines::{count_lines, lines};
use crate::scan::matches::{count_in_lines, count_matches};
use crate::scan::panel::{Panel, Wanted};
use crate::scan::pool::Caches;

/// From this size of a block on, the cancel token is looked at for every regex.
const CANCEL_BYTES: usize = 64 << 10;

/// From this size on a text is read in two halves at once.
const HALVED_BYTES: usize = 512;

/// The search of one file.
pub(super) struct Search<'a, 's> {
    pub(super) scanner: Scanner<'a>,
    pub(super) panel: &'a Panel<'a>,
    pub(super) needs: &'a Needs,
    pub(super) caches: &'s mut Caches,
    pub(super) hits: &'s mut Hits,
    /// Members whose regexes run over whole blocks.
    pub(super) alone: Vec<(u32, Finding)>,
}

impl Search<'_, '_> {
    /// Searches a block; `text` is the same block as [`join_lines`] gives it.
    pub(super) fn block(
        &mut self,
        wanted: &Wanted,
        block: &Block<'_>,
        text: Option<&[u8]>,
    ) -> Flow {
        if let Some(text) = text {
            self.literals(wanted, text);
            self.together(wanted, block, text);
            self.hits.number_spots(text, block.lines_before);
            self.hits.base += text.len() as u64 + 1;
        }
        for member in std::mem::take(&mut self.hits.marked) {
            self.start_alone(member);
            self.run_alone(member, block, text);
        }
        for &member in &wanted.alone {
            self.run_alone(member, block, text);
        }
        let is_open = |(member, finding): &(u32, Finding)| {
            finding.stop.is_none() && finding.count < self.needs.limits[*member as usize]
        };
        if self.hits.open == 0 && !self.alone.iter().any(is_open) {
            Flow::Enough
        } else {
            Flow::More
        }
    }

    fn literals(&mut self, wanted: &Wanted, text: &[u8]) {
        let Self {
            scanner,
            panel,
            needs,
            caches,
            hits,
            ..
        } = self;
        let mut found = |hits: &mut Hits, needle: &Needle, (owner, at, start)| {
            let member = &panel.members[owner as usize];
            hits.seen(text, (needle, owner, member), (at, start), needs, |line| {
                caches.is_match(scanner.pool, member.number, line)
            });
        };
        if let Some(grams) = &wanted.grams {
            grams.scan(text, &mut |needle, at, start| {
                found(hits, needle, (needle.owner, at, start));
            });
        }
        for (member, needle, finder) in &wanted.singly {
            let mut from = 0;
            while let Some(offset) = text.get(from..).and_then(|rest| finder.find(rest)) {
                let start = from + offset;
                found(hits, needle, (*member, start, start));
                // What overlaps may be a match where this is none.
                from = hits.next(*member).max(start + 1);
            }
        }
    }

    /// Runs the automata of members without literals.
    fn together(&mut self, wanted: &Wanted, block: &Block<'_>, text: &[u8]) {
        if wanted.together.is_empty() {
            return;
        }
        let alphabet = Alphabet::of(text);
        let combined = &wanted.combined[alphabet as usize];
        for (member, automata) in &wanted.together {
            let automaton = automata[alphabet as usize] as usize;
            if self.caches.together(alphabet, combined).gave_up(automaton) {
                self.start_alone(*member);
                self.run_alone(*member, block, Some(text));
            }
        }
        for (number, automaton) in combined.iter().enumerate() {
            if self.hits.is_wanted(&automaton.members)
                && !self.caches.together(alphabet, combined).gave_up(number)
            {
                self.run_together((alphabet, combined, number), text);
            }
        }
    }

    fn run_together(
        &mut self,
        (alphabet, combined, number): (Alphabet, &Arc<Vec<Combined>>, usize),
        text: &[u8],
    ) {
        let automaton = &combined[number];
        let mut from = 0;
        loop {
            let Self { hits, needs, .. } = self;
            let mut found = |member, at| hits.match_at(text, member, at, needs);
            let together = self.caches.together(alphabet, combined);
            // What is no ASCII may stop an automaton often.
            let in_halves = alphabet == Alphabet::Ascii && text.len() >= HALVED_BYTES;
            let stopped = together.lend(number, |cache| {
                if in_halves && from == 0 {
                    automaton.run_halves(cache, text, &mut found)
                } else {
                    automaton.run(cache, text, from, &mut found)
                }
            });
            let (unread, gave_up) = match stopped {
                Stopped::End => return,
                Stopped::Line(line) => (line, false),
                Stopped::GaveUp(line) => (line, true),
            };
            if gave_up {
                together.give_up(number);
            }
            // The regexes read what the automaton cannot.
            let mut next = text.len() + 1;
            for (start, line) in lines(&text[unread..]) {
                self.try_each(&automaton.members, text, unread + start, line);
                next = unread + start + line.len() + 1;
                if !gave_up {
                    break;
                }
            }
            if gave_up || next > text.len() {
                return;
            }
            from = next;
        }
    }

    /// Tries the regexes of members on a line, which starts at an offset of a text.
    fn try_each(&mut self, members: &[u32], text: &[u8], start: usize, line: &[u8]) {
        for &member in members {
            if !self.hits.wants(member, start) {
                continue;
            }
            let number = self.panel.members[member as usize].number;
            match self.caches.is_match(self.scanner.pool, number, line) {
                Ok(true) => self.hits.match_at(text, member, start, self.needs),
                Ok(false) => {}
                Err(reason) => self.hits.fail(member, reason),
            }
        }
    }

    /// Adds a member whose regex runs over whole blocks.
    pub(super) fn start_alone(&mut self, number: u32) {
        let place = &mut self.hits.alone[number as usize];
        if *place == NOWHERE {
            *place = u32::try_from(self.alone.len()).unwrap_or(NOWHERE);
            self.alone.push((number, Finding::default()));
        }
    }

    /// Runs the regex of a member over a block.
    fn run_alone(&mut self, number: u32, block: &Block<'_>, text: Option<&[u8]>) {
        let place = self.hits.alone[number as usize] as usize;
        let Some((_, finding)) = self.alone.get_mut(place) else {
            return;
        };
        let limit = self.needs.limits[number as usize];
        if finding.stop.is_some() || finding.count >= limit {
            return;
        }
        let cancel = self.scanner.cancel;
        if block.bytes.len() >= CANCEL_BYTES
            && let Some(cause) = cancel.stop()
        {
            finding.stop = Some(Stop::Batch(cause));
            return;
        }
        let member = &self.panel.members[number as usize];
        let mut tracker = Tracker {
            finding: &mut *finding,
            limit,
            places: self.needs.places[number as usize],
            max_again: self.scanner.limits.max_count_work,
            lines_before: block.lines_before,
            counted_to: 0,
        };
        let flow = self
            .caches
            .full(self.scanner.pool, member.number, |matcher, cache| {
                match (member.slot.haystack, text, member.slot.counting) {
                    // Too large; the caller says so.
                    (Haystack::Text, ..) if !block.is_whole => Ok(Flow::More),
                    (Haystack::Text, ..) => {
                        let bytes = block.bytes;
                        count_matches(matcher, cache, bytes, (bytes, 0), &mut tracker, cancel)
                    }
                    (Haystack::Lines, None, _) => Ok(Flow::More),
                    (Haystack::Lines, Some(text), Counting::Lines) => {
                        Ok(count_lines(matcher, cache, text, &mut tracker))
                    }
                    (Haystack::Lines, Some(text), Counting::Matches) => {
                        count_in_lines(matcher, cache, text, &mut tracker, cancel)
                    }
                }
            });
        finding.stop = match flow {
            Ok(Ok(_)) => None,
            Ok(Err(stop)) => Some(stop),
            Err(reason) => Some(Stop::Pattern(reason)),
        };
    }

    /// What was found in the file, and makes ready for the next.
    pub(super) fn finish(self) -> Vec<(u32, Finding)> {
        let mut findings = self.hits.finish();
        for &(member, _) in &self.alone {
            self.hits.alone[member as usize] = NOWHERE;
        }
        let alone = self.alone.into_iter();
        findings.extend(alone.filter(|(_, finding)| *finding != Finding::default()));
        findings
    }
}
