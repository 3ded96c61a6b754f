//! The guard of memory maps: a mapped file that somebody truncates must not end the
//! process.
//!
//! Touching a page of a mapping that has no file behind it any more raises SIGBUS.
//! With the first map a handler for the whole process is installed. It looks the
//! address up among the mappings that are watched; if it is in one, the rest of that
//! mapping becomes zeros, the fault is noted, and reading goes on. What was read is
//! worth nothing then, and [`Watch::fault`] says so.
//!
//! What a host has to know:
//!
//! - Faults elsewhere, and signals that somebody sent, go to the handler that was
//!   there before, called by this one; where there was none, the default action is
//!   restored and taken. The mask and `SA_RESETHAND` of an earlier handler are not
//!   imitated.
//! - A handler that is installed later and does not call this one would see faults
//!   that are none of its own. So each map first asks whether the handler is still
//!   in place and the thread lets the signal through; otherwise nothing is watched
//!   and files are read. Hosts that install theirs in the middle of an evaluation
//!   should forward.
//! - The handler is never removed.
//!
//! The handler does nothing but reads and writes of atomics, `mmap`, and, on its way
//! out, `sigaction` and `raise`: all may be called at any time. Miri knows neither
//! `mmap` of files nor signals, so it cannot check this file and `map.rs`; their
//! tests run the real thing.

#![expect(
    unsafe_code,
    reason = "signal handlers and changes of memory maps are beyond safe code"
)]

use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};

use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous};

/// Mappings that can be watched at once; each thread that reads has one at most.
pub(super) const SLOTS: usize = 128;

/// A mapping that is watched. The handler reads it while others change it.
struct Slot {
    is_taken: AtomicBool,
    /// Odd while the range changes. A slot that changes is not that of a faulting
    /// thread, whose own mapping is watched as long as it touches it.
    version: AtomicUsize,
    start: AtomicUsize,
    end: AtomicUsize,
    /// The first address that had no file behind it; 0 if there was none.
    fault: AtomicUsize,
}

static WATCHED: [Slot; SLOTS] = [const {
    Slot {
        is_taken: AtomicBool::new(false),
        version: AtomicUsize::new(0),
        start: AtomicUsize::new(0),
        end: AtomicUsize::new(0),
        fault: AtomicUsize::new(0),
    }
}; SLOTS];

/// The handler as the system knows it; 0 before it is installed.
static HANDLER: AtomicUsize = AtomicUsize::new(0);

/// What was there before. Never freed.
static PREVIOUS: AtomicPtr<libc::sigaction> = AtomicPtr::new(ptr::null_mut());

static PAGE_BYTES: AtomicUsize = AtomicUsize::new(4096);

impl Slot {
    fn set_range(&self, start: usize, end: usize) {
        self.version.fetch_add(1, Ordering::SeqCst);
        self.start.store(start, Ordering::SeqCst);
        self.end.store(end, Ordering::SeqCst);
        self.version.fetch_add(1, Ordering::SeqCst);
    }

    /// The range, if it holds an address.
    fn range_with(&self, address: usize) -> Option<(usize, usize)> {
        let version = self.version.load(Ordering::SeqCst);
        let start = self.start.load(Ordering::SeqCst);
        let end = self.end.load(Ordering::SeqCst);
        let is_stable = version.is_multiple_of(2) && self.version.load(Ordering::SeqCst) == version;
        (is_stable && start <= address && address < end).then_some((start, end))
    }
}

/// Watches over one mapping until it is dropped, which has to be before the mapping
/// is undone.
#[derive(Debug)]
pub(super) struct Watch(usize);

impl Watch {
    /// Watches over the pages from `start`, the start of a page, which are a private
    /// mapping that can be read. `None` if no slot is free, or if the handler is not
    /// in place or would not run on this thread.
    ///
    /// # Safety
    ///
    /// The mapping is the caller's own and stays where it is while this lives: the
    /// handler may put zeros in its place.
    pub(super) unsafe fn new(start: usize, bytes: usize) -> Option<Self> {
        if !is_installed() {
            return None;
        }
        let end = start.checked_add(bytes.next_multiple_of(PAGE_BYTES.load(Ordering::Relaxed)))?;
        let number = WATCHED.iter().position(|slot| {
            let taken = (Ordering::SeqCst, Ordering::Relaxed);
            slot.is_taken
                .compare_exchange(false, true, taken.0, taken.1)
                .is_ok()
        })?;
        let watch = Self(number);
        watch.slot()?.fault.store(0, Ordering::SeqCst);
        watch.slot()?.set_range(start, end);
        Some(watch)
    }

    /// The first address that was touched and had no file behind it.
    pub(super) fn fault(&self) -> Option<usize> {
        let fault = self.slot()?.fault.load(Ordering::SeqCst);
        (fault != 0).then_some(fault)
    }

    fn slot(&self) -> Option<&'static Slot> {
        WATCHED.get(self.0)
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if let Some(slot) = self.slot() {
            slot.set_range(0, 0);
            slot.is_taken.store(false, Ordering::SeqCst);
        }
    }
}

/// Installs the handler once. False if it is not in place or this thread holds the
/// signal back, which would end the process at the first fault.
fn is_installed() -> bool {
    static INSTALLED: OnceLock<bool> = OnceLock::new();
    *INSTALLED.get_or_init(install)
        && current().is_some_and(|now| now.sa_sigaction == HANDLER.load(Ordering::SeqCst))
        && !is_blocked()
}

fn install() -> bool {
    PAGE_BYTES.store(rustix::param::page_size(), Ordering::SeqCst);
    let Some(previous) = current() else {
        return false;
    };
    // Before the handler, which may run at once.
    PREVIOUS.store(Box::into_raw(Box::new(previous)), Ordering::SeqCst);
    let handler = on_sigbus as extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void);
    let handler = handler as usize;
    HANDLER.store(handler, Ordering::SeqCst);
    // SAFETY: all zeros are an action: no flags, an empty mask.
    let mut action: libc::sigaction = unsafe { MaybeUninit::zeroed().assume_init() };
    action.sa_sigaction = handler;
    // On the alternate stack, where the handlers of the standard library run.
    action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_RESTART;
    // SAFETY: the action is complete, its handler has the signature that
    // `SA_SIGINFO` asks for and calls nothing that a handler may not call.
    unsafe { libc::sigaction(libc::SIGBUS, &raw const action, ptr::null_mut()) == 0 }
}

/// The action of the process for the signal.
fn current() -> Option<libc::sigaction> {
    let mut action = MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: nothing is changed; the action is written to a place of its size, and
    // zeros are one as well.
    unsafe {
        let status = libc::sigaction(libc::SIGBUS, ptr::null(), action.as_mut_ptr());
        (status == 0).then(|| action.assume_init())
    }
}

fn is_blocked() -> bool {
    let mut set = MaybeUninit::<libc::sigset_t>::zeroed();
    // SAFETY: nothing is changed; the mask is written to a place of its size, and
    // zeros are one as well.
    unsafe {
        let status = libc::pthread_sigmask(libc::SIG_BLOCK, ptr::null(), set.as_mut_ptr());
        status != 0 || libc::sigismember(set.as_ptr(), libc::SIGBUS) != 0
    }
}

extern "C" fn on_sigbus(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the system hands a valid record to handlers that ask for one, in which
    // faults have an address. `errno` is the thread's own.
    unsafe {
        let errno = libc::__errno_location();
        let kept = *errno;
        let code = (*info).si_code;
        let is_fault = code == libc::BUS_ADRERR || code == libc::BUS_MCEERR_AR;
        if !is_fault || !replace((*info).si_addr() as usize) {
            forward(signal, info, context);
        }
        *errno = kept;
    }
}

/// Puts zeros in place of what is gone, if the address is in a watched mapping.
fn replace(address: usize) -> bool {
    let found = WATCHED
        .iter()
        .find_map(|slot| Some((slot, slot.range_with(address)?)));
    let Some((slot, (start, end))) = found else {
        return false;
    };
    let page_bytes = PAGE_BYTES.load(Ordering::SeqCst);
    let page = start + (address - start) / page_bytes * page_bytes;
    // To the end at once: what follows is gone too, or worth nothing.
    // SAFETY: the range is part of a mapping that is watched, whose owner is the
    // thread that faulted in it; so it stays, and nothing else is replaced.
    let replaced = unsafe {
        mmap_anonymous(
            ptr::with_exposed_provenance_mut(page),
            end - page,
            ProtFlags::READ,
            MapFlags::PRIVATE | MapFlags::FIXED | MapFlags::NORESERVE,
        )
    };
    if replaced.is_err() {
        return false;
    }
    let fault = &slot.fault;
    let _ = fault.compare_exchange(0, address, Ordering::SeqCst, Ordering::SeqCst);
    true
}

/// Does what would have been done without this handler.
///
/// # Safety
///
/// The arguments are those of a handler.
unsafe fn forward(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: null or leaked by `install`, and never written to again.
    let previous = unsafe { PREVIOUS.load(Ordering::SeqCst).as_ref() };
    let (handler, flags) = previous.map_or((libc::SIG_DFL, 0), |previous| {
        (previous.sa_sigaction, previous.sa_flags)
    });
    // SAFETY: the caller's.
    let was_sent = unsafe { (*info).si_code <= 0 };
    match handler {
        // Faults cannot be ignored.
        libc::SIG_IGN if was_sent => {}
        libc::SIG_DFL | libc::SIG_IGN => {
            // SAFETY: all zeros are an action, the default one. A fault happens
            // again on return, and a signal that was sent is sent again.
            unsafe {
                let default: libc::sigaction = MaybeUninit::zeroed().assume_init();
                libc::sigaction(signal, &raw const default, ptr::null_mut());
                if was_sent {
                    libc::raise(signal);
                }
            }
        }
        handler if flags & libc::SA_SIGINFO != 0 => {
            // SAFETY: who installed it said that it has this signature.
            unsafe {
                let handler: extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) =
                    std::mem::transmute(handler);
                handler(signal, info, context);
            }
        }
        handler => {
            // SAFETY: who installed it said that it has this signature.
            unsafe {
                let handler: extern "C" fn(c_int) = std::mem::transmute(handler);
                handler(signal);
            }
        }
    }
}
