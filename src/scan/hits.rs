//! Lines that were found by literals or by combined automata, for all members at
//! once: each line counts once for a member, and what is decided is passed over.

use memchr::{memchr, memchr_iter, memrchr};

use crate::reason::Reason;
use crate::scan::file::Needs;
use crate::scan::finding::{Finding, Stop};
use crate::scan::grams::Needle;
use crate::scan::literal::{Proof, edge_holds};
use crate::scan::panel::{Member, Wanted};

/// Counts of the members whose lines are found by their literals.
#[derive(Debug, Default)]
pub(super) struct Hits {
    /// The set of members that this is prepared for.
    wanted: u64,
    /// The number of bytes that were searched before the text at hand, plus one.
    pub(super) base: u64,
    /// For each member where its search goes on: nothing before counts any more.
    /// `MAX` for those that are not wanted.
    pub(super) resume: Vec<u64>,
    /// For each member the count in this file.
    counts: Vec<u64>,
    /// For each member its place among those whose regexes run over whole blocks.
    pub(super) alone: Vec<u32>,
    /// Members that are searched by literals and want more of this file.
    pub(super) open: usize,
    /// Members that were seen in this file.
    touched: Vec<u32>,
    /// Members seen in this block whose regexes have to run over all of it.
    pub(super) marked: Vec<u32>,
    /// Where lines to report are, and whose.
    spots: Vec<(usize, u32)>,
    /// Numbers of lines to report, and whose.
    lines: Vec<(u32, u64)>,
    /// Members that failed.
    failed: Vec<(u32, Stop)>,
}

/// The place of a member that has none.
pub(super) const NOWHERE: u32 = u32::MAX;

impl Hits {
    /// Makes ready for a set of members.
    pub(super) fn prepare(&mut self, members: usize, wanted: &Wanted) {
        self.open = wanted.many.len() + wanted.singly.len() + wanted.together.len();
        if self.wanted == wanted.id {
            return;
        }
        self.wanted = wanted.id;
        self.base = self.base.max(1);
        self.resume.clear();
        self.resume.resize(members, u64::MAX);
        self.counts.clear();
        self.counts.resize(members, 0);
        self.alone.clear();
        self.alone.resize(members, NOWHERE);
        for member in &wanted.many {
            self.resume[*member as usize] = 0;
        }
        for (member, ..) in &wanted.singly {
            self.resume[*member as usize] = 0;
        }
        for (member, _) in &wanted.together {
            self.resume[*member as usize] = 0;
        }
    }

    /// Takes a literal that was seen; `at` is on its line, and those of one member
    /// come line by line.
    #[inline]
    pub(super) fn seen(
        &mut self,
        text: &[u8],
        (needle, owner, member): (&Needle, u32, &Member),
        (at, start): (usize, usize),
        needs: &Needs,
        is_match: impl FnOnce(&[u8]) -> Result<bool, Reason>,
    ) {
        if !self.wants(owner, at) {
            return;
        }
        if !member.is_by_line() {
            self.marked.push(owner);
            // Not again in this block.
            self.pass(owner, text.len());
            return;
        }
        let is_sure = match needle.proof {
            Proof::Candidate => false,
            Proof::Match {
                start: before,
                end: after,
            } => {
                let end = start + needle.bytes().len();
                let starts = edge_holds(before, text, start, true);
                let ends = edge_holds(after, text, end, false);
                if starts == Some(false) || ends == Some(false) {
                    return;
                }
                starts.is_some() && ends.is_some()
            }
        };
        if is_sure {
            self.match_at(text, owner, at, needs);
            return;
        }
        let line_end = memchr(b'\n', &text[at..]).map_or(text.len(), |offset| at + offset);
        let line_start = memrchr(b'\n', &text[..at]).map_or(0, |newline| newline + 1);
        match is_match(&text[line_start..line_end]) {
            Ok(true) => self.count(owner, at, line_end, needs),
            Ok(false) => self.pass(owner, line_end),
            Err(reason) => self.fail(owner, reason),
        }
    }

    /// True if a line that holds a place can still count for a member.
    #[inline]
    pub(super) fn wants(&self, member: u32, at: usize) -> bool {
        self.base + at as u64 > self.resume[member as usize]
    }

    /// Where the search of a member goes on in the text at hand.
    pub(super) fn next(&self, member: u32) -> usize {
        let next = self.resume[member as usize].saturating_sub(self.base);
        usize::try_from(next).unwrap_or(usize::MAX)
    }

    /// True if any of the members is wanted.
    pub(super) fn is_wanted(&self, members: &[u32]) -> bool {
        let mut resume = members.iter().map(|&member| self.resume[member as usize]);
        resume.any(|resume| resume != u64::MAX)
    }

    /// Takes a match of a member on the line that holds a place.
    pub(super) fn match_at(&mut self, text: &[u8], member: u32, at: usize, needs: &Needs) {
        if self.wants(member, at) {
            let line_end = memchr(b'\n', &text[at..]).map_or(text.len(), |offset| at + offset);
            self.count(member, at, line_end, needs);
        }
    }

    /// Counts a line and goes on behind it.
    pub(super) fn count(&mut self, member: u32, at: usize, line_end: usize, needs: &Needs) {
        self.pass(member, line_end);
        let index = member as usize;
        self.counts[index] += 1;
        if self.counts[index] <= needs.places[index] as u64 {
            self.spots.push((at, member));
        }
        if self.counts[index] >= needs.limits[index] {
            self.resume[index] = u64::MAX;
            self.open = self.open.saturating_sub(1);
        }
    }

    /// Goes on behind a line.
    pub(super) fn pass(&mut self, member: u32, line_end: usize) {
        let resume = &mut self.resume[member as usize];
        if *resume == 0 {
            self.touched.push(member);
        }
        *resume = self.base + line_end as u64;
    }

    /// Gives a member up.
    pub(super) fn fail(&mut self, member: u32, reason: Reason) {
        self.pass(member, 0);
        self.resume[member as usize] = u64::MAX;
        self.open = self.open.saturating_sub(1);
        self.failed.push((member, Stop::Pattern(reason)));
    }

    /// Turns places in a text into numbers of lines.
    pub(super) fn number_spots(&mut self, text: &[u8], lines_before: u64) {
        if self.spots.is_empty() {
            return;
        }
        self.spots.sort_unstable();
        let (mut line, mut counted_to) = (lines_before + 1, 0);
        for (at, member) in self.spots.drain(..) {
            line += memchr_iter(b'\n', &text[counted_to..at]).count() as u64;
            counted_to = at;
            self.lines.push((member, line));
        }
    }

    /// What was found by literals, and makes ready for the next file.
    pub(super) fn finish(&mut self) -> Vec<(u32, Finding)> {
        let mut findings = Vec::with_capacity(self.touched.len());
        self.lines.sort_by_key(|&(member, _)| member);
        for member in self.touched.drain(..) {
            let index = member as usize;
            self.resume[index] = 0;
            let count = std::mem::take(&mut self.counts[index]);
            let failed = self.failed.iter().find(|(of, _)| *of == member);
            if count == 0 && failed.is_none() {
                continue;
            }
            let from = self.lines.partition_point(|&(of, _)| of < member);
            let lines = self.lines[from..].iter();
            findings.push((
                member,
                Finding {
                    count,
                    lines: lines
                        .take_while(|&&(of, _)| of == member)
                        .map(|&(_, line)| line)
                        .collect(),
                    again: 0,
                    stop: failed.map(|(_, stop)| stop.clone()),
                },
            ));
        }
        self.lines.clear();
        self.failed.clear();
        findings
    }
}
