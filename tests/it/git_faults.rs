//! Commits of repositories that are damaged, incomplete, hostile or just unusual.

use std::fs;
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, chown, symlink};
use std::path::Path;
use std::process::{Command, Stdio};

use probity::files::{Kind, Root, Tree as _};
use probity::git::{GitError, Oid, Repository};

use crate::bin::{Bench, claim};
use crate::git::{commit_all, git, tree_at, walked};

/// Makes a repository with so many commits of one file.
fn numbered(root: &Path, commits: usize) -> Vec<String> {
    git(root, &["init", "--quiet"]);
    let commit = |number: usize| {
        fs::write(root.join("file"), format!("text {number}\n")).unwrap();
        commit_all(root, &format!("commit {number}"))
    };
    (0..commits).map(commit).collect()
}

/// Writes a program that leaves a proof of having been run.
fn program(path: &Path, proof: &Path) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let script = format!("#!/bin/sh\ntouch '{}'\nexit 1\n", proof.display());
    fs::write(path, script).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

fn object(root: &Path, id: &str) -> std::path::PathBuf {
    root.join(".git/objects").join(&id[..2]).join(&id[2..])
}

#[test]
fn a_directory_that_looks_like_a_repository_is_not_judged_in_its_place() {
    let bench = Bench::new();
    let (root, evil) = (bench.root(), bench.outside("evil"));
    git(&root, &["init", "--quiet"]);
    bench.file("service/file", "good\n");
    fs::create_dir(&evil).unwrap();
    git(&evil, &["init", "--quiet"]);
    fs::write(evil.join("file"), "evil\n").unwrap();
    commit_all(&evil, "evil");
    let service = root.join("service");
    git(&evil, &["clone", "--quiet", "--bare", ".", "../bare"]);
    let bare = bench.outside("bare");
    let parts = ["HEAD", "objects", "refs", "config"].map(|name| bare.join(name));
    let mut copy = Command::new("cp");
    let copied = copy.arg("-r").arg("-t").arg(&service).args(parts).status();
    assert!(copied.unwrap().success());
    commit_all(&root, "one");
    let opened = Repository::open(&service);
    assert!(matches!(opened, Err(GitError::Embedded(_))), "{opened:?}");
    for predicate in [
        r#"grep(/evil/, "file") == 1"#,
        r#"grep(/good/, "file") == 1"#,
    ] {
        let root = service.to_str().unwrap();
        let run = bench.run_bare(&["eval", "--root", root, "--at", "HEAD", predicate]);
        assert_eq!(run.status, 2, "{}", run.stdout);
        assert!(
            run.stderr.contains("work tree of another"),
            "{}",
            run.stderr
        );
    }
    // Above it, and for what it is where it is alone, all is clear.
    assert_eq!(tree_at(&root, "HEAD").kind("service/file"), Ok(Kind::File));
    assert_eq!(tree_at(&bare, "HEAD").kind("file"), Ok(Kind::File));
}

#[test]
fn a_git_anywhere_in_the_work_tree_is_not_run() {
    let bench = Bench::new();
    let (root, proof) = (bench.root(), bench.outside("was-run"));
    bench.file("service/file", "x\n");
    program(&root.join("tools/git"), &proof);
    symlink(root.join("tools"), bench.outside("linked")).unwrap();
    let near = bench.outside("near");
    fs::create_dir(&near).unwrap();
    symlink(root.join("tools/git"), near.join("git")).unwrap();
    git(&root, &["init", "--quiet"]);
    commit_all(&root, "one");
    let (tools, linked) = (root.join("tools"), bench.outside("linked"));
    for directory in [
        &tools,
        &linked,
        &near,
        Path::new("."),
        Path::new("tools"),
        Path::new(""),
    ] {
        let path = format!("{}:{}", directory.display(), std::env::var("PATH").unwrap());
        let mut command = bench.bare(&["eval", "--at", "HEAD", r#"exists("file")"#]);
        let run = command
            .args(["--root", "service"])
            .env("PATH", &path)
            .current_dir(&root)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&run.stderr);
        assert!(run.status.success(), "{path}: {said}");
        assert!(!proof.exists(), "{path}");
    }
    let mut alone = bench.command(&["eval", "--at", "HEAD", r#"exists("file")"#]);
    let run = alone.env("PATH", &tools).output().unwrap();
    assert_eq!(run.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&run.stderr).contains("no `git`"));
    assert!(!proof.exists());
}

#[test]
fn a_range_that_is_cut_off_is_an_error() {
    let bench = Bench::new();
    let (root, origin) = (bench.root(), bench.outside("origin"));
    fs::create_dir(&origin).unwrap();
    let ids = numbered(&origin, 5);
    let url = format!("file://{}", origin.display());
    git(&root, &["clone", "--quiet", "--depth", "3", &url, "."]);
    let repository = Repository::open(&root).unwrap();
    for range in ["HEAD", "main"] {
        let cut = repository.range(range);
        assert!(
            matches!(&cut, Err(GitError::Cut(id)) if id.to_string() == ids[2]),
            "{cut:?}"
        );
    }
    let (base, commits) = repository.range("HEAD~2..HEAD").unwrap();
    assert_eq!(base.unwrap().id.to_string(), ids[2]);
    assert_eq!(commits.len(), 2);
    assert!(repository.range("HEAD~3..HEAD").is_err());
    let log = bench.log("log", claim(r#"grep(/text/, "file") == 1"#));
    let run = bench.run(&["history", log.to_str().unwrap()]);
    assert_eq!(run.status, 2, "{}", run.stdout);
    assert!(run.stderr.contains("--unshallow"), "{}", run.stderr);
}

#[test]
fn other_parents_and_other_objects_are_not_taken() {
    let bench = Bench::new();
    let root = bench.root();
    let ids = numbered(&root, 4);
    let blob = |revision: &str| git(&root, &["rev-parse", &format!("{revision}:file")]);
    let (first, last) = (blob("HEAD~3"), blob("HEAD"));
    git(&root, &["replace", &last, &first]);
    fs::create_dir_all(root.join(".git/info")).unwrap();
    fs::write(
        root.join(".git/info/grafts"),
        format!("{} {}\n", ids[3], ids[0]),
    )
    .unwrap();
    let repository = Repository::open(&root).unwrap();
    assert_eq!(repository.range("HEAD").unwrap().1.len(), 4);
    let run = bench.run(&["eval", "--at", "HEAD", r#"grep(/text 3/, "file") == 1"#]);
    assert_eq!(run.status, 0, "{}", run.stdout);
}

#[test]
fn what_a_partial_clone_left_out_is_never_fetched() {
    let bench = Bench::new();
    let (root, origin) = (bench.root(), bench.outside("origin"));
    fs::create_dir(&origin).unwrap();
    numbered(&origin, 1);
    git(&origin, &["config", "uploadpack.allowFilter", "true"]);
    let url = format!("file://{}", origin.display());
    let clone = [
        "clone",
        "--quiet",
        "--no-checkout",
        "--filter=blob:none",
        &url,
        ".",
    ];
    git(&root, &clone);
    let proof = bench.outside("was-run");
    let bad = bench.outside("bad");
    program(&bad, &proof);
    git(
        &root,
        &["config", "remote.origin.uploadpack", bad.to_str().unwrap()],
    );
    for predicate in [
        r#"grep(/text/, "file") == 1"#,
        r#"grep(/absent/, ".") == 0"#,
    ] {
        let run = bench.run(&["eval", "--at", "HEAD", predicate]);
        assert_eq!(run.status, 3, "{}", run.stdout);
        assert!(
            run.stdout.contains("does not hold the blob"),
            "{}",
            run.stdout
        );
    }
    let run = bench.run(&["eval", "--at", "HEAD", r#"exists("file")"#]);
    assert_eq!(run.status, 0);
    assert!(!proof.exists());
}

#[test]
fn damaged_objects_are_no_pass() {
    let bench = Bench::new();
    let root = bench.root();
    numbered(&root, 1);
    let text = "0123456789abcdef\n".repeat(4000);
    bench.file("long", &text);
    commit_all(&root, "long");
    let file = object(&root, &git(&root, &["rev-parse", "HEAD:long"]));
    let sound = fs::read(&file).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    let broken = |at: usize| {
        let mut broken = sound.clone();
        broken[at] ^= 0x55;
        broken
    };
    let damages = [
        b"garbage".to_vec(),
        Vec::new(),
        sound[..sound.len() / 2].to_vec(),
        broken(sound.len() / 2),
        broken(sound.len() - 2),
    ];
    for damage in damages {
        fs::write(&file, &damage).unwrap();
        for predicate in [r#"grep(/zz/, "long") == 0"#, r#"grep(/zz/, ".") == 0"#] {
            let run = bench.run(&["eval", "--at", "HEAD", predicate]);
            assert_eq!(run.status, 3, "{} {}", damage.len(), run.stdout);
            assert!(run.stdout.contains("read_error"), "{}", run.stdout);
        }
        let run = bench.run(&["eval", "--at", "HEAD", r#"grep(/text/, "file") == 1"#]);
        assert_eq!(run.status, 0, "{}", run.stdout);
    }
}

#[test]
fn large_blobs_are_read_as_large_files_are() {
    let bench = Bench::new();
    let root = bench.root();
    git(&root, &["init", "--quiet"]);
    let mut state = 1_u64;
    let mut text = String::new();
    while text.len() < 13 << 20 {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        text += &format!("word {state:x}\n");
    }
    let lines = text.lines().count();
    let binary = format!("\0{text}");
    bench
        .file("d/text", &text)
        .file("d/binary", binary)
        .file("d/small", "word\n");
    commit_all(&root, "large");
    let sound = [
        format!(r#"grep(/^word/, "d/text") == {lines}"#),
        format!(r#"grep(/word/, "d") == {}"#, lines + 1),
        r#"grep(/word/, "d/text") > 3"#.into(),
        r#"grep(/\x00/, "d/binary") == 1"#.into(),
    ];
    for predicate in &sound {
        for more in [&[][..], &["--at", "HEAD"]] {
            let args = [&["eval", predicate.as_str()], more].concat();
            let run = bench.run(&args);
            assert_eq!(run.status, 0, "{args:?} {}", run.stdout);
        }
    }
    // Git hands out large objects before it knows whether they are sound.
    git(&root, &["config", "core.bigFileThreshold", "1m"]);
    let file = object(&root, &git(&root, &["rev-parse", "HEAD:d/text"]));
    let whole = fs::read(&file).unwrap();
    assert!(whole.len() > 4 << 20);
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    for (at, is_cut) in [
        (whole.len() / 2, true),
        (whole.len() - 2, true),
        (whole.len() - 2, false),
    ] {
        let mut damage = whole.clone();
        damage[at] ^= 0x55;
        if is_cut {
            damage.truncate(at);
        }
        fs::write(&file, damage).unwrap();
        for predicate in [
            r#"grep(/absent/, "d/text") == 0"#,
            r#"grep(/absent/, ".") == 0"#,
        ] {
            let run = bench.run(&["eval", "--at", "HEAD", predicate]);
            assert_eq!(run.status, 3, "{at} {is_cut} {}", run.stdout);
            assert!(run.stdout.contains("damaged"), "{}", run.stdout);
        }
    }
}

#[test]
fn trees_that_hold_themselves_many_times_over_are_no_pass() {
    let bench = Bench::new();
    let root = bench.root();
    git(&root, &["init", "--quiet"]);
    let tree = |lines: String| {
        let mut child = Command::new("git")
            .arg("-C")
            .arg(&root)
            .arg("mktree")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        child
            .stdin
            .take()
            .unwrap()
            .write_all(lines.as_bytes())
            .unwrap();
        let output = child.wait_with_output().unwrap();
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    let mut top = tree(String::new());
    for _ in 0..4 {
        top = tree(
            (0..50_000)
                .map(|n| format!("040000 tree {top}\td{n}\n"))
                .collect(),
        );
    }
    let commit = git(&root, &["commit-tree", "-m", "bomb", &top]);
    let run = bench.run(&["eval", "--at", &commit, r#"grep(/x/, ".") == 0"#]);
    assert_eq!(run.status, 3, "{}", run.stdout);
    assert!(run.stdout.contains("more than"), "{}", run.stdout);
}

#[test]
fn unusual_repositories_give_what_their_checkouts_give() {
    let bench = Bench::new();
    let write = |root: &Path| {
        for name in [
            &b"a"[..],
            b"a.b",
            b"a0",
            b"\xff\xfe",
            b"new\nline",
            b" ",
            b"-x",
        ] {
            let path = root.join(std::ffi::OsStr::from_bytes(name));
            fs::write(path, "text\n").unwrap();
        }
        let mut deep = root.to_path_buf();
        for _ in 0..300 {
            deep.push("d");
            fs::create_dir(&deep).unwrap();
            fs::write(deep.join("z"), "z").unwrap();
        }
    };
    let same = |root: &Path| {
        let on_disk = walked(&Root::open(root).unwrap(), b"");
        assert!(on_disk.len() > 200);
        assert_eq!(walked(&tree_at(root, "HEAD"), b""), on_disk);
    };
    for format in ["sha1", "sha256"] {
        let root = bench.outside(format);
        fs::create_dir(&root).unwrap();
        write(&root);
        git(&root, &["init", "--quiet", "--object-format", format]);
        let id = commit_all(&root, "one");
        same(&root);
        git(&root, &["gc", "--quiet"]);
        same(&root);
        assert_eq!(
            Repository::open(&root).unwrap().resolve(&id).unwrap().id,
            Oid::parse(&id).unwrap()
        );
    }
    let root = bench.outside("sha1");
    let linked = bench.outside("linked");
    git(
        &root,
        &["worktree", "add", "--quiet", linked.to_str().unwrap()],
    );
    assert!(linked.join(".git").is_file());
    same(&linked);
    let space = |root: &Path| Repository::open(root).unwrap().space();
    assert_eq!(space(&linked), space(&root));
    assert_ne!(space(&root), space(&bench.outside("sha256")));
    // Somebody else's, if we may give it away.
    if chown(root.join(".git"), Some(12345), None).is_ok() {
        same(&root);
    }
}

#[test]
fn a_thousand_commits_come_in_order() {
    let bench = Bench::new();
    let root = bench.root();
    git(&root, &["init", "--quiet"]);
    let mut import = String::new();
    for number in 0..1000 {
        import += &format!(
            "commit refs/heads/main\ncommitter A <a@b> {} +0000\ndata <<END\nnumber {number}\nEND\nM 644 inline file\ndata <<END\ntext {number}\nEND\n",
            // Clocks go wrong.
            1_700_000_000 - number % 7
        );
    }
    let mut child = Command::new("git")
        .arg("-C")
        .arg(&root)
        .args(["fast-import", "--quiet"])
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(import.as_bytes())
        .unwrap();
    assert!(child.wait().unwrap().success());
    let repository = Repository::open(&root).unwrap();
    let (base, commits) = repository.range("main").unwrap();
    assert!(base.is_none());
    assert_eq!(commits.len(), 1000);
    for (number, commit) in commits.iter().enumerate() {
        assert_eq!(*commit.subject, format!("number {number}"));
    }
    let (_, commits) = repository.range("main~10..main~3").unwrap();
    assert_eq!(commits.len(), 7);
}

#[test]
fn predicates_at_a_commit_come_to_what_they_come_to_on_its_checkout() {
    let bench = Bench::new();
    let root = bench.root();
    crate::git::everything(&root);
    commit_all(&root, "everything");
    let predicates = [
        r#"exists("**/*.rs")"#,
        r#"exists("**/c.rs")"#,
        r#"exists("*.log")"#,
        r#"exists("x.log")"#,
        r#"exists("build/**")"#,
        r#"exists("loop")"#,
        r#"exists("dangling")"#,
        r#"exists("out")"#,
        r#"exists("d/e/outside")"#,
        r#"exists("to-directory/c.rs")"#,
        r#"grep(/./, ".") > 0"#,
        r#"grep(/fn/, "**/*.rs") == 1"#,
        r#"grep(/kept|ignored/, ".") == 1"#,
        r#"grep(/fn/, "to-directory") == 1"#,
        r#"grep(/fn/, "to-file") == 1"#,
        r#"grep(/x/, "absolute") == 0"#,
        r#"grep(/x/, "loop") == 0"#,
        r#"grep(/line/, "large") == 300000"#,
        r#"grep(/x/, "empty") == 0"#,
        r#"grep(/\x01/, "binary") == 1"#,
    ];
    for predicate in predicates {
        let shown = |more: &[&str]| {
            let args = [
                &["eval", "--format", "json", "--no-timings", predicate],
                more,
            ]
            .concat();
            let run = bench.run(&args);
            let mut shown: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
            if let Some(shown) = shown.as_object_mut() {
                shown.remove("cost");
            }
            (run.status, shown.to_string())
        };
        assert_eq!(shown(&["--at", "HEAD"]), shown(&[]), "{predicate}");
    }
}
