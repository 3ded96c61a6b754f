//! What a walk finds, in which order, and how it fails.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::Path;

use crate::files::{FileError, Flow, Limits, Reader, Reading, Root, Walk};

fn write(root: &Path, files: &[(&str, &str)]) {
    for (path, text) in files {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

fn walk(root: &Path, location: &str) -> Vec<String> {
    Walk::new(&Root::open(root).unwrap(), location.as_bytes())
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.file.is_some())
        .map(|entry| entry.display_path().into())
        .collect()
}

#[test]
fn entries_come_sorted_and_directories_in_place() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path();
    write(
        root,
        &[
            ("b", ""),
            ("a/z", ""),
            ("a/B", ""),
            ("a.b", ""),
            (".hidden", ""),
            ("é", ""),
        ],
    );
    fs::write(root.join(OsStr::from_bytes(b"\xff")), "").unwrap();
    let expected = [".hidden", "a/B", "a/z", "a.b", "b", "é", "\u{fffd}"];
    assert_eq!(walk(root, ""), expected);
    let all: Vec<_> = Walk::new(&Root::open(root).unwrap(), b"")
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.file.is_none())
        .map(|entry| entry.path().to_owned())
        .collect();
    assert_eq!(all, ["a"]);
}

#[test]
fn links_and_git_and_special_files_are_left_out() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path();
    write(
        root,
        &[
            ("real/file", ""),
            (".git/config", ""),
            ("sub/.git", "gitdir: elsewhere"),
            ("sub/.github/x", ""),
            ("sub/file", ""),
        ],
    );
    symlink("real", root.join("link")).unwrap();
    symlink("real/file", root.join("file_link")).unwrap();
    drop(std::os::unix::net::UnixListener::bind(root.join("socket")).unwrap());
    assert_eq!(walk(root, ""), ["real/file", "sub/.github/x", "sub/file"]);
    assert_eq!(walk(root, "sub"), ["sub/.github/x", "sub/file"]);
    assert!(walk(root, ".git").is_empty());
}

#[test]
fn rules_of_the_workspace_apply_from_the_root_down() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().join("root");
    write(
        directory.path(),
        &[
            (".gitignore", "*"),
            ("root/.git/info/exclude", "*"),
            (
                "root/.gitignore",
                "*.log\n/target/\n!/target/keep\nbuilt/\n",
            ),
            ("root/a.rs", ""),
            ("root/a.log", ""),
            ("root/target/keep", ""),
            ("root/sub/.gitignore", "!*.log\nsecret\n"),
            ("root/sub/b.log", ""),
            ("root/sub/secret", ""),
            ("root/sub/target/x", ""),
            ("root/sub/built/x", ""),
            ("root/sub/deep/secret/x", ""),
            ("root/sub/deep/y", ""),
        ],
    );
    let in_sub = ["sub/.gitignore", "sub/b.log", "sub/deep/y", "sub/target/x"];
    let expected = [&[".gitignore", "a.rs"][..], &in_sub].concat();
    assert_eq!(walk(&root, ""), expected);
    assert_eq!(walk(&root, "sub"), in_sub);
    assert_eq!(walk(&root, "sub/deep"), ["sub/deep/y"]);
    for excluded in ["target", "sub/built", "sub/deep/secret"] {
        assert!(walk(&root, excluded).is_empty(), "{excluded}");
    }
}

#[test]
fn a_gitignore_that_is_a_link_excludes_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path();
    write(root, &[("rules", "*\n"), ("a/x", "")]);
    symlink("../rules", root.join("a/.gitignore")).unwrap();
    symlink("rules", root.join(".gitignore")).unwrap();
    assert_eq!(walk(root, ""), ["a/x", "rules"]);
    assert_eq!(walk(root, "a"), ["a/x"]);
}

#[test]
fn a_gitignore_over_its_cap_fails_the_walk() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join(".gitignore"), "#".repeat(2 << 20)).unwrap();
    let mut walk = Walk::new(&Root::open(directory.path()).unwrap(), b"");
    let error = walk.next().unwrap().unwrap_err().error;
    assert!(matches!(error, FileError::TooLarge { .. }), "{error}");
    assert!(walk.next().is_none());
}

/// Directories nested beyond what a path may be long, made step by step.
fn nest(root: &Path, name: &str, depth: usize, with_file: bool) {
    let name = std::ffi::CString::new(name).unwrap();
    let flags = rustix::fs::OFlags::RDONLY | rustix::fs::OFlags::DIRECTORY;
    let mode = rustix::fs::Mode::RWXU;
    let mut at = rustix::fs::open(root, flags, mode).unwrap();
    for _ in 0..depth {
        if with_file {
            let create = rustix::fs::OFlags::CREATE | rustix::fs::OFlags::WRONLY;
            rustix::fs::openat(&at, "z", create, mode).unwrap();
        }
        rustix::fs::mkdirat(&at, &name, mode).unwrap();
        at = rustix::fs::openat(&at, &name, flags, mode).unwrap();
    }
}

#[test]
fn deep_trees_are_walked_or_refused() {
    let directory = tempfile::tempdir().unwrap();
    nest(directory.path(), "d", 2000, false);
    let root = Root::open(directory.path()).unwrap();
    assert_eq!(Walk::new(&root, b"").filter(Result::is_ok).count(), 2000);

    for (name, depth, with_file) in [
        ("d", 3000, false),
        ("d", 400, true),
        ("0123456789", 500, false),
    ] {
        let directory = tempfile::tempdir().unwrap();
        nest(directory.path(), name, depth, with_file);
        let mut walk = Walk::new(&Root::open(directory.path()).unwrap(), b"");
        let failed = walk.find_map(Result::err).unwrap();
        assert_eq!(failed.error, FileError::TooDeep);
        remove(directory);
    }
    remove(directory);
}

/// The standard library's removal works on paths and so has their limits.
fn remove(directory: tempfile::TempDir) {
    let path = directory.keep();
    let removed = std::process::Command::new("rm")
        .arg("-rf")
        .arg(path)
        .status();
    assert!(removed.unwrap().success());
}

#[test]
fn what_vanishes_or_is_replaced_has_changed() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path();
    write(root, &[("a", ""), ("b", ""), ("c/x", "")]);
    let mut walk = Walk::new(&Root::open(root).unwrap(), b"");
    let a = walk.next().unwrap().unwrap();
    let b = walk.next().unwrap().unwrap();
    fs::remove_file(root.join("a")).unwrap();
    fs::remove_file(root.join("b")).unwrap();
    symlink("/etc/passwd", root.join("b")).unwrap();
    fs::rename(root.join("c"), root.join("d")).unwrap();
    symlink("/etc", root.join("c")).unwrap();
    for entry in [a, b] {
        let file = entry.file.unwrap();
        assert_eq!(file.id().unwrap_err(), FileError::Changed);
        let reading = Reading {
            limits: Limits::default(),
            skip_binary: false,
            as_one: 0,
        };
        let read = file.read(&mut Reader::default(), &reading, &mut |_| Flow::More);
        assert_eq!(read.content, Err(FileError::Changed));
    }
    assert_eq!(walk.next().unwrap().unwrap().path, b"c");
    let failed = walk.next().unwrap().unwrap_err();
    assert_eq!(
        (&*failed.path, failed.error),
        (&b"c"[..], FileError::Changed)
    );
    assert!(walk.next().is_none());
}

#[test]
fn a_directory_that_may_not_be_read_fails_the_walk() {
    use std::os::unix::fs::PermissionsExt;

    if rustix::process::geteuid().is_root() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path();
    write(root, &[("a/x", ""), ("b", "")]);
    fs::set_permissions(root.join("a"), fs::Permissions::from_mode(0o000)).unwrap();
    let entries: Vec<_> = Walk::new(&Root::open(root).unwrap(), b"").collect();
    // The rest is walked all the same.
    assert_eq!(entries.last().unwrap().as_ref().unwrap().path, b"b");
    let failed = entries.into_iter().find_map(Result::err).unwrap();
    fs::set_permissions(root.join("a"), fs::Permissions::from_mode(0o700)).unwrap();
    assert!(
        matches!(failed.error, FileError::Refused(_)),
        "{}",
        failed.error
    );
}
