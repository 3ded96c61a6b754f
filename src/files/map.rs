//! Files in memory: a private mapping that can only be read, guarded against
//! truncation (`sigbus.rs`).
//!
//! A mapping shows the file as it is at each moment, so its bytes may change while
//! somebody looks at them. Whoever scans a mapping must be at ease with bytes that
//! differ from one look to the next: it may come to a wrong result, even panic, but
//! not go out of bounds. [`crate::files::Reader`] hands out no conclusions about a
//! file that changed. Miri cannot run this file, see `sigbus.rs`.

#![expect(
    unsafe_code,
    reason = "memory maps of files are beyond safe code; the guard is in `sigbus.rs`"
)]

use std::cell::Cell;
use std::os::fd::BorrowedFd;
use std::ptr::{self, NonNull};

use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap, munmap};

use crate::files::sigbus::Watch;

/// So much of a mapping may stay in the process's memory behind what is still read.
const BEHIND_BYTES: usize = 8 << 20;

/// The start of a mapped file.
#[derive(Debug)]
pub(super) struct Map {
    // Dropped before the pages, as it must be.
    watch: Watch,
    pages: Pages,
    /// What was let go of, from the start.
    released: Cell<usize>,
}

#[derive(Debug)]
struct Pages {
    start: NonNull<u8>,
    len: usize,
}

impl Map {
    /// Maps so many bytes of a regular file. `None` if that cannot be done now, for
    /// want of memory, of a free place with the guard, or of a file system that can.
    pub(super) fn new(file: BorrowedFd<'_>, len: usize) -> Option<Self> {
        if len == 0 {
            return None;
        }
        // SAFETY: a fresh mapping at a place of the system's choice.
        let start = unsafe {
            mmap(
                ptr::null_mut(),
                len,
                ProtFlags::READ,
                MapFlags::PRIVATE,
                file,
                0,
            )
        };
        let pages = Pages {
            start: NonNull::new(start.ok()?.cast())?,
            len,
        };
        // SAFETY: the mapping is private, starts with a page, and `Map` drops it
        // after the watch.
        let watch = unsafe { Watch::new(pages.start.as_ptr().expose_provenance(), len)? };
        Some(Self {
            watch,
            pages,
            released: Cell::new(0),
        })
    }

    /// The bytes. Those that have no file behind them any more are zeros.
    pub(super) fn bytes(&self) -> &[u8] {
        // SAFETY: the pages are mapped and can be read as long as `self` lives, and
        // the guard answers for those that lose their file. Nobody in this process
        // writes to them. That others may change the file, and with it the bytes, is
        // what every program that maps files lives with; see the head of this file.
        unsafe { std::slice::from_raw_parts(self.pages.start.as_ptr(), self.pages.len) }
    }

    /// Says that what is before a part of [`Map::bytes`] will not be read again, so
    /// that it need not stay in memory. It may still be looked at.
    pub(super) fn release_before(&self, part: &[u8]) {
        let start = self.pages.start.as_ptr();
        let before = part.as_ptr().addr().saturating_sub(start.addr());
        // Whole pages of any size.
        let before = before.min(self.pages.len) / BEHIND_BYTES * BEHIND_BYTES;
        let released = self.released.get();
        if before <= released {
            return;
        }
        self.released.set(before);
        // SAFETY: within the mapping, which is private and was never written to: what
        // is let go of is the same file, or the same zeros, when it is touched again.
        // Failing changes nothing.
        let _ = unsafe {
            madvise(
                start.add(released).cast(),
                before - released,
                Advice::LinuxDontNeed,
            )
        };
    }

    /// The offset of the first byte that was looked at and had no file behind it.
    pub(super) fn fault(&self) -> Option<u64> {
        let fault = self.watch.fault()?;
        let offset = fault.saturating_sub(self.pages.start.as_ptr().addr());
        Some(offset as u64)
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: the mapping is this one's own and nobody borrows from it any more.
        let _ = unsafe { munmap(self.start.as_ptr().cast(), self.len) };
    }
}
