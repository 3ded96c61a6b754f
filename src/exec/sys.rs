//! The system calls that need `unsafe`, each wrapped so that its callers do not.
//!
//! Only the helper makes them. It has one thread, so that a process it forks may do
//! anything that the helper may.
#![expect(unsafe_code, reason = "no crate that is used has these calls")]

use std::ffi::CString;
use std::io;
use std::time::Duration;

use rustix::process::Pid;

/// Which of two processes goes on.
pub(super) enum Forked {
    Parent(Pid),
    Child,
}

/// Forks, the child in new namespaces (`CLONE_NEW…`).
pub(super) fn fork(namespaces: i32) -> io::Result<Forked> {
    let flags = libc::c_long::from(namespaces | libc::SIGCHLD);
    // SAFETY: without `CLONE_VM` and with no stack given the child is a copy of this
    // process, as `fork` makes one. No other thread exists that could hold a lock.
    let pid = unsafe { libc::syscall(libc::SYS_clone, flags, 0, 0, 0, 0) };
    match i32::try_from(pid) {
        Ok(0) => Ok(Forked::Child),
        Ok(pid) if pid > 0 => Ok(Forked::Parent(
            Pid::from_raw(pid).ok_or(io::ErrorKind::Other)?,
        )),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Takes this process into new namespaces.
pub(super) fn unshare(namespaces: i32) -> io::Result<()> {
    // SAFETY: no memory is involved, and descriptors stay as they are: `CLONE_FILES` is
    // not among the flags of any caller.
    match unsafe { libc::unshare(namespaces) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// A child that ended, and what it and those it waited for used.
pub(super) struct Waited {
    pub(super) pid: i32,
    pub(super) status: i32,
    pub(super) cpu: Duration,
    /// Of the largest process, in bytes.
    pub(super) peak: u64,
}

/// What waiting for children finds.
pub(super) enum Reaped {
    Child(Waited),
    /// None that ended.
    Running,
    /// None at all.
    Childless,
}

/// Waits for a child, or for any with `-1`; `hang` until one ends.
pub(super) fn reap(pid: i32, hang: bool) -> Reaped {
    let flags = if hang { 0 } else { libc::WNOHANG };
    loop {
        let mut status = 0;
        // SAFETY: all zeros is a value of this plain structure.
        let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
        // SAFETY: both pointers are to locals that live through the call.
        let waited =
            unsafe { libc::wait4(pid, &raw mut status, flags | libc::__WALL, &raw mut usage) };
        if waited > 0 {
            let time = |time: libc::timeval| {
                let micros = time
                    .tv_sec
                    .saturating_mul(1_000_000)
                    .saturating_add(time.tv_usec);
                Duration::from_micros(u64::try_from(micros).unwrap_or(0))
            };
            return Reaped::Child(Waited {
                pid: waited,
                status,
                cpu: time(usage.ru_utime) + time(usage.ru_stime),
                peak: u64::try_from(usage.ru_maxrss).unwrap_or(0) << 10,
            });
        }
        if waited == 0 {
            return Reaped::Running;
        }
        if io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
            return Reaped::Childless;
        }
    }
}

/// Sends `SIGKILL` to everything in this process namespace but its first process,
/// which has to be the caller.
pub(super) fn kill_namespace() {
    // SAFETY: no memory is involved. That the caller is the first process of a
    // namespace is what keeps processes outside of it out of reach.
    if unsafe { libc::getpid() } == 1 {
        // SAFETY: as above.
        unsafe { libc::kill(-1, libc::SIGKILL) };
    }
}

/// Gives every signal its default action and unblocks all.
pub(super) fn reset_signals() {
    // SAFETY: all zeros is the empty set, which `sigemptyset` would make of it.
    let mut empty: libc::sigset_t = unsafe { std::mem::zeroed() };
    // SAFETY: the set is a local that lives through the calls, and default actions
    // run no code of this process.
    unsafe {
        libc::sigemptyset(&raw mut empty);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const empty, std::ptr::null_mut());
        for signal in 1..32 {
            libc::signal(signal, libc::SIG_DFL);
        }
    }
}

/// Descriptors from a number on are closed when a program is executed.
pub(super) fn close_on_exec_from(first: u32) -> io::Result<()> {
    // SAFETY: nothing is closed now, only marked.
    let done = unsafe {
        libc::syscall(
            libc::SYS_close_range,
            first,
            u32::MAX,
            libc::CLOSE_RANGE_CLOEXEC,
        )
    };
    if done == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// Replaces this process by a program. Returns only if that fails.
pub(super) fn execute(program: &CString, words: &[CString], env: &[CString]) -> io::Error {
    let pointers = |texts: &[CString]| -> Vec<*const libc::c_char> {
        let texts = texts.iter().map(|text| text.as_ptr());
        texts.chain([std::ptr::null()]).collect()
    };
    let (words, env) = (pointers(words), pointers(env));
    // SAFETY: all pointers are to strings that live through the call, and both lists
    // end with a null pointer.
    unsafe { libc::execve(program.as_ptr(), words.as_ptr(), env.as_ptr()) };
    io::Error::last_os_error()
}

/// Ends this process at once, without anything that runs at exit: in a fork that
/// belongs to the parent.
pub(super) fn exit(status: i32) -> ! {
    // SAFETY: the call takes no memory and does not return.
    unsafe { libc::_exit(status) }
}
