//! Repositories that were made to mislead whoever reads what changed in them.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::process::{Command, Stdio};

use probity::flow::{Changes, ChangesError, Head};

use crate::changes::{files, read, repository, statuses};
use crate::git::{commit_all, git};

const HEADS: [Head<'static>; 3] = [Head::WorkTree, Head::Index, Head::Commit("main")];

#[test]
fn odd_names_are_names() {
    let bench = repository();
    let root = bench.root();
    commit_all(&root, "base");
    let names = [
        "-dash",
        "--output=x",
        "a b",
        "new\nline",
        "quo\"te",
        "tab\t",
        "ü",
        "*",
        ":(top)x",
    ];
    for name in names {
        bench.file(name, name);
    }
    let mut sorted = names.to_vec();
    sorted.sort_unstable();
    let check = |changes: &Changes| {
        let slice = changes.slice();
        let found: Vec<&str> = slice.files().iter().map(|file| &*file.path).collect();
        assert_eq!(found, sorted);
        assert!(slice.files().iter().all(|file| file.path == file.text));
    };
    check(&read(&root, None, Head::WorkTree).expect("changes"));
    git(&root, &["add", "--all"]);
    check(&read(&root, None, Head::Index).expect("changes"));
    commit_all(&root, "next");
    check(&read(&root, Some("main~1"), Head::Commit("main")).expect("changes"));
}

#[test]
fn a_path_that_no_slice_can_name_is_an_error() {
    let bench = repository();
    let root = bench.root();
    commit_all(&root, "base");
    fs::write(root.join(OsStr::from_bytes(b"bad\xff")), "x").expect("written");
    let not_utf8 = |base, head| {
        let error = read(&root, base, head).expect_err("no name");
        assert!(matches!(error, ChangesError::NotUtf8(_)), "{error}");
        assert!(error.to_string().contains(r"bad\xff"), "{error}");
    };
    not_utf8(None, Head::WorkTree);
    git(&root, &["add", "--all"]);
    not_utf8(None, Head::Index);
    commit_all(&root, "next");
    not_utf8(Some("main~1"), Head::Commit("main"));
    // What stays as it was need not be named.
    bench.file("other", "x");
    let other = read(&root, None, Head::WorkTree).expect("changes");
    assert_eq!(statuses(&other), ["other added"]);
}

#[test]
fn revisions_are_no_options_and_have_to_be_there() {
    let bench = repository();
    let root = bench.root();
    commit_all(&root, "base");
    let target = bench.outside("written");
    let output = format!("--output={}", target.display());
    for unknown in [
        "nothing",
        "",
        "-h",
        "--all",
        &output,
        "main..main",
        "main~1",
    ] {
        for (base, head) in [
            (Some(unknown), Head::WorkTree),
            (Some(unknown), Head::Index),
            (Some(unknown), Head::Commit("main")),
            (Some("main"), Head::Commit(unknown)),
        ] {
            let error = read(&root, base, head).expect_err("no commit");
            assert!(error.to_string().contains("names no commit"), "{error}");
        }
    }
    assert!(!target.exists());
}

#[test]
fn links_and_pipes_lead_to_no_file() {
    let bench = repository();
    let root = bench.root();
    bench
        .file("d/file", "inside")
        .file("e/file", "inside")
        .file("pipe", "x");
    let secret = bench.outside("secret");
    fs::create_dir(&secret).expect("made");
    fs::write(secret.join("file"), "secret").expect("written");
    commit_all(&root, "base");
    fs::remove_dir_all(root.join("d")).expect("removed");
    symlink(&secret, root.join("d")).expect("a link");
    fs::remove_dir_all(root.join("e")).expect("removed");
    fs::write(root.join("e"), "a file").expect("written");
    symlink(secret.join("file"), root.join("new")).expect("a link");
    let changes = read(&root, None, Head::WorkTree).expect("changes");
    assert_eq!(
        statuses(&changes),
        [
            "d added",
            "d/file deleted",
            "e added",
            "e/file deleted",
            "new added"
        ]
    );
    let files = files(&changes);
    assert!(!files.to_string().contains("\"secret\""), "{files}");
    assert_eq!(
        (&files[0]["text"], &files[4]["kind"]),
        (&"".into(), &"link".into())
    );

    fs::remove_file(root.join("pipe")).expect("removed");
    let made = Command::new("mkfifo")
        .arg(root.join("pipe"))
        .status()
        .expect("run");
    assert!(made.success());
    let error = read(&root, None, Head::WorkTree).expect_err("a pipe");
    assert!(error.to_string().contains("is a FIFO"), "{error}");
    // One that no git knows of is no part of a change.
    fs::rename(root.join("pipe"), root.join("unknown")).expect("renamed");
    let changes = read(&root, None, Head::WorkTree).expect("changes");
    assert!(statuses(&changes).contains(&"pipe deleted".to_owned()));
    assert!(!statuses(&changes).contains(&"unknown added".to_owned()));
}

#[test]
fn what_is_unmerged_is_no_candidate() {
    let bench = repository();
    let root = bench.root();
    bench.file("file", "0");
    commit_all(&root, "base");
    git(&root, &["checkout", "--quiet", "-b", "side"]);
    bench.file("file", "1");
    commit_all(&root, "side");
    git(&root, &["checkout", "--quiet", "main"]);
    bench.file("file", "2");
    commit_all(&root, "main");
    let merged = Command::new("git")
        .arg("-C")
        .arg(&root)
        .args([
            "-c",
            "user.name=A",
            "-c",
            "user.email=a@b",
            "merge",
            "--quiet",
            "side",
        ])
        .stdout(Stdio::null())
        .status()
        .expect("run");
    assert!(!merged.success());
    let error = read(&root, None, Head::Index).expect_err("unmerged");
    assert!(
        error.to_string().contains("\"file\" is unmerged"),
        "{error}"
    );
    let changes = read(&root, None, Head::WorkTree).expect("changes");
    let text = files(&changes)[0]["text"].to_string();
    assert!(text.contains("<<<<<<<"), "{text}");
}

#[test]
fn an_object_that_is_not_there_is_an_error() {
    let bench = repository();
    let root = bench.root();
    bench.file("file", "before");
    commit_all(&root, "base");
    let blob = git(&root, &["rev-parse", "main:file"]);
    bench.file("file", "after");
    commit_all(&root, "next");
    fs::remove_file(root.join(".git/objects").join(&blob[..2]).join(&blob[2..])).expect("removed");
    for head in HEADS {
        let error = read(&root, Some("main~1"), head);
        // Disk and index are compared with the merge base, which is the same.
        let error = error.expect_err("a hole");
        assert!(error.to_string().contains(&blob), "{error}");
    }
    let tree = git(&root, &["rev-parse", "main~1^{tree}"]);
    fs::remove_file(root.join(".git/objects").join(&tree[..2]).join(&tree[2..])).expect("removed");
    for head in HEADS {
        assert!(read(&root, Some("main~1"), head).is_err(), "{head:?}");
    }
}

#[test]
fn nothing_that_the_configuration_names_is_run_or_believed() {
    let bench = repository();
    let root = bench.root();
    bench
        .file("file", "x\n")
        .file("moved", "one\ntwo\nthree\n")
        .file("module/file", "x\n")
        .file(
            ".gitattributes",
            "* filter=bad diff=bad textconv=bad merge=bad\n",
        );
    commit_all(&root, "base");
    let proof = bench.outside("was-run");
    let script = format!("#!/bin/sh\ntouch '{}'\nexit 1\n", proof.display());
    let bad = bench.outside("bad");
    fs::write(&bad, script).expect("written");
    fs::set_permissions(&bad, fs::Permissions::from_mode(0o755)).expect("set");
    let hooks = bench.outside("hooks");
    fs::create_dir(&hooks).expect("made");
    fs::copy(&bad, hooks.join("post-index-change")).expect("copied");
    fs::copy(&bad, root.join(".git/hooks/post-index-change")).expect("copied");
    // A nested repository has a configuration of its own.
    let nested = root.join("nested");
    fs::create_dir(&nested).expect("made");
    git(&nested, &["init", "--quiet"]);
    fs::write(nested.join("file"), "x").expect("written");
    commit_all(&nested, "nested");
    bench
        .file("file", "y\n")
        .file("new/moved", "one\ntwo\nthree\nfour\n");
    fs::remove_file(root.join("moved")).expect("removed");
    git(&root, &["add", "file", "new/moved"]);
    // The same size and, most likely, the same time as the index.
    bench.file("file", "z\n");
    let bad = bad.to_str().expect("a path");
    let alias = format!("!{bad}");
    for (key, value) in [
        ("core.fsmonitor", bad),
        ("core.hooksPath", hooks.to_str().expect("a path")),
        ("core.pager", bad),
        ("core.editor", bad),
        ("core.sshCommand", bad),
        ("diff.external", bad),
        ("diff.bad.textconv", bad),
        ("diff.bad.command", bad),
        ("filter.bad.clean", bad),
        ("filter.bad.smudge", bad),
        ("filter.bad.process", bad),
        ("filter.bad.required", "true"),
        ("alias.diff-tree", &alias),
        ("alias.diff-index", &alias),
        ("alias.ls-files", &alias),
        ("alias.ls-tree", &alias),
        ("alias.merge-base", &alias),
        ("diff.ignoreSubmodules", "all"),
        ("diff.renames", "copies"),
        ("diff.orderFile", "/dev/zero"),
        ("diff.noprefix", "true"),
        ("diff.relative", "true"),
        ("core.quotePath", "true"),
        ("core.abbrev", "4"),
        ("core.worktree", "/"),
        ("status.showUntrackedFiles", "no"),
        ("core.untrackedCache", "true"),
    ] {
        for repository in [&root, &nested] {
            let config = repository.join(".git/config");
            git(
                repository,
                &["config", "-f", config.to_str().expect("a path"), key, value],
            );
        }
    }
    let _ = fs::remove_file(&proof);
    let disk = read(&root, None, Head::WorkTree).expect("changes");
    let expected = ["file modified", "nested added", "new/moved renamed"];
    assert_eq!(statuses(&disk), expected);
    let index = read(&root, None, Head::Index).expect("changes");
    assert_eq!(statuses(&index), ["file modified", "new/moved added"]);
    assert_eq!(files(&index)[0]["text"], "y\n");
    let tree = git_tree(&root);
    let commit = read(&root, Some("main"), Head::Commit(&tree)).expect("changes");
    assert_eq!(statuses(&commit), ["file modified", "new/moved added"]);
    assert!(!proof.exists());
}

/// A commit of the index, made without the configuration.
fn git_tree(root: &std::path::Path) -> String {
    let plain = [
        "-c",
        "core.fsmonitor=false",
        "-c",
        "core.hooksPath=/dev/null",
    ];
    let run = |args: &[&str]| git(root, &[&plain[..], args].concat());
    let tree = run(&["write-tree"]);
    run(&["commit-tree", "-p", "main", "-m", "next", &tree])
}
