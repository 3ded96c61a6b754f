//! Slices from git: what was changed since a base, as predicates see it.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use probity::flow::{
    ChangeLimits, Changes, ChangesError, Context, Head, HeadId, Prepared, Slice, Verdict, evaluate,
};
use probity::git::Repository;
use probity::harn::{Given, Limits, Module};
use serde_json::{Value as Json, json};

use crate::bin::Bench;
use crate::git::{commit_all, git};

pub(crate) fn read(
    root: &Path,
    base: Option<&str>,
    head: Head<'_>,
) -> Result<Changes, ChangesError> {
    let repository = Repository::open(root)?;
    Changes::read(&repository, base, head, &ChangeLimits::default())
}

pub(crate) fn changes(root: &Path, base: Option<&str>, head: Head<'_>) -> Changes {
    read(root, base, head).expect("changes")
}

/// The files of a slice.
pub(crate) fn files(changes: &Changes) -> Json {
    changes.slice().to_json()["files"].clone()
}

/// `path status`, one a line.
pub(crate) fn statuses(changes: &Changes) -> Vec<String> {
    let files = changes.files().iter();
    files
        .map(|file| format!("{} {}", file.path, file.status.name()))
        .collect()
}

pub(crate) fn repository() -> Bench {
    let bench = Bench::new();
    git(&bench.root(), &["init", "--quiet"]);
    bench
}

pub(crate) fn lines(from: usize, to: usize) -> String {
    (from..to)
        .map(|number| format!("line {number}\n"))
        .collect()
}

/// A base and a change of every kind, on disk.
pub(crate) fn everything(bench: &Bench) {
    let root = bench.root();
    bench
        .file("kept", "kept\n")
        .file("modified", "before\n")
        .file("deleted", "gone\n")
        .file("old/moved", lines(0, 20))
        .file("old/edited", lines(100, 120))
        .file("mode", "#!/bin/sh\n")
        .file("becomes-link", "text\n")
        .file("empty", "");
    symlink("kept", root.join("link")).expect("a link");
    fs::write(root.join("binary"), b"\xff\0").expect("written");
    commit_all(&root, "base");
    bench
        .file("modified", "after\n")
        .file("added", "new\n")
        .file("new/moved", lines(0, 20))
        .file("new/edited2", lines(100, 119));
    for gone in [
        "deleted",
        "old/moved",
        "old/edited",
        "becomes-link",
        "link",
        "empty",
    ] {
        fs::remove_file(root.join(gone)).expect("removed");
    }
    symlink("modified", root.join("link")).expect("a link");
    symlink("kept", root.join("becomes-link")).expect("a link");
    fs::write(root.join("binary"), b"\xff\0\x01").expect("written");
    fs::set_permissions(root.join("mode"), fs::Permissions::from_mode(0o755)).expect("set");
}

fn everything_changed() -> Json {
    json!([
        {"path": "added", "text": "new\n", "status": "added", "kind": "file"},
        {"path": "becomes-link", "text": "", "status": "typechange", "kind": "link", "target": "kept"},
        {"path": "binary", "text": "", "status": "modified", "kind": "file", "binary": true},
        {"path": "deleted", "text": "", "status": "deleted", "kind": "file", "deleted": true},
        {"path": "empty", "text": "", "status": "deleted", "kind": "file", "deleted": true},
        {"path": "link", "text": "", "status": "modified", "kind": "link", "target": "modified"},
        {"path": "mode", "text": "#!/bin/sh\n", "status": "modified", "kind": "executable"},
        {"path": "modified", "text": "after\n", "status": "modified", "kind": "file"},
        {
            "path": "new/edited2", "text": lines(100, 119), "status": "renamed", "kind": "file",
            "renamed_from": "old/edited",
        },
        {
            "path": "new/moved", "text": lines(0, 20), "status": "renamed", "kind": "file",
            "renamed_from": "old/moved",
        },
    ])
}

#[test]
fn each_kind_of_change_is_told_the_same_of_disk_index_and_commit() {
    let bench = repository();
    let root = bench.root();
    everything(&bench);
    let disk = changes(&root, None, Head::WorkTree);
    assert_eq!(files(&disk), everything_changed());
    git(&root, &["add", "--all"]);
    let index = changes(&root, None, Head::Index);
    assert_eq!(files(&index), everything_changed());
    assert_eq!(changes(&root, Some("HEAD"), Head::WorkTree), disk);
    let base = git(&root, &["rev-parse", "HEAD"]);
    let head = commit_all(&root, "change");
    let commit = changes(&root, Some("HEAD~1"), Head::Commit("main"));
    assert_eq!(files(&commit), everything_changed());
    for changes in [&disk, &index, &commit] {
        assert_eq!(changes.base().map(|id| id.to_string()), Some(base.clone()));
        let touched = changes.touched_directories().expect("directories");
        assert_eq!(touched, [".".into(), "new".into(), "old".into()]);
        assert_eq!(
            changes.repo_at_base(),
            json!({
                "files": {
                    "becomes-link": "text\n", "deleted": "gone\n", "empty": "",
                    "mode": "#!/bin/sh\n", "modified": "before\n",
                    "old/edited": lines(100, 120), "old/moved": lines(0, 20),
                },
                "unread": ["binary", "link"],
            })
        );
        let unread: Vec<&str> = changes.unread().map(|file| &*file.path).collect();
        assert_eq!(unread, ["becomes-link", "binary", "link"]);
    }
    assert_eq!(commit.head().to_string(), head);
    assert_eq!(disk.head(), index.head());
    assert!(matches!(disk.head(), HeadId::Content(_)));
    assert_eq!(statuses(&changes(&root, None, Head::WorkTree)), [""; 0]);
    let json = commit.slice().to_json();
    let again = Slice::from_json(&json).expect("a slice");
    assert_eq!(again.to_json(), json);
}

#[test]
fn predicates_judge_what_changed_by_what_was_there() {
    let bench = repository();
    bench.file("a.rs", "one()\ntwo()\n").file("b.rs", "x");
    commit_all(&bench.root(), "base");
    bench
        .file("a.rs", "one()\n")
        .file("b.rs", "xx")
        .file("c.rs", "");
    let changes = changes(&bench.root(), None, Head::WorkTree);
    let source = r#"
@invariant
@deterministic
fn nothing_shrinks(slice, _ctx, repo_at_base) {
  for file in slice.files {
    let before = repo_at_base.files[file.path] ?? ""
    if len(file.text) < len(before) {
      return flow_invariant_block("shrinks", file.path)
    }
  }
  return flow_invariant_allow()
}
"#;
    let module = Module::compile(source).expect("a module");
    let [predicate] = module.predicates() else {
        panic!("one predicate");
    };
    let slice = changes.slice();
    let base = Given::new(&changes.repo_at_base());
    let context = Context {
        base: Some(&base),
        ..Context::default()
    };
    let judged = evaluate(
        &module,
        predicate,
        &Prepared::new(&slice),
        &context,
        &Limits::default(),
    );
    let Verdict::Block { error } = judged.result.verdict else {
        panic!("{judged:?}");
    };
    assert!(error.message.contains("a.rs"), "{}", error.message);
}

#[test]
fn the_index_the_files_and_what_is_ignored_are_told_apart() {
    let bench = repository();
    let root = bench.root();
    bench
        .file("a", "0")
        .file("b", "0")
        .file("untracked-later", "0")
        .file(".gitignore", "*.log\n");
    commit_all(&root, "base");
    bench.file("a", "1");
    git(&root, &["add", "a"]);
    bench
        .file("a", "22")
        .file("b", "1")
        .file("new", "n")
        .file("x.log", "l");
    git(&root, &["rm", "--quiet", "--cached", "untracked-later"]);
    bench.file("untracked-later", "1").file("intended", "i");
    git(&root, &["add", "--intent-to-add", "intended"]);
    let index = changes(&root, None, Head::Index);
    assert_eq!(statuses(&index), ["a modified", "untracked-later deleted"]);
    assert_eq!(files(&index)[0]["text"], "1");
    let disk = changes(&root, None, Head::WorkTree);
    let expected = [
        "a modified",
        "b modified",
        "intended added",
        "new added",
        "untracked-later modified",
    ];
    assert_eq!(statuses(&disk), expected);
    assert_eq!(files(&disk)[0]["text"], "22");
    // Times and sizes that stay the same hide nothing, and neither does a flag.
    git(&root, &["add", "--all"]);
    git(&root, &["commit", "--quiet", "-m", "all"]);
    let times = fs::metadata(root.join("a"))
        .expect("there")
        .modified()
        .expect("a time");
    git(&root, &["update-index", "--assume-unchanged", "a"]);
    bench.file("a", "33");
    let file = fs::File::options()
        .write(true)
        .open(root.join("a"))
        .expect("open");
    file.set_modified(times).expect("set");
    assert_eq!(
        statuses(&changes(&root, None, Head::WorkTree)),
        ["a modified"]
    );
}

/// Tells this test, run again as a hook would run it, where the repository is.
const HOOK_ROOT: &str = "PROBITY_TEST_HOOK_ROOT";

#[test]
fn a_hook_is_told_of_the_index_that_is_committed() {
    if let Some(root) = std::env::var_os(HOOK_ROOT) {
        let index = changes(Path::new(&root), None, Head::Index);
        assert_eq!(statuses(&index), ["b modified"]);
        return;
    }
    let bench = repository();
    let root = bench.root();
    bench.file("a", "0").file("b", "0");
    commit_all(&root, "base");
    // `git commit b` leaves `a` in the index and out of the commit.
    bench.file("a", "1").file("b", "1");
    git(&root, &["add", "a"]);
    let hook = root.join(".git/hooks/pre-commit");
    let test = std::env::current_exe().expect("a test");
    let script = format!(
        "#!/bin/sh\nexec '{}' --exact changes::a_hook_is_told_of_the_index_that_is_committed\n",
        test.display()
    );
    fs::write(&hook, script).expect("written");
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).expect("set");
    let commit = |args: &[&str]| {
        let mut command = std::process::Command::new("git");
        command
            .arg("-C")
            .arg(&root)
            .args(["-c", "user.name=A", "-c", "user.email=a@b"]);
        command
            .arg("commit")
            .args(args)
            .args(["-m", "next"])
            .env(HOOK_ROOT, &root);
        command.output().expect("run").status.success()
    };
    assert!(!commit(&[]));
    assert!(commit(&["b"]));
}

#[test]
fn a_branch_is_judged_from_where_it_began() {
    let bench = repository();
    let root = bench.root();
    bench.file("both", "0");
    let start = commit_all(&root, "start");
    git(&root, &["checkout", "--quiet", "-b", "feature"]);
    bench.file("ours", "x");
    commit_all(&root, "ours");
    git(&root, &["checkout", "--quiet", "main"]);
    bench.file("theirs", "x").file("both", "1");
    commit_all(&root, "theirs");
    let feature = changes(&root, Some("main"), Head::Commit("feature"));
    assert_eq!(statuses(&feature), ["ours added"]);
    assert_eq!(feature.base().expect("a base").to_string(), start);
    git(&root, &["checkout", "--quiet", "feature"]);
    bench.file("more", "x");
    let disk = changes(&root, Some("main"), Head::WorkTree);
    assert_eq!(statuses(&disk), ["more added", "ours added"]);
    git(&root, &["checkout", "--quiet", "--orphan", "apart"]);
    bench.file("own", "x");
    commit_all(&root, "apart");
    for head in [Head::Commit("apart"), Head::Index, Head::WorkTree] {
        let none = read(&root, Some("main"), head).expect_err("no base");
        assert!(none.to_string().contains("share no commit"), "{none}");
    }
}

#[test]
fn the_first_commit_is_judged_from_nothing() {
    let bench = repository();
    let root = bench.root();
    bench.file("staged", "x").file("not", "x");
    git(&root, &["add", "staged"]);
    let index = changes(&root, None, Head::Index);
    assert_eq!(statuses(&index), ["staged added"]);
    assert_eq!(index.base(), None);
    assert_eq!(
        statuses(&changes(&root, None, Head::WorkTree)),
        ["not added", "staged added"]
    );
    assert!(read(&root, None, Head::Commit("HEAD")).is_err());
}

#[test]
fn submodules_and_nested_repositories_are_marked_and_not_entered() {
    let bench = repository();
    let (root, other) = (bench.root(), bench.outside("other"));
    fs::create_dir(&other).expect("made");
    git(&other, &["init", "--quiet"]);
    fs::write(other.join("inside"), "x").expect("written");
    commit_all(&other, "other");
    let other = other.to_str().expect("a path");
    for module in ["moved", "same", "gone"] {
        git(&root, &["submodule", "--quiet", "add", other, module]);
    }
    // A change that the module asks not to tell.
    git(
        &root,
        &[
            "config",
            "-f",
            ".gitmodules",
            "submodule.moved.ignore",
            "all",
        ],
    );
    commit_all(&root, "modules");
    let moved = root.join("moved");
    fs::write(moved.join("inside"), "y").expect("written");
    let commit = commit_all(&moved, "moved");
    fs::remove_dir_all(root.join("gone")).expect("removed");
    let nested = root.join("nested");
    fs::create_dir(&nested).expect("made");
    git(&nested, &["init", "--quiet"]);
    fs::write(nested.join("inside"), "y").expect("written");
    let disk = changes(&root, None, Head::WorkTree);
    let gone = json!({"path": "gone", "text": "", "status": "deleted", "kind": "submodule", "deleted": true});
    let module = json!({
        "path": "moved", "text": "", "status": "modified", "kind": "submodule", "commit": commit,
    });
    assert_eq!(
        files(&disk),
        json!([
            gone,
            module,
            {"path": "nested", "text": "", "status": "added", "kind": "submodule"},
        ])
    );
    git(&root, &["add", "moved"]);
    assert_eq!(files(&changes(&root, None, Head::Index)), json!([module]));
    git(&root, &["commit", "--quiet", "-m", "moved"]);
    let commit = changes(&root, Some("HEAD~1"), Head::Commit("HEAD"));
    assert_eq!(files(&commit), json!([module]));
    // What was not cloned is as the index has it.
    git(
        &root,
        &["submodule", "--quiet", "deinit", "--all", "--force"],
    );
    assert_eq!(
        statuses(&changes(&root, None, Head::WorkTree)),
        ["nested added"]
    );
}

#[test]
fn shallow_clones_and_bare_repositories() {
    let bench = repository();
    let (root, clone) = (bench.root(), bench.outside("clone"));
    for number in 0..4 {
        bench.file("file", number.to_string());
        commit_all(&root, "next");
    }
    let url = format!("file://{}", root.display());
    let path = clone.to_str().expect("a path");
    git(&root, &["clone", "--quiet", "--depth=2", &url, path]);
    let next = changes(&clone, Some("HEAD~1"), Head::Commit("HEAD"));
    assert_eq!(files(&next)[0]["text"], "3");
    assert_eq!(next.repo_at_base()["files"]["file"], "2");
    let beyond = read(&clone, Some("HEAD~2"), Head::Commit("HEAD"));
    assert!(
        beyond
            .expect_err("cut off")
            .to_string()
            .contains("names no commit")
    );
    // Both ends are there, and what joins them is not.
    git(&root, &["checkout", "--quiet", "-b", "side", "HEAD~2"]);
    commit_all(&root, "side");
    git(
        &clone,
        &["fetch", "--quiet", "--depth=1", "origin", "side:side"],
    );
    let parted = read(&clone, Some("HEAD"), Head::Commit("side")).expect_err("cut off");
    assert!(parted.to_string().contains("unshallow"), "{parted}");

    let bare = bench.outside("bare");
    let path = bare.to_str().expect("a path");
    git(&root, &["clone", "--quiet", "--bare", &url, path]);
    let next = changes(&bare, Some("main~1"), Head::Commit("main"));
    assert_eq!(statuses(&next), ["file modified"]);
    for head in [Head::Index, Head::WorkTree] {
        let none = read(&bare, Some("main"), head).expect_err("nothing there");
        assert!(none.to_string().contains("no work tree"), "{none}");
    }
}

#[test]
fn sparse_checkouts_lack_nothing() {
    let bench = repository();
    let root = bench.root();
    bench.file("in/a", "x");
    let start = commit_all(&root, "start");
    bench.file("out/a", "x").file("out/b", "x");
    commit_all(&root, "base");
    for sparse_index in ["--no-sparse-index", "--sparse-index"] {
        git(
            &root,
            &["sparse-checkout", "set", "--cone", sparse_index, "in"],
        );
        assert!(!root.join("out/a").exists());
        bench.file("in/a", "y");
        let disk = changes(&root, None, Head::WorkTree);
        assert_eq!(statuses(&disk), ["in/a modified"]);
        // What is there all the same is looked at.
        bench.file("out/a", "y");
        let disk = changes(&root, None, Head::WorkTree);
        assert_eq!(statuses(&disk), ["in/a modified", "out/a modified"]);
        assert_eq!(statuses(&changes(&root, None, Head::Index)), [""; 0]);
        // A directory that is new since the base is told file by file.
        let index = changes(&root, Some(&start), Head::Index);
        assert_eq!(statuses(&index), ["out/a added", "out/b added"]);
        fs::remove_dir_all(root.join("out")).expect("removed");
        git(&root, &["checkout", "--quiet", "in/a"]);
    }
}

#[test]
fn a_workspace_below_the_top_has_its_own_changes_alone() {
    let bench = repository();
    let root = bench.root();
    bench.file("a/b/file", "x").file("other", "x");
    commit_all(&root, "base");
    bench
        .file("a/b/file", "y")
        .file("other", "y")
        .file("a/b/new", "y")
        .file("a/bc", "y");
    let expected = ["file modified", "new added"];
    let below = root.join("a/b");
    assert_eq!(statuses(&changes(&below, None, Head::WorkTree)), expected);
    commit_all(&root, "next");
    let commit = changes(&below, Some("HEAD~1"), Head::Commit("HEAD"));
    assert_eq!(statuses(&commit), expected);
}
