//! One file and all the slots that it is wanted for, in one reading of it.

use memchr::{memchr, memchr_iter, memrchr};

use crate::budget::CancelToken;
use crate::files::{
    Block, Content, ContentId, File, FileError, Flow, Limits, PROBE_BYTES, Reader, Reading,
};
use crate::reason::Reason;
use crate::scan::combined::{Combined, Stopped};
use crate::scan::compile::Haystack;
use crate::scan::engine::Counting;
use crate::scan::finding::{Finding, Stop, Tracker};
use crate::scan::grams::Needle;
use crate::scan::lines::{count_lines, join_lines, lines};
use crate::scan::literal::{Proof, edge_holds};
use crate::scan::matches::{count_in_lines, count_matches};
use crate::scan::panel::{Member, Panel, Wanted};
use crate::scan::pool::{Caches, Pool};

/// From this size of a block on, the cancel token is looked at for every regex.
const CANCEL_BYTES: usize = 64 << 10;

/// What scanning any file needs.
#[derive(Clone, Copy)]
pub(super) struct Scanner<'a> {
    pub(super) pool: &'a Pool<'a>,
    pub(super) limits: &'a Limits,
    pub(super) cancel: &'a CancelToken,
}

/// How much of a file each member of a panel needs.
#[derive(Clone, Debug, Default)]
pub(super) struct Needs {
    /// Counting stops there.
    pub(super) limits: Vec<u64>,
    /// So many numbers of matching lines are reported.
    pub(super) places: Vec<usize>,
}

/// What the members get of a file. No member's finding depends on the others.
#[derive(Debug)]
pub(super) struct Scanned {
    /// Bytes the members are charged for: the size of the file, or what was looked
    /// at to see that it is no text.
    pub(super) bytes: u64,
    /// What was read, if that can be told from other contents.
    pub(super) id: Option<ContentId>,
    /// What was found, in no order; members without an entry found nothing.
    pub(super) findings: Vec<(u32, Finding)>,
    /// Why there may be more for everybody.
    pub(super) stop: Option<Stop>,
}

impl Scanned {
    /// Of a file that nobody wants.
    pub(super) const fn nothing() -> Self {
        Self {
            bytes: 0,
            id: None,
            findings: Vec::new(),
            stop: None,
        }
    }
}

/// What a thread reuses from file to file.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    reader: Reader,
    /// Lines without carriage returns.
    joined: Vec<u8>,
    caches: Caches,
    counts: Counts,
}

/// Counts of the members whose lines are found by their literals.
#[derive(Debug, Default)]
struct Counts {
    /// The set of members that this is prepared for.
    wanted: u64,
    /// The number of bytes that were searched before the text at hand, plus one.
    base: u64,
    /// For each member where its search goes on: nothing before counts any more.
    /// `MAX` for those that are not wanted.
    resume: Vec<u64>,
    /// For each member the count in this file.
    counts: Vec<u64>,
    /// For each member its place among those whose regexes run over whole blocks.
    alone: Vec<u32>,
    /// Members that are searched by literals and want more of this file.
    open: usize,
    /// Members that were seen in this file.
    touched: Vec<u32>,
    /// Members seen in this block whose regexes have to run over all of it.
    marked: Vec<u32>,
    /// Where lines to report are, and whose.
    spots: Vec<(usize, u32)>,
    /// Numbers of lines to report, and whose.
    lines: Vec<(u32, u64)>,
    /// Members that failed.
    failed: Vec<(u32, Stop)>,
}

/// The place of a member that has none.
const NOWHERE: u32 = u32::MAX;

/// Searches a file. `skip_binary` leaves out files that are no text.
pub(super) fn scan_file(
    scanner: Scanner<'_>,
    file: &dyn File,
    panel: &Panel<'_>,
    (wanted, needs): (&Wanted, &Needs),
    skip_binary: bool,
    scratch: &mut Scratch,
) -> Scanned {
    let Scratch {
        reader,
        joined,
        caches,
        counts,
    } = scratch;
    counts.prepare(panel.members.len(), wanted);
    let mut search = Search {
        scanner,
        panel,
        needs,
        caches,
        counts,
        alone: Vec::new(),
    };
    for &member in &wanted.alone {
        search.start_alone(member);
    }
    let is_text = |member: u32| panel.members[member as usize].slot.haystack == Haystack::Text;
    let has_text = panel.has_text && wanted.members().any(is_text);
    let limits = scanner.limits;
    let reading = Reading {
        limits: *limits,
        skip_binary,
        as_one: if has_text { limits.max_text_bytes } else { 0 },
    };
    let mut cause = None;
    let read = file.read(reader, &reading, &mut |block| {
        cause = scanner.cancel.stop();
        if cause.is_some() {
            return Flow::Enough;
        }
        search.block(wanted, &block, join_lines(block.bytes, joined))
    });
    let mut bytes = read.size;
    let too_long = has_text && bytes > limits.max_text_bytes as u64;
    let mut findings = search.finish();
    let mut stop = None;
    match read.content {
        Ok(Content::Text) if cause.is_some() => stop = cause.map(Stop::Batch),
        Ok(Content::Text) if too_long => {
            findings.retain(|&(member, _)| !is_text(member));
            let members = wanted.members().filter(|&member| is_text(member));
            findings.extend(members.map(|member| (member, too_long_for_text(limits))));
        }
        Ok(Content::Text) => {}
        Ok(Content::Binary) => {
            bytes = bytes.min(PROBE_BYTES as u64);
            findings.clear();
        }
        Err(error) => {
            // What came before a line that is too long was read well.
            if !matches!(error, FileError::TooLarge { .. }) {
                findings.clear();
            }
            stop = Some(Stop::File(error));
        }
    }
    if bytes > limits.max_file_bytes {
        bytes = 0;
    }
    Scanned {
        bytes,
        id: read.id,
        findings,
        stop,
    }
}

fn too_long_for_text(limits: &Limits) -> Finding {
    Finding {
        stop: Some(Stop::File(FileError::TooLarge {
            what: "file, to be matched as one text,",
            cap: limits.max_text_bytes as u64,
        })),
        ..Finding::default()
    }
}

/// The search of one file.
struct Search<'a, 's> {
    scanner: Scanner<'a>,
    panel: &'a Panel<'a>,
    needs: &'a Needs,
    caches: &'s mut Caches,
    counts: &'s mut Counts,
    /// Members whose regexes run over whole blocks.
    alone: Vec<(u32, Finding)>,
}

impl Search<'_, '_> {
    /// Searches a block; `text` is the same block as [`join_lines`] gives it.
    fn block(&mut self, wanted: &Wanted, block: &Block<'_>, text: Option<&[u8]>) -> Flow {
        if let Some(text) = text {
            self.literals(wanted, text);
            self.together(wanted, block, text);
            self.counts.number_spots(text, block.lines_before);
            self.counts.base += text.len() as u64 + 1;
        }
        for member in std::mem::take(&mut self.counts.marked) {
            self.start_alone(member);
            self.run_alone(member, block, text);
        }
        for &member in &wanted.alone {
            self.run_alone(member, block, text);
        }
        let is_open = |(member, finding): &(u32, Finding)| {
            finding.stop.is_none() && finding.count < self.needs.limits[*member as usize]
        };
        if self.counts.open == 0 && !self.alone.iter().any(is_open) {
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
            counts,
            ..
        } = self;
        let mut found = |needle: &Needle, owner: u32, at: usize, start: usize| {
            let member = &panel.members[owner as usize];
            counts.seen(text, (needle, owner, member), (at, start), needs, |line| {
                caches.is_match(scanner.pool, member.number, line)
            });
        };
        if let Some(grams) = &wanted.grams {
            grams.scan(text, &mut |needle, at, start| {
                found(needle, needle.owner, at, start);
            });
        }
        for (member, needle, finder) in &wanted.singly {
            for start in finder.find_iter(text) {
                found(needle, *member, start, start);
            }
        }
    }

    /// Runs the automata of members without literals.
    fn together(&mut self, wanted: &Wanted, block: &Block<'_>, text: &[u8]) {
        for &(member, automaton) in &wanted.together {
            if self.caches.gave_up(&wanted.combined, automaton as usize) {
                self.start_alone(member);
                self.run_alone(member, block, Some(text));
            }
        }
        for (number, combined) in wanted.combined.iter().enumerate() {
            if self.counts.is_wanted(&combined.members)
                && !self.caches.gave_up(&wanted.combined, number)
            {
                self.run_together(wanted, (number, combined), text);
            }
        }
    }

    fn run_together(
        &mut self,
        wanted: &Wanted,
        (number, combined): (usize, &Combined),
        text: &[u8],
    ) {
        let mut from = 0;
        loop {
            let Self { counts, needs, .. } = self;
            let mut found = |member, at| counts.match_at(text, member, at, needs);
            let stopped = self.caches.together(&wanted.combined, number, |cache| {
                combined.run(cache, text, from, &mut found)
            });
            let (unread, gave_up) = match stopped {
                Stopped::End => return,
                Stopped::Line(line) => (line, false),
                Stopped::GaveUp(line) => (line, true),
            };
            if gave_up {
                self.caches.give_up(number);
            }
            // The regexes read what the automaton cannot.
            let mut next = text.len() + 1;
            for (start, line) in lines(&text[unread..]) {
                self.try_each(&combined.members, text, unread + start, line);
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
            if !self.counts.wants(member, start) {
                continue;
            }
            let number = self.panel.members[member as usize].number;
            match self.caches.is_match(self.scanner.pool, number, line) {
                Ok(true) => self.counts.match_at(text, member, start, self.needs),
                Ok(false) => {}
                Err(reason) => self.counts.fail(member, reason),
            }
        }
    }

    /// Adds a member whose regex runs over whole blocks.
    fn start_alone(&mut self, number: u32) {
        let place = &mut self.counts.alone[number as usize];
        if *place == NOWHERE {
            *place = u32::try_from(self.alone.len()).unwrap_or(NOWHERE);
            self.alone.push((number, Finding::default()));
        }
    }

    /// Runs the regex of a member over a block.
    fn run_alone(&mut self, number: u32, block: &Block<'_>, text: Option<&[u8]>) {
        let place = self.counts.alone[number as usize] as usize;
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
    fn finish(self) -> Vec<(u32, Finding)> {
        let mut findings = self.counts.finish();
        for &(member, _) in &self.alone {
            self.counts.alone[member as usize] = NOWHERE;
        }
        let alone = self.alone.into_iter();
        findings.extend(alone.filter(|(_, finding)| *finding != Finding::default()));
        findings
    }
}

impl Counts {
    /// Makes ready for a set of members.
    fn prepare(&mut self, members: usize, wanted: &Wanted) {
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
    fn seen(
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
    fn wants(&self, member: u32, at: usize) -> bool {
        self.base + at as u64 > self.resume[member as usize]
    }

    /// True if any of the members is wanted.
    fn is_wanted(&self, members: &[u32]) -> bool {
        let mut resume = members.iter().map(|&member| self.resume[member as usize]);
        resume.any(|resume| resume != u64::MAX)
    }

    /// Takes a match of a member on the line that holds a place.
    fn match_at(&mut self, text: &[u8], member: u32, at: usize, needs: &Needs) {
        if self.wants(member, at) {
            let line_end = memchr(b'\n', &text[at..]).map_or(text.len(), |offset| at + offset);
            self.count(member, at, line_end, needs);
        }
    }

    /// Counts a line and goes on behind it.
    fn count(&mut self, member: u32, at: usize, line_end: usize, needs: &Needs) {
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
    fn pass(&mut self, member: u32, line_end: usize) {
        let resume = &mut self.resume[member as usize];
        if *resume == 0 {
            self.touched.push(member);
        }
        *resume = self.base + line_end as u64;
    }

    /// Gives a member up.
    fn fail(&mut self, member: u32, reason: Reason) {
        self.pass(member, 0);
        self.resume[member as usize] = u64::MAX;
        self.open = self.open.saturating_sub(1);
        self.failed.push((member, Stop::Pattern(reason)));
    }

    /// Turns places in a text into numbers of lines.
    fn number_spots(&mut self, text: &[u8], lines_before: u64) {
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
    fn finish(&mut self) -> Vec<(u32, Finding)> {
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
