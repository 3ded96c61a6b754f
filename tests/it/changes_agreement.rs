//! Slices from git hold what git itself finds, within their limits and in good time.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::time::Instant;

use probity::flow::{ChangeLimits, Changes, ChangesError, Head};
use probity::git::Repository;
use serde_json::json;

use crate::changes::{changes, files, lines, repository};
use crate::git::{commit_all, git};

#[test]
fn limits_leave_marks_or_end_it() {
    let bench = repository();
    let root = bench.root();
    let large = "large\n".repeat(2000);
    bench
        .file("a", &large)
        .file("b", &large)
        .file("same", &large);
    commit_all(&root, "base");
    bench
        .file("a", large.replacen('l', "L", 1))
        .file("b", "small");
    let repository = Repository::open(&root).expect("a repository");
    let read = |head, limits: ChangeLimits| Changes::read(&repository, None, head, &limits);
    let text = ChangeLimits {
        max_text_bytes: 100,
        ..ChangeLimits::default()
    };
    let disk = read(Head::WorkTree, text).expect("changes");
    assert_eq!(
        files(&disk),
        json!([
            {
                "path": "a", "text": "", "status": "modified", "kind": "file",
                "binary": true, "too_large": true,
            },
            {"path": "b", "text": "small", "status": "modified", "kind": "file"},
        ])
    );
    assert_eq!(
        disk.repo_at_base(),
        json!({"files": {}, "unread": ["a", "b"]})
    );
    git(&root, &["add", "--all"]);
    assert_eq!(
        files(&read(Head::Index, text).expect("changes")),
        files(&disk)
    );
    for head in [Head::Index, Head::WorkTree] {
        let few = ChangeLimits {
            max_files: 1,
            ..ChangeLimits::default()
        };
        assert!(matches!(read(head, few), Err(ChangesError::TooMany(2, 1))));
        let little = ChangeLimits {
            max_total_bytes: 20_000,
            ..ChangeLimits::default()
        };
        assert!(matches!(
            read(head, little),
            Err(ChangesError::TooMuch(20_000))
        ));
    }
}

#[test]
fn thousands_of_changes_are_read_at_once() {
    let bench = repository();
    let root = bench.root();
    for number in 0..5000 {
        bench.file(
            &format!("d{}/{number}", number % 50),
            lines(number, number + 20),
        );
    }
    commit_all(&root, "base");
    for number in 0..2000 {
        bench.file(
            &format!("d{}/{number}", number % 50),
            lines(number, number + 19),
        );
    }
    let start = Instant::now();
    let disk = changes(&root, None, Head::WorkTree);
    let on_disk = start.elapsed();
    assert_eq!(disk.files().len(), 2000);
    commit_all(&root, "next");
    let start = Instant::now();
    let commit = changes(&root, Some("HEAD~1"), Head::Commit("HEAD"));
    let in_commits = start.elapsed();
    assert_eq!(files(&commit), files(&disk));
    // A process for each file would take longer by far.
    let all = on_disk + in_commits;
    assert!(all.as_secs() < 10, "{on_disk:?} {in_commits:?}");
    println!("files on disk: {on_disk:?}, commits: {in_commits:?}");
}

/// What a slice tells, renames as what they are made of: `A path`, `D path`, sorted.
fn as_git(changes: &Changes) -> Vec<String> {
    let mut all = Vec::new();
    for file in changes.files() {
        let letter = match file.status.name() {
            "deleted" => "D",
            "modified" => "M",
            "typechange" => "T",
            _ => "A",
        };
        all.push(format!("{letter} {}", file.path));
        all.extend(file.renamed_from.iter().map(|old| format!("D {old}")));
    }
    all.sort();
    all
}

#[test]
fn whatever_is_edited_git_finds_the_same() {
    let bench = repository();
    let root = bench.root();
    let mut state = 7_u64;
    let mut random = |most: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) % most
    };
    let told = |args: &[&str]| -> Vec<String> {
        let printed = git(
            &root,
            &[&["diff", "--no-renames", "--name-status"], args].concat(),
        );
        let mut lines: Vec<String> = printed
            .lines()
            .map(|line| line.replace('\t', " "))
            .collect();
        lines.sort();
        lines
    };
    commit_all(&root, "empty");
    for round in 0..40 {
        for _ in 0..6 {
            let path = format!("d{}/{}", random(3), random(6));
            let file = root.join(&path);
            match random(8) {
                0 | 1 => drop(fs::remove_file(&file)),
                2 => {
                    drop(fs::remove_file(&file));
                    fs::create_dir_all(file.parent().expect("a parent")).expect("made");
                    symlink("nowhere", &file).expect("a link");
                }
                3 if file.is_file() => {
                    let mode = [0o644, 0o755][usize::from(random(2) == 1)];
                    fs::set_permissions(&file, fs::Permissions::from_mode(mode)).expect("set");
                }
                4 if file.is_file() => {
                    let other = root.join(format!("d0/moved{round}"));
                    drop(fs::rename(&file, other));
                }
                number => {
                    drop(fs::remove_file(&file));
                    let size = usize::try_from(random(30)).expect("small");
                    bench.file(&path, format!("{number}\n").repeat(size));
                }
            }
        }
        let mut expected = told(&["HEAD"]);
        let others = git(&root, &["ls-files", "--others", "--exclude-standard"]);
        expected.extend(others.lines().map(|path| format!("A {path}")));
        expected.sort();
        let disk = changes(&root, None, Head::WorkTree);
        assert_eq!(as_git(&disk), expected, "round {round}");
        git(&root, &["add", "--all"]);
        let index = changes(&root, None, Head::Index);
        assert_eq!(as_git(&index), told(&["--cached", "HEAD"]), "round {round}");
        assert_eq!(index, disk, "round {round}");
        commit_all(&root, "next");
        let commit = changes(&root, Some("HEAD~1"), Head::Commit("HEAD"));
        assert_eq!(commit.files(), index.files(), "round {round}");
    }
}
