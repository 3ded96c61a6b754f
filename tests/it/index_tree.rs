//! What is staged, as a tree, is what `git checkout-index` writes.

mod agreement;
mod gate;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use probity::files::{FileError, Kind, Root, Tree};
use probity::flow::{Changes, Head};
use probity::git::{GitError, IndexFiles, IndexTree, Repository};

use crate::bin::Bench;
use crate::changes::{changes, lines, repository};
use crate::git::{PATHS, Walked, commit_all, everything, found, git, walked};

fn index(root: &Path) -> Result<IndexTree, GitError> {
    let repository = Repository::open(root)?;
    Ok(IndexTree::new(IndexFiles::new(Arc::new(repository))?))
}

fn staged(root: &Path) -> IndexTree {
    index(root).expect("an index")
}

/// The staged files in a directory of their own.
fn checkout(bench: &Bench, name: &str) -> PathBuf {
    let directory = bench.outside(name);
    drop(fs::remove_dir_all(&directory));
    fs::create_dir(&directory).expect("made");
    let prefix = format!("--prefix={}/", directory.display());
    let args = ["checkout-index", "--all", "--ignore-skip-worktree-bits"];
    git(&bench.root(), &[&args[..], &[&prefix]].concat());
    directory
}

/// Holds the tree against a checkout, also below a directory that is a workspace.
fn agree(bench: &Bench, workspace: &str) -> Walked {
    let tree = staged(&bench.root().join(workspace));
    let disk = checkout(bench, "checkout").join(workspace);
    let disk = Root::open(&disk).expect("a root");
    let all = walked(&tree, b"");
    assert_eq!(all, walked(&disk, b""), "{workspace:?}");
    all
}

/// The paths of a walk.
fn names(walked: &Walked) -> Vec<&str> {
    let paths = walked.iter().map(|entry| match entry {
        Ok((path, _)) => &**path,
        Err(error) => panic!("{error:?}"),
    });
    paths.collect()
}

/// The text of a file.
fn text(tree: &dyn Tree, path: &str) -> String {
    match found(tree, path) {
        Ok(Ok((_, text, Ok(_)))) => String::from_utf8(text).expect("UTF-8"),
        other => panic!("{path}: {other:?}"),
    }
}

#[test]
fn what_is_staged_is_the_tree_that_its_checkout_is() {
    for format in ["sha1", "sha256"] {
        let bench = Bench::new();
        let root = bench.root();
        git(&root, &["init", "--quiet", "--object-format", format]);
        everything(&root);
        git(&root, &["add", "--all", "--force"]);
        // Whatever is on disk since then.
        fs::remove_dir_all(root.join("a")).expect("removed");
        bench.file("a0", "not staged").file("untracked", "x");
        let all = agree(&bench, "");
        assert!(all.len() > 15, "{all:?}");
        let tree = staged(&root);
        let disk = Root::open(&bench.outside("checkout")).expect("a root");
        for path in PATHS {
            assert_eq!(found(&tree, path), found(&disk, path), "{path:?}");
            assert_eq!(tree.kind(path), disk.kind(path), "{path:?}");
            assert_eq!(tree.dangles(path), disk.dangles(path), "{path:?}");
        }
        for path in ["x".repeat(300), "x/".repeat(3000)] {
            assert_eq!(found(&tree, &path), found(&disk, &path));
        }
        for location in ["a", "a/b", "d/e", "build", ".git"] {
            assert_eq!(
                walked(&tree, location.as_bytes()),
                walked(&disk, location.as_bytes())
            );
        }
    }
}

#[test]
fn what_is_not_staged_is_not_in_it() {
    let bench = repository();
    let root = bench.root();
    bench
        .file("changed", "old")
        .file("unstaged", "x")
        .file("gone", "x")
        .file("dir/moved", lines(0, 20));
    commit_all(&root, "base");
    bench.file("changed", "staged");
    git(&root, &["add", "changed"]);
    bench.file("changed", "later").file("new", "x");
    git(&root, &["rm", "--quiet", "--cached", "unstaged"]);
    git(&root, &["rm", "--quiet", "gone"]);
    git(&root, &["mv", "dir/moved", "renamed"]);
    // Only a name so far: `git commit` leaves it out.
    bench.file("intended", "x").file("apart/intended", "x");
    git(&root, &["add", "--intent-to-add", "intended", "apart"]);
    let tree = staged(&root);
    assert_eq!(names(&walked(&tree, b"")), ["changed", "renamed"]);
    assert_eq!(text(&tree, "changed"), "staged");
    assert_eq!(text(&tree, "renamed"), lines(0, 20));
    for path in ["unstaged", "gone", "new", "intended", "apart", "dir"] {
        assert_eq!(tree.kind(path), Err(FileError::NotFound), "{path}");
    }
    git(&root, &["add", "intended"]);
    assert_eq!(
        names(&walked(&staged(&root), b"")),
        ["changed", "intended", "renamed"]
    );
    // What was read stays as it was.
    assert_eq!(tree.kind("intended"), Err(FileError::NotFound));
}

#[test]
fn a_workspace_below_the_top_has_its_part() {
    let bench = repository();
    let root = bench.root();
    bench
        .file("other", "x")
        .file("services/a b/file", "inside")
        .file("services/a b/deep/er", "inside")
        .file("services/a b2/file", "beside")
        .file("services/a b-x", "beside")
        .file(".gitignore", "*.log\n")
        .file("services/a b/x.log", "x");
    let service = root.join("services/a b");
    symlink("../../other", service.join("out")).expect("a link");
    symlink("deep/../file", service.join("in")).expect("a link");
    git(&root, &["add", "--all", "--force"]);
    agree(&bench, "");
    agree(&bench, "services");
    let all = agree(&bench, "services/a b");
    // Rules from above the workspace are none of its own, on disk as here.
    assert_eq!(names(&all), ["deep", "deep/er", "file", "x.log"]);
    let tree = staged(&service);
    assert_eq!(tree.kind("out"), Err(FileError::Outside));
    assert_eq!(tree.kind("in"), Ok(Kind::File));
    // Neither a directory that is not staged nor one that is a file there has files.
    for name in ["services/new", "other.d"] {
        fs::create_dir(root.join(name)).expect("made");
        assert!(walked(&staged(&root.join(name)), b"").is_empty());
    }
    fs::remove_file(root.join("other")).expect("removed");
    fs::create_dir(root.join("other")).expect("made");
    let tree = staged(&root.join("other"));
    assert!(walked(&tree, b"").is_empty());
    assert_eq!(tree.kind("."), Ok(Kind::Directory));
}

#[test]
fn before_the_first_commit_there_is_an_index_and_no_base() {
    let bench = repository();
    let root = bench.root();
    for is_anything_staged in [false, true] {
        let repository = Arc::new(Repository::open(&root).expect("a repository"));
        let changes = changes(&root, None, Head::Index);
        let head = changes.tree_at_head(&repository, &root, Head::Index);
        let head = head.expect("the index");
        assert_eq!(names(&walked(&*head, b"")).len(), changes.files().len());
        assert_eq!(head.kind("file").is_ok(), is_anything_staged);
        let base = changes.tree_at_base(&repository).expect("no files");
        assert!(walked(&*base, b"").is_empty());
        assert_eq!(base.kind("."), Ok(Kind::Directory));
        assert_eq!(base.kind("file"), Err(FileError::NotFound));
        bench.file("file", "x");
        git(&root, &["add", "file"]);
    }
    agree(&bench, "");
}

#[test]
fn each_head_and_its_base_have_their_trees() {
    let bench = repository();
    let root = bench.root();
    bench.file("file", "base");
    commit_all(&root, "base");
    bench.file("file", "commit");
    commit_all(&root, "next");
    bench.file("file", "index");
    git(&root, &["add", "file"]);
    bench.file("file", "disk");
    let repository = Arc::new(Repository::open(&root).expect("a repository"));
    for (base, head, before, after) in [
        (None, Head::WorkTree, "commit", "disk"),
        (None, Head::Index, "commit", "index"),
        (Some("HEAD~1"), Head::Index, "base", "index"),
        (Some("HEAD~1"), Head::Commit("HEAD"), "base", "commit"),
    ] {
        let changes = Changes::read(
            &repository,
            base,
            head,
            &probity::flow::ChangeLimits::default(),
        )
        .expect("changes");
        let tree = changes.tree_at_head(&repository, &root, head);
        assert_eq!(text(&*tree.expect("a head"), "file"), after);
        let tree = changes.tree_at_base(&repository);
        assert_eq!(text(&*tree.expect("a base"), "file"), before);
    }
}

#[test]
fn an_unmerged_path_is_an_error_and_never_one_of_its_sides() {
    let bench = repository();
    let root = bench.root();
    bench.file("dir/both", "0").file("sub/file", "x");
    commit_all(&root, "base");
    git(&root, &["checkout", "--quiet", "-b", "side"]);
    bench.file("dir/both", "side");
    commit_all(&root, "side");
    git(&root, &["checkout", "--quiet", "main"]);
    bench.file("dir/both", "main");
    commit_all(&root, "main");
    let merge = std::process::Command::new("git")
        .arg("-C")
        .arg(&root)
        .args(["-c", "user.name=A", "-c", "user.email=a@b", "merge", "side"])
        .output()
        .expect("run");
    assert!(!merge.status.success());
    // Nothing can be committed, so nothing can be judged, not even elsewhere.
    for root in [root.clone(), root.join("sub")] {
        let error = index(&root).expect_err("unmerged");
        assert!(matches!(&error, GitError::Unmerged(path) if path == "dir/both"));
        let said = error.to_string();
        assert!(said.contains("resolve the conflict"), "{said}");
    }
    git(&root, &["add", "dir/both"]);
    agree(&bench, "");
}

#[test]
fn what_git_does_not_look_at_on_disk_is_as_it_was_staged() {
    let bench = repository();
    let root = bench.root();
    bench
        .file("in/a", "in")
        .file("out/a", "out")
        .file("out/deep/b", "deep")
        .file("top", "top");
    commit_all(&root, "base");
    let all = agree(&bench, "");
    for sparse_index in ["--no-sparse-index", "--sparse-index"] {
        git(
            &root,
            &["sparse-checkout", "set", "--cone", sparse_index, "in"],
        );
        assert!(!root.join("out").exists());
        let tree = staged(&root);
        assert_eq!(walked(&tree, b""), all, "{sparse_index}");
        assert_eq!(text(&tree, "out/deep/b"), "deep");
        assert_eq!(agree(&bench, ""), all);
    }
    git(&root, &["sparse-checkout", "disable"]);
    for option in ["--skip-worktree", "--assume-unchanged"] {
        git(&root, &["update-index", option, "top"]);
        bench.file("top", "on disk alone");
        assert_eq!(text(&staged(&root), "top"), "top");
    }
}

#[test]
fn submodules_are_empty_directories() {
    let bench = repository();
    let (root, other) = (bench.root(), bench.outside("other"));
    fs::create_dir(&other).expect("made");
    git(&other, &["init", "--quiet"]);
    fs::write(other.join("inside"), "x").expect("written");
    commit_all(&other, "other");
    let other = other.to_str().expect("a path");
    git(
        &root,
        &["submodule", "--quiet", "add", other, "mods/module"],
    );
    bench.file("mods/module.rs", "x");
    git(&root, &["add", "--all"]);
    let all = agree(&bench, "");
    assert!(names(&all).contains(&"mods/module"));
    let tree = staged(&root);
    assert_eq!(tree.kind("mods/module"), Ok(Kind::Directory));
    assert_eq!(tree.kind("mods/module/inside"), Err(FileError::NotFound));
    assert!(walked(&tree, b"mods/module").is_empty());
}

#[test]
fn spaces_tell_one_index_from_another() {
    let bench = repository();
    let root = bench.root();
    bench.file("a", "0").file("sub/a", "0");
    let mut spaces = Vec::new();
    let mut next = |args: &[&[&str]]| {
        args.iter().for_each(|args| drop(git(&root, args)));
        let space = staged(&root).space();
        assert_eq!(space, staged(&root).space());
        spaces.push(space);
    };
    next(&[]);
    next(&[&["add", "a"]]);
    next(&[&["add", "sub"]]);
    next(&[&["update-index", "--chmod=+x", "a"]]);
    next(&[&["mv", "a", "b"]]);
    bench.file("b", "1");
    next(&[&["add", "b"]]);
    next(&[&["rm", "--quiet", "--cached", "b"]]);
    // Two workspaces that hold the same, and another repository.
    bench.file("sub/sub/a", "0");
    git(&root, &["rm", "--quiet", "-r", "--cached", "sub"]);
    git(&root, &["add", "sub/sub"]);
    spaces.push(staged(&root.join("sub")).space());
    spaces.push(staged(&root.join("sub/sub")).space());
    let other = repository();
    spaces.push(staged(&other.root()).space());
    let all = spaces.len();
    spaces.sort_unstable();
    spaces.dedup();
    assert_eq!(spaces.len(), all);
}

#[test]
fn an_object_that_is_not_there_is_an_error_where_it_is_read() {
    let bench = repository();
    let root = bench.root();
    bench.file("lost", "lost").file("kept", "still there");
    symlink("kept", root.join("link")).expect("a link");
    git(&root, &["add", "--all"]);
    let lose = |path: &str| {
        let id = git(&root, &["rev-parse", &format!(":{path}")]);
        let (directory, name) = id.split_at(2);
        fs::remove_file(root.join(".git/objects").join(directory).join(name)).expect("removed");
    };
    lose("lost");
    lose("link");
    let tree = staged(&root);
    assert_eq!(names(&walked(&tree, b"")), ["kept", "lost"]);
    let Ok(Ok((_, _, content))) = found(&tree, "lost") else {
        panic!("a file");
    };
    let said = content.expect_err("not there");
    assert!(said.contains("does not hold"), "{said}");
    let error = tree.kind("link").expect_err("leads nobody knows where");
    assert!(matches!(error, FileError::Repository(_)), "{error:?}");
    assert_eq!(text(&tree, "kept"), "still there");
}

#[test]
fn a_bare_repository_and_a_broken_index_have_no_tree() {
    let bench = repository();
    let (root, bare) = (bench.root(), bench.outside("bare"));
    let path = bare.to_str().expect("a path");
    git(&root, &["init", "--quiet", "--bare", path]);
    let error = index(&bare).expect_err("no index");
    assert!(matches!(error, GitError::NoWorkTree(_)), "{error}");
    bench.file("file", "x");
    git(&root, &["add", "file"]);
    let whole = fs::read(root.join(".git/index")).expect("an index");
    for broken in [&whole[..whole.len() / 2], b"DIRC", b"x"] {
        fs::write(root.join(".git/index"), broken).expect("written");
        assert!(index(&root).is_err(), "{broken:?}");
    }
}
