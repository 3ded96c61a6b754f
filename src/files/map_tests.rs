//! Maps of files that are truncated under them, and handlers of the host.

#![expect(
    unsafe_code,
    reason = "faults outside the guard and handlers of a host take unsafe code"
)]

use std::ffi::c_int;
use std::fs::{self, File};
use std::os::fd::AsFd as _;
use std::os::unix::process::ExitStatusExt as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::{Command, ExitStatus};
use std::ptr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::files::map::Map;
use crate::files::sigbus::SLOTS;
use crate::files::{Content, FileError, Flow, Limits, OpenFile, Reader, Reading, Root};

const READING: Reading = Reading {
    limits: Limits {
        max_file_bytes: 256 << 20,
        max_line_bytes: 16 << 20,
        max_text_bytes: 16 << 20,
        max_count_work: 1 << 30,
    },
    skip_binary: false,
    as_one: 0,
};

/// One test here at a time: they want places with the guard for certain.
fn alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A file of so many bytes `x`, open for changes.
fn file_of(directory: &tempfile::TempDir, bytes: usize) -> File {
    let path = directory.path().join("f");
    fs::write(&path, "x".repeat(bytes)).expect("a file");
    let mut options = File::options();
    options.read(true).write(true).open(path).expect("a file")
}

fn opened(directory: &tempfile::TempDir) -> OpenFile {
    let root = Root::open(directory.path()).expect("a directory");
    let found = root.find("f").expect("a file");
    found.open().expect("a file")
}

fn page() -> usize {
    rustix::param::page_size()
}

#[test]
fn what_is_truncated_reads_as_zeros_and_is_noted() {
    let _alone = alone();
    let directory = tempfile::tempdir().unwrap();
    let file = file_of(&directory, 5 * page() + 7);
    let map = Map::new(file.as_fd(), 5 * page() + 7).unwrap();
    assert!(map.bytes().iter().all(|&byte| byte == b'x'));
    assert_eq!(map.fault(), None);
    file.set_len(2 * page() as u64 + 3).unwrap();
    // The last page that is left is zeros behind its end.
    assert!(
        map.bytes()[..2 * page() + 3]
            .iter()
            .all(|&byte| byte == b'x')
    );
    assert_eq!(map.bytes()[2 * page() + 3], 0);
    assert_eq!(map.fault(), None);
    assert_eq!(map.bytes()[4 * page() + 100], 0);
    assert_eq!(map.fault(), Some(4 * page() as u64 + 100));
    assert_eq!(map.bytes()[3 * page() + 1], 0);
    assert!(map.bytes()[3 * page()..].iter().all(|&byte| byte == 0));
    assert_eq!(map.fault(), Some(4 * page() as u64 + 100), "the first one");
    // What is noted is not noted of the next mapping in its place.
    drop(map);
    let map = Map::new(file.as_fd(), page()).unwrap();
    assert_eq!((map.bytes()[0], map.fault()), (b'x', None));
}

#[test]
fn what_was_let_go_of_can_be_read_again() {
    let _alone = alone();
    let directory = tempfile::tempdir().unwrap();
    let file = file_of(&directory, 17 << 20);
    let map = Map::new(file.as_fd(), 17 << 20).unwrap();
    for at in [0, 9 << 20, 16 << 20, 17 << 20, 1 << 20] {
        map.release_before(&map.bytes()[at..]);
        assert!(map.bytes().iter().all(|&byte| byte == b'x'));
    }
}

#[test]
fn without_a_free_place_files_are_read() {
    let _alone = alone();
    let directory = tempfile::tempdir().unwrap();
    let file = file_of(&directory, 10);
    let mut maps: Vec<Map> = Vec::new();
    while let Some(map) = Map::new(file.as_fd(), 10) {
        maps.push(map);
        assert!(maps.len() <= SLOTS);
    }
    let mut read = Vec::new();
    let content = Reader::mapping_from(0).read(&opened(&directory), &READING, &mut |block| {
        read.extend_from_slice(block.bytes);
        Flow::More
    });
    assert_eq!((content, &*read), (Ok(Content::Text), &b"xxxxxxxxxx"[..]));
    maps.clear();
    assert!(Map::new(file.as_fd(), 10).is_some());
}

#[test]
fn threads_are_told_of_their_own_faults_only() {
    let _alone = alone();
    std::thread::scope(|scope| {
        for thread in 0..8 {
            scope.spawn(move || {
                let directory = tempfile::tempdir().unwrap();
                let bytes = (2 + thread % 3) * page();
                let file = file_of(&directory, bytes);
                for round in 0..200 {
                    let is_cut = (round + thread) % 2 == 0;
                    file.set_len(bytes as u64).unwrap();
                    let map = Map::new(file.as_fd(), bytes).unwrap();
                    if is_cut {
                        file.set_len(page() as u64).unwrap();
                    }
                    let last = map.bytes().iter().rposition(|&byte| byte == b'y');
                    assert_eq!(last, None);
                    assert_eq!(map.fault().is_some(), is_cut);
                }
            });
        }
    });
}

#[test]
fn a_truncated_file_has_changed_even_if_it_is_restored() {
    let directory = tempfile::tempdir().unwrap();
    for is_restored in [false, true] {
        let file = file_of(&directory, 8 * page());
        let open = opened(&directory);
        let content = Reader::mapping_from(0).read(&open, &READING, &mut |block| {
            file.set_len(0).unwrap();
            assert!(block.bytes.iter().all(|&byte| byte != b'y'));
            if is_restored {
                file.set_len(8 * page() as u64).unwrap();
            }
            Flow::More
        });
        assert_eq!(content, Err(FileError::Changed));
    }
}

#[test]
fn a_panic_over_bytes_that_change_is_a_change_and_others_go_on() {
    let directory = tempfile::tempdir().unwrap();
    for is_changed in [true, false] {
        let file = file_of(&directory, 8 * page());
        let open = opened(&directory);
        let mut reader = Reader::mapping_from(0);
        let result = catch_unwind(AssertUnwindSafe(|| {
            reader.read(&open, &READING, &mut |_| {
                if is_changed {
                    file.set_len(0).unwrap();
                }
                std::panic::resume_unwind(Box::new("over the bytes"));
            })
        }));
        match result {
            Ok(content) => assert_eq!((content, is_changed), (Err(FileError::Changed), true)),
            Err(_) => assert!(!is_changed),
        }
    }
}

/// Runs [`child`] in a process of its own.
fn in_a_child(scene: &str) -> ExitStatus {
    let status = Command::new(std::env::current_exe().expect("a program"))
        .args(["--exact", "files::map_tests::child", "--ignored"])
        .env("PROBITY_SCENE", scene)
        .output()
        .expect("a process");
    status.status
}

#[test]
fn faults_elsewhere_go_to_the_handler_that_was_there() {
    for (scene, expected) in [
        ("three arguments", Some(43)),
        ("one argument", Some(44)),
        ("sent", Some(43)),
    ] {
        assert_eq!(in_a_child(scene).code(), expected, "{scene}");
    }
}

#[test]
fn faults_elsewhere_without_a_handler_end_the_process() {
    for scene in ["default", "default, sent", "ignored"] {
        assert_eq!(in_a_child(scene).signal(), Some(libc::SIGBUS), "{scene}");
    }
    assert_eq!(in_a_child("ignored, sent").code(), Some(0));
}

#[test]
fn with_a_foreign_handler_or_the_signal_held_back_nothing_is_mapped() {
    assert_eq!(in_a_child("installed later").code(), Some(0));
    assert_eq!(in_a_child("blocked").code(), Some(0));
}

extern "C" fn three(_: c_int, info: *mut libc::siginfo_t, _: *mut std::ffi::c_void) {
    let code = if info.is_null() { 1 } else { 43 };
    // SAFETY: ends the process at once.
    unsafe { libc::_exit(code) }
}

extern "C" fn one(_: c_int) {
    // SAFETY: ends the process at once.
    unsafe { libc::_exit(44) }
}

fn install(handler: usize, flags: c_int) {
    // SAFETY: the action is complete.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler;
        action.sa_flags = flags;
        assert_eq!(
            libc::sigaction(libc::SIGBUS, &raw const action, ptr::null_mut()),
            0
        );
    }
}

/// Touches a mapping that nobody watches and that has no file behind it.
fn touch_elsewhere(file: &File) {
    use rustix::mm::{MapFlags, ProtFlags, mmap};
    file.set_len(0).expect("an open file");
    // SAFETY: a fresh mapping, read without any assumption.
    unsafe {
        let start = mmap(
            ptr::null_mut(),
            page(),
            ProtFlags::READ,
            MapFlags::PRIVATE,
            file,
            0,
        );
        ptr::read_volatile(start.expect("a mapping").cast::<u8>());
    }
}

/// Not a test: the scenes of the tests above, each in a process of its own.
#[test]
#[ignore = "run by other tests"]
fn child() {
    let Ok(scene) = std::env::var("PROBITY_SCENE") else {
        return;
    };
    let handler = three as extern "C" fn(c_int, *mut libc::siginfo_t, *mut std::ffi::c_void);
    let (three, one) = (handler as usize, one as extern "C" fn(c_int) as usize);
    match &*scene {
        "three arguments" | "sent" => install(three, libc::SA_SIGINFO),
        "one argument" => install(one, 0),
        "default" | "default, sent" => install(libc::SIG_DFL, 0),
        "ignored" | "ignored, sent" => install(libc::SIG_IGN, 0),
        _ => {}
    }
    let directory = tempfile::tempdir().unwrap();
    let file = file_of(&directory, 4 * page());
    let map = Map::new(file.as_fd(), 4 * page()).unwrap();
    file.set_len(0).unwrap();
    assert_eq!(map.bytes()[page()], 0);
    assert_eq!(map.fault(), Some(page() as u64));
    drop(map);
    match &*scene {
        "sent" | "default, sent" | "ignored, sent" => {
            // SAFETY: sends a signal to this thread.
            unsafe { libc::raise(libc::SIGBUS) };
        }
        "installed later" => {
            install(three, libc::SA_SIGINFO);
            assert!(Map::new(file.as_fd(), page()).is_none());
        }
        "blocked" => {
            // SAFETY: the set is initialised before it is used.
            unsafe {
                let mut set: libc::sigset_t = std::mem::zeroed();
                libc::sigemptyset(&raw mut set);
                libc::sigaddset(&raw mut set, libc::SIGBUS);
                libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set, ptr::null_mut());
            }
            assert!(Map::new(file.as_fd(), page()).is_none());
        }
        _ => touch_elsewhere(&file),
    }
}
