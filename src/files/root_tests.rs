//! Paths lead inside or nowhere, whoever resolves them.

use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{FileType, Mode};

use crate::files::root::Backend;
use crate::files::{FileError, Kind, Limits, OpenError, Reader, Root};

fn backends() -> Vec<Backend> {
    #[cfg(target_os = "linux")]
    return vec![Backend::Beneath, Backend::Components];
    #[cfg(not(target_os = "linux"))]
    vec![Backend::Components]
}

/// A workspace with one of everything, next to a directory outside it.
fn workspace() -> (tempfile::TempDir, std::path::PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().join("root");
    fs::create_dir_all(root.join("a/b")).unwrap();
    fs::create_dir(directory.path().join("outside")).unwrap();
    fs::write(directory.path().join("outside/secret"), "outside").unwrap();
    fs::write(root.join("file"), "inside").unwrap();
    fs::write(root.join("a/b/file"), "deep").unwrap();
    for (target, link) in [
        ("file", "to_file"),
        ("a/b", "to_directory"),
        ("a/b/", "to_directory_slash"),
        ("file/", "to_file_slash"),
        ("../file", "a/up"),
        ("../../file", "a/b/up_twice"),
        ("nowhere", "dangling"),
        ("loop", "loop"),
        ("../outside/secret", "out"),
        ("../root/file", "out_and_in"),
        ("a/../../outside", "out_late"),
        ("/etc/passwd", "absolute"),
        ("to_directory/file", "link_over_link"),
    ] {
        symlink(target, root.join(link)).unwrap();
    }
    symlink(root.join("file"), root.join("absolute_inside")).unwrap();
    for number in 0..45 {
        let target = if number == 0 {
            "file".into()
        } else {
            format!("chain{}", number - 1)
        };
        symlink(target, root.join(format!("chain{number}"))).unwrap();
    }
    make_fifo(&root.join("fifo"));
    drop(UnixListener::bind(root.join("socket")).unwrap());
    (directory, root)
}

fn make_fifo(path: &Path) {
    rustix::fs::mknodat(
        rustix::fs::CWD,
        path,
        FileType::Fifo,
        Mode::RUSR | Mode::WUSR,
        0,
    )
    .unwrap();
}

#[test]
fn every_backend_gives_the_same_answers() {
    let (_directory, path) = workspace();
    let long = "x".repeat(300);
    let very_long = "a/../".repeat(1000);
    let table: &[(&str, Result<Kind, FileError>)] = &[
        ("file", Ok(Kind::File)),
        ("./file", Ok(Kind::File)),
        ("a//b/./file", Ok(Kind::File)),
        ("a/../file", Ok(Kind::File)),
        ("a/b/../../file", Ok(Kind::File)),
        (".", Ok(Kind::Directory)),
        ("./", Ok(Kind::Directory)),
        ("a", Ok(Kind::Directory)),
        ("a/", Ok(Kind::Directory)),
        ("a/..", Ok(Kind::Directory)),
        ("a/b/..", Ok(Kind::Directory)),
        ("to_file", Ok(Kind::File)),
        ("to_directory", Ok(Kind::Directory)),
        ("to_directory/", Ok(Kind::Directory)),
        ("to_directory_slash/file", Ok(Kind::File)),
        ("to_directory/../b/file", Ok(Kind::File)),
        ("a/up", Ok(Kind::File)),
        ("a/b/up_twice", Ok(Kind::File)),
        ("to_directory/up_twice", Ok(Kind::File)),
        ("link_over_link", Ok(Kind::File)),
        ("chain39", Ok(Kind::File)),
        ("fifo", Ok(Kind::Other("FIFO"))),
        ("socket", Ok(Kind::Other("socket"))),
        ("nowhere", Err(FileError::NotFound)),
        ("nowhere/../file", Err(FileError::NotFound)),
        ("file/", Err(FileError::NotFound)),
        ("file/.", Err(FileError::NotFound)),
        ("file/..", Err(FileError::NotFound)),
        ("file/below", Err(FileError::NotFound)),
        ("fifo/below", Err(FileError::NotFound)),
        ("to_file/", Err(FileError::NotFound)),
        ("to_file_slash", Err(FileError::NotFound)),
        ("dangling", Err(FileError::NotFound)),
        ("loop", Err(FileError::LinkLoop)),
        ("loop/file", Err(FileError::LinkLoop)),
        ("chain40", Err(FileError::LinkLoop)),
        ("..", Err(FileError::Outside)),
        ("../root/file", Err(FileError::Outside)),
        ("a/../../root/file", Err(FileError::Outside)),
        ("/etc/passwd", Err(FileError::Outside)),
        ("//etc/passwd", Err(FileError::Outside)),
        ("out", Err(FileError::Outside)),
        ("out_and_in", Err(FileError::Outside)),
        ("out_late/secret", Err(FileError::Outside)),
        ("absolute", Err(FileError::Outside)),
        ("absolute_inside", Err(FileError::Outside)),
        ("", Err(FileError::Invalid("is empty"))),
        ("a\0b", Err(FileError::Invalid("holds a NUL"))),
        (&long, Err(FileError::Invalid("is too long"))),
        (&very_long, Err(FileError::Invalid("is too long"))),
    ];
    for backend in backends() {
        let root = Root::open(&path).unwrap().with_backend(backend);
        for (path, expected) in table {
            let found = root.find(path).map(|found| found.kind());
            assert_eq!(&found, expected, "{backend:?} {path:?}");
        }
    }
}

#[test]
fn what_is_opened_is_what_was_found() {
    let (_directory, path) = workspace();
    for backend in backends() {
        let root = Root::open(&path).unwrap().with_backend(backend);
        let found = root.find("to_file").unwrap();
        let renamed = path.join("renamed");
        fs::rename(path.join("file"), &renamed).unwrap();
        fs::write(path.join("file"), "another").unwrap();
        let opened = found.open();
        match backend {
            Backend::Components => assert_eq!(opened.unwrap_err(), FileError::Changed),
            #[cfg(target_os = "linux")]
            Backend::Beneath => {
                let text = Reader::default().read_whole(&opened.unwrap(), 100, "file");
                assert_eq!(text.unwrap(), b"inside");
            }
        }
        fs::rename(renamed, path.join("file")).unwrap();
    }
}

#[test]
fn special_files_are_never_opened() {
    let (_directory, path) = workspace();
    for backend in backends() {
        let root = Root::open(&path).unwrap().with_backend(backend);
        for (name, kind) in [("fifo", "FIFO"), ("socket", "socket"), ("a", "directory")] {
            let opened = root.find(name).unwrap().open();
            assert_eq!(opened.unwrap_err(), FileError::NotRegular(kind));
        }
    }
}

#[test]
fn locations_have_no_links() {
    let (_directory, path) = workspace();
    for backend in backends() {
        let root = Root::open(&path).unwrap().with_backend(backend);
        for (path, location) in [
            (".", ""),
            ("a/..", ""),
            ("a/./b/", "a/b"),
            ("to_directory", "a/b"),
            ("to_directory/..", "a"),
            ("link_over_link", "a/b/file"),
        ] {
            let found = root.find(path).unwrap();
            assert_eq!(found.location().unwrap(), location.as_bytes(), "{path}");
        }
    }
}

/// A thread keeps swapping a directory for a link that leads outside.
#[test]
fn nothing_outside_is_read_while_links_are_swapped() {
    let (_directory, path) = workspace();
    let (real, link, used) = (path.join("real"), path.join("link"), path.join("used"));
    fs::create_dir(&real).unwrap();
    fs::write(real.join("secret"), "inside").unwrap();
    symlink("../outside", &link).unwrap();
    /// Stops the other thread also when an assertion fails.
    struct Done<'a>(&'a AtomicBool);
    impl Drop for Done<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let _done = Done(&is_done);
        scope.spawn(|| {
            while !is_done.load(Ordering::Relaxed) {
                fs::rename(&real, &used).unwrap();
                fs::rename(&used, &real).unwrap();
                fs::rename(&link, &used).unwrap();
                fs::rename(&used, &link).unwrap();
            }
        });
        for backend in backends() {
            let root = Root::open(&path).unwrap().with_backend(backend);
            let mut reader = Reader::default();
            let mut read = 0;
            for _ in 0..20_000 {
                let text = root
                    .find("used/secret")
                    .and_then(|found| found.open())
                    .and_then(|file| reader.read_whole(&file, 100, "file"));
                match text {
                    Ok(text) => {
                        assert_eq!(text, b"inside");
                        read += 1;
                    }
                    Err(FileError::Outside | FileError::NotFound | FileError::Changed) => {}
                    Err(error) => panic!("{error}"),
                }
            }
            assert!(read > 0);
        }
    });
}

#[test]
fn a_root_that_is_no_directory_is_refused() {
    let (_directory, path) = workspace();
    let error = Root::open(&path.join("file")).unwrap_err();
    assert!(matches!(error, OpenError::NotADirectory { .. }), "{error}");
    let error = Root::open(&path.join("nowhere")).unwrap_err();
    assert!(matches!(error, OpenError::Refused { .. }), "{error}");
}

#[cfg(target_os = "linux")]
#[test]
fn files_that_the_system_makes_up_are_refused() {
    let root = Root::open(Path::new("/proc/self")).unwrap();
    let file = root.find("status").unwrap().open().unwrap();
    let text = Reader::default().read_whole(&file, Limits::default().max_file_bytes, "file");
    assert!(matches!(text, Err(FileError::NotRegular(_))), "{text:?}");
    assert_eq!(root.find("exe").unwrap_err(), FileError::LinkLoop);
}
