//! Commits read from the object database give what a checkout of them gives.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use probity::files::{Content, Flow, Kind, Limits, Node, Reader, Reading, Root, Tree, WalkError};
use probity::git::{CommitFiles, CommitTree, GitError, Repository};

use crate::bin::{Bench, claim};

/// Runs `git` in a directory as a person of its own.
pub(crate) fn git(dir: &Path, args: &[&str]) -> String {
    let output = Command::new("git")
        .arg("-C")
        .arg(dir)
        .args([
            "-c",
            "user.name=A",
            "-c",
            "user.email=a@b",
            "-c",
            "commit.gpgsign=false",
        ])
        .args([
            "-c",
            "init.defaultBranch=main",
            "-c",
            "protocol.file.allow=always",
        ])
        .args(args)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_AUTHOR_DATE", "1700000000 +0000")
        .env("GIT_COMMITTER_DATE", "1700000000 +0000")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "git {args:?}: {said}");
    String::from_utf8(output.stdout).unwrap().trim().into()
}

pub(crate) fn commit_all(dir: &Path, message: &str) -> String {
    git(dir, &["add", "--all", "--force"]);
    git(dir, &["commit", "--quiet", "--allow-empty", "-m", message]);
    git(dir, &["rev-parse", "HEAD"])
}

pub(crate) fn tree_at(root: &Path, revision: &str) -> CommitTree {
    let repository = Arc::new(Repository::open(root).unwrap());
    let commit = repository.resolve(revision).unwrap();
    CommitTree::new(CommitFiles::new(repository, &commit).unwrap())
}

const READING: Reading = Reading {
    limits: Limits {
        max_file_bytes: 1 << 20,
        max_line_bytes: 1000,
        max_text_bytes: 1 << 20,
        max_count_work: 0,
    },
    skip_binary: true,
    as_one: 0,
};

/// What reading a file comes to: its size, its text and its content.
pub(crate) type Text = (u64, Vec<u8>, Result<Content, String>);

fn text(file: &dyn probity::files::File) -> Text {
    let mut text = Vec::new();
    let read = file.read(&mut Reader::default(), &READING, &mut |block| {
        text.extend_from_slice(block.bytes);
        Flow::More
    });
    (
        read.size,
        text,
        read.content.map_err(|error| error.to_string()),
    )
}

pub(crate) type Walked = Vec<Result<(Box<str>, Option<Text>), WalkError>>;

pub(crate) fn walked(tree: &dyn Tree, location: &[u8]) -> Walked {
    let entries = tree.walk(location);
    let entry = |entry: Result<probity::files::Entry, WalkError>| {
        entry.map(|entry| (entry.display_path(), entry.file.map(|file| text(&*file))))
    };
    entries.map(entry).collect()
}

pub(crate) fn found(tree: &dyn Tree, path: &str) -> Result<Result<Text, Walked>, String> {
    match tree.find(path) {
        Ok(Node::File(file)) => Ok(Ok(text(&*file))),
        Ok(Node::Directory(location)) => Ok(Err(walked(tree, &location))),
        Err(error) => Err(error.to_string()),
    }
}

/// A repository with everything that a tree can hold.
pub(crate) fn everything(root: &Path) {
    git(root, &["init", "--quiet"]);
    let write = |path: &str, text: &[u8]| {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write("a/b/c.rs", b"fn c() {}\n");
    // git sorts directories as if their names ended in a slash.
    write("a.b", b"dot");
    write("a0", b"zero");
    write("a/b.rs", b"");
    write("a/b0", b"x\r\n");
    write("empty", b"");
    write("binary", b"\0\x01");
    write("long", &[b'x'; 2000]);
    write("large", "line\n".repeat(300_000).as_bytes());
    write(".gitignore", b"*.log\nbuild/\n!keep.log\n");
    write("a/.gitignore", b"b0\n");
    write("x.log", b"ignored");
    write("keep.log", b"kept");
    write("build/out", b"ignored");
    write("odd \"name\"\n\t", b"odd");
    write("d/e/f/g/h/i", b"deep");
    for (target, link) in [
        ("a/b", "to-directory"),
        ("a/b/c.rs", "to-file"),
        ("a/b/", "to-slash"),
        ("../outside", "out"),
        ("/etc/passwd", "absolute"),
        ("loop", "loop"),
        ("nothing", "dangling"),
        ("to-directory/../b/c.rs", "through"),
        ("../a/b", "d/up"),
        ("../../..", "d/e/outside"),
    ] {
        symlink(target, root.join(link)).unwrap();
    }
    fs::set_permissions(root.join("a0"), fs::Permissions::from_mode(0o755)).unwrap();
}

pub(crate) const PATHS: &[&str] = &[
    ".",
    "a",
    "a/",
    "a/b",
    "a/b/c.rs",
    "a/b/c.rs/",
    "a/b/c.rs/x",
    "a/../a0",
    "..",
    "../x",
    "a/../..",
    "/a",
    "",
    "empty",
    "binary",
    "long",
    "large",
    "x.log",
    "keep.log",
    "build",
    "build/out",
    "a/b0",
    "to-directory",
    "to-directory/c.rs",
    "to-file",
    "to-file/",
    "to-slash",
    "to-slash/c.rs",
    "out",
    "out/x",
    "absolute",
    "loop",
    "loop/x",
    "dangling",
    "through",
    "d/up",
    "d/up/c.rs",
    "d/e/outside",
    "nothing",
    "a//b",
    "./a/./b",
    "odd \"name\"\n\t",
    "a\0b",
    "d/e/f/g/h/i",
    "d/e/../../a0",
];

#[test]
fn a_commit_is_the_tree_that_its_checkout_is() {
    let bench = Bench::new();
    let root = bench.root();
    everything(&root);
    let id = commit_all(&root, "everything");
    let disk = Root::open(&root).unwrap();
    for revision in ["HEAD", "main", &id[..8], "HEAD^{tree}^{}", "@"] {
        if revision.contains("tree") {
            let repository = Repository::open(&root).unwrap();
            assert!(matches!(
                repository.resolve(revision),
                Err(GitError::NoCommit(_))
            ));
            continue;
        }
        let tree = tree_at(&root, revision);
        let all = walked(&tree, b"");
        assert!(all.len() > 15, "{all:?}");
        assert_eq!(all, walked(&disk, b""));
    }
    let tree = tree_at(&root, "HEAD");
    for path in PATHS {
        assert_eq!(found(&tree, path), found(&disk, path), "{path:?}");
        assert_eq!(tree.kind(path), disk.kind(path), "{path:?}");
    }
    let long = ["x".repeat(300), "x/".repeat(3000)];
    for path in &long {
        assert_eq!(found(&tree, path), found(&disk, path));
    }
    // What is on disk since then plays no part.
    fs::remove_dir_all(root.join("a")).unwrap();
    assert_eq!(tree_at(&root, "HEAD").kind("a/b/c.rs"), Ok(Kind::File));
}

#[test]
fn a_workspace_below_the_top_of_the_repository_has_its_part_of_each_commit() {
    let bench = Bench::new();
    let root = bench.root();
    git(&root, &["init", "--quiet"]);
    bench.file("other", "x");
    commit_all(&root, "no service yet");
    bench.file("services/a b/file", "inside");
    symlink("../../other", root.join("services/a b/out")).unwrap();
    commit_all(&root, "a service");
    let service = root.join("services/a b");
    let tree = tree_at(&service, "HEAD");
    assert_eq!(tree.kind("file"), Ok(Kind::File));
    assert_eq!(
        found(&tree, "out"),
        found(&Root::open(&service).unwrap(), "out")
    );
    assert!(found(&tree, "out").unwrap_err().contains("outside"));
    let before = tree_at(&service, "HEAD^");
    assert!(walked(&before, b"").is_empty());
    assert!(before.kind("file").is_err());
}

#[test]
fn submodules_are_empty_directories() {
    let bench = Bench::new();
    let (root, other) = (bench.root(), bench.outside("other"));
    fs::create_dir(&other).unwrap();
    git(&other, &["init", "--quiet"]);
    fs::write(other.join("inside"), "x").unwrap();
    commit_all(&other, "other");
    git(&root, &["init", "--quiet"]);
    let other = other.to_str().unwrap();
    git(&root, &["submodule", "--quiet", "add", other, "module"]);
    commit_all(&root, "with a module");
    let tree = tree_at(&root, "HEAD");
    assert_eq!(tree.kind("module"), Ok(Kind::Directory));
    assert!(tree.kind("module/inside").is_err());
    assert!(walked(&tree, b"module").is_empty());
}

#[test]
fn revisions_are_never_options_and_unknown_ones_are_errors() {
    let bench = Bench::new();
    let root = bench.root();
    git(&root, &["init", "--quiet"]);
    commit_all(&root, "one");
    let repository = Repository::open(&root).unwrap();
    let target = bench.outside("written");
    let output = format!("--output={}", target.display());
    for unknown in [
        "nothing",
        "",
        "-h",
        "--all",
        &output,
        "HEAD..HEAD",
        "HEAD\nHEAD",
        "HEAD~1",
    ] {
        let resolved = repository.resolve(unknown);
        assert!(
            matches!(resolved, Err(GitError::NoCommit(_))),
            "{unknown:?} {resolved:?}"
        );
    }
    for bad in ["", "..", "HEAD...HEAD", "x..HEAD", "--all"] {
        assert!(repository.range(bad).is_err(), "{bad:?}");
    }
    assert!(!target.exists());
    let nowhere = Repository::open(&bench.outside("."));
    assert!(matches!(nowhere, Err(GitError::NoRepository(_))));
}

#[test]
fn ranges_follow_first_parents_from_the_oldest() {
    let bench = Bench::new();
    let root = bench.root();
    git(&root, &["init", "--quiet"]);
    let main: Vec<String> = (0..3)
        .map(|n| commit_all(&root, &format!("main {n}")))
        .collect();
    git(&root, &["checkout", "--quiet", "-b", "side", "HEAD~1"]);
    commit_all(&root, "side");
    git(&root, &["checkout", "--quiet", "main"]);
    git(
        &root,
        &["merge", "--quiet", "--no-ff", "-m", "merge", "side"],
    );
    let merge = git(&root, &["rev-parse", "HEAD"]);
    let repository = Repository::open(&root).unwrap();
    let ids = |range: &str| {
        let (base, commits) = repository.range(range).unwrap();
        let ids: Vec<String> = commits.iter().map(|commit| commit.id.to_string()).collect();
        (base.map(|base| base.subject), ids)
    };
    let all = [&main[..], std::slice::from_ref(&merge)].concat();
    assert_eq!(ids("HEAD"), (None, all.clone()));
    assert_eq!(
        ids(&format!("{}..", main[0])),
        (Some("main 0".into()), all[1..].to_vec())
    );
    assert_eq!(ids("side..main").1, [main[2].clone(), merge.clone()]);
    assert_eq!(ids("main..main").1, [""; 0]);
}

#[test]
fn nothing_that_a_repository_or_workspace_names_is_run() {
    let bench = Bench::new();
    let root = bench.root();
    git(&root, &["init", "--quiet"]);
    bench
        .file("file", "x\n")
        .file(".gitattributes", "* filter=bad diff=bad textconv=bad\n");
    commit_all(&root, "one");
    let proof = bench.outside("was-run");
    let script = format!("#!/bin/sh\ntouch '{}'\nexit 1\n", proof.display());
    for path in ["git", "hooks/post-checkout", "bin/git", "bad"] {
        bench.file(path, &script);
        let path = root.join(path);
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let bad = root.join("bad").display().to_string();
    for (key, value) in [
        ("core.fsmonitor", bad.as_str()),
        ("core.hooksPath", "hooks"),
        ("core.pager", &bad),
        ("core.sshCommand", &bad),
        ("filter.bad.smudge", &bad),
        ("diff.bad.textconv", &bad),
        ("diff.bad.command", &bad),
        ("alias.cat-file", &format!("!{bad}")),
        ("alias.rev-parse", &format!("!{bad}")),
        ("alias.rev-list", &format!("!{bad}")),
    ] {
        git(&root, &["config", key, value]);
    }
    let _ = fs::remove_file(&proof);
    let path = format!(
        ".:{}:{}:{}",
        root.display(),
        root.join("bin").display(),
        std::env::var("PATH").unwrap()
    );
    let run = bench
        .command(&["eval", "--at", "HEAD", r#"grep(/x/, "file") == 1"#])
        .env("PATH", path)
        .current_dir(&root)
        .output()
        .unwrap();
    assert!(
        run.status.success(),
        "{}",
        String::from_utf8_lossy(&run.stderr)
    );
    assert!(!proof.exists());
}

#[test]
fn an_object_that_is_not_there_is_no_pass() {
    let bench = Bench::new();
    let root = bench.root();
    git(&root, &["init", "--quiet"]);
    bench.file("d/gone", "lost\n").file("d/kept", "kept\n");
    commit_all(&root, "one");
    let blob = git(&root, &["rev-parse", "HEAD:d/gone"]);
    fs::remove_file(root.join(".git/objects").join(&blob[..2]).join(&blob[2..])).unwrap();
    for (predicate, status) in [
        (r#"grep(/lost/, "d/gone") == 0"#, 3),
        (r#"grep(/lost/, "d") == 0"#, 3),
        (r#"grep(/kept/, "d/kept") == 1"#, 0),
        (r#"exists("d/gone")"#, 0),
    ] {
        let run = bench.run(&["eval", "--at", "HEAD", predicate]);
        assert_eq!(run.status, status, "{predicate}: {}", run.stdout);
        if status == 3 {
            assert!(
                run.stdout.contains(&blob) && run.stdout.contains("read_error"),
                "{}",
                run.stdout
            );
        }
    }
    let tree = git(&root, &["rev-parse", "HEAD:d"]);
    fs::remove_file(root.join(".git/objects").join(&tree[..2]).join(&tree[2..])).unwrap();
    for predicate in [
        r#"exists("d/gone")"#,
        r#"!exists("d/gone")"#,
        r#"grep(/x/, ".") == 0"#,
    ] {
        assert_eq!(
            bench.run(&["eval", "--at", "HEAD", predicate]).status,
            3,
            "{predicate}"
        );
    }
}

#[test]
fn commands_and_tests_at_a_commit_need_a_checkout() {
    let bench = Bench::new();
    let root = bench.root();
    git(&root, &["init", "--quiet"]);
    commit_all(&root, "one");
    for predicate in [r#"run("true").exit == 0"#, r#"test("a").passed"#] {
        let run = bench.run(&["eval", "--at", "HEAD", predicate]);
        assert_eq!(run.status, 3);
        assert!(run.stdout.contains("needs_checkout"), "{}", run.stdout);
    }
    let run = bench.run(&["eval", "--at", "nothing", r#"exists("a")"#]);
    assert_eq!(run.status, 2);
    assert!(run.stderr.contains("names no commit"), "{}", run.stderr);
}

#[test]
fn each_distinct_blob_is_scanned_once_ever() {
    let bench = Bench::new();
    let root = bench.root();
    git(&root, &["init", "--quiet"]);
    for n in 0..20 {
        bench.file(&format!("d/{n}"), format!("text {n}\n"));
    }
    bench.file("copy", "text 3\n");
    commit_all(&root, "one");
    bench.file("d/5", "changed\n").file("new", "text 19\n");
    commit_all(&root, "two");
    let cache = bench.outside("counts");
    let log = bench.log("log", claim(r#"grep(/text/, ".") != 99"#));
    let read = |revision: &str| {
        let options = ["--at", revision, "--cache-dir", cache.to_str().unwrap()];
        let (_, summary, status) = bench.check(&log, &options);
        assert_eq!(status, 0);
        let scan = &summary["scan"];
        let files = |key: &str| scan[key]["files"].as_u64().unwrap();
        (files("read"), files("known"))
    };
    // The copy is looked up before the original was scanned.
    assert_eq!(read("HEAD^"), (21, 0));
    assert_eq!(read("HEAD^"), (0, 21));
    assert_eq!(read("HEAD"), (1, 21));
    assert_eq!(read("main"), (0, 22));
}
