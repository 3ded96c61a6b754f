//! One file and all the slots that it is wanted for, in one reading of it.

use crate::budget::CancelToken;
use crate::files::{
    Content, ContentId, File, FileError, Flow, Limits, PROBE_BYTES, Reader, Reading,
};
use crate::scan::compile::Haystack;
use crate::scan::finding::{Finding, Stop};
use crate::scan::hits::Hits;
use crate::scan::lines::join_lines;
use crate::scan::panel::{Panel, Wanted};
use crate::scan::pool::{Caches, Pool};
use crate::scan::search::Search;

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
    /// False if all was known before.
    pub(super) is_read: bool,
}

impl Scanned {
    /// Of a file that nobody wants.
    pub(super) const fn nothing() -> Self {
        Self {
            bytes: 0,
            id: None,
            findings: Vec::new(),
            stop: None,
            is_read: false,
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
    hits: Hits,
}

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
        hits,
    } = scratch;
    hits.prepare(panel.members.len(), wanted);
    let mut search = Search {
        scanner,
        panel,
        needs,
        caches,
        hits,
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
    let mut is_changed = false;
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
            is_changed = error == FileError::Changed;
            // What came before a line that is too long was read well.
            if !matches!(error, FileError::TooLarge { .. }) {
                findings.clear();
            }
            stop = Some(Stop::File(error));
        }
    }
    if is_changed {
        // The search may have broken off anywhere, see `Reader::read`.
        *scratch = Scratch::default();
    }
    if bytes > limits.max_file_bytes {
        bytes = 0;
    }
    Scanned {
        bytes,
        id: read.id,
        findings,
        stop,
        is_read: true,
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
